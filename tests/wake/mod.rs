//! The cases of wake.md 12, by number, on a relay without a server: the rules are called with a chosen time. Case 37 needs the server and
//! is tested with it; 29, 46 and 47 need the turns of the hook.

mod budget;
mod cooldown;
mod ending;
mod ladder;
mod lanes;
mod lease;
mod ledger;
mod limited;
mod one;
pub mod pager;
mod pingpong;
mod property;
mod sweep;

use relayroom::messaging::SendArgs;
use relayroom::messaging::Sent;
use relayroom::store::UserSeq;
use relayroom::wake;
use relayroom::wake::Decision;

use crate::support::world::World;
use crate::support::world::mail;

/// What a send answered for each recipient: `issued`, or `held budget`.
fn outcomes(sent: &Sent) -> Vec<String> {
    sent.recipients
        .iter()
        .flatten()
        .map(|to| match to.reason {
            Some(reason) => format!("{} {reason}", to.wake),
            None => to.wake.to_owned(),
        })
        .collect()
}

/// Sends one message, each with its own subject, and says what became of it at its one recipient.
fn sent(world: &World, from: &str, to: &str) -> String {
    sent_as(world, from, to, |_| {})
}

/// [`sent`], urgent.
fn sent_urgent(world: &World, from: &str, to: &str) -> String {
    sent_as(world, from, to, |args| args.urgent = true)
}

fn sent_as(world: &World, from: &str, to: &str, change: impl FnOnce(&mut SendArgs)) -> String {
    let number = world.count("SELECT count(*) FROM message");
    let mut args = mail(&[to], &format!("subject {number}"), "body");
    change(&mut args);
    outcomes(&world.send(from, args).unwrap()).remove(0)
}

/// Kim writes to a part.
fn sent_by_person(world: &World, to: &str) -> String {
    let number = world.count("SELECT count(*) FROM message");
    let args = mail(&[to], &format!("subject {number}"), "body");
    outcomes(&world.send_as_human(args).unwrap()).remove(0)
}

fn sweep(world: &World) {
    world.write(wake::sweep).unwrap();
}

/// Sweeps every 30 s for so many minutes.
fn sweep_for(world: &World, minutes: u64) {
    for _ in 0..minutes * 2 {
        world.seconds(30);
        sweep(world);
    }
}

fn consider(world: &World, part: &str) -> Decision {
    let part = world.part(part);
    world
        .write(move |tx, now| wake::consider(tx, part, now))
        .unwrap()
}

/// Sets what an owner pays for, and considers their parts, as the person's route does.
fn budget(world: &World, user: UserSeq, normal: u32, urgent: u32) {
    world
        .write(move |tx, now| {
            relayroom::identity::people::set_budget(tx, user, Some(normal), Some(urgent))?;
            wake::consider_owner(tx, user, now)
        })
        .unwrap();
}

/// Pauses a part or lets it go, as the person's route does.
fn pause(world: &World, part: &str, paused: bool) {
    let part = world.part(part);
    world
        .write(move |tx, now| {
            relayroom::identity::part::set_paused(tx, part, paused, now)?;
            wake::consider(tx, part, now)
        })
        .unwrap();
}

/// A text of the tables.
fn text(world: &World, sql: &str) -> Option<String> {
    world
        .read(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
        .unwrap()
}

/// Open wakes, all parts.
fn open_wakes(world: &World) -> i64 {
    world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL")
}

/// All wakes there ever were.
fn wakes(world: &World) -> i64 {
    world.count("SELECT count(*) FROM wake")
}

fn nudges(world: &World) -> i64 {
    world.count("SELECT count(*) FROM nudge")
}

/// Why the mail of a part waits, by its open hold.
fn hold(world: &World, part: &str) -> Option<String> {
    let part = world.part(part).0;
    text(
        world,
        &format!("SELECT (SELECT reason FROM hold WHERE part = {part} AND ended_at IS NULL)"),
    )
}

/// How the part's latest wake stands: its state, or how it ended.
fn latest(world: &World, part: &str) -> String {
    let part = world.part(part).0;
    text(
        world,
        &format!("SELECT coalesce(outcome, state) FROM wake WHERE part = {part} ORDER BY seq DESC LIMIT 1"),
    )
    .unwrap()
}

/// Lane of the part's latest wake.
fn lane(world: &World, part: &str) -> String {
    let part = world.part(part).0;
    text(
        world,
        &format!("SELECT lane FROM wake WHERE part = {part} ORDER BY seq DESC LIMIT 1"),
    )
    .unwrap()
}
