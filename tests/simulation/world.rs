//! The relay, the pagers, the agents and the people of a day, and how each step changes them.

use std::collections::HashSet;
use std::time::Duration;

use relayroom::activity::event;
use relayroom::activity::event::EventArgs;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::CloseArgs;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::ShowArgs;
use relayroom::messaging::Status;
use relayroom::store::MessageSeq;
use relayroom::store::Time;
use relayroom::wake;
use serde_json::json;

use crate::agent::Agent;
use crate::agent::Task;
use crate::pager::Did;
use crate::pager::Pager;
use crate::relay::Checked;
use crate::relay::Relay;
use crate::relay::Template;
use crate::step::Day;
use crate::step::PARTS;
use crate::step::Step;
use crate::watch::Watch;

/// A message whose id was returned.
pub struct Accepted {
    pub id: String,
    /// How many recipients the answer named.
    pub recipients: u32,
}

/// Marks posted behind an answer that has left.
struct Marks {
    part: usize,
    messages: Vec<MessageSeq>,
    at: Time,
    late: bool,
}

/// Everything.
pub struct World {
    pub relay: Relay,
    pub pagers: [Pager; 2],
    pub agents: Vec<Agent>,
    /// Every message the relay said it had stored.
    pub accepted: Vec<Accepted>,
    /// Wake and rung of every line for which Enter was pressed.
    pub pressed: HashSet<(String, u32)>,
    pub limits: [(u32, u32); 2],
    pub deleted: [bool; PARTS.len()],
    pub archived: [bool; 2],
    /// Ann, per project.
    pub banned: [bool; 2],
    marks: Vec<Marks>,
    watch: Watch,
    written: usize,
}

impl World {
    /// The morning of a day.
    pub fn new(template: &Template, day: &Day) -> Checked<Self> {
        let mut world = Self {
            relay: Relay::new(template)?,
            pagers: ["first", "second"].map(|name| Pager::new(name, PARTS.len())),
            agents: day
                .characters
                .iter()
                .map(|character| Agent::new(*character))
                .collect(),
            accepted: Vec::new(),
            pressed: HashSet::new(),
            limits: day.limits,
            deleted: [false; PARTS.len()],
            archived: [false; 2],
            banned: [false; 2],
            marks: Vec::new(),
            watch: Watch::default(),
            written: 0,
        };
        for (owner, (normal, urgent)) in day.limits.into_iter().enumerate() {
            world.budget(owner, normal, urgent)?;
        }
        Ok(world)
    }

    /// Takes a step, then looks whether every promise still holds.
    pub fn take(&mut self, step: Step) -> Checked {
        match step {
            Step::Restart => self.marks.clear(),
            // The queue is a matter of milliseconds.
            Step::Pass { .. } | Step::Clock { .. } => self.post_marks(true)?,
            _ => self.post_marks(false)?,
        }
        let mut watch = std::mem::take(&mut self.watch);
        let before = watch.before(self, step)?;
        self.watch = watch;
        self.apply(step)?;
        let mut watch = std::mem::take(&mut self.watch);
        let outcome = watch.after(self, step, before);
        self.watch = watch;
        outcome
    }

    /// Whether the edge lets requests of that part through.
    pub fn is_live(&self, part: usize) -> bool {
        let seat = &self.relay.house.parts[part];
        let banned = seat.owner == 1 && self.banned[seat.project];
        !(banned || self.deleted[part] || self.archived[seat.project])
    }

