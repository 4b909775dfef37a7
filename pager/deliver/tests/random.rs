//! Every state with every event, and random strings of events against the promises.

use proptest::prelude::*;

use super::*;

/// One of everything that can happen, at `at`.
fn every_event(at: Time) -> Vec<Event> {
    let looks = [
        ready(at),
        line(at),
        drawn_empty(at),
        dialog(at),
        own_draft(at, "bcdfgh"),
        look(at, Kind::Draft, "text", Standing::Text),
        look(at, Kind::Draft, "own_line_plus", Standing::OwnLinePlus),
        look(at, Kind::Busy, "marker", Standing::Empty),
        look(at, Kind::NoAgent, "shell", Standing::None),
        look(at, Kind::Unknown, "no_capture", Standing::None),
        Look {
            lost: true,
            ..look(at, Kind::WrongPane, "gone", Standing::None)
        },
    ];
    let results = [
        ReportResult::Ok,
        ReportResult::Already,
        ReportResult::Cleared,
        ReportResult::Stale,
        ReportResult::NotHolder,
    ];
    let outcomes = [
        Outcome::Sent,
        Outcome::Held,
        Outcome::ReadOnly,
        Outcome::Unknown,
    ];
    let mut all = vec![
        Event::Offered(offer()),
        Event::Withdrawn,
        Event::Confirmed(None),
        Event::Stop,
    ];
    for look in looks {
        all.push(Event::Looked(Look {
            claimed: false,
            ..look.clone()
        }));
        for outcome in outcomes {
            all.push(Event::TextSent(outcome, Some(look.clone())));
            all.push(Event::EnterSent(outcome, Some(look.clone())));
        }
        all.push(Event::Looked(look));
    }
    for result in results {
        all.push(Event::Confirmed(Some(result)));
        all.push(Event::TypedAnswered(result));
    }
    all
}

#[test]
fn every_state_takes_every_event() {
    let looking = Run::new();
    let mut confirming = Run::new();
    confirming.look(0, ready);
    let mut agreed = Run::new();
    agreed.look(0, ready);
    agreed.then(600, Event::Confirmed(Some(ReportResult::Ok)));
    let mut typing = Run::new();
    typing.look(0, ready);
    typing.then(10, Event::Confirmed(Some(ReportResult::Ok)));
    let mut unsure = Run {
        delivery: typing.delivery.clone(),
        now: typing.now,
    };
    unsure.then(0, Event::TextSent(Outcome::Unknown, None));
    let mut pressing = Run::typed();
    pressing.then(5, Event::TypedAnswered(ReportResult::Ok));
    let mut done = Run::new();
    done.then(0, Event::Stop);
    let states = [
        looking,
        confirming,
        agreed,
        typing,
        unsure,
        Run::typed(),
        pressing,
        Run::entered(),
        resumed(Written::Intent, 0),
        resumed(Written::Entering, 1),
        done,
    ];
    for state in states {
        for event in every_event(state.now) {
            let (after, actions) = step(state.delivery.clone(), event.clone(), state.now);
            let keys = actions
                .iter()
                .filter(|action| matches!(action, Action::Paste | Action::Enter))
                .count();
            let journaled = actions
                .iter()
                .any(|action| matches!(action, Action::Journal(_)));
            assert!(
                keys <= 1 && (keys == 0 || journaled),
                "{event:?} in {:?}",
                state.delivery.phase
            );
            assert!(after.texts <= MOST && after.enters <= MOST);
            if state.delivery.is_done() {
                assert!(actions.is_empty() && after.is_done());
            }
            let idle = after.is_done() || after.look_at >= START;
            assert!(idle, "a delivery that is not over is looked at again");
        }
    }
}

/// Mostly what can happen in this phase: looks and the end of the child under way; sometimes anything.
fn likely(phase: &Phase, pick: usize, at: Time) -> Event {
    let all = every_event(at);
    let fits = |event: &&Event| match (event, phase, pick % 8) {
        (_, _, 0) => true,
        (Event::TextSent(..), Phase::Typing, _) => true,
        (Event::EnterSent(..), Phase::Pressing(_), _) => true,
        (Event::Confirmed(_), Phase::Confirming { .. }, 1 | 2) => true,
        (Event::TypedAnswered(_), Phase::Typed(_), 1 | 2) => true,
        (Event::Looked(_), Phase::Confirming { .. } | Phase::Typed(_), _) => pick % 8 > 2,
        (Event::Looked(_), _, _) => true,
        _ => false,
    };
    let fitting: Vec<&Event> = all.iter().filter(fits).collect();
    let event = fitting.get(pick / 8 % fitting.len().max(1));
    event.map_or(Event::Stop, |event| (*event).clone())
}

fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 10..100_u64, 200..500_u64, 1_000..4_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_events_never_break_the_promises(
        resume in proptest::option::of(0_usize..3),
        script in proptest::collection::vec((0_usize..10_000, pause(), any::<bool>()), 1..60),
    ) {
        let mut run = match resume {
            None => Run::new(),
            Some(0) => resumed(Written::Intent, 0),
            Some(1) => resumed(Written::Typed, 0),
            Some(_) => resumed(Written::Entering, 1),
        };
        let (mut texts, mut enters) = (run.delivery.texts, run.delivery.enters);
        if resume == Some(0) {
            // The journal cannot know whether this one arrived: the one possible repeat.
            texts = 0;
        }
        let (mut confirmed, mut noted, mut seen) = (false, false, None);
        for (pick, pause, journal_fails) in script {
            let at = run.now + Duration::from_millis(pause);
            let before = run.delivery.phase.clone();
            let event = likely(&before, pick, at);
            match &event {
                Event::Confirmed(Some(ReportResult::Ok | ReportResult::Already))
                    if matches!(before, Phase::Confirming { .. }) => confirmed = true,
                Event::TypedAnswered(ReportResult::Ok | ReportResult::Already)
                    if matches!(before, Phase::Typed(_)) => noted = true,
                Event::TextSent(Outcome::Held | Outcome::ReadOnly, _) if before == Phase::Typing => texts -= 1,
                Event::EnterSent(Outcome::Held | Outcome::ReadOnly, _)
                    if matches!(before, Phase::Pressing(_)) => enters -= 1,
                _ => {}
            }
            match (&event, &before) {
                (Event::Looked(_), Phase::Typing | Phase::Pressing(_)) => {}
                (Event::Looked(look), _)
                | (Event::TextSent(_, Some(look)), Phase::Typing)
                | (Event::EnterSent(_, Some(look)), Phase::Pressing(_)) => seen = Some(look.clone()),
                _ => {}
            }
            let actions = run.then(pause, event);
            for action in &actions {
                match action {
                    Action::Journal(Written::Intent | Written::Entering) if journal_fails => {
                        run.then(0, Event::JournalFailed);
                        break;
                    }
                    Action::Paste => {
                        texts += 1;
                        prop_assert!(confirmed, "a text without confirm");
                        confirmed = false;
                        noted = false;
                        let look = seen.clone().unwrap();
                        prop_assert_eq!(look.verdict.kind, Kind::Ready, "a text over something");
                    }
                    Action::Enter => {
                        enters += 1;
                        prop_assert!(noted, "an Enter the relay did not take note of");
                        let look = seen.clone().unwrap();
                        prop_assert!(look.verdict.composer.is_own_line() && look.is_calm());
                    }
                    _ => {}
                }
            }
            prop_assert!(texts <= 2, "a third text");
            prop_assert!(enters <= 2, "a third Enter");
        }
    }
}
