//! Claims, leases and reports.

use relayroom::api::ReportResult;
use relayroom::api::Stage;
use relayroom::store::Signal;
use relayroom::store::Time;
use relayroom::store::Topic;
use relayroom::store::new_id;

use super::*;
use crate::wake::pager::Pager;
use crate::wake::pager::blocked;
use crate::wake::pager::submitted;
use crate::wake::pager::typed;

const SECOND: Pager = Pager("second");

#[test]
fn wake_020_a_leased_wake_is_anothers_only_after_45_s() {
    let world = World::new();
    sent(&world, "api", "web");
    let first = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(first.lease_ms, 45_000);
    world.seconds(44);
    let held = SECOND.poll(&world, &["web"]).remove(0);
    assert_eq!(held.error.as_deref(), Some("held"));
    assert_eq!(held.machine.as_deref(), Some("first-machine"));
    assert!(held.wake.is_none());
    world.seconds(1);
    let second = SECOND.wake(&world, "web").unwrap();
    assert_eq!(
        (second.wake_id, second.tag),
        (first.wake_id.clone(), first.tag.clone())
    );
    assert_eq!(
        Pager::FIRST.report(&world, "web", &first, typed(&first)),
        ReportResult::NotHolder
    );
    assert_eq!(nudges(&world), 0);
}

#[test]
fn a_poll_renews_the_lease_and_a_look_takes_none() {
    let world = World::new();
    sent(&world, "api", "web");
    let looked = SECOND.view(&world, "web").wake.unwrap();
    assert_eq!(looked.lease_ms, 0);
    assert!(Pager::FIRST.wake(&world, "web").is_some());
    for _ in 0..3 {
        world.seconds(40);
        assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().lease_ms, 45_000);
        assert!(SECOND.wake(&world, "web").is_none());
    }
}

#[test]
fn wake_021_case_a03_nothing_is_typed_for_mail_the_agent_fetched_itself() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    world.inbox("web");
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, Stage::Confirm),
        ReportResult::Cleared
    );
    assert_eq!(nudges(&world), 0);
    assert_eq!(latest(&world, "web"), "consumed");
    assert!(Pager::FIRST.wake(&world, "web").is_none());
}

#[test]
fn wake_022_a_submission_reported_twice_is_one_nudge() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    let event = new_id();
    let report =
        |event: &str| Pager::FIRST.report_as(&world, "web", &wake, submitted(&wake), event);
    assert_eq!(report(&event), ReportResult::Ok);
    let presented = world.count("SELECT presented_at FROM wake");
    world.seconds(1);
    assert_eq!(report(&event), ReportResult::Already);
    assert_eq!(report(&new_id()), ReportResult::Already);
    assert_eq!(nudges(&world), 1);
    assert_eq!(world.count("SELECT presented_at FROM wake"), presented);
}

#[test]
fn wake_023_a_report_for_a_done_wake_is_stale_and_reopens_nothing() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.inbox("web");
    let event = new_id();
    for _ in 0..2 {
        assert_eq!(
            Pager::FIRST.report_as(&world, "web", &wake, submitted(&wake), &event),
            ReportResult::Stale
        );
    }
    assert_eq!(latest(&world, "web"), "consumed");
    assert_eq!(nudges(&world), 1);
    // What became of the line is its own fact, and known now.
    let known = "SELECT count(*) FROM nudge WHERE outcome = 'submitted'";
    assert_eq!(world.count(known), 1);
    let mut unknown = wake.clone();
    unknown.wake_id = new_id();
    assert_eq!(
        Pager::FIRST.report(&world, "web", &unknown, submitted(&wake)),
        ReportResult::Stale
    );
}

#[test]
fn wake_030_a_dialog_keeps_its_reason_since_it_began_and_the_wake_its_pager() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    let began = world.now();
    for _ in 0..60 {
        assert_eq!(
            Pager::FIRST.report(&world, "web", &wake, blocked("dialog")),
            ReportResult::Ok
        );
        for _ in 0..2 {
            world.seconds(30);
            sweep(&world);
            assert!(Pager::FIRST.wake(&world, "web").is_some());
        }
    }
    assert_eq!(
        text(&world, "SELECT hold_reason FROM wake").as_deref(),
        Some("dialog")
    );
    assert_eq!(world.count("SELECT hold_since FROM wake"), began.0);
    assert_eq!(nudges(&world), 0);
    assert!(Pager::FIRST.delivers(&world, "web"));
    assert_eq!(text(&world, "SELECT hold_reason FROM wake"), None);
}

#[test]
fn wake_038_a_pager_killed_after_typed_does_not_type_again_before_the_next_rung() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.seconds(50);
    sweep(&world);
    assert_eq!(latest(&world, "web"), "unconfirmed");
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    world.seconds(39);
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    world.seconds(1);
    let next = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!((next.tag, next.nudge), (wake.tag, 2));
}