    fn apply(&mut self, step: Step) -> Checked {
        match step {
            Step::Pass { seconds } => self.relay.pass(Duration::from_secs(seconds)),
            Step::Sweep => self.relay.sweep()?,
            Step::Restart => self.relay.restart()?,
            Step::Clock { minutes } => self.relay.set_clock(minutes),
            Step::Send {
                from,
                to,
                also,
                urgent,
                fyi,
            } => self.send(from, &[to, also], urgent, fyi)?,
            Step::Reply {
                from,
                thread,
                any,
                urgent,
                fyi,
            } => {
                if let Some(thread) = self.thread_for(from, thread, any)? {
                    self.reply(from, thread, urgent, fyi)?;
                }
            }
            Step::Close { part, thread } => {
                if let Some(thread) = self.thread_of(part, thread)? {
                    self.close(part, thread)?;
                }
            }
            Step::Ack { part, message } => {
                if let Some(message) = self.mail_of(part, message)? {
                    self.ack(part, message)?;
                }
            }
            Step::Show { part, thread } => self.show(part, thread)?,
            Step::Rise { part } => self.agents[part].rise(),
            Step::Act { part, late } => self.act(part, late)?,
            Step::Limited { part, minutes } => self.limited(part, minutes)?,
            Step::Poll { pager, parts } => {
                let parts: Vec<_> = (0..PARTS.len())
                    .filter(|part| parts & (1 << part) != 0)
                    .collect();
                let taken = self.pagers[pager].poll(&self.relay, &parts)?;
                self.watch.offered(&taken);
            }
            Step::Deliver {
                pager,
                part,
                fate,
                unsure,
            } => {
                let did = self.pagers[pager].step(&self.relay, part, fate, unsure)?;
                self.watch.delivered(did);
                if did == Did::Pressed {
                    self.press(pager, part)?;
                }
            }
            Step::GivesWay {
                pager,
                part,
                released,
            } => {
                self.pagers[pager].gives_way(&self.relay, part, released)?;
            }
            Step::Repeat { pager } => {
                self.pagers[pager].repeat(&self.relay)?;
            }
            Step::Dies { pager } => self.pagers[pager].die(),
            _ => self.person(step)?,
        }
        Ok(())
    }

    /// What a person does, as the routes of `/api/admin` do it.
    fn person(&mut self, step: Step) -> Checked {
        let house = self.relay.house.clone();
        match step {
            Step::PersonSends { to, also } => self.person_sends(&[to, also])?,
            Step::PersonReplies { project, thread } => {
                let person = self.relay.person(project);
                if let Some(thread_id) = self.thread_in(project, thread, true)? {
                    self.written += 1;
                    let args = ReplyArgs {
                        thread_id,
                        body: format!("body {}", self.written),
                        ..ReplyArgs::default()
                    };
                    let replied = self
                        .relay
                        .write(move |tx, now| messaging::reply(tx, &person, &args, now))?;
                    self.replied(replied);
                }
            }
            Step::PersonCloses { project, thread } | Step::Reopens { project, thread } => {
                let reopens = matches!(step, Step::Reopens { .. });
                let person = self.relay.person(project);
                if let Some(id) = self.thread_in(project, thread, !reopens)? {
                    let status = if reopens {
                        Status::Open
                    } else {
                        Status::Canceled
                    };
                    self.relay.write(move |tx, now| {
                        messaging::person::set_status(tx, &person, &id, status, None, now)
                    })?;
                }
            }
            Step::Pause { part, on } => {
                let seq = house.parts[part].seq;
                self.relay.write(move |tx, now| {
                    part::set_paused(tx, seq, on, now)?;
                    if !on {
                        wake::consider(tx, seq, now)?;
                    }
                    Ok(())
                })?;
            }
            Step::Delete { part, on } => {
                let seq = house.parts[part].seq;
                self.relay.write(move |tx, now| {
                    if on {
                        part::delete(tx, seq, now)?;
                        return wake::cancel(tx, seq, now);
                    }
                    part::revive(tx, seq)?;
                    wake::consider(tx, seq, now).map(|_| ())
                })?;
                self.deleted[part] = on;
            }
            Step::Again { part } => {
                let seq = house.parts[part].seq;
                self.relay.write(move |tx, now| wake::again(tx, seq, now))?;
            }
            Step::Budget {
                owner,
                normal,
                urgent,
            } => self.budget(owner, normal, urgent)?,
            Step::Archive { project, on } => {
                let seq = house.projects[project];
                self.relay.write(move |tx, now| {
                    project::set_archived(tx, seq, on, now)?;
                    wake::consider_project(tx, seq, now)
                })?;
                self.archived[project] = on;
            }
            Step::Ban { project, on } => {
                let (seq, ann) = (house.projects[project], house.people[1]);
                self.relay.write(move |tx, now| {
                    people::set_banned(tx, seq, ann, on, now)?;
                    wake::consider_owner(tx, ann, now)
                })?;
                self.banned[project] = on;
            }
            _ => {}
        }
        Ok(())
    }

    fn budget(&mut self, owner: usize, normal: u32, urgent: u32) -> Checked {
        let user = self.relay.house.people[owner];
        self.relay.write(move |tx, now| {
            people::set_budget(tx, user, Some(normal), Some(urgent))?;
            wake::consider_owner(tx, user, now)
        })?;
        self.limits[owner] = (normal, urgent);
        Ok(())
    }

