//! Pages of the ledger, and wakes beside the turns they caused (usage.md 8 and 12).

use relayroom::activity::Cause;
use relayroom::activity::ledger;
use relayroom::activity::ledger::By;
use relayroom::activity::ledger::Filter;
use relayroom::activity::ledger::Grouping;
use relayroom::activity::ledger::Page;
use relayroom::activity::ledger::Unit;
use relayroom::activity::price::Prices;
use relayroom::activity::zone::Zone;
use relayroom::api::hook::ActivityKind;
use relayroom::store::Time;
use relayroom::wake::reconcile;
use relayroom::wake::reconcile::Line;
use relayroom::wake::reconcile::Span;
use serde_json::json;

use super::reporter::Hook;
use crate::support::world::World;
use crate::wake::pager::Pager;
use crate::wake::pager::submitted;

/// All there is of shop.
fn all(world: &World) -> Filter {
    Filter {
        project: world.shop,
        part: None,
        provider: None,
        model: None,
        cause: None,
        wake: None,
        thread: None,
        from: Time(0),
        to: Time(world.now().0 + 1),
    }
}

fn page(world: &World, filter: &Filter, by: By, unit: Option<Unit>, zone: Option<&str>) -> Page {
    let (zone, prices) = (Zone::find(zone).unwrap(), Prices::off());
    let grouping = Grouping {
        by,
        unit,
        zone: &zone,
        prices: &prices,
        limit: None,
    };
    world
        .read(|connection| ledger::page(connection, filter, &grouping))
        .unwrap()
}

/// Names and output tokens of a page's lines.
fn lines(page: &Page) -> Vec<(&str, i64)> {
    page.lines
        .iter()
        .map(|line| (line.name.as_str(), line.figures.tokens.output))
        .collect()
}

fn reconciled(world: &World) -> Vec<Line> {
    let zone = Zone::find(None).unwrap();
    let span = Span {
        project: world.shop,
        part: None,
        from: Time(0),
        to: Time(world.now().0 + 1),
        zone: &zone,
    };
    world
        .read(|connection| reconcile::lines(connection, &span, world.now()))
        .unwrap()
}

/// Mail for web, typed and submitted; the wake's tag and the thread.
fn woken(world: &World) -> (String, String) {
    let count = world.count("SELECT count(*) FROM message");
    let thread = world
        .sent("api", &["web"], &format!("s{count}"), "b")
        .thread_id;
    let wake = Pager::FIRST.wake(world, "web").unwrap();
    Pager::FIRST.types(world, "web", &wake);
    Pager::FIRST.report(world, "web", &wake, submitted(&wake));
    (wake.tag, thread)
}

/// Two woken turns of 100 and 20, a person's of 5 by another model, and one of api's own of 3.
fn day_of_work(world: &World) -> (String, String) {
    let hook = Hook::new(world);
    let (tag, thread) = woken(world);
    for (turn, tokens) in [("t1", 100), ("t2", 20)] {
        world.seconds(1);
        hook.starts_by(turn, &tag);
        hook.posts(vec![hook.row(turn, tokens)]);
        hook.stops(turn);
    }
    world.seconds(1);
    hook.starts("t3");
    let mut row = hook.row("t3", 5);
    row["model"] = json!("model-b");
    hook.posts(vec![row]);
    let api = hook.of("api").provider("codex");
    api.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("a1".into());
        report.origin = Some(relayroom::api::hook::Origin::Itself);
    })
    .unwrap();
    api.posts(vec![api.row("a1", 3)]);
    (tag, thread)
}

#[test]
fn pages_are_grouped_by_what_is_asked_for() {
    let world = World::new();
    let (_, thread) = day_of_work(&world);
    let wake = world
        .read(|connection| {
            Ok(connection.query_row("SELECT id FROM wake", [], |row| row.get::<_, String>(0))?)
        })
        .unwrap();
    for (by, expected) in [
        (By::Part, vec![("web", 125), ("api", 3)]),
        (By::Model, vec![("model-a", 123), ("model-b", 5)]),
        (By::Provider, vec![("claude", 125), ("codex", 3)]),
        (By::Cause, vec![("wake", 120), ("human", 5), ("self", 3)]),
        (By::Wake, vec![(wake.as_str(), 120), ("", 8)]),
        (By::Thread, vec![(thread.as_str(), 120), ("", 8)]),
        (By::All, vec![("all", 128)]),
    ] {
        let page = page(&world, &all(&world), by, None, None);
        assert_eq!(lines(&page), expected, "{by:?}");
        assert_eq!(page.total.tokens.output, 128);
        assert_eq!(page.total.replies, 4);
    }
}

#[test]
fn a_page_keeps_its_largest_lines_and_counts_the_rest() {
    let world = World::new();
    day_of_work(&world);
    let (zone, prices) = (Zone::find(None).unwrap(), Prices::off());
    let grouping = Grouping {
        by: By::Cause,
        unit: None,
        zone: &zone,
        prices: &prices,
        limit: Some(1),
    };
    let page = world
        .read(|connection| ledger::page(connection, &all(&world), &grouping))
        .unwrap();
    assert_eq!(lines(&page), [("wake", 120)]);
    assert_eq!((page.omitted, page.total.tokens.output), (2, 128));
}

