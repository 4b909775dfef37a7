//! Three hours of a team of twelve agents, in virtual time, on the relay's real rules: what waking costs and what it holds back. Prints
//! Markdown tables. `cargo run --example long_run`, perhaps with a seed.

#![expect(
    clippy::unwrap_used,
    reason = "an example that meets the unexpected is to say so"
)]

#[allow(dead_code, reason = "the simulation uses more of it")]
#[path = "../tests/simulation/pager.rs"]
mod pager;
#[allow(dead_code, reason = "the simulation uses more of it")]
#[path = "../tests/simulation/random.rs"]
mod random;
#[allow(dead_code, reason = "the simulation uses more of it")]
#[path = "../tests/simulation/relay.rs"]
mod relay;

use std::collections::VecDeque;
use std::time::Duration;

use pager::Did;
use pager::Fate;
use pager::Pager;
use random::Random;
use relay::Checked;
use relay::Relay;
use relay::Template;
use relayroom::activity::park;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::CloseArgs;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::store::Time;
use relayroom::wake;

/// A lead, eight who build, two who review and one who runs things; Ann owns a third of them.
const TEAM: &[(&str, usize, usize)] = &[
    ("lead", 0, 0),
    ("api", 0, 0),
    ("db", 0, 0),
    ("web", 0, 0),
    ("ios", 0, 1),
    ("android", 0, 1),
    ("search", 0, 0),
    ("billing", 0, 0),
    ("docs", 0, 1),
    ("review-1", 0, 0),
    ("review-2", 0, 1),
    ("ops", 0, 0),
];

const HOURS: u64 = 3;

/// Seconds between two looks at everything.
const TICK: u64 = 10;

/// An agent at work.
#[derive(Default)]
struct Agent {
    /// In a turn until then.
    busy: Time,
    /// Threads it is to answer, in this turn and later ones.
    todo: VecDeque<String>,
    /// A turn has begun in which it has not looked into its inbox yet.
    woken: bool,
}

struct Team {
    relay: Relay,
    pager: Pager,
    random: Random,
    agents: Vec<Agent>,
    written: u32,
    /// Wake and rung of every line submitted.
    submitted: Vec<(String, u32)>,
}

fn main() -> Result<(), String> {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok());
    let template = Template::new(TEAM, 8);
    let mut team = Team {
        relay: Relay::new(&template)?,
        pager: Pager::new("mac", TEAM.len()),
        random: Random::new(seed.unwrap_or(1)),
        agents: TEAM.iter().map(|_| Agent::default()).collect(),
        written: 0,
        submitted: Vec::new(),
    };
    for tick in 0..HOURS * 3600 / TICK {
        team.tick(tick)?;
        team.relay.pass(Duration::from_secs(TICK));
    }
    print(&team.relay)?;
    let lines = team.submitted.len();
    team.submitted.sort_unstable();
    team.submitted.dedup();
    println!(
        "\nLines submitted: {lines}; duplicates: {}.",
        lines - team.submitted.len()
    );
    Ok(())
}

impl Team {
    fn tick(&mut self, tick: u64) -> Checked {
        let seconds = tick * TICK;
        if seconds.is_multiple_of(30) {
            self.relay.sweep()?;
        }
        match seconds {
            // One runs into its provider's limit for an hour; a pager is restarted; so is the relay.
            3600 => self.parks(4)?,
            5400 => self.pager.die(),
            7200 => self.relay.restart()?,
            _ => {}
        }
        if seconds.is_multiple_of(1800) {
            self.send(0, &["api", "db", "web", "ios", "android"], false)?;
        }
        if seconds.is_multiple_of(2400) {
            let to = self.random.below(TEAM.len());
            self.person(TEAM[to].0)?;
        }
        // Each asks another something every 25 minutes or so; one question in twenty is urgent.
        for from in 0..TEAM.len() {
            if self.random.below(150) == 0 {
                let to = (from + 1 + self.random.below(TEAM.len() - 1)) % TEAM.len();
                let urgent = self.random.percent(5);
                self.send(from, &[TEAM[to].0], urgent)?;
            }
        }
        self.deliver()?;
        for part in 0..TEAM.len() {
            self.work(part)?;
        }
        Ok(())
    }