    fn mail(&mut self, to: &[usize], urgent: bool, fyi: bool) -> SendArgs {
        self.written += 1;
        SendArgs {
            subject: format!("subject {}", self.written),
            body: format!("body {}", self.written),
            to: to.iter().map(|part| PARTS[*part].0.to_owned()).collect(),
            urgent,
            fyi,
            ..SendArgs::default()
        }
    }

    fn send(&mut self, from: usize, to: &[usize], urgent: bool, fyi: bool) -> Checked {
        if !self.is_live(from) {
            return Ok(());
        }
        let args = self.mail(to, urgent, fyi);
        let caller = self.relay.caller(from);
        let sent = self
            .relay
            .write(move |tx, now| messaging::send(tx, &Author::Part(&caller), &args, now))?;
        self.sent(sent);
        Ok(())
    }

    fn person_sends(&mut self, to: &[usize]) -> Checked {
        let person = self.relay.person(self.relay.house.parts[to[0]].project);
        let args = self.mail(to, false, false);
        let sent = self
            .relay
            .write(move |tx, now| messaging::send(tx, &person, &args, now))?;
        self.sent(sent);
        Ok(())
    }

    fn sent(&mut self, sent: Option<messaging::Sent>) {
        self.accepted.extend(sent.map(|sent| Accepted {
            id: sent.message_id,
            recipients: sent.recipients.map_or(0, |to| to.len() as u32),
        }));
    }

    fn replied(&mut self, replied: Option<messaging::Replied>) {
        self.accepted.extend(replied.map(|replied| Accepted {
            id: replied.message_id,
            recipients: replied.recipients.map_or(0, |to| to.len() as u32),
        }));
    }

    fn reply(&mut self, from: usize, thread_id: String, urgent: bool, fyi: bool) -> Checked {
        if !self.is_live(from) {
            return Ok(());
        }
        self.written += 1;
        let args = ReplyArgs {
            thread_id,
            body: format!("body {}", self.written),
            urgent: urgent && !fyi,
            fyi,
            ..ReplyArgs::default()
        };
        let caller = self.relay.caller(from);
        let replied = self
            .relay
            .write(move |tx, now| messaging::reply(tx, &Author::Part(&caller), &args, now))?;
        self.replied(replied);
        Ok(())
    }

    fn close(&mut self, part: usize, thread_id: String) -> Checked {
        if self.is_live(part) {
            let caller = self.relay.caller(part);
            let args = CloseArgs {
                thread_id,
                lesson: None,
            };
            self.relay
                .write(move |tx, now| messaging::close(tx, &Author::Part(&caller), &args, now))?;
        }
        Ok(())
    }

    fn ack(&mut self, part: usize, message: String) -> Checked {
        if self.is_live(part) {
            let caller = self.relay.caller(part);
            self.relay
                .write(move |tx, now| messaging::ack(tx, &caller, &message, now))?;
        }
        Ok(())
    }

    /// The next call of an agent's turn.
    pub fn act(&mut self, part: usize, late: bool) -> Checked {
        if !self.is_live(part) {
            return Ok(());
        }
        match self.agents[part].next() {
            None => Ok(()),
            Some(Task::Inbox) => self.inbox(part, late),
            Some(Task::Ack { message }) => self.ack(part, message),
            Some(Task::Reply { thread }) => self.reply(part, thread, false, false),
            Some(Task::Close { thread }) => self.close(part, thread),
        }
    }

    fn inbox(&mut self, part: usize, late: bool) -> Checked {
        let caller = self.relay.caller(part);
        let now = self.relay.now();
        let read = self.relay.read(|connection| {
            let inbox = messaging::inbox(connection, &caller, &InboxArgs::default(), now)?;
            Ok((inbox, wake::is_open(connection, caller.part)?))
        })?;
        let Some((inbox, woken)) = read else {
            return Ok(());
        };
        for item in inbox.list.items.iter().filter(|item| item.unread) {
            self.agents[part].was_shown(&item.message_id, &item.thread_id);
        }
        self.shown(part, inbox.shown, woken, late);
        Ok(())
    }

