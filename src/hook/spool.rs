//! `spool.jsonl`: reports that were not answered, kept for the next run or the pager (usage.md 5).
//!
//! Two locks: that of the file is held for milliseconds by whoever reads or changes it; that of sending is held as long as one sends, and
//! is not waited for. Reports are added at the end, so what a sender read stays where it was but for what had to make room.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use serde::Deserialize;
use serde::Serialize;

use super::place::Place;
use super::post::Answer;
use super::post::Door;
use super::post::Report;
use crate::api::hook::ActivityKind;
use crate::store;
use crate::store::Time;

/// Longest the file grows, in bytes.
pub const MOST: usize = 2 << 20;

/// What of it rows leave to the events, in bytes: rows can come again from their transcript, events cannot.
const FOR_EVENTS: usize = 128 << 10;

/// How long a report is kept, in milliseconds.
const KEPT_MS: i64 = 14 * 24 * 3_600_000;

/// How long the file's lock is waited for.
const WAIT: Duration = Duration::from_millis(100);

/// Longest one spooled report may take.
const EACH: Duration = Duration::from_millis(800);

const FILE: &str = "spool.jsonl";
const LOCK: &str = "spool.lock";
const SENDING: &str = "sending.lock";
const DROPPED: &str = "dropped.json";

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    /// When it was put there, in milliseconds since 1970.
    kept: i64,
    report: Report,
}

impl Line {
    /// Whether it says where a turn begins or ends.
    fn is_boundary(&self) -> bool {
        match &self.report {
            Report::Activity(activity) => matches!(
                activity.kind,
                ActivityKind::TurnStart | ActivityKind::TurnEnd | ActivityKind::SessionEnd
            ),
            Report::Usage(_) => true,
        }
    }
}

/// What a spool holds, for `doctor`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Reports.
    pub reports: usize,
    /// When the oldest was put there.
    pub oldest: Option<Time>,
    /// Reports dropped and not told yet.
    pub dropped: u64,
}

/// A part's spool.
#[derive(Debug, Clone)]
pub struct Spool {
    place: Place,
}

impl Spool {
    /// The spool in a state folder.
    #[must_use]
    pub fn of(place: &Place) -> Self {
        Self {
            place: place.clone(),
        }
    }

