//! After a restart: what the journal left open is settled by looking, before anything new is typed (pager.md 2, "Journal").

use std::time::Duration;

use super::Action;
use super::Delivery;
use super::HELD;
use super::Look;
use super::Phase;
use super::Written;
use super::state::Before;
use crate::pager::journal::Record;
use crate::pager::read::Squeezed;
use crate::pager::read::Standing;
use crate::store::Time;

/// Distance of the looks until a composer was read twice.
const AGAIN: Duration = Duration::from_millis(500);

impl Delivery {
    /// A delivery as an earlier process left it; `None` if it left nothing open.
    #[must_use]
    pub fn resume(record: &Record, now: Time) -> Option<Self> {
        if record.stage == Written::Done {
            return None;
        }
        Some(Self {
            wake: record.wake.clone(),
            nudge: record.nudge,
            tag: record.tag.clone(),
            line: record.line.clone(),
            phase: Phase::Restarted {
                stage: record.stage,
                reads: 0,
            },
            texts: record.attempts,
            enters: record.enters,
            // No lease until an answer brings one.
            lease_until: now,
            not_before: now,
            since: now,
            look_at: now,
            held_since: None,
            standing: (
                record.standing.clone(),
                // An adopted line differs from the wake's own in its tag.
                Squeezed::of(&record.line.replace(&record.tag, &record.standing))
                    .as_str()
                    .to_owned(),
            ),
            before: Before {
                echoes: record.echoes,
                turn: record.turn,
                picture: None,
            },
            failures: 0,
            told: None,
            last: None,
        })
    }

    pub(super) fn look_restarted(
        &mut self,
        stage: Written,
        reads: u8,
        look: Look,
        now: Time,
    ) -> Vec<Action> {
        self.look_at = now + AGAIN;
        if look.lost {
            return self.settle_lost(stage, now);
        }
        if look.verdict.composer == Standing::None {
            self.look_at = now + HELD;
            let reason = (
                look.verdict.reason().unwrap_or("unknown"),
                look.verdict.detail,
            );
            return self.tell(reason, &look.verdict.evidence, now);
        }
        if reads == 0 {
            self.phase = Phase::Restarted { stage, reads: 1 };
            return Vec::new();
        }
        if self.stands(&look) || look.verdict.composer == Standing::OwnLinePlus {
            return self.typed(Some(look), now);
        }
        match stage {
            Written::Intent => {
                // It did not arrive: the one possible repeat.
                self.texts = self.texts.saturating_sub(1);
                self.phase = Phase::Looking;
                self.look_looking(
                    Look {
                        claimed: false,
                        ..look
                    },
                    now,
                )
            }
            Written::Typed | Written::Entering | Written::Done => match self.evidence(&look) {
                Some(evidence) => self.submitted(evidence),
                None => self.unconfirmed("restart"),
            },
        }
    }

    /// The pane is not the one that was typed into.
    fn settle_lost(&mut self, stage: Written, now: Time) -> Vec<Action> {
        if stage == Written::Intent {
            self.texts = self.texts.saturating_sub(1);
            self.phase = Phase::Looking;
            self.look_at = now;
            return Vec::new();
        }
        self.unconfirmed("pane_gone")
    }
}
