//! The plans of the hot queries: each is answered from the index made for it, so that a report, a poll and a page stay short whatever the
//! file holds.

use rusqlite::Connection;

use super::ledger::sums;
use super::turn;
use super::turn::complete;
use super::turn::row;
use super::usage;

/// The steps of a query's plan, one a line.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    for parameter in 1..=statement.parameter_count() {
        statement.raw_bind_parameter(parameter, 1).unwrap();
    }
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get::<_, String>(3).unwrap());
    }
    steps.join("\n")
}

#[test]
fn every_hot_query_searches_by_its_index() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(include_str!("../../schema.sql"))
        .unwrap();
    for (name, sql, index) in [
        ("named turn", row::NAMED, "INDEX sqlite_autoindex_turn"),
        ("open turns", row::OPEN, "INDEX turn_open"),
        ("last begun", row::LAST, "INDEX turn_begun"),
        ("next begun", row::NEXT, "INDEX turn_begun"),
        ("turns of rows", usage::BEGUN, "INDEX turn_begun"),
        ("event due", complete::DUE, "INDEX usage_row_by_turn"),
        (
            "active sessions",
            turn::view::ACTIVE,
            "INDEX session_active",
        ),
        ("idle since", turn::view::IDLE, "INDEX session_idle"),
        ("heard", turn::view::HEARD, "INDEX session_heard"),
        ("heard from", turn::view::FROM, "INDEX session_heard"),
        ("told", turn::view::TOLD, "INDEX session_told"),
        ("sessions beside", turn::BESIDE, "INDEX session_active"),
        ("let go", turn::LET_GO, "INDEX session_active"),
        ("sweep", turn::overtaken::SWEPT, "INDEX session_active"),
        ("hooked", usage::HOOKED, "INDEX sqlite_autoindex_usage_row"),
        ("page", sums::EACH, "SEARCH s USING PRIMARY KEY"),
        ("tokens today", sums::SINCE, "usage_sum USING PRIMARY KEY"),
    ] {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index), "{name}:\n{plan}");
        assert!(!plan.contains("TEMP B-TREE FOR ORDER"), "{name}:\n{plan}");
        let scans = |step: &&str| step.starts_with("SCAN") && !step.contains("CONSTANT");
        let allowed = [
            "SCAN p",
            "session USING COVERING INDEX",
            "session USING INDEX session_active",
        ];
        let scanned: Vec<&str> = plan
            .lines()
            .filter(scans)
            .filter(|step| !allowed.iter().any(|allowed| step.contains(allowed)))
            .collect();
        assert!(scanned.is_empty(), "{name}:\n{plan}");
    }
}