    /// Whether anything waits in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.place
            .path(FILE)
            .and_then(fs::metadata)
            .map_or(true, |meta| meta.len() == 0)
    }

    /// What it holds.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let lines = self.read();
        Standing {
            reports: lines.len(),
            oldest: lines.iter().map(|line| Time(line.kept)).min(),
            dropped: self.place.load(DROPPED).unwrap_or_default(),
        }
    }

    /// Keeps a report; false if there is no room for it. An event without room is counted as dropped, rows are not: their transcript
    /// still has them.
    pub fn keep(&self, report: Report, now: Time) -> bool {
        let is_event = matches!(report, Report::Activity(_));
        let line = Line {
            kept: now.0,
            report,
        };
        let Some(_lock) = self.place.lock(LOCK, WAIT) else {
            return false;
        };
        let kept = self.add(&line, now);
        if !kept && is_event {
            self.count_dropped(1);
        }
        kept
    }

    fn add(&self, line: &Line, now: Time) -> bool {
        let (Ok(path), Ok(mut text)) = (self.place.path(FILE), serde_json::to_vec(line)) else {
            return false;
        };
        text.push(b'\n');
        let most = match line.report {
            Report::Activity(_) => MOST,
            Report::Usage(_) => MOST - FOR_EVENTS,
        };
        let length = fs::metadata(&path).map_or(0, |meta| meta.len() as usize);
        if length + text.len() > most && !self.make_room(line, text.len(), most, now) {
            return false;
        }
        fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .is_ok_and(|mut file| file.write_all(&text).is_ok())
    }

    /// Takes out what is too old, and for the boundary of a turn also other events, the oldest first.
    fn make_room(&self, coming: &Line, needed: usize, most: usize, now: Time) -> bool {
        let mut lines = self.read();
        let mut dropped = drop_old(&mut lines, now);
        let mut length: usize = lines.iter().map(length_of).sum();
        let makes_way = matches!(coming.report, Report::Activity(_)) && coming.is_boundary();
        while makes_way && length + needed > most {
            let Some(at) = lines.iter().position(|line| !line.is_boundary()) else {
                break;
            };
            length -= length_of(&lines.remove(at));
            dropped += 1;
        }
        if dropped > 0 {
            self.count_dropped(dropped);
            self.write(&lines);
        }
        length + needed <= most
    }

    /// Reports dropped since the last post that was answered; they count as told from here on.
    #[must_use]
    pub fn take_dropped(&self) -> u64 {
        // Almost always there is none, and then there is nothing to lock for.
        if !self.place.path(DROPPED).is_ok_and(|path| path.exists()) {
            return 0;
        }
        let Some(_lock) = self.place.lock(LOCK, WAIT) else {
            return 0;
        };
        let dropped = self.place.load(DROPPED).unwrap_or_default();
        if let Ok(path) = self.place.path(DROPPED) {
            let _ = fs::remove_file(path);
        }
        dropped
    }

    /// Takes back that `dropped` reports were told.
    pub fn give_back_dropped(&self, dropped: u64) {
        if dropped > 0
            && let Some(_lock) = self.place.lock(LOCK, WAIT)
        {
            self.count_dropped(dropped);
        }
    }

    fn count_dropped(&self, more: u64) {
        let dropped: u64 = self.place.load(DROPPED).unwrap_or_default();
        let _ = self.place.save(DROPPED, &(dropped + more));
    }

    /// Sends the oldest first, for at most `limit`, until one is to be kept; returns what is to be logged. Somebody else sending: nothing
    /// is done.
    pub async fn send(&self, door: &Door, limit: Duration) -> Vec<String> {
        let mut said = Vec::new();
        if self.is_empty() {
            return said;
        }
        let Some(_sending) = self.place.lock(SENDING, Duration::ZERO) else {
            return said;
        };
        let begun = Instant::now();
        let mut over = HashSet::new();
        for line in self.read_locked() {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            let (now, _) = store::system_clock();
            if is_old(&line, now) {
                over.insert(text_of(&line));
                if let Some(_lock) = self.place.lock(LOCK, WAIT) {
                    self.count_dropped(1);
                }
                continue;
            }
            match door.post(&line.report, now, left.min(EACH)).await {
                Answer::Taken(note) => said.extend(note),
                Answer::Ended(status) => {
                    said.push(format!("a spooled report ended by HTTP {status}"))
                }
                Answer::Kept(_) => break,
            }
            over.insert(text_of(&line));
        }
        if !over.is_empty()
            && let Some(_lock) = self.place.lock(LOCK, WAIT)
        {
            let mut lines = self.read();
            lines.retain(|line| !over.contains(&text_of(line)));
            self.write(&lines);
        }
        said
    }

    fn read_locked(&self) -> Vec<Line> {
        let _lock = self.place.lock(LOCK, WAIT);
        self.read()
    }

    /// The lines; one that cannot be read is none.
    fn read(&self) -> Vec<Line> {
        let bytes = self.place.path(FILE).and_then(fs::read).unwrap_or_default();
        bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    fn write(&self, lines: &[Line]) {
        let mut text = String::new();
        for line in lines {
            text.push_str(&text_of(line));
            text.push('\n');
        }
        // What stays is sent again: late and twice is harmless.
        let _ = self.place.replace(FILE, text.as_bytes());
    }
}

/// The state folders below `all` whose spool holds something.
#[must_use]
pub fn waiting(all: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(all) else {
        return Vec::new();
    };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .filter(|folder| !Spool::of(&Place::at(folder)).is_empty())
        .collect()
}

