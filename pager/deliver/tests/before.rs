//! The paths of pager.md 3 up to the text, one test per transition; restarts.

use super::*;

#[test]
fn the_plain_path_is_confirm_text_enter_submitted() {
    let mut run = Run::new();
    assert_eq!(stages(&run.look(0, ready)), ["confirm"]);
    assert_eq!(
        stages(&run.then(10, Event::Confirmed(Some(ReportResult::Ok)))),
        ["journal intent", "paste"]
    );
    let shown = line(run.now + Duration::from_millis(300));
    assert_eq!(
        stages(&run.then(300, Event::TextSent(Outcome::Sent, Some(shown)))),
        ["typed kqmwvz", "journal typed"]
    );
    assert_eq!(
        stages(&run.then(5, Event::TypedAnswered(ReportResult::Ok))),
        ["journal entering", "enter"]
    );
    let mut busy = look(run.now, Kind::Busy, "marker", Standing::Empty);
    busy.at = run.now;
    assert_eq!(
        stages(&run.then(150, Event::EnterSent(Outcome::Sent, Some(busy)))),
        ["submitted 1 kqmwvz", "journal done"]
    );
    assert!(run.delivery.is_done() && !run.delivery.needs_hands());
}

#[test]
fn d2_a_bad_line_is_told_and_judged_again_with_each_answer() {
    for bad in [
        "relayroom: 7 (tag kqmwvz)",
        "mail (tag kqmwvz)",
        "relayroom: x; (tag kqmwvz)",
    ] {
        let mut run = Run::new();
        run.delivery = Delivery::new(
            &WakeOffer {
                line: bad.into(),
                ..offer()
            },
            Time(0),
            START,
        );
        assert_eq!(
            stages(&run.look(0, ready)),
            ["blocked unknown/bad_line"],
            "{bad}"
        );
        run.then(0, Event::Offered(offer()));
        assert_eq!(stages(&run.look(0, ready)), ["confirm"]);
    }
}

#[test]
fn d3_a_reason_is_told_when_it_changes_and_every_minute() {
    let mut run = Run::new();
    assert_eq!(stages(&run.look(0, dialog)), ["blocked dialog/choice"]);
    assert!(run.look(2_000, dialog).is_empty());
    assert_eq!(
        stages(&run.look(2_000, |at| look(at, Kind::Draft, "text", Standing::Text))),
        ["blocked draft/text"]
    );
    assert!(
        run.look(59_000, |at| look(at, Kind::Draft, "text", Standing::Text))
            .is_empty()
    );
    assert_eq!(
        stages(&run.look(2_000, |at| look(at, Kind::Draft, "text", Standing::Text))),
        ["blocked draft/text"]
    );
    assert_eq!(run.delivery.look_at, run.now + HELD);
}

#[test]
fn d4_without_slot_lock_or_lease_nothing_is_asked() {
    let mut run = Run::new();
    let unclaimed = Look {
        claimed: false,
        ..ready(START)
    };
    assert!(run.delivery.wants_hands(&unclaimed, START));
    assert!(run.then(0, Event::Looked(unclaimed)).is_empty());
    assert_eq!(stages(&run.look(50_000, ready)), ["blocked unknown/relay"]);
    assert!(!run.delivery.wants_hands(&ready(run.now), run.now));
    run.then(0, Event::Offered(offer()));
    assert_eq!(stages(&run.look(0, ready)), ["confirm"]);
}

#[test]
fn d5_an_own_line_of_any_tag_is_submitted_without_a_text() {
    let mut run = Run::new();
    assert_eq!(
        stages(&run.look(0, |at| own_draft(at, "bcdfgh"))),
        ["confirm"]
    );
    assert_eq!(
        stages(&run.then(10, Event::Confirmed(Some(ReportResult::Ok)))),
        ["typed bcdfgh", "journal typed"]
    );
    assert_eq!(
        stages(&run.then(10, Event::TypedAnswered(ReportResult::Ok))),
        ["journal entering", "enter"]
    );
    let echo = Look {
        verdict: Verdict {
            above: Squeezed::of(&LINE.replace("kqmwvz", "bcdfgh")),
            ..ready(run.now).verdict
        },
        ..ready(run.now)
    };
    assert_eq!(
        stages(&run.then(150, Event::EnterSent(Outcome::Sent, Some(echo)))),
        ["submitted 1 bcdfgh", "journal done"]
    );
    assert_eq!(run.delivery.texts, 0);
}

#[test]
fn d6_an_old_look_is_taken_again_and_decides() {
    let mut run = Run::new();
    run.look(0, ready);
    assert!(
        run.then(600, Event::Confirmed(Some(ReportResult::Ok)))
            .is_empty()
    );
    assert_eq!(run.delivery.look_at, run.now);
    assert_eq!(stages(&run.look(20, ready)), ["journal intent", "paste"]);
    let mut changed = Run::new();
    changed.look(0, ready);
    changed.then(600, Event::Confirmed(Some(ReportResult::Ok)));
    assert_eq!(stages(&changed.look(20, dialog)), ["blocked dialog/choice"]);
    assert!(!changed.delivery.needs_hands());
}

#[test]
fn d6_a_dialog_seen_while_the_answer_was_awaited_gets_no_text() {
    let mut run = Run::new();
    run.look(0, ready);
    run.look(100, dialog);
    assert_eq!(
        stages(&run.then(10, Event::Confirmed(Some(ReportResult::Ok)))),
        ["blocked dialog/choice"]
    );
}

