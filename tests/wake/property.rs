//! Random days: whatever parts, persons and pagers do, the promises of wake.md 4 and 11 hold after every step.

use proptest::prelude::*;

use super::*;
use crate::wake::pager::Pager;

#[derive(Debug, Clone, Copy)]
enum Step {
    Send {
        from: usize,
        to: usize,
        urgent: bool,
    },
    Person {
        to: usize,
    },
    Deliver {
        part: usize,
    },
    Type {
        part: usize,
    },
    Inbox {
        part: usize,
    },
    Pause {
        part: usize,
        paused: bool,
    },
    Budget {
        normal: u32,
        urgent: u32,
    },
    Pass {
        seconds: u64,
    },
}

const PARTS: [&str; 3] = ["api", "db", "web"];

fn step() -> impl Strategy<Value = Step> {
    let part = 0..PARTS.len();
    prop_oneof![
        6 => (part.clone(), part.clone(), any::<bool>())
            .prop_map(|(from, to, urgent)| Step::Send { from, to, urgent }),
        1 => part.clone().prop_map(|to| Step::Person { to }),
        5 => part.clone().prop_map(|part| Step::Deliver { part }),
        2 => part.clone().prop_map(|part| Step::Type { part }),
        3 => part.clone().prop_map(|part| Step::Inbox { part }),
        1 => (part, any::<bool>()).prop_map(|(part, paused)| Step::Pause { part, paused }),
        1 => (0_u32..4, 0_u32..3).prop_map(|(normal, urgent)| Step::Budget { normal, urgent }),
        5 => (1_u64..600).prop_map(|seconds| Step::Pass { seconds }),
    ]
}

fn take(world: &World, step: Step, most: &mut (u32, u32)) {
    let pager = Pager::FIRST;
    match step {
        Step::Send { from, to, .. } if from == to => {}
        Step::Send { from, to, urgent } => {
            // A brake on senders may refuse; that is theirs.
            let number = world.count("SELECT count(*) FROM message");
            let mut args = mail(&[PARTS[to]], &format!("s{number}"), "b");
            args.urgent = urgent;
            let _ = world.send(PARTS[from], args);
        }
        Step::Person { to } => {
            sent_by_person(world, PARTS[to]);
        }
        Step::Deliver { part } => {
            if let Some(wake) = pager.wake(world, PARTS[part]) {
                use relayroom::api::Stage;
                pager.report(world, PARTS[part], &wake, Stage::Confirm);
                pager.report(world, PARTS[part], &wake, pager::typed(&wake));
                pager.report(world, PARTS[part], &wake, pager::submitted(&wake));
            }
        }
        Step::Type { part } => {
            if let Some(wake) = pager.wake(world, PARTS[part]) {
                pager.report(world, PARTS[part], &wake, pager::typed(&wake));
            }
        }
        Step::Inbox { part } => {
            world.inbox(PARTS[part]);
        }
        Step::Pause { part, paused } => pause(world, PARTS[part], paused),
        Step::Budget { normal, urgent } => {
            budget(world, world.kim, normal, urgent);
            *most = (most.0.max(normal), most.1.max(urgent));
        }
        Step::Pass { seconds } => world.seconds(seconds),
    }
    sweep(world);
}

/// Most lines of a lane in any 60 minutes.
fn busiest_hour(world: &World, lane: &str) -> i64 {
    world.count(&format!(
        "SELECT coalesce(max((SELECT count(*) FROM nudge AS o
                               WHERE o.lane = n.lane AND o.at <= n.at AND o.at > n.at - 3600000)), 0)
           FROM nudge AS n WHERE n.lane = '{lane}'"
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_budgets_hold_and_wakes_have_a_reason(steps in prop::collection::vec(step(), 1..60)) {
        let world = World::new();
        budget(&world, world.kim, 3, 1);
        let mut most = (3, 1);
        for step in steps {
            let typed = nudges(&world);
            let paused_before = world.count("SELECT count(*) FROM part WHERE paused_at IS NOT NULL");
            take(&world, step, &mut most);
            prop_assert!(busiest_hour(&world, "normal") <= i64::from(most.0));
            prop_assert!(busiest_hour(&world, "urgent") <= i64::from(most.1));
            prop_assert_eq!(world.count("SELECT count(*) FROM (SELECT part FROM wake WHERE ended_at IS NULL GROUP BY part HAVING count(*) > 1)"), 0);
            // Every open wake has loud mail; every line was typed for a part that was not paused.
            prop_assert_eq!(world.count(
                "SELECT count(*) FROM wake AS w WHERE w.ended_at IS NULL AND NOT EXISTS (
                   SELECT 1 FROM recipient WHERE part = w.part AND live = 1 AND read_at IS NULL AND fyi = 0)"), 0);
            if paused_before == 3 {
                prop_assert_eq!(nudges(&world), typed);
            }
            // One hold per part at most, and none without new mail, a reminder or a rung that is due.
            prop_assert_eq!(world.count("SELECT count(*) FROM (SELECT part FROM hold WHERE ended_at IS NULL GROUP BY part HAVING count(*) > 1)"), 0);
            // New mail is never forgotten: it has a wake or a hold.
            prop_assert_eq!(world.count(
                "SELECT count(*) FROM recipient AS r WHERE r.part IS NOT NULL AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0
                    AND r.seen_at IS NULL AND r.nudged_by IS NULL
                    AND NOT EXISTS (SELECT 1 FROM wake WHERE part = r.part AND ended_at IS NULL)
                    AND NOT EXISTS (SELECT 1 FROM hold WHERE part = r.part AND ended_at IS NULL)"), 0);
        }
    }
}
