//! Threads that close by themselves (cases 82–86).

use relayroom::messaging;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::ShowArgs;
use relayroom::messaging::Status;
use relayroom::messaging::person;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::mail;

fn sweep(world: &World) -> usize {
    world.write(messaging::auto_close).unwrap()
}

fn park(world: &World, name: &str, minutes: u64) {
    let part = world.part(name);
    let until = relayroom::store::Time(world.now().0 + i64::try_from(minutes).unwrap() * 60_000);
    world
        .write(move |tx, now| relayroom::activity::park::set(tx, part, Some(until), now))
        .unwrap();
}

#[test]
fn tools_082_a_quiet_half_hour_closes() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.inbox("web");
    world.minutes(29);
    assert_eq!(sweep(&world), 0);
    world.minutes(2);
    assert_eq!(sweep(&world), 1);
    assert_eq!(world.status(&thread), "closed");
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE read_at IS NULL OR live = 1"),
        0
    );
    assert_eq!(sweep(&world), 0);
}

#[test]
fn tools_082_a_message_starts_the_half_hour_anew() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.inbox("web");
    world.minutes(29);
    world.replied("api", &thread, "and?");
    world.inbox("web");
    world.minutes(29);
    assert_eq!(sweep(&world), 0);
    world.minutes(2);
    assert_eq!(sweep(&world), 1);
}

#[test]
fn tools_082_showing_for_the_first_time_starts_it_anew_and_again_does_not() {
    let world = World::new();
    world.sent("api", &["web"], "s", "x");
    world.minutes(25);
    world.inbox("web");
    world.minutes(10);
    assert_eq!(sweep(&world), 0);
    world.inbox("web");
    world.minutes(21);
    assert_eq!(sweep(&world), 1);
}

#[test]
fn tools_083_mail_never_shown_keeps_a_thread_alive() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    park(&world, "web", 60);
    for _ in 0..6 {
        world.minutes(30);
        assert_eq!(sweep(&world), 0);
    }
    world.inbox("web");
    world.minutes(20);
    assert_eq!(sweep(&world), 0);
    world.replied("web", &thread, "late, but here");
    world.inbox("api");
    world.minutes(31);
    assert_eq!(sweep(&world), 1);
}

#[test]
fn tools_083_fyi_not_fetched_keeps_a_thread_alive() {
    let world = World::new();
    let args = SendArgs {
        fyi: true,
        ..mail(&["web"], "s", "x")
    };
    world.send("api", args).unwrap();
    world.minutes(180);
    assert_eq!(sweep(&world), 0);
}

#[test]
fn tools_084_holding_flagged_and_unshown_threads_stay() {
    let world = World::new();
    let held = world.sent("api", &["web"], "held", "x").thread_id;
    world.inbox("web");
    let holding = ReplyArgs {
        status: Some("holding".into()),
        ..answer(&held, "wait")
    };
    world.reply("web", holding).unwrap();
    let flagging = SendArgs {
        needs_human: true,
        ..mail(&["web"], "flagged", "x")
    };
    world.send("api", flagging).unwrap();
    let to_human = world
        .sent("api", &["web", "human"], "person", "x")
        .thread_id;
    let unseen = world.sent("api", &["web", "db"], "unseen", "x").thread_id;
    world.inbox("web");
    world.inbox("api");
    world.minutes(24 * 60);
    assert_eq!(sweep(&world), 0);
    world.delete("db");
    assert_eq!(sweep(&world), 1);
    assert_eq!(world.status(&unseen), "closed");
    let human = world.human();
    let args = ShowArgs {
        thread_id: to_human.clone(),
        after: None,
    };
    let shown = world
        .read(|connection| messaging::show(connection, &human, &args, world.now()))
        .unwrap()
        .shown;
    let shop = world.shop;
    world
        .write(move |tx, now| person::opened(tx, shop, &shown, now))
        .unwrap();
    world.minutes(31);
    assert_eq!(sweep(&world), 1);
    assert_eq!(world.status(&to_human), "closed");
}

#[test]
fn tools_085_a_park_with_unread_mail_is_waited_for_and_half_an_hour_more() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.inbox("web");
    park(&world, "web", 120);
    world.minutes(119);
    assert_eq!(sweep(&world), 0);
    world.minutes(2);
    assert_eq!(sweep(&world), 0);
    world.minutes(28);
    assert_eq!(sweep(&world), 0);
    world.minutes(2);
    assert_eq!(sweep(&world), 1);
    assert_eq!(world.status(&thread), "closed");
}

#[test]
fn tools_085_a_pause_is_waited_for_likewise() {
    let world = World::new();
    world.sent("api", &["web"], "s", "x");
    world.inbox("web");
    let pause = |world: &World, paused| {
        let part = world.part("web");
        world
            .write(move |tx, now| relayroom::identity::part::set_paused(tx, part, paused, now))
            .unwrap();
    };
    pause(&world, true);
    world.minutes(300);
    assert_eq!(sweep(&world), 0);
    pause(&world, false);
    world.minutes(29);
    assert_eq!(sweep(&world), 0);
    world.minutes(2);
    assert_eq!(sweep(&world), 1);
}

#[test]
fn tools_085_a_parked_part_that_read_everything_does_not_hold_a_thread() {
    let world = World::new();
    let sent = world.sent("api", &["web"], "s", "x");
    world.ack("web", &sent.message_id).unwrap();
    park(&world, "web", 120);
    world.minutes(31);
    assert_eq!(sweep(&world), 1);
}

#[test]
fn tools_086_a_message_stored_before_the_job_runs_saves_the_thread() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.inbox("web");
    world.minutes(31);
    // Both stand in the writer's queue, the message first.
    let (caller, id, now) = (world.caller("api"), thread.clone(), world.now());
    let (release, wait) = std::sync::mpsc::channel::<()>();
    world.store.post(move |_| {
        let _ = wait.recv();
        Ok(())
    });
    world.store.post(move |tx| {
        let author = messaging::Author::Part(&caller);
        messaging::reply(tx, &author, &answer(&id, "still here"), now).map(|_| ())
    });
    world
        .store
        .post(move |tx| messaging::auto_close(tx, now).map(|_| ()));
    release.send(()).unwrap();
    assert_eq!(sweep(&world), 0);
    assert_eq!(world.status(&thread), "open");
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE read_at IS NULL"),
        2
    );
}

#[test]
fn tools_010_auto_close_settles_wakes() {
    let world = World::new();
    world.sent("api", &["web"], "s", "x");
    let shown = world
        .peek("web", messaging::InboxArgs::default())
        .unwrap()
        .shown;
    world.mark_shown("web", &shown);
    world.minutes(31);
    world.write(relayroom::wake::sweep).unwrap();
    sweep(&world);
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        0
    );
}

#[test]
fn tools_010_a_reopened_thread_gets_its_half_hour() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.inbox("web");
    world.minutes(31);
    assert_eq!(sweep(&world), 1);
    let (human, id) = (world.human(), thread.clone());
    world
        .write(move |tx, now| person::set_status(tx, &human, &id, Status::Open, None, now))
        .unwrap();
    assert_eq!(sweep(&world), 0);
    world.minutes(31);
    assert_eq!(sweep(&world), 1);
}
