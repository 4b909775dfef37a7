//! The relay under test: its real rules on a real file, and the clocks of the machine it runs on.

use std::path::Path;
use std::time::Duration;

use relayroom::identity;
use relayroom::identity::Caller;
use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::store::Clock;
use relayroom::store::Error;
use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use relayroom::store::ProjectSeq;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::TokenSeq;
use relayroom::store::Tx;
use relayroom::store::UserSeq;
use relayroom::wake;
use rusqlite::Connection;
use rusqlite::OpenFlags;

/// 2026-12-01T09:00:00Z.
pub const START: Time = Time(1_796_115_600_000);

/// What a step found wrong, in words.
pub type Checked<T = ()> = Result<T, String>;

/// A part of the house.
#[derive(Debug, Clone)]
pub struct Seat {
    pub seq: PartSeq,
    pub name: &'static str,
    /// Its project's place in [`House::projects`].
    pub project: usize,
    /// Its owner's place in [`House::people`].
    pub owner: usize,
}

/// Who and what is there from the beginning.
#[derive(Debug, Clone)]
pub struct House {
    /// Kim, the owner of all projects, and Ann, a member of all.
    pub people: [UserSeq; 2],
    pub projects: Vec<ProjectSeq>,
    pub parts: Vec<Seat>,
}

/// A founded file, copied for each relay.
pub struct Template {
    folder: tempfile::TempDir,
    house: House,
}

const FILE: &str = "relayroom.db";

/// A folder in memory where the system has such a place: thousands of files are made, and their durability is tested elsewhere.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory)
        .or_else(|_| tempfile::tempdir())
        .expect("a folder for a file")
}

impl Template {
    /// A file with as many projects as `parts` (name, project, owner) speak of, each with that cap on broadcasts.
    pub fn new(parts: &'static [(&'static str, usize, usize)], cap: u32) -> Self {
        let folder = folder();
        let store = Store::open(&folder.path().join(FILE), "simulation", START).unwrap();
        let house = store
            .write_blocking(move |tx| found(tx, parts, cap))
            .unwrap();
        Self { folder, house }
    }
}

fn found(tx: &Tx<'_>, parts: &[(&'static str, usize, usize)], cap: u32) -> Outcome<House> {
    identity::found(tx, "kim", START)?;
    let people = [people::first_owner(tx)?.seq, people::add(tx, "ann", START)?];
    let mut house = House {
        people,
        projects: Vec::new(),
        parts: Vec::new(),
    };
    for (name, project, owner) in parts {
        if *project == house.projects.len() {
            let made = project::create(tx, people[0], &format!("project{project}"), START)?.seq;
            people::set_member(tx, made, people[0], Level::Owner, true, true)?;
            people::set_member(tx, made, people[1], Level::Write, true, true)?;
            project::set_max_broadcast(tx, made, Some(cap))?;
            house.projects.push(made);
        }
        let made = part::add(tx, house.projects[*project], name, people[*owner], START)?;
        house.parts.push(Seat {
            seq: made.seq,
            name,
            project: *project,
            owner: *owner,
        });
    }
    Ok(house)
}

/// The relay.
pub struct Relay {
    store: Option<Store>,
    /// The simulation's own sight of the file.
    eyes: Option<Connection>,
    clock: Clock,
    wall: Time,
    monotonic: Duration,
    folder: tempfile::TempDir,
    pub house: House,
}

impl Relay {
    /// A relay of its own, opened on a copy of the template.
    pub fn new(template: &Template) -> Checked<Self> {
        let folder = folder();
        std::fs::copy(template.folder.path().join(FILE), folder.path().join(FILE))
            .map_err(|error| error.to_string())?;
        let mut relay = Self {
            store: None,
            eyes: None,
            clock: Clock::new(START, Duration::ZERO),
            wall: START,
            monotonic: Duration::ZERO,
            folder,
            house: template.house.clone(),
        };
        relay.start()?;
        Ok(relay)
    }

    fn start(&mut self) -> Checked {
        let path = self.folder.path().join(FILE);
        let store =
            Store::open(&path, "simulation", self.wall).map_err(|error| error.to_string())?;
        self.clock = Clock::new(store.last_time(), self.monotonic);
        self.store = Some(store);
        let eyes = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| error.to_string())?;
        eyes.set_prepared_statement_cache_capacity(64);
        self.eyes = Some(eyes);
        self.sweep()
    }

    /// Ends the relay between two transactions and starts it again.
    pub fn restart(&mut self) -> Checked {
        self.eyes = None;
        self.store = None;
        self.start()
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("open but within a restart")
    }

    /// The relay's time.
    pub fn now(&self) -> Time {
        self.clock.read(self.wall, self.monotonic)
    }

    /// Lets time pass.
    pub fn pass(&mut self, span: Duration) {
        self.wall = self.wall + span;
        self.monotonic += span;
    }

    /// Sets the wall clock forward or back.
    pub fn set_clock(&mut self, minutes: i64) {
        self.wall = Time(self.wall.0 + minutes * 60_000);
    }

    /// One call, one transaction. `None`: refused, which is the caller's affair.
    pub fn write<T, F>(&self, rule: F) -> Checked<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>, Time) -> Outcome<T> + Send + 'static,
    {
        let now = self.now();
        heard(self.store().write_blocking(move |tx| rule(tx, now)))
    }

    /// One call that reads.
    pub fn read<T>(&self, rule: impl FnOnce(&Connection) -> Outcome<T>) -> Checked<Option<T>> {
        heard(self.store().read_blocking(rule))
    }

    /// A question of the simulation itself, which nothing can refuse.
    pub fn ask<T>(&self, rule: impl FnOnce(&Connection) -> Outcome<T>) -> Checked<T> {
        let eyes = self.eyes.as_ref().expect("open but within a restart");
        heard(rule(eyes))?.ok_or_else(|| "a question was refused".to_owned())
    }

    /// What the clockwork does every 30 s and at start.
    pub fn sweep(&self) -> Checked {
        self.write(messaging::auto_close)?;
        self.write(wake::sweep)?;
        Ok(())
    }

    /// The caller a request of that part would be.
    pub fn caller(&self, part: usize) -> Caller {
        let seat = &self.house.parts[part];
        Caller {
            user: self.house.people[seat.owner],
            project: self.house.projects[seat.project],
            project_slug: format!("project{}", seat.project),
            part: seat.seq,
            part_slug: seat.name.to_owned(),
            level: Level::Write,
            urgent: true,
            needs_human: true,
            token: TokenSeq(0),
            token_used_at: None,
        }
    }

    /// Kim in the lane `human` of a project.
    pub fn person(&self, project: usize) -> Author<'static> {
        Author::Person {
            user: self.house.people[0],
            project: self.house.projects[project],
        }
    }
}

fn heard<T>(outcome: Outcome<T>) -> Checked<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Error::Refusal(_)) => Ok(None),
        Err(Error::Fault(fault)) => Err(format!("a rule failed: {fault}")),
    }
}
