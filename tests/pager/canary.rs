//! The canary on real panes (pager.md 8; 11, cases 17, 85 and 86).

use relayroom::api::HookSeen;
use relayroom::api::TurnView;
use relayroom::api::canary::CanaryLine;
use relayroom::api::canary::CanaryOutcome;

use super::*;
use crate::support::scripted_relay::Instead;
use crate::support::scripted_relay::line;

const ERASE: u8 = 0x7f;
/// `relayroom-check` and eight letters.
const LETTERS: usize = 24;

/// Runs a canary; gives its exit code and what it says of each pane.
fn canary(world: &World) -> (i32, Vec<CanaryLine>) {
    let arguments = ["--canary", "--json"];
    let pager = world.home.pager(&world.tmux, &world.relay, &arguments);
    let (code, out, err) = pager.finish(LONG);
    assert_eq!(err, "");
    let lines = out.lines().map(serde_json::from_str).collect();
    (code, Result::unwrap(lines))
}

/// The word in the agent's bytes: a paste frame that begins with it.
fn word(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (_, rest) = text.split_once("\u{1b}[200~").unwrap();
    rest.split_once("\u{1b}[201~").unwrap().0.to_owned()
}

fn erased(world: &World) -> usize {
    let bytes = world.agent.bytes();
    bytes.iter().filter(|byte| **byte == ERASE).count()
}

#[test]
fn pager_085_cli_038_an_idle_pane_shows_the_word_and_loses_it_without_a_turn() {
    let world = World::without_pager("--placeholder dim");
    let before = world.tmux.screen(&world.agent.pane);
    let seen = HookSeen {
        at: relayroom::store::system_clock().0.rfc3339(),
        tmux: Some(world.tmux.socket().display().to_string()),
        pane: Some(world.agent.pane.clone()),
    };
    world
        .relay
        .change(|script| script.parts.get_mut("web").unwrap().hook = Some(seen));
    let (code, lines) = canary(&world);
    let [said] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!((code, said.outcome), (0, CanaryOutcome::Passed), "{said:?}");
    assert!(said.render_ms.is_some() && said.erase_ms.is_some());
    assert_eq!((said.submits, said.left), (0, 0));
    assert_eq!(said.hook_here, Some(true));
    assert!(said.hook_age.is_some_and(|age| age < 90), "{said:?}");
    assert_eq!(said.pane.as_deref(), Some(world.agent.pane.as_str()));
    assert_eq!((said.cli.as_deref(), said.rules), (Some("claude"), Some(1)));
    let bytes = world.agent.bytes();
    let typed = word(&bytes);
    assert!(typed.starts_with("relayroom-check ") && typed.len() == LETTERS);
    let mut expected = format!("\u{1b}[200~{typed}\u{1b}[201~").into_bytes();
    expected.extend([ERASE; LETTERS]);
    assert_eq!(bytes, expected);
    assert_eq!(world.agent.submits(), [""; 0]);
    assert_eq!(world.tmux.screen(&world.agent.pane), before);
    let script = world.relay.script();
    assert!(script.reports.is_empty());
    assert!(script.polls.iter().all(|heard| !heard.call.claim));
}

#[test]
fn pager_085_a_narrow_pane_and_the_other_cli_pass_too() {
    let mut world = World::without_pager("");
    let codex = Agent::named("codex", &world.tmux, "api", "--placeholder dim", "");
    world.tmux.join(&codex.pane, CODE, "api");
    world.relay = Relay::start(&["web", "api"]);
    let size = ["resize-window", "-t", "web", "-x", "20", "-y", "20"];
    world.tmux.run(&size);
    let (code, lines) = canary(&world);
    assert_eq!((code, lines.len()), (0, 2), "{lines:?}");
    assert_eq!(codex.bytes().len(), 12 + 2 * LETTERS);
    assert_eq!(world.agent.bytes().len(), 12 + 2 * LETTERS);
}

#[test]
fn pager_085_whatever_is_in_the_way_gets_no_byte() {
    let cases = [
        ("--draft 'not yet'", "draft/text"),
        ("--dialog start", "dialog/choice"),
    ];
    for (knobs, reason) in cases {
        let world = World::without_pager(knobs);
        refuses(&world, reason);
    }
    let world = World::without_pager("--turn 600000");
    world.agent.knob("turn begin");
    refuses(&world, "busy/marker");
    let world = World::without_pager("");
    world.relay.wake("web", 1);
    refuses(&world, "wake/open");
    world.relay.change(|script| {
        let part = script.parts.get_mut("web").unwrap();
        part.wake = None;
        part.turn = TurnView {
            state: "blocked".to_owned(),
            ..TurnView::default()
        };
    });
    refuses(&world, "dialog/hook");
    world.relay.change(|script| {
        let part = script.parts.get_mut("web").unwrap();
        part.turn = TurnView::default();
        part.error = Some("not_yours".to_owned());
    });
    refuses(&world, "relay/not_yours");
    world.relay.change(|script| {
        script.poll_instead = Some(Instead::Silence);
    });
    refuses(&world, "relay/no_answer");
}

#[track_caller]
fn refuses(world: &World, reason: &str) {
    let (code, lines) = canary(world);
    assert_eq!((code, lines.len()), (5, 1), "{lines:?}");
    assert_eq!(lines[0].outcome, CanaryOutcome::Refused);
    assert_eq!(lines[0].reason.as_deref(), Some(reason), "{lines:?}");
    assert_eq!(world.agent.bytes(), b"", "{reason}");
}