    fn show(&mut self, part: usize, thread: usize) -> Checked {
        let Some(thread_id) = self.thread_of(part, thread)? else {
            return Ok(());
        };
        let caller = self.relay.caller(part);
        let args = ShowArgs {
            thread_id,
            ..ShowArgs::default()
        };
        let now = self.relay.now();
        let read = self.relay.read(|connection| {
            let shown = messaging::show(connection, &Author::Part(&caller), &args, now)?;
            Ok((shown.shown, wake::is_open(connection, caller.part)?))
        })?;
        if let Some((shown, woken)) = read {
            self.shown(part, shown, woken, false);
        }
        Ok(())
    }

    fn shown(&mut self, part: usize, messages: Vec<MessageSeq>, woken: bool, late: bool) {
        if woken || !messages.is_empty() {
            self.marks.push(Marks {
                part,
                messages,
                at: self.relay.now(),
                late,
            });
        }
    }

    /// Writes what stands in the queue behind answers that have left.
    pub fn post_marks(&mut self, all: bool) -> Checked {
        for mut marks in std::mem::take(&mut self.marks) {
            if marks.late && !all {
                marks.late = false;
                self.marks.push(marks);
                continue;
            }
            let part = self.relay.house.parts[marks.part].seq;
            self.relay
                .write(move |tx, _| messaging::mark_shown(tx, part, &marks.messages, marks.at))?;
        }
        Ok(())
    }

    fn limited(&mut self, part: usize, minutes: i64) -> Checked {
        if !self.is_live(part) {
            return Ok(());
        }
        let caller = self.relay.caller(part);
        self.relay.write(move |tx, now| {
            let reset = (minutes > 0).then(|| Time(now.0 + minutes * 60_000).rfc3339());
            let args = EventArgs {
                kind: "limited".into(),
                detail: json!({"resetAt": reset}).as_object().cloned(),
                ..EventArgs::default()
            };
            let recorded = event::record(tx, &caller, args, now)?;
            if recorded.limited_until.is_some() {
                wake::consider(tx, caller.part, now)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Enter is pressed: the agent's turn begins.
    fn press(&mut self, pager: usize, part: usize) -> Checked {
        let Some(hand) = self.pagers[pager].hand(part) else {
            return Ok(());
        };
        let (id, rung) = (hand.offer.wake_id.clone(), hand.offer.nudge);
        self.watch.pressed(&self.relay, &id, rung)?;
        if !self.pressed.insert((id, rung)) {
            return Err("two lines were submitted for one nudge".into());
        }
        self.agents[part].rise();
        Ok(())
    }

    /// A live thread of the part's project, the newest of its own first.
    fn thread_of(&self, part: usize, back: usize) -> Checked<Option<String>> {
        self.thread_for(part, back, false)
    }

    /// The same, or, if `any` will do, the newest of all first.
    fn thread_for(&self, part: usize, back: usize, any: bool) -> Checked<Option<String>> {
        let seat = &self.relay.house.parts[part];
        let (seq, project) = (seat.seq, self.relay.house.projects[seat.project]);
        self.relay.ask(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT t.id FROM thread AS t WHERE t.project = ?1 AND t.status IN ('open', 'answered', 'holding')
                  ORDER BY ?4 OR EXISTS (SELECT 1 FROM participant WHERE thread = t.seq AND part = ?2) DESC, t.seq DESC
                  LIMIT 1 OFFSET ?3",
            )?;
            let mut rows = statement.query_map((project, seq, back as i64, any), |row| row.get(0))?;
            Ok(rows.next().transpose()?)
        })
    }

    /// A thread of a project, live or done, the newest first.
    fn thread_in(&self, project: usize, back: usize, live: bool) -> Checked<Option<String>> {
        let project = self.relay.house.projects[project];
        self.relay.ask(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM thread WHERE project = ?1 AND (status NOT IN ('closed', 'canceled')) = ?2
                  ORDER BY seq DESC LIMIT 1 OFFSET ?3",
            )?;
            let mut rows = statement.query_map((project, live, back as i64), |row| row.get(0))?;
            Ok(rows.next().transpose()?)
        })
    }

    /// A message to the part that it has not read, the newest first.
    fn mail_of(&self, part: usize, back: usize) -> Checked<Option<String>> {
        let part = self.relay.house.parts[part].seq;
        self.relay.ask(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT m.id FROM recipient AS r JOIN message AS m ON m.seq = r.message
                  WHERE r.part = ?1 AND r.live = 1 AND r.read_at IS NULL ORDER BY m.seq DESC LIMIT 1 OFFSET ?2",
            )?;
            let mut rows = statement.query_map((part, back as i64), |row| row.get(0))?;
            Ok(rows.next().transpose()?)
        })
    }
}
