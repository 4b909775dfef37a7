//! Lanes and what joins them.

use super::*;
use crate::wake::pager::Pager;

#[test]
fn wake_044_urgent_mail_raises_a_waiting_wake_and_is_counted_when_typed() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    assert_eq!(sent(&world, "api", "web"), "issued");
    assert_eq!(sent_urgent(&world, "db", "web"), "waiting");
    assert_eq!(lane(&world, "web"), "urgent");
    assert_eq!(nudges(&world), 0);
    assert!(Pager::FIRST.delivers(&world, "web"));
    assert_eq!(
        text(&world, "SELECT lane FROM nudge").as_deref(),
        Some("urgent")
    );
}

#[test]
fn normal_mail_lowers_no_lane_and_a_persons_raises_any() {
    let world = World::new();
    sent_urgent(&world, "api", "web");
    sent(&world, "db", "web");
    assert_eq!(lane(&world, "web"), "urgent");
    sent_by_person(&world, "web");
    assert_eq!(lane(&world, "web"), "human");
    sent_urgent(&world, "db", "web");
    assert_eq!(lane(&world, "web"), "human");
}

#[test]
fn a_raised_lane_gives_its_normal_place_to_the_next() {
    let world = World::new();
    budget(&world, world.kim, 1, 1);
    sent(&world, "api", "web");
    assert_eq!(sent(&world, "web", "db"), "held budget");
    sent_urgent(&world, "db", "web");
    assert_eq!(lane(&world, "web"), "urgent");
    assert_eq!(latest(&world, "db"), "waiting");
}

#[test]
fn a_persons_mail_after_a_nudge_takes_the_next_one_to_the_human_lane() {
    let world = World::new();
    budget(&world, world.kim, 1, 0);
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.seconds(61);
    sent_by_person(&world, "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    assert_eq!(
        text(
            &world,
            "SELECT group_concat(lane) FROM (SELECT lane FROM nudge ORDER BY seq)"
        )
        .as_deref(),
        Some("normal,human")
    );
}
