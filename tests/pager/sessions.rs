//! Panes that move between sessions, and what the sessions show (pager.md 6; 11, cases 14, 15, 20 and 83).

use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

/// A session's status string, empty without one.
fn shown(world: &World, session: &str) -> String {
    let words = ["show-options", "-t", session, "-v", "@relayroom_status"];
    String::from_utf8(world.tmux.attempt(&words).stdout).unwrap()
}

fn unread(world: &World, count: u64) {
    world
        .relay
        .change(|script| script.parts.get_mut("web").unwrap().unread = count);
}

#[test]
fn pager_014_a_pane_moved_to_another_session_is_still_served() {
    let world = World::new("");
    world.tmux.session("other", "cat");
    // The session outlives the pane that leaves it.
    world.tmux.run(&["new-window", "-d", "-t", "web:", "cat"]);
    until(LONG, "its session shows it", || {
        shown(&world, "web").contains("] web 0 ")
    });
    world
        .tmux
        .run(&["join-pane", "-s", &world.agent.pane, "-t", "other:"]);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    until(LONG, "the other session shows it alone", || {
        shown(&world, "other").contains("] web ") && shown(&world, "web").is_empty()
    });
}

#[test]
fn pager_015_a_window_in_two_sessions_gets_one_line_and_both_show_it() {
    let world = World::new("");
    world.tmux.session("other", "cat");
    world
        .tmux
        .run(&["link-window", "-s", "web:", "-t", "other:"]);
    unread(&world, 3);
    until(LONG, "both sessions show it", || {
        ["web", "other"]
            .iter()
            .all(|session| shown(&world, session).contains("] web 3 "))
    });
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_020_a_title_of_other_letters_is_read_whatever_the_locale() {
    let mut world = World::without_pager("--title '⠋ 日本語'");
    let mut command = world.home.command();
    let url = world.relay.url();
    command.env("LC_ALL", "C").args(["--server", &url]);
    command.arg("--socket").arg(world.tmux.socket());
    world.pager = Some(Pager::spawn(command, &world.home));
    world.relay.wake("web", 1);
    world.stage("blocked busy/title");
    world.untouched(Duration::from_secs(3));
    world.agent.knob("title ✳ 日本語");
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_083_ten_starts_leave_no_option_behind() {
    let mut world = World::without_pager("");
    let globals = world.tmux.run(&["show-options", "-g"]);
    for round in 1..=10 {
        world.start();
        unread(&world, round);
        until(LONG, "the count is shown", || {
            shown(&world, "web").contains(&format!("] web {round} #[default]"))
        });
        world.pager.take().unwrap().stop();
        assert_eq!(shown(&world, "web"), "");
    }
    assert_eq!(world.tmux.run(&["show-options", "-g"]), globals);
}

#[test]
fn pager_084_a_count_that_changes_is_shown_within_a_second() {
    let world = World::new("");
    until(LONG, "the part is shown", || {
        shown(&world, "web").contains("] web 0 ")
    });
    unread(&world, 3);
    until(Duration::from_secs(1) * SLACK, "the count is shown", || {
        shown(&world, "web").contains("] web 3 ")
    });
}