    fn parks(&self, part: usize) -> Checked {
        let seq = self.relay.house.parts[part].seq;
        self.relay.write(move |tx, now| {
            park::set(tx, seq, Some(now + Duration::from_secs(3600)), now)?;
            wake::consider(tx, seq, now)
        })?;
        Ok(())
    }

    /// Whether the agent could begin a turn: it is idle, and neither asleep nor out of its limit.
    fn is_idle(&self, part: usize) -> bool {
        self.agents[part].busy <= self.relay.now()
    }

    /// The pager types only into idle panes; `ops` has gone home after the first hour.
    fn deliver(&mut self) -> Checked {
        let all: Vec<usize> = (0..TEAM.len()).collect();
        self.pager.poll(&self.relay, &all)?;
        for part in all {
            while self.pager.hand(part).is_some() && self.is_idle(part) {
                let offer = self.pager.hand(part).map(|hand| hand.offer.clone());
                let did = self.pager.step(&self.relay, part, Fate::Arrives, false)?;
                if did == Did::Pressed {
                    self.submitted
                        .extend(offer.map(|offer| (offer.wake_id, offer.nudge)));
                }
                let gone = part == 11 && self.relay.now() > Self::hour(1);
                if did == Did::Pressed && !gone {
                    self.agents[part].woken = true;
                }
            }
        }
        Ok(())
    }

    /// When that hour has passed.
    fn hour(hour: u64) -> Time {
        relay::START + Duration::from_secs(3600 * hour)
    }

    /// What an agent does next: look into its inbox, answer, close.
    fn work(&mut self, part: usize) -> Checked {
        if !self.is_idle(part) {
            return Ok(());
        }
        let now = self.relay.now();
        if self.agents[part].woken {
            self.agents[part].woken = false;
            self.inbox(part)?;
            self.agents[part].busy = now + Duration::from_secs(20);
        } else if let Some(thread) = self.agents[part].todo.pop_front() {
            let seconds = 30 + self.random.below(300) as u64;
            self.agents[part].busy = now + Duration::from_secs(seconds);
            self.answer(part, thread)?;
        }
        Ok(())
    }

    fn inbox(&mut self, part: usize) -> Checked {
        let caller = self.relay.caller(part);
        let args = InboxArgs {
            unread_only: true,
            ..InboxArgs::default()
        };
        let now = self.relay.now();
        let inbox = self
            .relay
            .ask(|connection| messaging::inbox(connection, &caller, &args, now))?;
        for item in inbox.list.items {
            if !item.fyi && !self.agents[part].todo.contains(&item.thread_id) {
                self.agents[part].todo.push_back(item.thread_id);
            }
        }
        self.relay
            .write(move |tx, now| messaging::mark_shown(tx, caller.part, &inbox.shown, now))?;
        Ok(())
    }

    /// Two of three answer, the others close.
    fn answer(&mut self, part: usize, thread_id: String) -> Checked {
        let caller = self.relay.caller(part);
        self.written += 1;
        let body = format!("answer {}", self.written);
        if self.random.percent(66) {
            let args = ReplyArgs {
                thread_id,
                body,
                ..ReplyArgs::default()
            };
            self.relay
                .write(move |tx, now| messaging::reply(tx, &Author::Part(&caller), &args, now))?;
        } else {
            let args = CloseArgs {
                thread_id,
                lesson: None,
            };
            self.relay
                .write(move |tx, now| messaging::close(tx, &Author::Part(&caller), &args, now))?;
        }
        Ok(())
    }

    fn mail(&mut self, to: &[&str], urgent: bool) -> SendArgs {
        self.written += 1;
        SendArgs {
            subject: format!("question {}", self.written),
            body: "What do you think of it?".into(),
            to: to.iter().map(|name| (*name).to_owned()).collect(),
            urgent,
            ..SendArgs::default()
        }
    }

