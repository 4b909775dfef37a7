//! The ledger: what each wake, line and hold leaves behind, and what a week of them says.

use std::time::Duration;

use relayroom::store::Error;
use relayroom::store::Outcome;
use relayroom::store::Time;
use relayroom::wake::ledger;
use relayroom::wake::ledger::Filter;
use relayroom::wake::ledger::Row;
use relayroom::wake::ledger::What;
use relayroom::wake::measure;
use relayroom::wake::measure::Measured;
use relayroom::wake::span;
use relayroom::wake::summary;
use relayroom::wake::summary::Summary;

use super::*;
use crate::wake::pager::Pager;

fn filtered(world: &World, change: impl FnOnce(&mut Filter)) -> Outcome<Vec<Row>> {
    let mut filter = Filter {
        project: world.shop,
        part: None,
        reason: None,
        since: None,
        limit: 100,
    };
    change(&mut filter);
    world.read(|connection| ledger::rows(connection, &filter))
}

fn rows(world: &World) -> Vec<Row> {
    filtered(world, |_| {}).unwrap()
}

/// Kinds and parts of rows.
fn told(rows: &[Row]) -> Vec<(What, &str)> {
    rows.iter()
        .map(|row| (row.what, row.part.as_str()))
        .collect()
}

fn week(world: &World) -> Summary {
    let now = world.now();
    let from = now - Duration::from_secs(7 * 24 * 60 * 60);
    world
        .read(|connection| span::summary(connection, world.shop, None, from, now))
        .unwrap()
}

fn measured(world: &World) -> Measured {
    let now = world.now();
    world
        .read(|connection| measure::measure(connection, now))
        .unwrap()
}

/// A wake of web that is presented after 2 s and consumed after 7.
fn consumed(world: &World) {
    assert!(sent(world, "api", "web").starts_with("issued"));
    world.seconds(2);
    assert!(Pager::FIRST.delivers(world, "web"));
    world.seconds(5);
    world.inbox("web");
    assert_eq!(latest(world, "web"), "consumed");
}

#[test]
fn a_wake_and_its_line_leave_a_row_each_with_cause_and_facts() {
    let world = World::new();
    let begun = world.now();
    consumed(&world);
    let rows = rows(&world);
    assert_eq!(told(&rows), [(What::Nudge, "web"), (What::Wake, "web")]);
    let (nudge, wake) = (&rows[0], &rows[1]);

    assert_eq!(wake.at, begun);
    assert_eq!(wake.stored_at, Some(begun));
    assert_eq!(wake.presented_at, Some(begun + Duration::from_secs(2)));
    assert_eq!(wake.consumed_at, Some(begun + Duration::from_secs(7)));
    assert_eq!(wake.ended_at, wake.consumed_at);
    assert_eq!(wake.outcome.as_deref(), Some("consumed"));
    assert_eq!((wake.rung, wake.owner.as_str()), (Some(1), "kim"));

    assert_eq!(nudge.at, begun + Duration::from_secs(2));
    assert_eq!(nudge.outcome.as_deref(), Some("submitted"));
    assert_eq!(
        (nudge.rung, nudge.lane.as_deref()),
        (Some(1), Some("normal"))
    );
    assert_eq!((&nudge.wake, &nudge.tag), (&wake.wake, &wake.tag));
    assert_eq!(nudge.cli.as_deref(), Some("claude"));
    assert_eq!(nudge.tmux.as_deref(), Some("3.4"));
    for row in &rows {
        assert_eq!(row.cause.as_deref(), Some("api"));
        assert_eq!(row.thread, text(&world, "SELECT id FROM thread"));
    }
}

#[test]
fn what_a_person_causes_is_caused_by_human() {
    let world = World::new();
    sent_by_person(&world, "web");
    let rows = rows(&world);
    assert_eq!(rows[0].cause.as_deref(), Some("human"));
    assert_eq!(rows[0].lane.as_deref(), Some("human"));
}

