//! A relay without a server: a founded file, people, projects and parts, and a clock that only the test moves. Rule-level cases call the
//! capabilities on it.

use std::cell::Cell;
use std::time::Duration;

use relayroom::identity;
use relayroom::identity::Caller;
use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::Inbox;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::Replied;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::Sent;
use relayroom::store::Error;
use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use relayroom::store::ProjectSeq;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::TokenSeq;
use relayroom::store::Tx;
use relayroom::store::UserSeq;
use rusqlite::Connection;
use serde_json::Value;

/// 2026-12-01T09:00:00Z.
const START: Time = Time(1_796_115_600_000);

/// One relay file and its time.
pub struct World {
    /// The file.
    pub store: Store,
    /// Kim, the file's owner.
    pub kim: UserSeq,
    /// The project `shop`.
    pub shop: ProjectSeq,
    now: Cell<Time>,
    folder: tempfile::TempDir,
}

impl World {
    /// Kim's relay with the project `shop` and its parts api, db and web, as tools.md 12 has it.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("relayroom.db"), "test", START).unwrap();
        let (kim, shop) = store
            .write_blocking(|tx| {
                identity::found(tx, "kim", START)?;
                let kim = people::first_owner(tx)?.seq;
                let shop = project::create(tx, kim, "shop", START)?.seq;
                for name in ["api", "db", "web"] {
                    part::add(tx, shop, name, kim, START)?;
                }
                Ok((kim, shop))
            })
            .unwrap();
        Self {
            store,
            kim,
            shop,
            now: Cell::new(START),
            folder,
        }
    }

    /// The world's time.
    pub fn now(&self) -> Time {
        self.now.get()
    }

    /// Lets time pass.
    pub fn pass(&self, span: Duration) {
        self.now.set(self.now() + span);
    }

    /// Lets so many seconds pass.
    pub fn seconds(&self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    /// Lets so many minutes pass.
    pub fn minutes(&self, minutes: u64) {
        self.seconds(minutes * 60);
    }

    /// Sets the clock, back too.
    pub fn set_now(&self, now: Time) {
        self.now.set(now);
    }

    /// The same file, closed and opened again as a relay does that was killed.
    pub fn restarted(self) -> Self {
        let Self {
            store,
            kim,
            shop,
            now,
            folder,
        } = self;
        let path = store.path().to_owned();
        drop(store);
        Self {
            store: Store::open(&path, "test", now.get()).unwrap(),
            kim,
            shop,
            now,
            folder,
        }
    }

    /// Closes the file and keeps its folder, for opening it again.
    pub fn close_file(self) -> tempfile::TempDir {
        drop(self.store);
        self.folder
    }

    /// One call that writes, at the world's time.
    pub fn write<T, F>(&self, rule: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>, Time) -> Outcome<T> + Send + 'static,
    {
        let now = self.now();
        self.store.write_blocking(move |tx| rule(tx, now))
    }

    /// One call that reads.
    pub fn read<T>(&self, rule: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
        self.store.read_blocking(rule)
    }

    /// A number of the tables.
    pub fn count(&self, sql: &str) -> i64 {
        self.read(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
            .unwrap()
    }

    /// Changes rows no rule changes.
    pub fn execute(&self, sql: &str) {
        let sql = sql.to_owned();
        self.write(move |tx, _| Ok(tx.execute_batch(&sql)?))
            .unwrap();
    }

    /// A person who is a member of `shop`.
    pub fn person(&self, name: &str, level: Level, urgent: bool, needs_human: bool) -> UserSeq {
        let name = name.to_owned();
        let shop = self.shop;
        self.write(move |tx, now| {
            let user = people::add(tx, &name, now)?;
            people::set_member(tx, shop, user, level, urgent, needs_human)?;
            Ok(user)
        })
        .unwrap()
    }

    /// Another project of Kim's.
    pub fn project(&self, name: &str) -> ProjectSeq {
        let (name, kim) = (name.to_owned(), self.kim);
        self.write(move |tx, now| Ok(project::create(tx, kim, &name, now)?.seq))
            .unwrap()
    }

    /// Another part of `shop`, Kim's.
    pub fn add(&self, name: &str) -> PartSeq {
        self.add_to(self.shop, name, self.kim)
    }

    /// Another part.
    pub fn add_to(&self, project: ProjectSeq, name: &str, owner: UserSeq) -> PartSeq {
        let name = name.to_owned();
        self.write(move |tx, now| Ok(part::add(tx, project, &name, owner, now)?.seq))
            .unwrap()
    }

    /// A part of `shop`.
    pub fn part(&self, name: &str) -> PartSeq {
        self.read(|connection| part::by_slug(connection, self.shop, name))
            .unwrap()
            .unwrap()
            .seq
    }

    /// Deletes a part of `shop`.
    pub fn delete(&self, name: &str) {
        let part = self.part(name);
        self.write(move |tx, now| part::delete(tx, part, now))
            .unwrap();
    }

    /// Makes a part of `shop` its main part.
    pub fn set_main(&self, name: Option<&str>) {
        let (shop, main) = (self.shop, name.map(|name| self.part(name)));
        self.write(move |tx, _| project::set_main(tx, shop, main))
            .unwrap();
    }

    /// The caller a request of that part of `shop` would be.
    pub fn caller(&self, name: &str) -> Caller {
        self.caller_in(self.shop, name)
    }

    /// The caller a request of that part would be.
    pub fn caller_in(&self, project: ProjectSeq, name: &str) -> Caller {
        self.read(|connection| {
            let part = part::by_slug(connection, project, name)?.unwrap();
            let rights = people::rights(connection, project, part.owner)?.unwrap();
            Ok(Caller {
                user: part.owner,
                project,
                project_slug: project::get(connection, project)?.slug,
                part: part.seq,
                part_slug: part.slug,
                level: rights.level,
                urgent: rights.urgent,
                needs_human: rights.needs_human,
                token: TokenSeq(0),
                token_used_at: None,
            })
        })
        .unwrap()
    }

    /// Kim in the lane `human` of `shop`.
    pub fn human(&self) -> Author<'static> {
        Author::Person {
            user: self.kim,
            project: self.shop,
        }
    }

    /// `send` by a part of `shop`.
    pub fn send(&self, from: &str, args: SendArgs) -> Outcome<Sent> {
        let caller = self.caller(from);
        self.write(move |tx, now| messaging::send(tx, &Author::Part(&caller), &args, now))
    }

    /// `send` that must succeed.
    pub fn sent(&self, from: &str, to: &[&str], subject: &str, body: &str) -> Sent {
        self.send(from, mail(to, subject, body)).unwrap()
    }

    /// `send` by Kim.
    pub fn send_as_human(&self, args: SendArgs) -> Outcome<Sent> {
        let human = self.human();
        self.write(move |tx, now| messaging::send(tx, &human, &args, now))
    }

    /// `reply` by a part of `shop`.
    pub fn reply(&self, from: &str, args: ReplyArgs) -> Outcome<Replied> {
        let caller = self.caller(from);
        self.write(move |tx, now| messaging::reply(tx, &Author::Part(&caller), &args, now))
    }

    /// `reply` that must succeed.
    pub fn replied(&self, from: &str, thread: &str, body: &str) -> Replied {
        self.reply(from, answer(thread, body)).unwrap()
    }

    /// `reply` by Kim.
    pub fn reply_as_human(&self, args: ReplyArgs) -> Outcome<Replied> {
        let human = self.human();
        self.write(move |tx, now| messaging::reply(tx, &human, &args, now))
    }

    /// `inbox` of a part of `shop` as the edge answers it: read, then marked.
    pub fn inbox_of(&self, name: &str, args: InboxArgs) -> Outcome<Inbox> {
        let inbox = self.peek(name, args)?;
        self.mark_shown(name, &inbox.shown);
        Ok(inbox)
    }

    /// `inbox` with nothing asked for.
    pub fn inbox(&self, name: &str) -> Inbox {
        self.inbox_of(name, InboxArgs::default()).unwrap()
    }

    /// An inbox whose answer was lost: read, never marked.
    pub fn peek(&self, name: &str, args: InboxArgs) -> Outcome<Inbox> {
        let caller = self.caller(name);
        self.read(|connection| messaging::inbox(connection, &caller, &args, self.now()))
    }

    /// What the edge posts after an answer.
    pub fn mark_shown(&self, name: &str, messages: &[relayroom::store::MessageSeq]) {
        let (part, messages) = (self.part(name), messages.to_vec());
        self.write(move |tx, now| messaging::mark_shown(tx, part, &messages, now))
            .unwrap();
    }

    /// `ack` by a part of `shop`.
    pub fn ack(&self, name: &str, message: &str) -> Outcome<messaging::Acked> {
        let (caller, message) = (self.caller(name), message.to_owned());
        self.write(move |tx, now| messaging::ack(tx, &caller, &message, now))
    }

    /// `close` without a lesson by a part of `shop`.
    pub fn close(&self, name: &str, thread: &str) -> Outcome<messaging::Closed> {
        self.close_with(name, thread, None)
    }

    /// `close` by a part of `shop`.
    pub fn close_with(
        &self,
        name: &str,
        thread: &str,
        lesson: Option<messaging::LessonArgs>,
    ) -> Outcome<messaging::Closed> {
        let caller = self.caller(name);
        let args = messaging::CloseArgs {
            thread_id: thread.to_owned(),
            lesson,
        };
        self.write(move |tx, now| messaging::close(tx, &Author::Part(&caller), &args, now))
    }

    /// State of a thread.
    pub fn status(&self, thread: &str) -> String {
        self.read(|connection| {
            Ok(connection.query_row(
                "SELECT status FROM thread WHERE id = ?1",
                [thread],
                |row| row.get(0),
            )?)
        })
        .unwrap()
    }
}