#[test]
fn a_late_submission_turns_unconfirmed_into_presented() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.seconds(50);
    sweep(&world);
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, submitted(&wake)),
        ReportResult::Ok
    );
    assert_eq!(latest(&world, "web"), "presented");
    world.seconds(40);
    let second = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, submitted(&wake)),
        ReportResult::Stale,
        "the first nudge is over"
    );
    assert_eq!(second.nudge, 2);
}

#[test]
fn a_pager_that_lost_track_of_a_typed_line_does_not_type_it_again() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    assert_eq!(Pager::FIRST.wake(&world, "web").as_ref(), Some(&wake));
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, Stage::Confirm),
        ReportResult::Stale
    );
    assert_eq!(latest(&world, "web"), "unconfirmed");
    assert!(Pager::FIRST.wake(&world, "web").is_none());
}

#[test]
fn a_pause_between_confirm_and_typed_stops_the_enter() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, Stage::Confirm),
        ReportResult::Ok
    );
    pause(&world, "web", true);
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, typed(&wake)),
        ReportResult::Cleared
    );
    assert_eq!(nudges(&world), 0);
    pause(&world, "web", false);
    assert!(Pager::FIRST.delivers(&world, "web"));
}

#[test]
fn a_submission_whose_typed_was_lost_counts_as_a_nudge() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, submitted(&wake)),
        ReportResult::Ok
    );
    assert_eq!(
        world.count("SELECT count(*) FROM nudge WHERE outcome = 'submitted' AND enters = 1"),
        1
    );
}

#[test]
fn a_released_wake_is_free_for_the_next() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(
        Pager::FIRST.report(&world, "web", &wake, Stage::Released),
        ReportResult::Ok
    );
    assert_eq!(SECOND.wake(&world, "web").unwrap().tag, wake.tag);
}

#[test]
fn several_parts_several_wakes_in_one_answer() {
    let world = World::new();
    sent(&world, "api", "web");
    sent(&world, "api", "db");
    let answers = Pager::FIRST.poll(&world, &["web", "api", "db"]);
    let offered: Vec<_> = answers.iter().map(|entry| entry.wake.is_some()).collect();
    assert_eq!(offered, [true, false, true]);
    assert_eq!(answers[0].unread, 1);
}

#[test]
fn ids_that_are_no_uuids_are_refused() {
    let world = World::new();
    sent(&world, "api", "web");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    let part = world.part("web");
    let refused = world.write(move |tx, now| {
        let request = relayroom::api::ReportRequest {
            pager: "first".into(),
            code: "code".into(),
            part: "web".into(),
            wake_id: wake.wake_id,
            nudge: 1,
            event: "e".into(),
            at: String::new(),
            stage: Stage::Released,
        };
        wake::report::apply(tx, &request, part, "first:web", now)
    });
    assert!(refused.is_err());
}

fn mark() -> Signal {
    Signal {
        topic: Topic::Settings,
        project: None,
        part: None,
        id: "mark".into(),
    }
}

#[test]
fn what_a_poll_would_answer_is_signalled_with_its_part() {
    let world = World::new();
    let web = world.part("web");
    let mut signals = world.store.signals();
    // What was told of web up to a mark of our own.
    let mut told = || {
        world
            .write(|tx, _| {
                tx.signal(mark());
                Ok(())
            })
            .unwrap();
        let mut topics = Vec::new();
        loop {
            let signal = signals.blocking_recv().unwrap();
            if signal == mark() {
                return topics;
            }
            if signal.part == Some(web) {
                topics.push(signal.topic);
            }
        }
    };
    sent(&world, "api", "web");
    assert!(told().contains(&Topic::Wake));
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    assert!(told().contains(&Topic::Wake));
    Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(told(), [], "a lease renewed is no news");
    Pager::FIRST.types(&world, "web", &wake);
    assert!(told().contains(&Topic::Wake));
    world.inbox("web");
    assert!(told().contains(&Topic::Wake));
    assert_eq!(sent(&world, "api", "web"), "held cooldown");
    assert!(told().contains(&Topic::Hold));
    sweep(&world);
    assert_eq!(told(), [], "a hold that goes on is no news");
}

#[test]
fn wake_039_a_lease_outlives_no_restart_with_the_clock_set_back() {
    let world = World::new();
    sent(&world, "api", "web");
    sent(&world, "api", "db");
    world.minutes(5);
    assert!(Pager::FIRST.wake(&world, "web").is_some());
    let leased = world.now();
    let folder = world.close_file();
    let back = Time(leased.0 - 5 * 60_000);
    let store =
        relayroom::store::Store::open(&folder.path().join("relayroom.db"), "test", back).unwrap();
    assert_eq!(store.last_time(), leased);
}
