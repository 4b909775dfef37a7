//! The reading of transcripts and the posting of their rows, in one run (usage.md 3, 5).
//!
//! Rows and offsets go together: how far a file was read is noted once its rows were answered or are in the spool. A run that is cut off
//! between the two repeats rows, and the relay knows them by their keys.

use std::collections::HashSet;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use regex::bytes::Regex;

use super::event::Provider;
use super::files::Held;
use super::files::Seen;
use super::files::changed_at;
use super::parse::Context;
use super::parse::Rows;
use super::parse::State;
use super::parse::Unread;
use super::parse::codex;
use super::post;
use super::post::Report;
use super::read;
use super::read::Lines;
use super::read::Next;
use super::run::Run;
use super::transcripts;
use crate::api::hook::ActivityKind;
use crate::api::hook::MAX_ROWS;
use crate::api::hook::UsageReport;
use crate::api::hook::UsageRow;

/// Longest a run reads.
const READING: Duration = Duration::from_millis(1_200);

/// What reading leaves of a run's time to posting.
const FOR_POSTS: Duration = Duration::from_millis(250);

/// How often, and for how long, the end of a turn is waited for.
const LOOK: Duration = Duration::from_millis(20);
const SETTLE: Duration = Duration::from_millis(300);

/// A line longer than this, in bytes, is passed over: no CLI writes one, and reading it would take a whole run.
const LONGEST: u64 = 64 << 20;

/// A broken line up to this long, in bytes, is searched for whole records.
const SEARCHED: u64 = 1 << 20;

/// Longest older file of Gemini that is read, in bytes.
const DOCUMENT: u64 = 256 << 20;

/// Less time than this is too short for a post.
const SHORT: Duration = Duration::from_millis(30);

/// A file to be read, and as whose.
struct Target {
    path: PathBuf,
    session: String,
    sidechain: bool,
    /// Whether it is the session's own transcript, whose end is waited for.
    main: bool,
}

struct Reading<'r> {
    run: &'r Run<'r>,
    held: Held,
    until: Instant,
    rows: Rows,
    /// Whose rows these are.
    session: String,
    /// How far files were read for rows that are not posted yet.
    pending: Vec<(PathBuf, Seen)>,
    /// Whether the relay answers.
    answered: bool,
    /// Whether rows found no place: then nothing more is read.
    full: bool,
}

/// Reads what is new and posts it. `answered`: whether the relay answered the event.
pub(super) async fn transcripts(run: &Run<'_>, answered: bool) {
    let Some(held) = Held::take(&run.place) else {
        return;
    };
    let time = READING.min(run.left().saturating_sub(FOR_POSTS));
    let mut reading = Reading {
        run,
        held,
        until: Instant::now() + time,
        rows: Rows::since(run.joined.joined_at),
        session: run.event.session.clone(),
        pending: Vec::new(),
        answered,
        full: false,
    };
    let mut all = true;
    for target in reading.targets() {
        all = !reading.full && Instant::now() < reading.until;
        if !all {
            break;
        }
        if let Err(error) = reading.file(&target).await {
            run.log(format_args!("{}: {error}", target.path.display()));
        }
    }
    // A child that was found and not read is to be found again.
    if all {
        reading.held.files.last_run = run.now.0;
    }
    reading.flush().await;
}

