//! What happens in the demo, read from its relay: a line for every fact that is new, and the counts at the end.

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::json;

use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::text;

/// Wakes of the whole story.
pub(super) const WAKES: usize = 4;

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Watch {
    told: BTreeSet<String>,
    wakes: Vec<Value>,
    live: u64,
    lessons: usize,
    /// The thread in which the person is asked, once it is there.
    pub question: Option<String>,
}

/// Wakes by the three facts, and how many ended as they should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Issued in the transaction that stored their cause.
    pub stored: usize,
    /// Known to be submitted.
    pub presented: usize,
    /// The agent came for its mail.
    pub consumed: usize,
}

impl Watch {
    /// Looks once; the lines that are new, in the order of the story.
    ///
    /// # Errors
    /// The relay does not answer.
    pub(super) async fn look(&mut self, client: &Client) -> Result<Vec<String>, Failure> {
        let threads = client.get("threads", &[]).await?;
        let inbox = client.get("inbox", &[]).await?;
        let parts = client.get("parts", &[]).await?;
        let wakes = client.get("wakes", &[]).await?;
        let status = client.get("status", &[]).await?;
        let knowledge = client.get("knowledge", &[]).await?;
        self.live = field::number(&status["counts"], "liveThreads");
        self.lessons = field::list(&knowledge, "entries").len();
        self.wakes = field::list(&wakes, "rows").to_vec();
        self.wakes.retain(|row| field::word(row, "row") == "wake");
        self.wakes.reverse();
        self.question = field::list(&inbox, "items")
            .iter()
            .find(|item| field::flag(item, "needsHuman"))
            .map(|item| field::word(item, "threadId").to_owned());

        let mut lines = Vec::new();
        for thread in field::list(&threads, "threads").iter().rev() {
            let (id, status) = (field::word(thread, "id"), field::word(thread, "status"));
            let line = format!(
                "thread  {}: {status}",
                text::line(field::word(thread, "subject"))
            );
            self.tell(&mut lines, &format!("{id} {status}"), line);
        }
        for part in field::list(&parts, "parts") {
            let name = field::word(part, "part");
            for hold in field::list(part, "holds") {
                let (reason, since) = (field::word(hold, "reason"), field::word(hold, "since"));
                let line = format!("hold    {name}: mail waits, {reason}");
                self.tell(&mut lines, &format!("{name} {reason} {since}"), line);
            }
        }
        for wake in self.wakes.clone() {
            self.tell_wake(&mut lines, &wake);
        }
        if self.lessons > 0 {
            let title = field::word(&knowledge["entries"][0], "title");
            let line = format!("lesson  {}", text::line(title));
            self.tell(&mut lines, "lesson", line);
        }
        Ok(lines)
    }

    fn tell_wake(&mut self, lines: &mut Vec<String>, wake: &Value) {
        let (id, part) = (field::word(wake, "wakeId"), field::word(wake, "part"));
        let lane = field::word(wake, "lane");
        let stored = field::time(wake, "storedAt");
        for (fact, name) in [
            ("stored", "storedAt"),
            ("presented", "presentedAt"),
            ("consumed", "consumedAt"),
        ] {
            if let (Some(at), Some(stored)) = (field::time(wake, name), stored) {
                let after = match at.since(stored) {
                    0 => format!("{lane} lane"),
                    ms => format!("after {}.{} s", ms / 1000, ms % 1000 / 100),
                };
                let line = format!("wake    {part}: {fact}, {after}");
                self.tell(lines, &format!("{id} {fact}"), line);
            }
        }
    }

    fn tell(&mut self, lines: &mut Vec<String>, key: &str, line: String) {
        if self.told.insert(key.to_owned()) {
            lines.push(line);
        }
    }

    /// Whether the story is told: every thread done, the lesson kept, no wake open.
    pub(super) fn is_over(&self) -> bool {
        self.lessons > 0
            && self.live == 0
            && self.wakes.len() >= WAKES
            && self
                .wakes
                .iter()
                .all(|wake| !field::word(wake, "outcome").is_empty())
    }

    /// The counts so far.
    pub(super) fn counts(&self) -> Counts {
        let with = |name: &str| {
            let known = self
                .wakes
                .iter()
                .filter(|wake| field::time(wake, name).is_some());
            known.count()
        };
        Counts {
            stored: self.wakes.len(),
            presented: with("presentedAt"),
            consumed: self
                .wakes
                .iter()
                .filter(|wake| field::word(wake, "outcome") == "consumed")
                .count(),
        }
    }

    /// One row per wake: part, lane, and which of the three facts hold.
    pub(super) fn ledger(&self) -> Vec<[String; 3]> {
        self.wakes
            .iter()
            .map(|wake| {
                let facts = ["storedAt", "presentedAt", "consumedAt"];
                let known = facts
                    .iter()
                    .filter(|fact| field::time(wake, fact).is_some());
                let words = ["", "stored", "presented", "consumed"];
                [
                    field::word(wake, "part").to_owned(),
                    field::word(wake, "lane").to_owned(),
                    words[known.count()].to_owned(),
                ]
            })
            .collect()
    }
}

impl Counts {
    /// Every wake was consumed, and there was one.
    pub(super) fn all_consumed(self) -> bool {
        self.stored > 0 && self.consumed == self.stored
    }

    /// For people.
    pub(super) fn words(self) -> String {
        format!(
            "wakes: {} stored, {} presented, {} consumed",
            self.stored, self.presented, self.consumed
        )
    }

    /// For programs.
    pub(super) fn to_json(self) -> Value {
        json!({"stored": self.stored, "presented": self.presented, "consumed": self.consumed})
    }
}
