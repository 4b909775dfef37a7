//! The park of a part that ran into its provider's limit.

use std::time::Duration;

use relayroom::activity;
use relayroom::activity::event::EventArgs;
use relayroom::messaging;
use relayroom::store::Outcome;
use serde_json::Value;
use serde_json::json;

use super::*;
use crate::wake::pager::Pager;

/// `event {type:"limited"}` of web, and what the edge does after it.
fn limited(world: &World, reset_at: Value) -> Outcome<Value> {
    let caller = world.caller("web");
    world.write(move |tx, now| {
        let detail = json!({ "resetAt": reset_at });
        let args = EventArgs {
            kind: "limited".into(),
            detail: detail.as_object().cloned(),
            ..EventArgs::default()
        };
        let recorded = activity::event::record(tx, &caller, args, now)?;
        wake::consider(tx, caller.part, now)?;
        Ok(recorded.limited_until.unwrap())
    })
}

fn in_hours(world: &World, hours: u64) -> Value {
    (world.now() + Duration::from_secs(hours * 3_600))
        .rfc3339()
        .into()
}

#[test]
fn wake_017_parked_for_two_hours_then_woken_by_the_first_sweep() {
    let world = World::new();
    limited(&world, in_hours(&world, 2)).unwrap();
    assert_eq!(sent(&world, "api", "web"), "held limited");
    assert_eq!(sent_urgent(&world, "db", "web"), "held limited");
    assert_eq!(sent_by_person(&world, "web"), "held limited");
    sweep_for(&world, 119);
    assert_eq!(wakes(&world), 0);
    assert_eq!(nudges(&world), 0);
    assert_eq!(world.count("SELECT count(*) FROM hold"), 1);
    world.minutes(1);
    sweep(&world);
    assert_eq!(latest(&world, "web"), "waiting");
    assert_eq!(hold(&world, "web"), None);
}

#[test]
fn wake_018_a_park_is_bounded_and_cleared_by_the_past() {
    let world = World::new();
    assert_eq!(
        limited(&world, in_hours(&world, 48)).unwrap(),
        in_hours(&world, 24)
    );
    let events = world.count("SELECT count(*) FROM event");
    assert!(limited(&world, "soon".into()).is_err());
    assert_eq!(world.count("SELECT count(*) FROM event"), events);
    assert_eq!(sent(&world, "api", "web"), "held limited");
    let past = world.now().rfc3339();
    world.seconds(1);
    assert_eq!(limited(&world, past.into()).unwrap(), Value::Null);
    assert_eq!(latest(&world, "web"), "waiting");
}

#[test]
fn wake_019_auto_close_takes_no_mail_from_a_parked_part() {
    let world = World::new();
    let sent = world.sent("api", &["web"], "s", "b");
    world.inbox("web");
    limited(&world, in_hours(&world, 2)).unwrap();
    world.minutes(31);
    let closed = world.write(messaging::auto_close).unwrap();
    assert_eq!(closed, 0);
    assert_eq!(world.status(&sent.thread_id), "open");
}

#[test]
fn an_open_wake_is_not_handed_out_or_climbed_while_parked() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    limited(&world, in_hours(&world, 2)).unwrap();
    use relayroom::api::ReportResult;
    use relayroom::api::Stage;
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, Stage::Confirm),
        ReportResult::Cleared
    );
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    assert_eq!(
        Pager::FIRST.view(&world, "web").hold.as_deref(),
        Some("limited")
    );
    assert_eq!(sent(&world, "db", "web"), "waiting");
    sweep_for(&world, 119);
    assert_eq!(wakes(&world), 1);
    sweep_for(&world, 2);
    assert!(Pager::FIRST.delivers(&world, "web"));
}
