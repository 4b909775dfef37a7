//! The pager killed at the worst moments (pager.md 11, cases 78–82).

use std::fs;

use relayroom::pager::journal;
use relayroom::pager::target::PartKey;

use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

/// Starts the pager with a stand-in for tmux that, at the first call with `word` in it, runs `first` and then hangs; kills the pager there.
fn kill_at(world: &mut World, word: &str, first: &str) {
    let hung = world.home.path("hung");
    let script = format!(
        "case \"$*\" in *\"{word}\"*)\n  {first}\n  touch {}\n  exec sleep 60\nesac",
        hung.display()
    );
    let command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
    let pager = Pager::spawn(command, &world.home);
    world.relay.wake("web", 1);
    until(LONG, "the moment has come", || hung.exists());
    pager.kill();
}

#[test]
fn pager_078_killed_before_the_text_it_is_typed_once() {
    let mut world = World::without_pager("");
    kill_at(&mut world, "-b rr-", "true");
    assert!(world.agent.bytes().is_empty());
    world.start();
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_079_killed_after_the_text_the_line_is_found_and_submitted() {
    let mut world = World::without_pager("");
    kill_at(&mut world, "-b rr-", "tmux \"$@\" >/dev/null");
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 0));
    assert!(!world.relay.stages("web").contains(&"typed".to_owned()));
    world.start();
    world.stage("submitted 1");
    assert!(world.relay.stages("web").contains(&"typed".to_owned()));
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_080_killed_after_enter_the_next_start_sends_no_key() {
    let mut world = World::without_pager("");
    kill_at(&mut world, "Enter", "tmux \"$@\" >/dev/null");
    until(LONG, "it was submitted", || {
        world.agent.submits().len() == 1
    });
    let bytes = world.agent.bytes();
    world.start();
    world.stage("submitted 1");
    assert_eq!(world.agent.bytes(), bytes);
}

#[test]
fn pager_080_without_a_trace_nobody_knows() {
    let mut world = World::without_pager("--swallow on");
    kill_at(&mut world, "Enter", "tmux \"$@\" >/dev/null");
    let bytes = world.agent.bytes();
    world.start();
    world.stage("unconfirmed restart");
    assert_eq!(world.agent.bytes(), bytes);
}

fn journal_file(home: &Home) -> std::path::PathBuf {
    let key = PartKey {
        code: CODE.to_owned(),
        part: "web".to_owned(),
    };
    home.state()
        .join("journal")
        .join(format!("{}.json", journal::name(&key)))
}

#[test]
fn pager_082_a_cut_journal_is_moved_aside_and_its_part_left_alone() {
    let mut world = World::new("");
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.pager.take().unwrap().stop();
    let path = journal_file(&world.home);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..7]).unwrap();
    let before = world.agent.bytes();
    world.start();
    world.relay.wake("web", 2);
    world.stage("blocked unknown/journal");
    assert!(!path.exists(), "moved aside");
    throughout(Duration::from_secs(4), "not typed into", || {
        world.agent.bytes() == before
    });
    assert!(world.home.log().contains("journal unreadable, moved to"));
}

#[test]
fn pager_082_a_journal_that_cannot_be_written_types_nothing() {
    let mut world = World::without_pager("");
    let blocker = journal_file(&world.home).with_extension("tmp");
    fs::create_dir_all(&blocker).unwrap();
    world.start();
    world.relay.wake("web", 1);
    world.stage("blocked unknown/journal");
    world.untouched(Duration::from_secs(3));
    fs::remove_dir(&blocker).unwrap();
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_081_killed_at_any_instant_at_most_one_line_is_repeated() {
    let mut world = World::without_pager("--turn 200");
    for (round, letter) in "bcdfghjk".chars().enumerate() {
        // Spread over the whole sequence: look, confirm, text, Enter, evidence.
        let instant = Duration::from_millis(150 * u64::try_from(round).unwrap());
        let (pasted, submitted) = (world.agent.pastes(), world.agent.submits().len());
        let tag = letter.to_string().repeat(6);
        world.start();
        world.known();
        world.relay.offer("web", &tag, 1, &line(&tag));
        std::thread::sleep(instant);
        world.pager.take().unwrap().kill();
        world.start();
        until(LONG, "an outcome is reported", || {
            world.relay.script().parts["web"].wake.is_none()
        });
        world.pager.take().unwrap().stop();
        let pastes = world.agent.pastes() - pasted;
        let submits = world.agent.submits().len() - submitted;
        assert!(
            pastes <= 2 && submits == 1,
            "killed after {instant:?}: {pastes} texts, {submits} submits, {:?}",
            world.relay.stages("web")
        );
    }
}
