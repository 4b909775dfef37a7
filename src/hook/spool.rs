//! `spool.jsonl`: reports that were not answered, kept for the next run or the pager (usage.md 5).
//!
//! Two locks: that of the file is held for milliseconds by whoever reads or changes it; that of sending is held as long as one sends, and
//! is not waited for. Reports are added at the end, so what a sender read stays where it was but for what had to make room.

use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

use super::place::Place;
use super::post::Report;
use crate::api::hook::ActivityKind;
use crate::store::Time;

/// Longest the file grows, in bytes.
pub const MOST: usize = 2 << 20;

/// What of it rows leave to the events, in bytes: rows can come again from their transcript, events cannot.
const FOR_EVENTS: usize = 128 << 10;

/// How long a report is kept, in milliseconds.
const KEPT_MS: i64 = 14 * 24 * 3_600_000;

/// How long the file's lock is waited for.
pub(super) const WAIT: Duration = Duration::from_millis(100);

const FILE: &str = "spool.jsonl";
pub(super) const LOCK: &str = "spool.lock";
const DROPPED: &str = "dropped.json";

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// When it was put there, in milliseconds since 1970.
    pub kept: i64,
    pub report: Report,
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

/// A line as it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub line: Line,
    pub text: String,
}

impl Kept {
    fn length(&self) -> usize {
        self.text.len() + 1
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
    pub(super) place: Place,
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
        let kept = self.read();
        Standing {
            reports: kept.len(),
            oldest: kept.iter().map(|kept| Time(kept.line.kept)).min(),
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
        let makes_way = matches!(coming.report, Report::Activity(_)) && coming.is_boundary();
        if !makes_way && !self.first().is_some_and(|first| is_old(&first, now)) {
            return false;
        }
        let mut kept = self.read();
        let before = kept.len();
        kept.retain(|kept| !is_old(&kept.line, now));
        let mut length: usize = kept.iter().map(Kept::length).sum();
        while makes_way && length + needed > most {
            let Some(at) = kept.iter().position(|kept| !kept.line.is_boundary()) else {
                break;
            };
            length -= kept.remove(at).length();
        }
        let dropped = before - kept.len();
        if dropped > 0 {
            self.count_dropped(dropped as u64);
            self.write(&kept);
        }
        length + needed <= most
    }

    /// The oldest line: the file is in the order of time.
    fn first(&self) -> Option<Line> {
        let mut file = BufReader::new(fs::File::open(self.place.path(FILE).ok()?).ok()?);
        let mut text = Vec::new();
        file.read_until(b'\n', &mut text).ok()?;
        serde_json::from_slice(&text).ok()
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

    pub(super) fn count_dropped(&self, more: u64) {
        let dropped: u64 = self.place.load(DROPPED).unwrap_or_default();
        let _ = self.place.save(DROPPED, &(dropped + more));
    }

    /// The lines; one that cannot be read is none.
    pub(super) fn read(&self) -> Vec<Kept> {
        let bytes = self.place.path(FILE).and_then(fs::read).unwrap_or_default();
        String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(|text| {
                Some(Kept {
                    line: serde_json::from_str(text).ok()?,
                    text: text.to_owned(),
                })
            })
            .collect()
    }

    pub(super) fn write(&self, kept: &[Kept]) {
        let mut text = String::new();
        for kept in kept {
            text.push_str(&kept.text);
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

pub(super) fn is_old(line: &Line, now: Time) -> bool {
    now.since(Time(line.kept)) > KEPT_MS
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
        let kept = spool.read();
        kept.iter()
            .map(|kept| match &kept.line.report {
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
