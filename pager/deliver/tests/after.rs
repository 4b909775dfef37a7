//! The paths of pager.md 3 from the text on, one test per transition.

use super::*;

#[test]
fn d10_no_enter_before_the_relay_took_note() {
    let mut run = Run::typed();
    assert_eq!(stages(&run.look(400, line)), ["blocked unknown/relay"]);
    assert!(
        !run.delivery.needs_hands(),
        "slot and lock are free meanwhile"
    );
    run.then(3_000, Event::TypedAnswered(ReportResult::Already));
    assert_eq!(stages(&run.look(0, line)), ["journal entering", "enter"]);
}

#[test]
fn d10_a_look_that_a_newer_one_overtook_leads_to_no_enter() {
    let mut run = Run::typed();
    assert_eq!(stages(&run.look(100, dialog)), ["blocked dialog/choice"]);
    assert!(
        run.then(50, Event::TypedAnswered(ReportResult::Ok))
            .is_empty()
    );
}

#[test]
fn d11_a_dialog_mode_turn_person_or_more_text_keeps_enter_back() {
    let person = |at: Time| Look {
        person: Some(at),
        ..line(at)
    };
    for (of, told) in [
        (dialog as fn(Time) -> Look, "blocked dialog/choice"),
        (
            |at| look(at, Kind::Mode, "copy", Standing::OwnLine("kqmwvz".into())),
            "blocked mode/copy",
        ),
        (
            |at| look(at, Kind::Busy, "marker", Standing::OwnLine("kqmwvz".into())),
            "blocked busy/marker",
        ),
        (
            |at| look(at, Kind::Draft, "own_line_plus", Standing::OwnLinePlus),
            "blocked draft/own_line_plus",
        ),
        (person, "blocked busy/moving"),
    ] {
        let mut run = Run::typed();
        run.then(600, Event::TypedAnswered(ReportResult::Ok));
        assert_eq!(stages(&run.look(0, of)), [told]);
        assert!(!run.delivery.needs_hands());
        let unclaimed = Look {
            claimed: false,
            ..line(run.now)
        };
        assert!(
            run.then(6_000, Event::Looked(unclaimed)).is_empty(),
            "{told}"
        );
        assert_eq!(
            stages(&run.look(0, line)),
            ["journal entering", "enter"],
            "{told}"
        );
    }
}

#[test]
fn d12_somebody_else_pressed_enter() {
    let mut run = Run::typed();
    let echo = Look {
        verdict: Verdict {
            above: Squeezed::of(LINE),
            ..ready(run.now).verdict
        },
        ..ready(run.now)
    };
    assert_eq!(
        stages(&run.then(400, Event::Looked(echo))),
        ["submitted 0 kqmwvz", "journal done"]
    );
    let mut run = Run::typed();
    let turn = Turn {
        since: Some(9),
        tag: Some("kqmwvz".into()),
        ..Turn::default()
    };
    let began = Look {
        turn,
        ..dialog(run.now)
    };
    assert_eq!(
        stages(&run.then(400, Event::Looked(began))),
        ["submitted 0 kqmwvz", "journal done"]
    );
}

#[test]
fn pager_069_an_old_echo_and_an_old_turn_are_no_evidence() {
    let old = |at: Time| Look {
        verdict: Verdict {
            above: Squeezed::of(LINE),
            ..ready(at).verdict
        },
        turn: Turn {
            since: Some(9),
            tag: Some("kqmwvz".into()),
            ..Turn::default()
        },
        ..ready(at)
    };
    let mut run = Run::new();
    run.look(0, old);
    run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
    let at = run.now;
    run.then(300, Event::TextSent(Outcome::Sent, Some(old(at))));
    run.then(5, Event::TypedAnswered(ReportResult::Ok));
    assert!(run.look(300, old).is_empty());
    let twice = Look {
        verdict: Verdict {
            above: Squeezed::of(&format!("{LINE}{LINE}")),
            ..ready(run.now).verdict
        },
        ..old(run.now)
    };
    assert_eq!(
        stages(&run.then(300, Event::Looked(twice)))[0],
        "submitted 0 kqmwvz"
    );
}

#[test]
fn d13_a_lost_first_text_is_typed_once_more() {
    let mut run = Run::typed();
    run.then(600, Event::TypedAnswered(ReportResult::Ok));
    run.look(0, drawn_empty);
    run.look(4_900, drawn_empty);
    assert!(matches!(run.delivery.phase, Phase::Typed(_)));
    run.look(200, drawn_empty);
    assert_eq!(run.delivery.phase, Phase::Looking);
    run.look(100, ready);
    run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
    let at = run.now;
    run.then(300, Event::TextSent(Outcome::Sent, Some(drawn_empty(at))));
    assert_eq!(run.delivery.texts, 2);
    run.then(5, Event::TypedAnswered(ReportResult::Ok));
    run.look(300, drawn_empty);
    run.look(6_000, drawn_empty);
    assert_eq!(
        stages(&run.look(5_000, drawn_empty))[0],
        "unconfirmed vanished"
    );
}

#[test]
fn d14_not_drawn_or_deleted_by_a_person_is_given_up() {
    let mut run = Run::typed();
    run.then(600, Event::TypedAnswered(ReportResult::Ok));
    run.look(0, ready);
    run.look(6_000, ready);
    assert_eq!(
        stages(&run.look(4_000, ready))[0],
        "unconfirmed not_rendered"
    );
    let mut run = Run::typed();
    run.then(600, Event::TypedAnswered(ReportResult::Ok));
    let person = |at: Time| Look {
        person: Some(at),
        ..drawn_empty(at)
    };
    run.look(0, person);
    run.look(6_000, drawn_empty);
    assert!(
        matches!(run.delivery.phase, Phase::Typed(_)),
        "not typed again in this nudge"
    );
    assert_eq!(
        stages(&run.look(4_500, drawn_empty))[0],
        "unconfirmed vanished"
    );
}

#[test]
fn d15_a_stale_typed_gets_no_enter() {
    for answer in [
        ReportResult::Stale,
        ReportResult::Cleared,
        ReportResult::NotHolder,
    ] {
        let mut run = Run::typed();
        assert_eq!(
            stages(&run.then(5, Event::TypedAnswered(answer))),
            ["journal done"]
        );
        assert!(run.look(100, line).is_empty());
    }
}

#[test]
fn d16_one_second_enter_after_a_second_and_a_half_and_never_a_third() {
    let mut run = Run::entered();
    assert!(run.look(1_300, line).is_empty());
    assert_eq!(stages(&run.look(300, line)), ["journal entering", "enter"]);
    run.then(150, Event::EnterSent(Outcome::Sent, None));
    assert!(run.look(2_000, line).is_empty());
    assert_eq!(
        stages(&run.look(3_500, line))[0],
        "unconfirmed enter_ignored"
    );
    let mut run = Run::entered();
    assert!(
        run.look(2_000, dialog).is_empty(),
        "a dialog gets no second Enter"
    );
}

#[test]
fn d17_an_empty_composer_alone_is_no_evidence() {
    let mut run = Run::entered();
    assert!(run.look(2_000, drawn_empty).is_empty());
    assert_eq!(
        stages(&run.look(3_500, drawn_empty))[0],
        "unconfirmed vanished"
    );
}