#[test]
fn d7_answers_that_are_not_ok_type_nothing() {
    for (answer, phase) in [
        (Some(ReportResult::Cleared), Phase::Done(End::Cleared)),
        (Some(ReportResult::Stale), Phase::Done(End::Stale)),
        (Some(ReportResult::NotHolder), Phase::Done(End::Withdrawn)),
        (None, Phase::Looking),
    ] {
        let mut run = Run::new();
        run.look(0, ready);
        let actions = run.then(10, Event::Confirmed(answer));
        assert!(
            !actions
                .iter()
                .any(|action| matches!(action, Action::Journal(_)))
        );
        assert_eq!(run.delivery.phase, phase);
        assert!(!run.delivery.needs_hands());
    }
}

#[test]
fn d8_held_three_times_names_tmux_and_counts_no_text() {
    let mut run = Run::new();
    for round in 0..3 {
        run.look(10, ready);
        run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
        let actions = run.then(10, Event::TextSent(Outcome::Held, None));
        let expected: &[&str] = if round == 2 {
            &["blocked unknown/tmux"]
        } else {
            &[]
        };
        assert_eq!(stages(&actions), expected, "round {round}");
    }
    assert_eq!(
        (run.delivery.texts, run.delivery.phase.clone()),
        (0, Phase::Looking)
    );
}

#[test]
fn d8_after_a_failed_child_a_look_decides() {
    let failed = || {
        let mut run = Run::new();
        run.look(0, ready);
        run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
        run.then(5_000, Event::TextSent(Outcome::Unknown, None));
        run
    };
    let mut run = failed();
    assert_eq!(
        stages(&run.look(10, line)),
        ["typed kqmwvz", "journal typed"]
    );
    let mut run = failed();
    run.look(10, ready);
    assert!(
        matches!(run.delivery.phase, Phase::Unsure { .. }),
        "a line drawn late is waited for"
    );
    run.look(5_000, ready);
    assert_eq!(
        (run.delivery.phase.clone(), run.delivery.texts),
        (Phase::Looking, 1)
    );
}

#[test]
fn d18_and_d20_before_the_text_and_after() {
    let mut run = Run::new();
    assert!(run.then(0, Event::Withdrawn).is_empty());
    assert_eq!(run.delivery.phase, Phase::Done(End::Withdrawn));
    let mut run = Run::typed();
    run.then(0, Event::Withdrawn);
    assert!(matches!(run.delivery.phase, Phase::Typed(_)));
    assert_eq!(stages(&run.then(0, Event::Stop)), ["released"]);
    assert!(run.then(0, Event::Stop).is_empty());
}

#[test]
fn d19_another_pane_ends_what_was_typed() {
    let gone = |at: Time| Look {
        lost: true,
        ..look(at, Kind::WrongPane, "respawned", Standing::None)
    };
    let mut run = Run::new();
    assert_eq!(stages(&run.look(0, gone)), ["blocked no_pane/respawned"]);
    for mut run in [Run::typed(), Run::entered()] {
        assert_eq!(stages(&run.look(10, gone))[0], "unconfirmed pane_gone");
    }
}

#[test]
fn a_failed_journal_types_nothing() {
    let mut run = Run::new();
    run.look(0, ready);
    run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
    assert_eq!(
        stages(&run.then(0, Event::JournalFailed)),
        ["blocked unknown/journal"]
    );
    assert_eq!(
        (run.delivery.phase.clone(), run.delivery.texts),
        (Phase::Looking, 0)
    );
    let mut run = Run::typed();
    run.then(5, Event::TypedAnswered(ReportResult::Ok));
    run.then(0, Event::JournalFailed);
    assert_eq!(run.delivery.enters, 0);
}

#[test]
fn the_restart_table() {
    for (stage, of, expected) in [
        (Written::Intent, line as fn(Time) -> Look, "typed kqmwvz"),
        (Written::Typed, line, "typed kqmwvz"),
        (Written::Entering, line, "typed kqmwvz"),
        (Written::Typed, ready, "unconfirmed restart"),
        (Written::Entering, ready, "unconfirmed restart"),
        (
            Written::Entering,
            |at| Look {
                verdict: Verdict {
                    above: Squeezed::of(LINE),
                    ..ready(at).verdict
                },
                ..ready(at)
            },
            "submitted 1 kqmwvz",
        ),
    ] {
        let mut run = resumed(stage, u32::from(stage == Written::Entering));
        assert!(run.look(0, of).is_empty(), "a composer is read twice");
        assert_eq!(stages(&run.look(500, of))[0], expected, "{stage:?}");
    }
    let mut run = resumed(Written::Intent, 0);
    run.look(0, ready);
    run.look(500, ready);
    assert_eq!(
        (run.delivery.phase.clone(), run.delivery.texts),
        (Phase::Looking, 0)
    );
    assert!(
        !run.delivery.wants_hands(&ready(run.now), run.now),
        "no lease yet"
    );
    let mut run = resumed(Written::Entering, 2);
    run.look(0, line);
    run.look(500, line);
    let answered = run.then(10, Event::TypedAnswered(ReportResult::Already));
    assert_eq!(stages(&answered)[0], "unconfirmed enter_ignored");
    let mut done = Run::entered();
    let record = done.delivery.record(Written::Done, done.now);
    assert!(Delivery::resume(&record, done.now).is_none());
    done.then(0, Event::Stop);
}
