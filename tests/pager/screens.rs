//! Screens that could be read two ways, on real panes (pager.md 11, cases 38–47 and 90).

use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

/// What the person types on the way is theirs: the agent's bytes without it are one framed line and its Enter.
fn only_ours_besides(world: &World, theirs: &str) {
    let text = String::from_utf8(world.agent.bytes()).unwrap();
    let (before, after) = text.split_at(theirs.len());
    assert_eq!(before, theirs);
    assert_eq!(after, format!("\u{1b}[200~{}\u{1b}[201~\r", line(TAG)));
}

#[test]
fn pager_038_case_t11_a_person_who_types_all_the_while_keeps_every_letter_together() {
    let world = World::new("");
    let mut theirs = String::new();
    let key = |theirs: &mut String, letter: &str| {
        let send = ["send-keys", "-l", "-t", &world.agent.pane, letter];
        world.tmux.run(&send);
        theirs.push_str(letter);
    };
    key(&mut theirs, "m");
    until(LONG, "the first letter is there", || {
        !world.agent.bytes().is_empty()
    });
    world.relay.wake("web", 1);
    for letter in "erge PR ten only after the review"
        .split("")
        .filter(|letter| !letter.is_empty())
    {
        key(&mut theirs, letter);
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(world.agent.bytes(), theirs.as_bytes());
    }
    world.agent.knob("draft ");
    world.stage("submitted 1");
    only_ours_besides(&world, &theirs);
}

#[test]
fn pager_040_blanks_and_long_drafts_are_drafts() {
    let world = World::new("--draft '   '");
    world.relay.wake("web", 1);
    world.stage("blocked draft/blank_text");
    let lines = |count| vec!["C-j"; count];
    world.agent.knob("draft x");
    let mut keys = vec!["send-keys", "-t", &world.agent.pane];
    keys.extend(lines(12));
    world.tmux.run(&keys);
    world.stage("blocked draft/text");
    assert_eq!((world.agent.pastes(), world.agent.enters()), (0, 0));
    world.agent.knob("draft ");
    world.stage("submitted 1");
    assert_eq!(world.agent.submits(), [line(TAG)]);
}

#[test]
fn pager_043_vi_normal_is_waited_out_where_it_shows() {
    for style in ["codex", "gemini"] {
        let mut world = World::of(style, "--vi");
        world
            .tmux
            .run(&["send-keys", "-t", &world.agent.pane, "Escape"]);
        until(LONG, "it is in NORMAL", || world.agent.notes("escape") == 1);
        world.start();
        world.relay.wake("web", 1);
        world.stage("blocked mode/vi_normal");
        world.tmux.run(&["send-keys", "-t", &world.agent.pane, "i"]);
        world.stage("submitted 1");
        only_ours_besides(&world, "\u{1b}i");
    }
}

#[test]
fn pager_043_claude_shows_no_normal_and_takes_the_line_in_it() {
    let mut world = World::without_pager("--vi");
    let escape = ["send-keys", "-t", &world.agent.pane, "Escape"];
    world.tmux.run(&escape);
    until(LONG, "it is in NORMAL", || world.agent.notes("escape") == 1);
    world.start();
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    only_ours_besides(&world, "\u{1b}");
}

#[test]
fn pager_046_case_t30_words_of_a_turn_in_old_output_are_no_turn() {
    for (style, said) in [
        ("claude", "● press esc to interrupt (3s)"),
        ("codex", "• Working (3s • esc to interrupt)"),
        ("gemini", "✦ ⠋ Thinking (esc to cancel, 3s)"),
    ] {
        let mut world = World::of(style, "");
        world.agent.knob(&format!("say {said}"));
        for row in 0..10 {
            world.agent.knob(&format!("say • row {row} of the answer"));
        }
        world.start();
        world.relay.wake("web", 1);
        world.stage("submitted 1");
        world.one_submit(&line(TAG));
    }
}

#[test]
fn pager_047_case_t30_blank_rows_under_a_busy_agent_do_not_hide_it() {
    let world = World::new("--blank-below 12 --turn 600000 --busy spinner");
    world
        .tmux
        .run(&["resize-window", "-t", "web", "-x", "80", "-y", "24"]);
    world.agent.knob("turn begin");
    world.relay.wake("web", 1);
    world.stage("blocked busy/marker");
    world.untouched(Duration::from_secs(4));
    world.agent.knob("turn end");
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_090_a_title_that_asks_is_a_dialog_whatever_the_rows_show() {
    for (style, title, idle) in [
        ("codex", "[ ! ] Action Required | shop", ""),
        ("codex", "[ . ] Action Required | shop", ""),
        ("gemini", "✋  Action Required (shop)", "◇  Ready (shop)"),
    ] {
        let mut world = World::of(style, &format!("--title '{title}'"));
        world.start();
        world.relay.wake("web", 1);
        world.stage("blocked dialog/other");
        world.untouched(Duration::from_secs(3));
        if !idle.is_empty() {
            world.agent.knob(&format!("title {idle}"));
            world.stage("submitted 1");
        }
    }
    // Claude's title says nothing of its dialogs.
    let world = World::new("--dialog start --title '✳ Claude Code'");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    world.untouched(Duration::from_secs(3));
}

#[test]
fn pager_035_case_t14_trust_screens_with_and_without_numbers_get_no_byte() {
    for style in ["claude", "codex", "gemini"] {
        for choices in ["numbered", "plain"] {
            let mut world = World::of(style, &format!("--boot-dialog --choices {choices}"));
            world.start();
            world.relay.wake("web", 1);
            world.stage("blocked dialog/trust");
            assert_eq!(world.agent.bytes(), b"", "{style}, {choices}");
        }
    }
}