    fn send(&mut self, from: usize, to: &[&str], urgent: bool) -> Checked {
        let args = self.mail(to, urgent);
        let caller = self.relay.caller(from);
        self.relay
            .write(move |tx, now| messaging::send(tx, &Author::Part(&caller), &args, now))?;
        Ok(())
    }

    fn person(&mut self, to: &str) -> Checked {
        let args = self.mail(&[to], false);
        let person = self.relay.person(0);
        self.relay
            .write(move |tx, now| messaging::send(tx, &person, &args, now))?;
        Ok(())
    }
}

/// What is asked of the ledger at the end: a heading, the columns, the query; `?1` is now.
const TABLES: &[(&str, &str, &str)] = &[
    (
        "Budget use",
        "| owner | lane | lines in 3 h | busiest hour | allowed an hour |",
        "SELECT u.name, n.lane, count(*),
                max((SELECT count(*) FROM nudge AS o WHERE o.owner = n.owner AND o.lane = n.lane
                                                       AND o.at <= n.at AND o.at > n.at - 3600000)),
                CASE n.lane WHEN 'normal' THEN u.normal_budget WHEN 'urgent' THEN u.urgent_budget ELSE '-' END
           FROM nudge AS n JOIN user AS u ON u.seq = n.owner WHERE ?1 > 0 GROUP BY n.owner, n.lane",
    ),
    (
        "Held",
        "| reason | holds | minutes in all | longest |",
        "SELECT reason, count(*), round(sum(coalesce(ended_at, ?1) - since) / 60000.0, 1),
                round(max(coalesce(ended_at, ?1) - since) / 60000.0, 1)
           FROM hold GROUP BY reason",
    ),
    (
        "Wakes",
        "| deliveries of messages | wakes | wakes per delivery | lines per wake | repeated lines |",
        "SELECT m, w, round(1.0 * w / m, 2), round(1.0 * n / w, 2), n - f FROM (
           SELECT (SELECT count(*) FROM recipient WHERE part IS NOT NULL AND ?1 > 0) AS m, (SELECT count(*) FROM wake) AS w,
                  (SELECT count(*) FROM nudge) AS n, (SELECT count(*) FROM nudge WHERE rung = 1) AS f)",
    ),
    (
        "How they ended",
        "| outcome | wakes | stored to consumed, p50 (s) | p95 (s) |",
        "WITH ranked AS (
           SELECT coalesce(w.outcome, 'open') AS outcome, (w.consumed_at - coalesce(m.at, w.issued_at)) / 1000 AS took,
                  row_number() OVER (PARTITION BY w.outcome ORDER BY w.consumed_at - coalesce(m.at, w.issued_at)) AS place,
                  count(*) OVER (PARTITION BY w.outcome) AS of
             FROM wake AS w LEFT JOIN message AS m ON m.seq = w.cause_message AND w.kind = 'mail' WHERE ?1 > 0)
         SELECT outcome, count(*), max(CASE WHEN place = (of + 1) / 2 THEN took END),
                max(CASE WHEN place = (of * 95 + 99) / 100 THEN took END)
           FROM ranked GROUP BY outcome",
    ),
];

fn print(relay: &Relay) -> Checked {
    let now = relay.now();
    for (title, columns, sql) in TABLES {
        let rule: String = columns
            .chars()
            .map(|c| if c == '|' { '|' } else { '-' })
            .collect();
        println!("\n## {title}\n\n{columns}\n{rule}");
        let rows = relay.ask(|connection| {
            let mut statement = connection.prepare(sql)?;
            let width = statement.column_count();
            let rows = statement.query_map([now], |row| {
                (0..width)
                    .map(|column| row.get::<_, rusqlite::types::Value>(column).map(text))
                    .collect::<rusqlite::Result<Vec<String>>>()
            })?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        for row in rows {
            println!("| {} |", row.join(" | "));
        }
    }
    Ok(())
}

fn text(value: rusqlite::types::Value) -> String {
    use rusqlite::types::Value;
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Null | Value::Blob(_) => "-".into(),
    }
}
