//! What ends a wake from outside: closed threads, archives, bans, deletions.

use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;

use super::*;
use crate::wake::pager::Pager;

#[test]
fn wake_035_a_closed_thread_clears_the_wakes_it_alone_was_for() {
    let world = World::new();
    let thread = world.sent("api", &["web", "db"], "s", "b").thread_id;
    world.sent("web", &["db"], "other", "b");
    world.close("api", &thread).unwrap();
    assert_eq!(latest(&world, "web"), "cleared");
    assert_eq!(latest(&world, "db"), "waiting");
}

#[test]
fn wake_042_an_archived_project_cancels_and_its_return_considers_again() {
    let world = World::new();
    let shop = world.shop;
    let archive = |archived| {
        world
            .write(move |tx, now| {
                project::set_archived(tx, shop, archived, now)?;
                wake::consider_project(tx, shop, now)
            })
            .unwrap();
    };
    sent(&world, "api", "web");
    archive(true);
    assert_eq!(latest(&world, "web"), "canceled");
    sweep(&world);
    assert_eq!(wakes(&world), 1);
    archive(false);
    assert_eq!(latest(&world, "web"), "waiting");
    assert_eq!(wakes(&world), 2);
}

#[test]
fn wake_043_a_ban_cancels_the_owners_wakes_and_keeps_their_mail() {
    let world = World::new();
    let lee = world.person("lee", Level::Write, false, false);
    world.add_to(world.shop, "ops", lee);
    let shop = world.shop;
    let ban = |banned| {
        world
            .write(move |tx, now| {
                people::set_banned(tx, shop, lee, banned, now)?;
                wake::consider_owner(tx, lee, now)
            })
            .unwrap();
    };
    sent(&world, "api", "ops");
    sent(&world, "api", "web");
    ban(true);
    assert_eq!(latest(&world, "ops"), "canceled");
    assert_eq!(latest(&world, "web"), "waiting");
    assert_eq!(world.inbox("ops").list.items.len(), 1);
    world.execute("UPDATE recipient SET seen_at = NULL");
    ban(false);
    assert_eq!(latest(&world, "ops"), "waiting");
}

#[test]
fn a_deleted_part_has_its_wake_canceled() {
    let world = World::new();
    sent(&world, "api", "web");
    let web = world.part("web");
    world
        .write(move |tx, now| {
            part::delete(tx, web, now)?;
            wake::cancel(tx, web, now)
        })
        .unwrap();
    assert_eq!(open_wakes(&world), 0);
    sweep(&world);
    assert_eq!(wakes(&world), 1);
}

#[test]
fn a_call_that_shows_only_some_of_the_new_mail_is_followed_by_a_wake_for_the_rest() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    sent(&world, "api", "web");
    sent(&world, "db", "web");
    let args = relayroom::messaging::InboxArgs {
        limit: Some(1),
        ..Default::default()
    };
    world.inbox_of("web", args).unwrap();
    assert_eq!(wakes(&world), 2);
    assert_eq!(
        text(&world, "SELECT outcome FROM wake ORDER BY seq LIMIT 1").as_deref(),
        Some("consumed")
    );
    assert!(hold(&world, "web").is_none());
}