#[test]
fn filters_combine() {
    let world = World::new();
    let (tag, thread) = day_of_work(&world);
    let output = |change: &dyn Fn(&mut Filter)| {
        let mut filter = all(&world);
        change(&mut filter);
        page(&world, &filter, By::All, None, None)
            .total
            .tokens
            .output
    };
    let web = world.part("web");
    assert_eq!(output(&|filter| filter.part = Some(web)), 125);
    assert_eq!(output(&|filter| filter.wake = Some(tag.clone())), 120);
    assert_eq!(output(&|filter| filter.thread = Some(thread.clone())), 120);
    assert_eq!(output(&|filter| filter.cause = Some(Cause::Itself)), 3);
    assert_eq!(
        output(&|filter| {
            filter.part = Some(web);
            filter.model = Some("model-b".into());
        }),
        5
    );
    assert_eq!(
        output(&|filter| {
            filter.provider = Some("codex".into());
            filter.cause = Some(Cause::Human);
        }),
        0
    );
    assert_eq!(output(&|filter| filter.project = world.project("other")), 0);
    assert_eq!(output(&|filter| filter.to = filter.from), 0);
}

#[test]
fn usage_041_the_ledger_keeps_a_deleted_part_under_its_name() {
    let world = World::new();
    day_of_work(&world);
    world.delete("api");
    let page = page(&world, &all(&world), By::Part, None, None);
    assert_eq!(lines(&page), [("web", 125), ("api", 3)]);
}

#[test]
fn usage_044_days_are_the_zones_and_sum_up_to_the_rows() {
    let world = World::new();
    let hook = Hook::new(&world);
    let at = |text: &str| Time::parse(text).unwrap();
    world.set_now(at("2026-12-03T09:00:00Z"));
    hook.posts(vec![
        hook.row_at("m1", 1, at("2026-12-01T23:40:00+05:30")),
        hook.row_at("m2", 2, at("2026-12-02T00:10:00+05:30")),
        hook.row_at("m3", 4, at("2026-12-02T23:59:59+05:30")),
        hook.row_at("m4", 8, at("2026-12-03T00:00:00+05:30")),
    ]);
    let days = |zone: Option<&str>| {
        let page = page(&world, &all(&world), By::All, Some(Unit::Day), zone);
        let days = page.lines.iter().map(|line| {
            let day = line.at.unwrap();
            (day, line.figures.tokens.output)
        });
        days.collect::<Vec<_>>()
    };
    assert_eq!(
        days(Some("+05:30")),
        [
            (at("2026-12-01T00:00:00+05:30"), 1),
            (at("2026-12-02T00:00:00+05:30"), 6),
            (at("2026-12-03T00:00:00+05:30"), 8)
        ]
    );
    assert_eq!(
        days(None),
        [
            (at("2026-12-01T00:00:00Z"), 3),
            (at("2026-12-02T00:00:00Z"), 12)
        ]
    );
    let hours = page(
        &world,
        &all(&world),
        By::Part,
        Some(Unit::Hour),
        Some("+05:30"),
    );
    assert_eq!(hours.lines[0].at, Some(at("2026-12-01T23:00:00+05:30")));
    assert_eq!(hours.lines.len(), 4);
}

#[test]
fn a_late_row_corrects_the_page_of_yesterday() {
    let world = World::new();
    let hook = Hook::new(&world);
    let yesterday = world.now();
    hook.posts(vec![hook.row("m1", 1)]);
    world.minutes(24 * 60);
    let day = |world: &World| {
        page(world, &all(world), By::All, Some(Unit::Day), None).lines[0]
            .figures
            .tokens
            .output
    };
    assert_eq!(day(&world), 1);
    hook.posts(vec![hook.row_at("m2", 9, yesterday)]);
    assert_eq!(day(&world), 10);
}

#[test]
fn usage_028_wake_046_duplicates_are_told_with_their_tokens() {
    let world = World::new();
    day_of_work(&world);
    let lines = reconciled(&world);
    let web = lines.iter().find(|line| line.part == "web").unwrap();
    assert_eq!((web.issued, web.typed, web.presented), (1, 1, 1));
    assert_eq!((web.woken, web.human, web.own), (2, 1, 0));
    assert_eq!((web.duplicates, web.duplicate_tokens), (1, 20));
    assert_eq!(web.silent, 0);
    assert_eq!(web.last_report, Some(world.now()));
    let api = lines.iter().find(|line| line.part == "api").unwrap();
    assert_eq!((api.woken, api.human, api.own), (0, 0, 1));
    // The same over all days.
    let days = reconcile::by_part([lines.clone(), lines].concat());
    assert_eq!(days.len(), 2);
    assert_eq!((days[1].part.as_str(), days[1].woken), ("web", 4));
}

#[test]
fn usage_028_a_wake_is_silent_until_its_turn_is_told_of() {
    let world = World::new();
    let (tag, _) = woken(&world);
    let began = world.now();
    let silent = |world: &World| reconciled(world)[0].silent;
    world.minutes(10);
    assert_eq!(silent(&world), 0);
    world.seconds(1);
    assert_eq!(silent(&world), 1);
    world.minutes(60);
    Hook::new(&world)
        .tells(ActivityKind::TurnStart, |report| {
            report.turn = Some("t1".into());
            report.tag = Some(tag);
            report.at = began.rfc3339();
        })
        .unwrap();
    assert_eq!(silent(&world), 0);
}

#[test]
fn what_is_missing_is_reconciled_by_part_and_day() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("t1".into());
        report.tag = Some("bbbbbb".into());
        report.dropped = 3;
    })
    .unwrap();
    hook.posts_with(Vec::new(), |report| {
        report.skipped.insert("unknown".into(), 2);
    })
    .unwrap();
    world.minutes(24 * 60);
    hook.stops("t1");
    hook.starts("t2");
    let lines = reconciled(&world);
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0].skipped, lines[0].dropped), (2, 3));
    assert_eq!((lines[0].foreign_tags, lines[0].human), (1, 1));
    assert_eq!((lines[1].skipped, lines[1].human), (0, 1));
    assert!(lines[0].day < lines[1].day);
}