/// Asserts that no call has left a row of mail.
#[track_caller]
pub fn nothing_stored(world: &World) {
    for table in [
        "thread",
        "message",
        "recipient",
        "participant",
        "wake",
        "idempotency",
    ] {
        assert_eq!(
            world.count(&format!("SELECT count(*) FROM {table}")),
            0,
            "{table}"
        );
    }
}

/// Arguments of a plain `send`.
pub fn mail(to: &[&str], subject: &str, body: &str) -> SendArgs {
    SendArgs {
        subject: subject.into(),
        body: body.into(),
        to: to.iter().map(|name| (*name).to_owned()).collect(),
        ..SendArgs::default()
    }
}

/// Arguments of a plain `reply`.
pub fn answer(thread: &str, body: &str) -> ReplyArgs {
    ReplyArgs {
        thread_id: thread.into(),
        body: body.into(),
        ..ReplyArgs::default()
    }
}

/// The JSON of a call that must be refused, held to the bounds of tools.md 4 and 11.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(outcome: Outcome<T>) -> Value {
    let refusal = match outcome {
        Err(Error::Refusal(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    };
    assert!(refusal.message.len() <= 240, "{}", refusal.message);
    assert!(
        refusal.message.starts_with("Nothing "),
        "{}",
        refusal.message
    );
    let json = refusal.to_json();
    let most = if refusal.code == "bad_recipients" {
        1600
    } else {
        500
    };
    assert!(json.to_string().len() <= most, "{json}");
    json
}

/// The code of a call that must be refused.
#[track_caller]
pub fn code<T: std::fmt::Debug>(outcome: Outcome<T>) -> String {
    refused(outcome)["error"].as_str().unwrap().to_owned()
}

/// The ids of an inbox's messages, in its order.
pub fn ids(inbox: &Inbox) -> Vec<&str> {
    inbox
        .list
        .items
        .iter()
        .map(|item| item.message_id.as_str())
        .collect()
}

/// A value's JSON.
pub fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
