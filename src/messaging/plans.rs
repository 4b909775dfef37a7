//! That the hot queries walk the index meant for them and sort nothing.

use rusqlite::Connection;

use super::auto_close;
use super::brakes;
use super::inbox;
use super::person;
use super::search;
use super::show;
use super::threads;
use super::whoami;
use crate::store::Store;
use crate::store::Time;

/// The plan of a query, one step a line.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let unbound =
        rusqlite::params_from_iter(vec![rusqlite::types::Null; statement.parameter_count()]);
    let steps: Vec<String> = statement
        .query_map(unbound, |row| row.get("detail"))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    steps.join("\n")
}

/// Asserts that the plan of `sql` has all of `steps` and neither sorts nor reads a whole table.
#[track_caller]
fn walks(sql: &str, steps: &[&str]) {
    let plan = searches(sql, steps);
    assert!(!plan.contains("TEMP B-TREE"), "sorts:\n{plan}");
}

/// Asserts that the plan of `sql` has all of `steps` and reads no whole table.
#[track_caller]
fn searches(sql: &str, steps: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("plans.db"), "test", Time(0)).unwrap();
    let plan = store
        .read_blocking(|connection| Ok(plan(connection, sql)))
        .unwrap();
    for step in steps {
        assert!(plan.contains(step), "no {step:?} in:\n{plan}");
    }
    let scans = plan
        .lines()
        .filter(|line| line.starts_with("SCAN "))
        .filter(|line| !line.contains("VIRTUAL TABLE") && !line.contains("CONSTANT ROW"))
        .count();
    assert_eq!(scans, 0, "reads a whole table:\n{plan}");
    plan
}

#[test]
fn inbox_walks_the_partial_indexes() {
    walks(
        inbox::ALL,
        &["SEARCH r USING INDEX recipient_inbox (part=? AND message<?)"],
    );
    walks(
        inbox::UNREAD,
        &["SEARCH r USING INDEX recipient_unread (part=? AND message<?)"],
    );
}

#[test]
fn unread_counts_unread_rows_only() {
    walks(
        whoami::UNREAD,
        &["SEARCH recipient USING INDEX recipient_unread (part=?)"],
    );
}

#[test]
fn brakes_read_the_window_only() {
    walks(
        brakes::OF_PART,
        &["COVERING INDEX message_by_sender (sender=? AND at>?)"],
    );
    walks(
        brakes::OF_OWNER,
        &["COVERING INDEX message_by_author (author=? AND at>?)"],
    );
    walks(
        brakes::REPEATED,
        &["SEARCH m USING INDEX message_by_sender (sender=? AND at>?)"],
    );
}

#[test]
fn threads_walk_their_project_or_state() {
    walks(
        &threads::sql(false),
        &["INDEX thread_by_project (project=? AND seq<?)"],
    );
    walks(
        &threads::sql(true),
        &["INDEX thread_by_status (project=? AND status=? AND seq<?)"],
    );
}

#[test]
fn search_walks_downwards() {
    walks(
        search::NEXT_OF_PROJECT,
        &["COVERING INDEX thread_by_project (project=? AND seq<?)"],
    );
    // The sign says which way FTS5 walks, and that it takes term and bound itself.
    walks(search::MATCHES, &["SCAN mail_text VIRTUAL TABLE INDEX"]);
    walks(
        search::NEXT_LIKE,
        &["COVERING INDEX thread_by_project (project=? AND seq<?)"],
    );
    walks(search::HOLDS, &["SCAN mail_text VIRTUAL TABLE INDEX"]);
}

#[test]
fn show_reads_a_thread_in_its_order() {
    walks(
        show::ROWS,
        &[
            "SEARCH m USING INDEX sqlite_autoindex_message_2 (thread=? AND ordinal>?)",
            "SEARCH r USING INDEX recipient_once (message=? AND part=?)",
        ],
    );
}

#[test]
fn auto_close_reads_quiet_threads_only() {
    walks(
        auto_close::QUIET,
        &[
            "SEARCH t USING INDEX thread_quiet (stirred_at<?)",
            "SEARCH r USING INDEX recipient_by_thread (thread=?)",
        ],
    );
}

#[test]
fn inbox_of_the_person_reads_live_threads_only() {
    searches(
        person::INBOX,
        &[
            "SEARCH t USING INDEX thread_by_status (project=? AND status=?)",
            "SEARCH q USING COVERING INDEX participant_part (thread=? AND part=?)",
            "SEARCH m USING INDEX sqlite_autoindex_message_2 (thread=? AND ordinal=?)",
        ],
    );
}
