//! A hook as the relay hears it: reports of one session, at the world's time, taken as the route takes them.

use relayroom::activity::turn;
use relayroom::activity::turn::Activity;
use relayroom::activity::turn::Reported;
use relayroom::activity::usage;
use relayroom::api::TurnView;
use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::ActivityReport;
use relayroom::api::hook::Reason;
use relayroom::api::hook::UsageAnswer;
use relayroom::api::hook::UsageReport;
use relayroom::identity::part;
use relayroom::store::Outcome;
use relayroom::store::Time;
use relayroom::wake;
use serde_json::Value;
use serde_json::json;

use crate::support::world::World;

/// One session of one part's agent CLI.
#[derive(Clone, Copy)]
pub struct Hook<'w> {
    pub world: &'w World,
    pub part: &'w str,
    pub provider: &'w str,
    pub session: &'w str,
}

impl<'w> Hook<'w> {
    /// Claude's session `s1` of `web`.
    pub fn new(world: &'w World) -> Self {
        Self {
            world,
            part: "web",
            provider: "claude",
            session: "s1",
        }
    }

    pub fn of(self, part: &'w str) -> Self {
        Self { part, ..self }
    }

    pub fn provider(self, provider: &'w str) -> Self {
        Self { provider, ..self }
    }

    pub fn session(self, session: &'w str) -> Self {
        Self { session, ..self }
    }

    /// A report of now, changed before it is sent.
    pub fn tells(
        &self,
        kind: ActivityKind,
        change: impl FnOnce(&mut ActivityReport),
    ) -> Outcome<Reported> {
        let now = self.world.now().rfc3339();
        let mut report = ActivityReport {
            code: "code".into(),
            part: self.part.into(),
            provider: self.provider.into(),
            session: self.session.into(),
            kind,
            at: now.clone(),
            sent_at: Some(now),
            turn: None,
            tag: None,
            origin: None,
            reason: None,
            reset_at: None,
            tmux: None,
            pane: None,
            version: None,
            dropped: 0,
            title: None,
            summary: None,
        };
        change(&mut report);
        let seq = self.world.part(self.part);
        self.world.write(move |tx, now| {
            let part = part::get(tx, seq)?;
            let activity = Activity::read(&report, now)?;
            let wake = match activity.tag() {
                Some(tag) => wake::tagged(tx, part.seq, tag)?,
                None => None,
            };
            let reported = turn::report(tx, &part, &activity, wake)?;
            if let (Some(wake), Some(at)) = (wake, reported.prompted_at) {
                wake::prompted(tx, wake, at, now)?;
            }
            if reported.changed {
                wake::consider(tx, part.seq, now)?;
            }
            Ok(reported)
        })
    }

    /// [`Self::tells`] that names a turn, at a time.
    pub fn tells_of(&self, kind: ActivityKind, turn: &str, at: Time) -> Reported {
        self.tells(kind, |report| {
            report.turn = Some(turn.into());
            report.at = at.rfc3339();
        })
        .unwrap()
    }

    /// A person's prompt.
    pub fn starts(&self, turn: &str) -> Reported {
        self.tells_of(ActivityKind::TurnStart, turn, self.world.now())
    }

    /// The prompt of a wake.
    pub fn starts_by(&self, turn: &str, tag: &str) -> Reported {
        self.tells(ActivityKind::TurnStart, |report| {
            report.turn = Some(turn.into());
            report.tag = Some(tag.into());
        })
        .unwrap()
    }

    pub fn stops(&self, turn: &str) -> Reported {
        self.tells_of(ActivityKind::TurnEnd, turn, self.world.now())
    }

    pub fn ends(&self, turn: &str, reason: Reason) -> Reported {
        self.tells(ActivityKind::TurnEnd, |report| {
            report.turn = Some(turn.into());
            report.reason = Some(reason);
        })
        .unwrap()
    }

    pub fn blocks(&self) -> Reported {
        self.tells(ActivityKind::Blocked, |_| {}).unwrap()
    }

    /// A post of rows, with what else it holds.
    pub fn posts_with(
        &self,
        rows: Vec<Value>,
        change: impl FnOnce(&mut UsageReport<Value>),
    ) -> Outcome<UsageAnswer> {
        let mut report = UsageReport {
            code: "code".into(),
            part: self.part.into(),
            provider: self.provider.into(),
            session: self.session.into(),
            sent_at: Some(self.world.now().rfc3339()),
            turn: None,
            skipped: Default::default(),
            rows,
            usage: None,
            key: None,
        };
        change(&mut report);
        let seq = self.world.part(self.part);
        self.world.write(move |tx, now| {
            let part = part::get(tx, seq)?;
            usage::take(tx, &part, &report, now)
        })
    }

    /// A post of rows.
    pub fn posts(&self, rows: Vec<Value>) -> UsageAnswer {
        self.posts_with(rows, |_| {}).unwrap()
    }

    /// A row of now with so many tokens of output.
    pub fn row(&self, key: &str, output: u64) -> Value {
        self.row_at(key, output, self.world.now())
    }

    /// A row of then.
    pub fn row_at(&self, key: &str, output: u64, at: Time) -> Value {
        json!({"key": key, "at": at.rfc3339(), "model": "model-a", "output_tokens": output})
    }

    /// What the pager is told of the part.
    pub fn view(&self) -> TurnView {
        let part = self.world.part(self.part);
        self.world
            .read(|connection| turn::of(connection, part))
            .unwrap()
    }

    pub fn state(&self) -> String {
        self.view().state
    }

    /// The turns of the part in the order they were heard of: name, cause, end.
    pub fn turns(&self) -> Vec<(String, String, String)> {
        let part = self.world.part(self.part);
        self.world
            .read(|connection| {
                let mut statement = connection.prepare(
                    "SELECT turn, cause, coalesce(ending, 'open') FROM turn WHERE part = ?1 ORDER BY seq",
                )?;
                let rows = statement.query_map([part], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .unwrap()
    }

    /// Output tokens of a turn's rows.
    pub fn output_of(&self, turn: &str) -> i64 {
        self.world.count(&format!(
            "SELECT coalesce(sum(r.output), 0) FROM usage_row AS r JOIN turn AS t ON t.seq = r.turn WHERE t.turn = '{turn}'"
        ))
    }
}

/// How turns are compared with [`Hook::turns`].
pub fn turns<const N: usize>(turns: [(&str, &str, &str); N]) -> Vec<(String, String, String)> {
    turns
        .into_iter()
        .map(|(name, cause, end)| (name.to_owned(), cause.to_owned(), end.to_owned()))
        .collect()
}
