//! What is looked at after every step: the promises of wake.md 11, worked out anew from rows and from what the day itself remembers.

use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use rusqlite::Connection;

use crate::issued;
use crate::pager::Did;
use crate::relay::Checked;
use crate::relay::Relay;
use crate::standing;
use crate::step::Step;
use crate::swept;
use crate::typed;
use crate::world::World;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Watch {
    wakes: i64,
    nudges: i64,
    /// What the step at hand did.
    did: Option<Did>,
    /// The wake and rung a delivery was about.
    delivering: Option<(String, u32)>,
    offered: Vec<usize>,
}

/// Why no line may be typed for the part of a delivery, as things stood before the step.
pub type Before = Option<Result<(), String>>;

impl Watch {
    /// The wakes a poll handed out.
    pub fn offered(&mut self, parts: &[usize]) {
        self.offered = parts.to_vec();
    }

    /// What a step of a delivery did.
    pub fn delivered(&mut self, did: Did) {
        self.did = Some(did);
    }

    /// Enter is pressed on a line: it must be in the ledger.
    pub fn pressed(&self, relay: &Relay, id: &str, rung: u32) -> Checked {
        let counted: bool = relay.ask(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM nudge AS n JOIN wake AS w ON w.seq = n.wake WHERE w.id = ?1 AND n.rung = ?2)",
                )?
                .query_row((id, rung), |row| row.get(0))?)
        })?;
        check(counted, || {
            "a line was submitted that is not in the ledger".into()
        })
    }

    /// Called before a step.
    pub fn before(&mut self, world: &World, step: Step) -> Checked<Before> {
        self.did = None;
        self.delivering = match step {
            Step::Deliver { pager, part, .. } => world.pagers[pager]
                .hand(part)
                .map(|hand| (hand.offer.wake_id.clone(), hand.offer.nudge)),
            _ => None,
        };
        self.offered.clear();
        Ok(match step {
            Step::Deliver { part, .. } => Some(may_be_woken(world, part)?),
            _ => None,
        })
    }

    /// Called after it.
    pub fn after(&mut self, world: &World, step: Step, before: Before) -> Checked {
        if matches!(
            step,
            Step::Pass { .. } | Step::Rise { .. } | Step::Dies { .. }
        ) {
            return Ok(());
        }
        let verdict = world.relay.ask(|connection| {
            let verdict = standing::check(connection, world)?;
            Ok(verdict.and(match step {
                Step::Sweep | Step::Restart => swept::check(connection, world)?,
                _ => Ok(()),
            }))
        })?;
        verdict?;
        if self.did == Some(Did::MayType)
            && let Some(Err(why)) = &before
        {
            return Err(format!("confirm said ok for a part that {why}"));
        }
        self.nudges(world, &before)?;
        self.wakes(world)?;
        for part in &self.offered {
            let typed: bool = world
                .relay
                .ask(|connection| typed::in_hand(connection, world.relay.house.parts[*part].seq))?;
            if !typed && let Err(why) = may_be_woken(world, *part)? {
                return Err(format!("a wake was handed out for a part that {why}"));
            }
        }
        if step == Step::Restart {
            nothing_is_lost(world)?;
        }
        Ok(())
    }

    fn nudges(&mut self, world: &World, before: &Before) -> Checked {
        let (newest, verdict) = world
            .relay
            .ask(|connection| typed::check(connection, world, self.nudges))?;
        verdict?;
        if newest > self.nudges {
            self.nudges = newest;
            match before {
                None => return Err("a nudge was written though no pager typed".into()),
                Some(Err(why)) => return Err(format!("a nudge was typed for a part that {why}")),
                Some(Ok(())) => {}
            }
            let counted = world.relay.ask(typed::newest)?;
            check(self.delivering.as_ref() == Some(&counted), || {
                "a nudge was written for another line than the one typed".into()
            })?;
        }
        Ok(())
    }

    fn wakes(&mut self, world: &World) -> Checked {
        let (newest, verdict) = world
            .relay
            .ask(|connection| issued::check(connection, self.wakes))?;
        self.wakes = newest;
        verdict
    }
}

/// `verdict` as a finding.
pub fn check(verdict: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if verdict { Ok(()) } else { Err(otherwise()) }
}

/// Whether a line may be typed for the part at all: loud mail, and nothing that holds it.
fn may_be_woken(world: &World, part: usize) -> Checked<Result<(), String>> {
    if !world.is_live(part) {
        return Ok(Err("is deleted, banned or archived".into()));
    }
    let now = world.relay.now();
    let seq = world.relay.house.parts[part].seq;
    world.relay.ask(|connection| {
        let (paused, limited): (bool, bool) = connection
            .prepare_cached(
                "SELECT paused_at IS NOT NULL, coalesce(limited_until, 0) > ?2 FROM part WHERE seq = ?1",
            )?
            .query_row((seq, now), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(match (paused, limited, is_loud(connection, seq)?) {
            (true, _, _) => Err("is paused".into()),
            (_, true, _) => Err("is parked".into()),
            (_, _, false) => Err("has no loud mail".into()),
            _ => Ok(()),
        })
    })
}

/// Whether a part has loud mail, asked of the threads themselves.
fn is_loud(connection: &Connection, part: PartSeq) -> Outcome<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM recipient AS r JOIN message AS m ON m.seq = r.message JOIN thread AS t ON t.seq = m.thread
                             WHERE r.part = ?1 AND r.read_at IS NULL AND m.fyi = 0 AND t.status NOT IN ('closed', 'canceled'))",
        )?
        .query_row([part], |row| row.get(0))?)
}

/// Every id that was returned exists, with its recipients.
pub fn nothing_is_lost(world: &World) -> Checked {
    let lost = world.relay.ask(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT count(r.message) FROM message AS m LEFT JOIN recipient AS r ON r.message = m.seq WHERE m.id = ?1 GROUP BY m.seq",
        )?;
        for accepted in &world.accepted {
            let mut rows = statement.query([&accepted.id])?;
            let there: Option<u32> = rows.next()?.map(|row| row.get(0)).transpose()?;
            if there != Some(accepted.recipients) {
                return Ok(Some(format!(
                    "message {} had {} recipients and has {there:?}",
                    accepted.id, accepted.recipients
                )));
            }
        }
        Ok(None)
    })?;
    lost.map_or(Ok(()), Err)
}