#[test]
fn rows_are_chosen_by_part_reason_time_and_number() {
    let world = World::new();
    consumed(&world);
    world.minutes(5);
    let later = world.now();
    world.seconds(1);
    pause(&world, "db", true);
    assert_eq!(sent(&world, "api", "db"), "held paused");

    let all = rows(&world);
    let kinds = [
        (What::Hold, "db"),
        (What::Nudge, "web"),
        (What::Wake, "web"),
    ];
    assert_eq!(told(&all), kinds);
    assert_eq!(all[0].reason.as_deref(), Some("paused"));
    assert_eq!((all[0].count, all[0].ended_at), (Some(1), None));
    assert_eq!(all[0].cause.as_deref(), Some("api"));

    let of_web = filtered(&world, |filter| filter.part = Some(world.part("web"))).unwrap();
    assert_eq!(told(&of_web), kinds[1..]);
    let paused = filtered(&world, |filter| filter.reason = Some("paused".into())).unwrap();
    assert_eq!(told(&paused), kinds[..1]);
    let budget = filtered(&world, |filter| filter.reason = Some("budget".into())).unwrap();
    assert_eq!(told(&budget), []);
    let new = filtered(&world, |filter| filter.since = Some(later)).unwrap();
    assert_eq!(told(&new), kinds[..1]);
    let two = filtered(&world, |filter| filter.limit = 2).unwrap();
    assert_eq!(told(&two), kinds[..2]);
    let elsewhere = world.project("blog");
    let other = filtered(&world, |filter| filter.project = elsewhere).unwrap();
    assert_eq!(told(&other), []);

    world.minutes(1);
    pause(&world, "db", false);
    let over = filtered(&world, |filter| filter.reason = Some("paused".into())).unwrap();
    assert_eq!(over[0].ended_at, Some(world.now()));
}

#[test]
fn a_reason_that_holds_nothing_is_refused_with_those_that_do() {
    let world = World::new();
    let refused = filtered(&world, |filter| filter.reason = Some("bugdet".into()));
    let Err(Error::Refusal(refusal)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refusal.code, "invalid_argument");
    for word in ["\"bugdet\"", "budget", "ping_pong", "dialog", "no_pager"] {
        assert!(refusal.message.contains(word), "{}", refusal.message);
    }
}

#[test]
fn a_line_keeps_the_cli_and_tmux_of_its_time() {
    let world = World::new();
    consumed(&world);
    world.minutes(1);
    assert!(sent(&world, "api", "web").starts_with("issued"));
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    world.execute("UPDATE pane SET cli_version = '2.1.0', tmux = '3.5a'");
    let part = world.part("web");
    assert_eq!(rows(&world)[0].what, What::Wake);
    Pager::FIRST.types(&world, "web", &wake);
    let typed = filtered(&world, |filter| filter.part = Some(part)).unwrap();
    let versions: Vec<_> = typed
        .iter()
        .filter(|row| row.what == What::Nudge)
        .map(|row| (row.cli_version.as_deref(), row.tmux.as_deref()))
        .collect();
    assert_eq!(
        versions,
        [(Some("2.1.0"), Some("3.5a")), (None, Some("3.4"))]
    );
    let week = week(&world);
    let names = |groups: &[(String, summary::Figures)]| -> Vec<(String, u32, u32)> {
        let figures = groups
            .iter()
            .map(|(name, figures)| (name.clone(), figures.issued, figures.consumed));
        figures.collect()
    };
    assert_eq!(
        names(&week.clis),
        [("claude".into(), 1, 1), ("claude 2.1.0".into(), 1, 0)]
    );
    assert_eq!(
        names(&week.tmux),
        [("3.4".into(), 1, 1), ("3.5a".into(), 1, 0)]
    );
}

