//! The plans of the hot queries: each is answered from the index made for it, so that a send, a poll and a sweep stay short whatever the file holds.

use rusqlite::Connection;

use super::brake;
use super::budget;
use super::chain;
use super::facts;
use super::held;
use super::hold;
use super::ledger;
use super::mail;
use super::measure;
use super::poll;
use super::reconcile;
use super::remind;
use super::row;
use super::span;
use super::sweep;
use super::turns;

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

fn schema() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    crate::store::steady(&connection).unwrap();
    connection
        .execute_batch(include_str!("../../schema.sql"))
        .unwrap();
    connection
}

#[test]
fn every_hot_query_searches_by_its_index() {
    let connection = schema();
    let open = format!("{} WHERE part = ?1 AND ended_at IS NULL", row::WAKE);
    for (name, sql, index) in [
        ("facts", facts::FACTS, "p USING INTEGER PRIMARY KEY"),
        ("open wake", open.as_str(), "wake USING INDEX wake_open "),
        ("newest loud", mail::NEWEST, "INDEX recipient_loud"),
        ("new mail", mail::NEW, "INDEX recipient_new"),
        ("reminders to set", remind::UNREAD, "INDEX recipient_loud"),
        ("reminders due", remind::DUE, "INDEX recipient_loud"),
        ("parts to remind", remind::PARTS, "INDEX recipient_remind"),
        ("nudges", budget::NUDGES, "COVERING INDEX nudge_by_owner"),
        ("places", budget::PLACES, "INDEX wake_place"),
        ("ceiling", budget::HUMAN_NUDGES, "INDEX nudge_by_part"),
        ("hold to close", hold::CLOSE, "INDEX hold_open"),
        ("open hold", hold::REASON, "INDEX hold_open"),
        ("rank", hold::OLDEST, "INDEX recipient_loud"),
        ("queue", hold::QUEUE, "INDEX hold_open_by_owner"),
        ("cooldown", held::LAST_CAUSED, "INDEX wake_by_cause"),
        ("run", brake::RUN, "INDEX sqlite_autoindex_message"),
        ("chain back", chain::BACK, "m USING INTEGER PRIMARY KEY"),
        ("chain of next", chain::SHOWN, "INDEX recipient_shown"),
        ("unread", poll::PART, "INDEX recipient_unread"),
        ("oldest new", sweep::OLDEST_NEW, "INDEX recipient_new"),
        ("wake of a tag", turns::TAGGED, "INDEX wake_by_tag"),
    ] {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index), "{name}:\n{plan}");
        let scans = plan
            .lines()
            .filter(|step| {
                step.starts_with("SCAN") && !step.contains("back") && !step.contains("CONSTANT")
            })
            .count();
        assert_eq!(scans, 0, "{name}:\n{plan}");
    }
}

#[test]
fn the_sweep_reads_only_indexes_that_hold_what_may_be_due() {
    let connection = schema();
    for (name, sql, index) in [
        ("open", sweep::OPEN, "INDEX wake_open"),
        ("held", sweep::HELD, "INDEX hold_open"),
        ("new", sweep::NEW, "INDEX recipient_new"),
        (
            "later",
            "UPDATE recipient SET later = 0 WHERE later = 1",
            "INDEX recipient_later",
        ),
        (
            "reports",
            "DELETE FROM report WHERE at <= ?1",
            "INDEX report_by_age",
        ),
    ] {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index), "{name}:\n{plan}");
    }
}

#[test]
fn the_ledger_is_walked_from_its_end_and_never_sorted() {
    let connection = schema();
    for (sql, index) in [
        (ledger::WAKES, "INDEX wake_by_part"),
        (ledger::NUDGES, "INDEX nudge_in_order"),
        (ledger::HOLDS, "INDEX hold_by_part"),
    ] {
        let of_part = plan(&connection, &format!("{sql}{}", ledger::OF_PART));
        assert!(of_part.contains(index), "{of_part}");
        let of_project = plan(&connection, &format!("{sql}{}", ledger::OF_PROJECT));
        for plan in [of_part, of_project] {
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}

#[test]
fn a_summary_reads_its_span_only() {
    let connection = schema();
    for (sql, index) in [
        (span::WAKES, "SEARCH w USING INDEX wake_by_issue"),
        (span::OVER, "SEARCH h USING INDEX hold_by_end"),
        (span::LASTING, "h USING INDEX hold_open"),
        (measure::TYPED, "COVERING INDEX nudge_by"),
        (measure::HELD, "INDEX hold_open"),
    ] {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index), "{plan}");
    }
}

#[test]
fn wakes_and_turns_of_a_span_are_read_part_by_part() {
    let connection = schema();
    for (sql, index) in [
        (reconcile::WAKES, "SEARCH w USING INDEX wake_by_"),
        (
            reconcile::NUDGES,
            "INDEX nudge_by_part (part=? AND lane=? AND at>? AND at<?)",
        ),
        (
            reconcile::TURNS,
            "INDEX turn_by_time (part=? AND <expr>>? AND <expr><?)",
        ),
        (
            reconcile::LOST,
            "SEARCH l USING PRIMARY KEY (part=? AND quarter>?)",
        ),
    ] {
        let plan = plan(&connection, sql);
        assert!(plan.contains(index), "{plan}");
    }
}