#[test]
fn pager_085_a_pane_in_another_process_hands_is_left_alone() {
    let world = World::without_pager("");
    let lock = format!(
        "{}.rr-{}-{}.lock",
        world.tmux.socket().display(),
        world.tmux.ask(&world.agent.pane, "#{start_time}"),
        world.agent.pane.trim_start_matches('%')
    );
    let _held = relayroom::pager::lock::take(lock.as_ref(), "the test").unwrap();
    refuses(&world, "pane/held");
}

#[test]
fn pager_086_an_ignored_backspace_is_not_repeated_and_a_later_run_cleans_up() {
    let mut world = World::without_pager("--ignore-erase 1");
    let (code, lines) = canary(&world);
    assert_eq!((code, lines[0].outcome), (1, CanaryOutcome::Failed));
    assert_eq!(lines[0].reason.as_deref(), Some("unknown/not_erased"));
    assert_eq!(lines[0].left as usize, LETTERS);
    assert_eq!(erased(&world), 1);
    world.start();
    world.relay.wake("web", 1);
    world.stage("blocked draft/canary");
    world.pager.take().unwrap().stop();
    world
        .relay
        .change(|script| script.parts.get_mut("web").unwrap().wake = None);
    let (code, lines) = canary(&world);
    assert_eq!(
        (code, lines[0].outcome),
        (0, CanaryOutcome::Passed),
        "{lines:?}"
    );
    assert_eq!(erased(&world), 1 + 2 * LETTERS);
    assert_eq!((world.agent.pastes(), world.agent.enters()), (2, 0));
}

#[test]
fn pager_086_without_its_own_note_a_word_is_a_draft() {
    let world = World::without_pager("--draft 'relayroom-check kqmwvzbb'");
    refuses(&world, "draft/canary");
}

#[test]
fn pager_086_a_person_who_types_meanwhile_keeps_every_letter() {
    let world = World::without_pager("");
    std::thread::scope(|scope| {
        let person = scope.spawn(|| {
            until(LONG, "some letters are gone", || erased(&world) >= 4);
            world
                .tmux
                .run(&["send-keys", "-l", "-t", &world.agent.pane, "my own words"]);
        });
        let (code, lines) = canary(&world);
        person.join().unwrap();
        assert_eq!(
            (code, lines[0].outcome),
            (1, CanaryOutcome::Failed),
            "{lines:?}"
        );
        assert!(lines[0].left > 0);
    });
    let bytes = world.agent.bytes();
    let at = bytes.windows(2).position(|two| two == b"my").unwrap();
    let after = bytes[at..].iter().filter(|byte| **byte == ERASE).count();
    assert!(after <= 1, "{after} letters of the person's were erased");
    assert!(!bytes.contains(&b'\r'));
}

#[test]
fn pager_086_an_enter_in_between_is_counted_and_stops_it() {
    let world = World::without_pager("--turn 600000");
    std::thread::scope(|scope| {
        let person = scope.spawn(|| {
            until(LONG, "the word is there", || world.agent.pastes() == 1);
            world
                .tmux
                .run(&["send-keys", "-t", &world.agent.pane, "Enter"]);
        });
        let (code, lines) = canary(&world);
        person.join().unwrap();
        assert_eq!(
            (code, lines[0].outcome),
            (1, CanaryOutcome::Failed),
            "{lines:?}"
        );
    });
    // The Enter is the person's; at most one key more was on its way.
    assert!(erased(&world) <= LETTERS);
    assert_eq!(world.agent.enters(), 1);
}

#[test]
fn pager_017_case_t29_neither_writes_into_the_other_ones_sequence() {
    let mut world = World::without_pager("--turn 300");
    world.start();
    world.known();
    let mut passed = 0;
    for (round, tag) in ["kqmwvz", "bbmvmj", "cdfghj"].into_iter().enumerate() {
        std::thread::scope(|scope| {
            let run = scope.spawn(|| canary(&world));
            // The wake comes while the word stands there, or when the canary was refused; whichever it is, it goes through.
            until(LONG, "the canary types or is done", || {
                run.is_finished() || world.agent.pastes() > round + passed
            });
            world.relay.offer("web", tag, 1, &line(tag));
            let (_, lines) = run.join().unwrap();
            passed += usize::from(lines[0].outcome == CanaryOutcome::Passed);
        });
        until(LONG, "the wake is submitted", || {
            world.relay.tags("web").len() == round + 1
        });
        let locks = world.tmux.socket().parent().unwrap().read_dir().unwrap();
        for file in locks.flatten().map(|file| file.path()) {
            if file.extension().is_some_and(|end| end == "lock") {
                std::fs::remove_file(file).unwrap();
            }
        }
    }
    let expected: Vec<String> = ["kqmwvz", "bbmvmj", "cdfghj"].map(line).to_vec();
    assert_eq!(world.agent.submits(), expected);
    sequences(&world.agent.bytes());
    assert!(passed > 0);
}

/// Every paste is followed by what belongs to it: a line by its Enter, a word by its letters' erasing.
fn sequences(bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    for sequence in text.split("\u{1b}[200~").skip(1) {
        let (pasted, keys) = sequence.split_once("\u{1b}[201~").unwrap();
        if pasted.starts_with("relayroom: ") {
            assert_eq!(keys, "\r", "after a line");
        } else {
            assert!(
                keys.len() <= LETTERS && keys.bytes().all(|key| key == ERASE),
                "{keys:?}"
            );
        }
    }
}