#[test]
fn a_week_says_what_was_consumed_how_fast_and_what_missed_why() {
    let world = World::new();
    // Consumed, but longer ago than a week when it is summed up.
    consumed(&world);
    world.execute("UPDATE recipient SET read_at = 1");
    world.minutes(60);
    // Presented and never answered.
    assert!(sent(&world, "web", "api").starts_with("issued"));
    world.execute("UPDATE wake SET rung = 4 WHERE ended_at IS NULL");
    assert!(Pager::FIRST.delivers(&world, "api"));
    sweep_for(&world, 16);
    assert_eq!(latest(&world, "api"), "unanswered");
    // Never typed, because no pager was there, and then nothing was left to announce.
    let thread = world.sent("web", &["db"], "for db", "b").thread_id;
    world.close("web", &thread).unwrap();
    assert_eq!(latest(&world, "db"), "cleared");
    // Held for ten minutes, then consumed.
    pause(&world, "web", true);
    assert_eq!(sent(&world, "db", "web"), "held paused");
    world.minutes(10);
    pause(&world, "web", false);
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    assert_eq!(latest(&world, "web"), "consumed");

    let begun = world.now();
    world.set_now(begun + Duration::from_secs(7 * 24 * 60 * 60 - 40 * 60));
    let week = week(&world);
    let all = &week.all;
    assert_eq!((all.issued, all.consumed), (3, 1));
    assert_eq!((all.unanswered, all.cleared, all.open), (1, 1, 0));
    assert_eq!(all.success_rate(), Some(1.0 / 3.0));
    assert_eq!(all.consumption.map(|found| found.p50), Some(600_000));
    let misses: Vec<_> = week
        .misses
        .iter()
        .map(|miss| (miss.part.as_str(), miss.outcome, miss.cause.as_str()))
        .collect();
    assert_eq!(
        misses,
        [
            ("api", "unanswered", "no_call"),
            ("db", "cleared", "no_pager")
        ]
    );
    let held: Vec<_> = week
        .holds
        .iter()
        .map(|held| {
            (
                held.part.as_str(),
                held.reason.as_str(),
                held.count,
                held.held_ms,
            )
        })
        .collect();
    assert_eq!(held, [("web", "paused", 1, 600_000)]);
    assert_eq!(week.misses[1].thread.as_deref(), Some(thread.as_str()));
}

#[test]
fn a_reminder_is_measured_from_its_issue() {
    let world = World::new();
    consumed(&world);
    sweep_for(&world, 10);
    let reminder = rows(&world).remove(0);
    assert_eq!(reminder.what, What::Wake);
    assert_eq!(reminder.stored_at, Some(reminder.at));
    assert!(reminder.at > Time(world.now().0 - 60_000));
}

#[test]
fn the_numbers_are_those_of_the_tables() {
    let world = World::new();
    consumed(&world);
    world.minutes(1);
    sent(&world, "api", "web");
    pause(&world, "db", true);
    sent(&world, "api", "db");
    let found = measured(&world);
    let of = |counts: &[(&'static str, u64)], word: &str| {
        let found = counts.iter().find(|(known, _)| *known == word);
        found.map(|(_, count)| *count)
    };
    assert_eq!(of(&found.issued, "mail"), Some(2));
    assert_eq!(of(&found.issued, "reminder"), Some(0));
    assert_eq!(of(&found.ended, "consumed"), Some(1));
    assert_eq!(of(&found.open, "waiting"), Some(1));
    assert_eq!(of(&found.open, "done"), None);
    assert_eq!(of(&found.typed, "normal"), Some(1));
    assert_eq!(of(&found.holds, "paused"), Some(1));
    assert_eq!(of(&found.holds, "budget"), Some(0));
    assert_eq!(found.presented_ms, [2_000]);
    assert_eq!(found.consumed_ms, [7_000]);
    let normal = &found.budgets[0];
    assert_eq!((normal.owner.as_str(), normal.lane), ("kim", "normal"));
    // One line typed, one place held.
    assert_eq!((normal.limit, normal.used), (30, 2));
}
