//! The evening of a day: faults stop, budgets allow, an honest pager serves every part. Within a bounded time nothing is left to announce:
//! all loud mail was consumed or has gone unanswered.

use crate::agent::Character;
use crate::pager::Fate;
use crate::relay::Checked;
use crate::step::PARTS;
use crate::step::Step;
use crate::watch::nothing_is_lost;
use crate::world::World;

/// Longest an evening may take: a brake's half hour, the ladder of the wake at hand, the ladder of what came meanwhile, and two reminders
/// with a ladder each, in seconds.
const BOUND: u64 = 5 * 60 * 60;

/// A pass of the clock between two sweeps: longer and longer while nothing happens.
const PASSES: [u64; 3] = [45, 300, 900];

/// Lets the day come to its end.
pub fn settle(world: &mut World) -> Checked {
    for pager in 0..world.pagers.len() {
        world.take(Step::Dies { pager })?;
    }
    for project in 0..2 {
        world.take(Step::Archive { project, on: false })?;
        world.take(Step::Ban { project, on: false })?;
    }
    for owner in 0..2 {
        world.take(Step::Budget {
            owner,
            normal: 240,
            urgent: 60,
        })?;
    }
    for part in 0..PARTS.len() {
        world.take(Step::Delete { part, on: false })?;
        world.take(Step::Pause { part, on: false })?;
        world.take(Step::Limited { part, minutes: 0 })?;
        // From now on who comes for mail is done with it, and nobody writes any more.
        let agent = &mut world.agents[part];
        while agent.next().is_some() {}
        if agent.character != Character::Silent {
            agent.character = Character::Acknowledges;
        }
    }
    let mut passed = 0;
    let mut quiet = 0;
    loop {
        quiet = if round(world)? { 0 } else { quiet + 1 };
        if is_over(world)? {
            return nothing_is_lost(world);
        }
        if passed > BOUND {
            return Err(format!(
                "after {} h something is still to be announced",
                BOUND / 3600
            ));
        }
        let seconds = PASSES[quiet.min(PASSES.len() - 1)];
        world.take(Step::Pass { seconds })?;
        passed += seconds;
    }
}

/// A sweep, a poll, and all that follows; whether anything was typed.
fn round(world: &mut World) -> Checked<bool> {
    world.take(Step::Sweep)?;
    world.take(Step::Poll {
        pager: 0,
        parts: (1 << PARTS.len()) - 1,
    })?;
    let mut typed = false;
    for part in 0..PARTS.len() {
        while world.pagers[0].hand(part).is_some() {
            typed = true;
            world.take(Step::Deliver {
                pager: 0,
                part,
                fate: Fate::Arrives,
                unsure: false,
            })?;
        }
        while world.agents[part].is_up() {
            world.take(Step::Act { part, late: false })?;
        }
    }
    world.post_marks(true)?;
    Ok(typed)
}

fn is_over(world: &World) -> Checked<bool> {
    world.relay.ask(|connection| {
        Ok(connection
            .prepare_cached(
                "SELECT NOT EXISTS (SELECT 1 FROM wake WHERE ended_at IS NULL) AND NOT EXISTS (SELECT 1 FROM hold WHERE ended_at IS NULL)
                    AND NOT EXISTS (SELECT 1 FROM recipient AS r WHERE r.part IS NOT NULL AND r.live = 1 AND r.read_at IS NULL
                                     AND r.fyi = 0 AND (r.seen_at IS NULL AND r.nudged_by IS NULL OR r.remind_at IS NOT NULL))",
            )?
            .query_row([], |row| row.get(0))?)
    })
}