fn is_old(line: &Line, now: Time) -> bool {
    now.since(Time(line.kept)) > KEPT_MS
}

fn drop_old(lines: &mut Vec<Line>, now: Time) -> u64 {
    let before = lines.len();
    lines.retain(|line| !is_old(line, now));
    (before - lines.len()) as u64
}

fn text_of(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

fn length_of(line: &Line) -> usize {
    text_of(line).len() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::hook::ActivityReport;
    use crate::api::hook::UsageReport;

    fn event(kind: ActivityKind, filler: usize) -> Report {
        Report::Activity(Box::new(ActivityReport {
            code: "C".to_owned(),
            part: "web".to_owned(),
            provider: "claude".to_owned(),
            session: "x".repeat(filler),
            kind,
            at: "2026-11-01T09:00:00.000Z".to_owned(),
            sent_at: None,
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
        }))
    }

    fn rows(filler: usize) -> Report {
        Report::Usage(Box::new(UsageReport {
            code: "C".to_owned(),
            part: "web".to_owned(),
            provider: "claude".to_owned(),
            session: "x".repeat(filler),
            sent_at: None,
            turn: None,
            skipped: Default::default(),
            rows: Vec::new(),
            usage: None,
            key: None,
        }))
    }

    fn spool() -> (tempfile::TempDir, Spool) {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::of(&Place::at(folder.path()));
        (folder, spool)
    }

    fn kinds(spool: &Spool) -> Vec<Option<ActivityKind>> {
        let lines = spool.read();
        lines
            .iter()
            .map(|line| match &line.report {
                Report::Activity(activity) => Some(activity.kind),
                Report::Usage(_) => None,
            })
            .collect()
    }

    #[test]
    fn usage_020_rows_stay_out_of_a_full_spool_and_boundaries_outlive_the_rest() {
        let (_folder, spool) = spool();
        let now = Time(KEPT_MS);
        let half = 1 << 20;
        assert!(spool.keep(event(ActivityKind::Blocked, half - 2_000), now));
        assert!(spool.keep(rows(half / 2), now));
        assert!(!spool.keep(rows(half / 2), now), "rows leave room");
        assert_eq!(spool.standing().dropped, 0);
        assert!(spool.keep(event(ActivityKind::TurnStart, half / 2 - 2_000), now));
        for _ in 0..3 {
            assert!(!spool.keep(event(ActivityKind::Blocked, 5_000), now));
        }
        assert_eq!(spool.standing().dropped, 3);
        assert!(spool.keep(event(ActivityKind::TurnEnd, 5_000), now));
        assert_eq!(
            kinds(&spool),
            [
                None,
                Some(ActivityKind::TurnStart),
                Some(ActivityKind::TurnEnd)
            ]
        );
        assert_eq!(spool.take_dropped(), 4);
        assert_eq!(spool.take_dropped(), 0);
        spool.give_back_dropped(4);
        assert_eq!(spool.standing().dropped, 4);
    }

    #[test]
    fn what_is_older_than_two_weeks_makes_room() {
        let (_folder, spool) = spool();
        assert!(spool.keep(rows((1 << 20) + (1 << 19)), Time(0)));
        let late = Time(KEPT_MS + 1);
        assert!(spool.keep(rows(1 << 20), late));
        let standing = spool.standing();
        assert_eq!((standing.reports, standing.oldest), (1, Some(late)));
        assert_eq!(standing.dropped, 1);
    }

    #[test]
    fn only_folders_with_something_to_send_are_named() {
        let all = tempfile::tempdir().unwrap();
        assert!(waiting(&all.path().join("absent")).is_empty());
        for name in ["a", "b"] {
            fs::create_dir(all.path().join(name)).unwrap();
        }
        let full = all.path().join("b");
        Spool::of(&Place::at(&full)).keep(rows(1), Time(0));
        assert_eq!(waiting(all.path()), [full]);
    }
}
