//! The sweep: restarts, restored files, and thousands of parts.

use relayroom::store::Store;

use super::*;
use crate::wake::pager::Pager;

/// Writes mail as an older relay might have left it: no wake was decided.
fn leave_mail(world: &World, parts: &[&str]) {
    for part in parts {
        sent(world, "api", part);
    }
    world.execute("DELETE FROM hold; DELETE FROM wake;");
}

#[test]
fn wake_048_at_start_each_part_with_unread_mail_gets_one_wake() {
    let world = World::new();
    budget(&world, world.kim, 240, 60);
    let names: Vec<_> = (0..40).map(|n| format!("p{n}")).collect();
    for name in &names {
        world.add(name);
    }
    for some in names.chunks(10) {
        let some: Vec<_> = some.iter().map(String::as_str).collect();
        leave_mail(&world, &some);
        world.minutes(1);
    }
    sweep(&world);
    sweep(&world);
    assert_eq!(wakes(&world), 40);
    assert_eq!(world.count("SELECT count(DISTINCT part) FROM wake"), 40);
}

#[test]
fn wake_049_a_restored_file_wakes_who_has_unread_mail_once() {
    let world = World::new();
    sent(&world, "api", "web");
    sent(&world, "api", "db");
    world.inbox("db");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    let to = copy.display().to_string();
    rusqlite::Connection::open(world.store.path())
        .unwrap()
        .execute("VACUUM INTO ?1", [to])
        .unwrap();
    // What happened after the backup is lost with the file.
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    let now = world.now();
    let restored = Store::open(&copy, "restored", now).unwrap();
    let woken = restored
        .write_blocking(move |tx| {
            wake::sweep(tx, now)?;
            wake::sweep(tx, now)?;
            let mut statement = tx.prepare(
                "SELECT p.slug FROM wake JOIN part AS p ON p.seq = part WHERE ended_at IS NULL",
            )?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<Vec<String>>>()?)
        })
        .unwrap();
    assert_eq!(woken, ["web"]);
}

#[test]
fn wake_036_a_sweep_over_five_thousand_parts_wakes_the_fifty_due() {
    let world = World::new();
    budget(&world, world.kim, 240, 60);
    // 5,000 parts, each with a message it was shown and left unread; 50 of them with one that is new.
    world.execute(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
         INSERT INTO part (id, project, slug, owner, created_at)
         SELECT 'p' || n, (SELECT seq FROM project), 'p' || n, (SELECT seq FROM user), 1 FROM n;",
    );
    let old = world.sent("api", &["web"], "old", "b");
    let new = world.sent("api", &["db"], "new", "b");
    world.execute(&format!(
        "INSERT INTO recipient (message, part, thread, fyi, seen_at, last_seen_at, remind_at)
         SELECT m.seq, p.seq, m.thread, 0, m.at, m.at, m.at + 600000 FROM message AS m, part AS p
          WHERE m.id = '{}' AND p.slug GLOB 'p[0-9]*';
         INSERT INTO recipient (message, part, thread, fyi)
         SELECT m.seq, p.seq, m.thread, 0 FROM message AS m, part AS p
          WHERE m.id = '{}' AND p.slug GLOB 'p[0-9]*' AND p.seq % 100 = 0;",
        old.message_id, new.message_id
    ));
    sweep(&world);
    assert_eq!(open_wakes(&world), 52);
    sweep(&world);
    assert_eq!(open_wakes(&world), 52);
}