impl Reading<'_> {
    /// The session's transcript first, then its children's, then what earlier runs left.
    fn targets(&mut self) -> Vec<Target> {
        let run = self.run;
        let session = run.event.session.as_str();
        let mut known = HashSet::new();
        let mut targets = Vec::new();
        let mut add = |path: PathBuf, session: &str, sidechain: bool, main: bool| {
            if known.insert(path.clone()) {
                targets.push(Target {
                    path,
                    session: session.to_owned(),
                    sidechain,
                    main,
                });
            }
        };
        match transcripts::main(run.provider, run.event, run.env) {
            Some(main) => {
                add(main.clone(), session, false, true);
                let files = &self.held.files;
                for child in transcripts::children(run.provider, &main, session, files) {
                    add(child, session, true, false);
                }
            }
            // At a session's start there may not be one yet.
            None if run.event.kind == ActivityKind::SessionStart => {}
            None => run.log(format_args!("no transcript of session {session}")),
        }
        for path in self.held.files.grown(run.now) {
            if let Some(seen) = self.held.files.get(&path) {
                let (session, sidechain) = (seen.session.clone(), seen.sidechain);
                add(path, &session, sidechain, false);
            }
        }
        targets
    }

    async fn file(&mut self, target: &Target) -> io::Result<()> {
        let meta = fs::metadata(&target.path)?;
        let waits = target.main && self.run.event.kind == ActivityKind::TurnEnd;
        let known = self.held.files.get(&target.path);
        let is_read = known.is_some_and(|known| known.is_read(&meta));
        if !meta.is_file() || is_read && !waits {
            return Ok(());
        }
        if target.session != self.session {
            self.flush().await;
            self.session.clone_from(&target.session);
        }
        let file = File::open(&target.path)?;
        let known = self.held.files.get(&target.path);
        let whose = (target.session.as_str(), target.sidechain);
        let mut seen = Seen::resume(known, &file, &meta, self.run.provider, whose)?;
        seen.at = self.run.now.0;
        let mut context = Context {
            sidechain: target.sidechain,
            session: target.session.clone(),
            now: self.run.now.rfc3339(),
            parent: None,
        };
        let is_document = target.path.extension().is_some_and(|kind| kind == "json");
        if is_document && self.run.provider == Provider::Gemini {
            if meta.len() <= DOCUMENT {
                self.document(&file, &meta, &mut seen, &context);
            } else {
                self.rows.skip("long");
            }
            self.pending.push((target.path.clone(), seen));
            return Ok(());
        }
        let mut lines = Lines::new(&file, seen.offset, self.until);
        let mut settling: Option<Instant> = None;
        loop {
            let next = lines.next(seen.state.needle())?;
            if matches!(next, Next::Line(_) | Next::Long(_))
                && !self.knows_parent(&target.path, &seen, &mut context)
            {
                // Its parent is too long for what is left of this run; what was not counted is read by a later one.
                return Ok(());
            }
            match next {
                Next::Line(line) => {
                    let line = lines.bytes(line);
                    seen.state.line(line, &context, &mut self.rows);
                }
                Next::Long(length) => {
                    if !self.long(&lines, length, &mut seen.state, &context) {
                        break;
                    }
                    lines.pass(length);
                }
                Next::Late => break,
                Next::End => {
                    if !waits || seen.state.is_settled(self.run.event.turn.as_deref()) {
                        break;
                    }
                    let begun = *settling.get_or_insert_with(Instant::now);
                    if begun.elapsed() >= SETTLE {
                        break;
                    }
                    tokio::time::sleep(LOOK).await;
                }
            }
            seen.offset = lines.at();
            if self.rows.len() >= MAX_ROWS {
                self.pending.push((target.path.clone(), seen.clone()));
                if !self.flush().await {
                    return Ok(());
                }
            }
        }
        seen.offset = lines.at();
        self.pending.push((target.path.clone(), seen));
        Ok(())
    }

    /// A line that is read as a stream; false if it could not be read to its end.
    fn long(
        &mut self,
        lines: &Lines<'_>,
        length: u64,
        state: &mut State,
        context: &Context,
    ) -> bool {
        if length > LONGEST {
            self.rows.skip("long");
            return true;
        }
        match state.stream(lines.long(length), context, &mut self.rows) {
            Ok(()) => true,
            Err(Unread::Io) => false,
            Err(Unread::Broken) if length > SEARCHED => {
                self.rows.skip("broken");
                true
            }
            Err(Unread::Broken) => {
                let mut line = Vec::new();
                let is_read = io::Read::read_to_end(&mut lines.long(length), &mut line).is_ok();
                if is_read {
                    state.line(&line, context, &mut self.rows);
                }
                is_read
            }
        }
    }

    /// An older file of Gemini, which is written anew as a whole.
    fn document(&mut self, file: &File, meta: &fs::Metadata, seen: &mut Seen, context: &Context) {
        let stream = read::stream(file, 0, meta.len(), self.until);
        match seen.state.stream(stream, context, &mut self.rows) {
            Ok(()) => {}
            // It is being written: what it becomes is another file to look at.
            Err(Unread::Io) => return,
            Err(Unread::Broken) => self.rows.skip("broken"),
        }
        seen.offset = meta.len();
        seen.changed = Some(changed_at(meta));
    }

    /// Looks up the totals of a Codex child's parent, once they are needed; false if there was no time for it.
    fn knows_parent(&self, child: &Path, seen: &Seen, context: &mut Context) -> bool {
        let State::Codex(state) = &seen.state else {
            return true;
        };
        let Some(parent) = state.needs_parent().filter(|_| context.parent.is_none()) else {
            return true;
        };
        let Some(path) = transcripts::codex_beside(child, parent) else {
            return true;
        };
        match totals(&path, self.until) {
            Ok(Some(totals)) => {
                context.parent = Some(totals);
                true
            }
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Posts what was read, then notes how far that was; false if it found no place.
    async fn flush(&mut self) -> bool {
        let (rows, mut skipped) = self.rows.take();
        if !rows.is_empty() || !skipped.is_empty() {
            // Counts of what was passed over may go without a row.
            let mut posts: Vec<&[UsageRow]> = rows.chunks(MAX_ROWS).collect();
            if posts.is_empty() {
                posts.push(&[]);
            }
            for rows in posts {
                let report = UsageReport {
                    code: self.run.joined.code.clone(),
                    part: self.run.joined.part.clone(),
                    provider: self.run.provider.word().to_owned(),
                    session: self.session.clone(),
                    sent_at: None,
                    turn: self
                        .run
                        .turn
                        .clone()
                        .filter(|_| self.session == self.run.event.session),
                    skipped: std::mem::take(&mut skipped),
                    rows: rows.to_vec(),
                    usage: None,
                    key: None,
                };
                if !self.deliver(Report::Usage(Box::new(report))).await {
                    self.full = true;
                    self.pending.clear();
                    return false;
                }
            }
        }
        for (path, seen) in self.pending.drain(..) {
            self.held.files.note(path, seen);
        }
        self.held.save();
        true
    }

    /// Whether a report was answered for good, or is in the spool.
    async fn deliver(&mut self, report: Report) -> bool {
        let limit = post::ANSWER.min(self.run.left());
        if self.answered && limit >= SHORT {
            let (answered, kept) = self.run.post_within(report, limit).await;
            self.answered = answered;
            return answered || kept;
        }
        self.run.keep(report)
    }
}

/// All totals of a file; `None` if there was no time for all of it.
fn totals(path: &Path, until: Instant) -> io::Result<Option<HashSet<codex::Totals>>> {
    let file = File::open(path)?;
    let needle = Regex::new("\"token_count\"").ok();
    let mut lines = Lines::new(&file, 0, until);
    let mut totals = HashSet::new();
    loop {
        match lines.next(needle.as_ref())? {
            Next::Line(line) => codex::totals_of(lines.bytes(line), &mut totals),
            Next::Long(length) => lines.pass(length),
            Next::End => return Ok(Some(totals)),
            Next::Late => return Ok(None),
        }
    }
}
