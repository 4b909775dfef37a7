//! Whatever agents and the person do in whatever order, the tables agree with each other and with the answers.

use proptest::prelude::*;
use relayroom::messaging;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::Status;
use relayroom::messaging::person;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::mail;

const NAMES: [&str; 3] = ["api", "db", "web"];

#[derive(Debug, Clone)]
enum Step {
    Send {
        from: usize,
        to: usize,
        fyi: bool,
    },
    Reply {
        from: usize,
        thread: usize,
        fyi: bool,
        holding: bool,
    },
    Inbox {
        part: usize,
        limit: i64,
    },
    Ack {
        part: usize,
        message: usize,
    },
    Close {
        part: usize,
        thread: usize,
    },
    Set {
        thread: usize,
        status: usize,
    },
    Pass {
        minutes: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..3_usize, 0..5_usize, any::<bool>())
            .prop_map(|(from, to, fyi)| Step::Send { from, to, fyi }),
        4 => (0..3_usize, 0..8_usize, any::<bool>(), any::<bool>())
            .prop_map(|(from, thread, fyi, holding)| Step::Reply { from, thread, fyi, holding }),
        3 => (0..3_usize, 1..4_i64).prop_map(|(part, limit)| Step::Inbox { part, limit }),
        2 => (0..3_usize, 0..12_usize).prop_map(|(part, message)| Step::Ack { part, message }),
        1 => (0..3_usize, 0..8_usize).prop_map(|(part, thread)| Step::Close { part, thread }),
        1 => (0..8_usize, 0..5_usize).prop_map(|(thread, status)| Step::Set { thread, status }),
        2 => (1..40_u64).prop_map(|minutes| Step::Pass { minutes }),
    ]
}

/// Ids of a table, oldest first.
fn ids(world: &World, table: &str) -> Vec<String> {
    world
        .read(|connection| {
            let mut statement =
                connection.prepare(&format!("SELECT id FROM {table} ORDER BY seq"))?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .unwrap()
}

/// Does one step; refusals are as good as answers.
fn take(world: &World, step: &Step) {
    let pick = |table: &str, index: usize| {
        let ids = ids(world, table);
        let len = ids.len();
        ids.into_iter().nth(index.checked_rem(len).unwrap_or(0))
    };
    match *step {
        Step::Send { from, to, fyi } => {
            let to = ["api", "db", "web", "human", "main"][to];
            let args = SendArgs {
                fyi,
                ..mail(&[to, NAMES[(from + 1) % 3]], "s", "x")
            };
            let _ = world.send(NAMES[from], args);
        }
        Step::Reply {
            from,
            thread,
            fyi,
            holding,
        } => {
            let Some(thread) = pick("thread", thread) else {
                return;
            };
            let args = ReplyArgs {
                fyi,
                status: holding.then(|| "holding".to_owned()),
                ..answer(&thread, "y")
            };
            let _ = world.reply(NAMES[from], args);
        }
        Step::Inbox { part, limit } => {
            let args = InboxArgs {
                limit: Some(limit),
                ..InboxArgs::default()
            };
            world.inbox_of(NAMES[part], args).unwrap();
        }
        Step::Ack { part, message } => {
            if let Some(message) = pick("message", message) {
                let _ = world.ack(NAMES[part], &message);
            }
        }
        Step::Close { part, thread } => {
            if let Some(thread) = pick("thread", thread) {
                let _ = world.close(NAMES[part], &thread);
            }
        }
        Step::Set { thread, status } => {
            let Some(thread) = pick("thread", thread) else {
                return;
            };
            let human = world.human();
            let status = Status::ALL[status];
            world
                .write(move |tx, now| person::set_status(tx, &human, &thread, status, None, now))
                .unwrap();
        }
        Step::Pass { minutes } => {
            world.minutes(minutes);
            world.write(messaging::auto_close).unwrap();
        }
    }
}

/// What no order of calls may bring about.
const NEVER: [(&str, &str); 8] = [
    (
        "a row that is live in a done thread, or the other way round",
        "SELECT count(*) FROM recipient AS r JOIN thread AS t ON t.seq = r.thread
          WHERE r.live <> (t.status IN ('open', 'answered', 'holding'))",
    ),
    (
        "unread mail in a done thread",
        "SELECT count(*) FROM recipient WHERE live = 0 AND read_at IS NULL",
    ),
    (
        "a done thread that did not end, or the other way round",
        "SELECT count(*) FROM thread WHERE (ended_at IS NULL) <> (status IN ('open', 'answered', 'holding'))",
    ),
    (
        "an author among the recipients",
        "SELECT count(*) FROM recipient AS r JOIN message AS m ON m.seq = r.message WHERE r.part IS m.sender",
    ),
    (
        "a recipient or author who is no participant",
        "SELECT count(*) FROM (SELECT thread, part FROM recipient UNION SELECT thread, sender FROM message) AS x
          WHERE NOT EXISTS (SELECT 1 FROM participant AS p WHERE p.thread = x.thread AND p.part IS x.part)",
    ),
    (
        "a count of messages that is wrong",
        "SELECT count(*) FROM thread AS t
          WHERE messages <> (SELECT count(*) FROM message AS m WHERE m.thread = t.seq)",
    ),
    (
        "a message that search does not know",
        "SELECT (SELECT count(*) FROM message) - (SELECT count(*) FROM mail_text)",
    ),
    (
        "an open wake of a part without loud mail",
        "SELECT count(*) FROM wake AS w WHERE w.ended_at IS NULL AND NOT EXISTS (
           SELECT 1 FROM recipient AS r
            WHERE r.part = w.part AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0)",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn tables_and_answers_agree(steps in proptest::collection::vec(step(), 1..40)) {
        let world = World::new();
        world.set_main(Some("web"));
        for step in &steps {
            take(&world, step);
            for (what, sql) in NEVER {
                prop_assert_eq!(world.count(sql), 0, "{} after {:?}", what, step);
            }
            for name in NAMES {
                let caller = world.caller(name);
                let unread = world.read(|connection| messaging::whoami(connection, &caller)).unwrap().unread;
                let args = InboxArgs { unread_only: true, limit: Some(50), ..InboxArgs::default() };
                let listed = world.peek(name, args).unwrap().list.items.len();
                prop_assert_eq!(unread.min(50) as usize, listed);
            }
        }
    }
}
