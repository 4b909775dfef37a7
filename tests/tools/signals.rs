//! What is told after a commit: to waiting pagers and to pages (dashboard.md 3).

use relayroom::messaging::SendArgs;
use relayroom::messaging::Status;
use relayroom::messaging::person;
use relayroom::store::Signal;
use relayroom::store::Topic;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::mail;

/// The mail signals of what `act` does.
fn told(world: &World, act: impl FnOnce(&World)) -> Vec<Signal> {
    let mut receiver = world.store.signals();
    act(world);
    // An answered write has been signalled before the next one is answered.
    world.execute("SELECT 1");
    let mut told = Vec::new();
    while let Ok(signal) = receiver.try_recv() {
        if matches!(
            signal.topic,
            Topic::Thread | Topic::Message | Topic::Read | Topic::Attention
        ) {
            assert_eq!(signal.project, Some(world.shop));
            told.push(signal);
        }
    }
    told
}

fn has(told: &[Signal], topic: Topic, part: Option<&str>, world: &World, id: &str) -> bool {
    let part = part.map(|name| world.part(name));
    told.iter()
        .any(|signal| signal.topic == topic && signal.part == part && signal.id == id)
}

#[test]
fn mail_is_told_to_each_recipient() {
    let world = World::new();
    let mut sent = None;
    let signals = told(&world, |world| {
        sent = Some(world.sent("api", &["web", "human"], "s", "x"));
    });
    let sent = sent.unwrap();
    assert!(has(&signals, Topic::Thread, None, &world, &sent.thread_id));
    assert!(has(
        &signals,
        Topic::Message,
        Some("web"),
        &world,
        &sent.message_id
    ));
    assert!(has(
        &signals,
        Topic::Message,
        None,
        &world,
        &sent.message_id
    ));
    let signals = told(&world, |world| drop(world.inbox("web")));
    assert!(has(
        &signals,
        Topic::Read,
        Some("web"),
        &world,
        &sent.message_id
    ));
    let signals = told(&world, |world| {
        world.ack("web", &sent.message_id).unwrap();
    });
    assert!(has(
        &signals,
        Topic::Read,
        Some("web"),
        &world,
        &sent.message_id
    ));
    let signals = told(&world, |world| {
        world.ack("web", &sent.message_id).unwrap();
    });
    assert!(signals.is_empty(), "{signals:?}");
    let signals = told(&world, |world| {
        world.close("api", &sent.thread_id).unwrap();
    });
    assert!(has(&signals, Topic::Thread, None, &world, &sent.thread_id));
}

#[test]
fn flags_are_told_when_they_are_set_and_taken() {
    let world = World::new();
    let flagging = SendArgs {
        needs_human: true,
        ..mail(&["web"], "s", "x")
    };
    let mut thread = String::new();
    let signals = told(&world, |world| {
        thread = world.send("api", flagging).unwrap().thread_id;
    });
    assert!(has(&signals, Topic::Attention, None, &world, &thread));
    let (human, id) = (world.human(), thread.clone());
    let signals = told(&world, |world| {
        world
            .write(move |tx, now| {
                person::set_status(tx, &human, &id, Status::Answered, None, now).map(|_| ())
            })
            .unwrap();
    });
    assert!(has(&signals, Topic::Attention, None, &world, &thread));
}

#[test]
fn a_refused_call_tells_nothing() {
    let world = World::new();
    let signals = told(&world, |world| {
        assert_eq!(
            code(world.send("api", mail(&["web", "ghost"], "s", "x"))),
            "bad_recipients"
        );
    });
    assert!(signals.is_empty(), "{signals:?}");
}
