//! One look behind the right pane, ranked by the table of pager.md 4.

use super::Finding;
use super::Kind;
use super::Sample;
use super::Squeezed;
use super::Verdict;
use super::agent::Agent;
use super::composer;
use super::composer::Composer;
use super::dialog;
use super::dialog::Dialog;
use super::live;
use crate::pager::facts::ClientFacts;
use crate::pager::facts::Facts;
use crate::pager::facts::PaneFacts;
use crate::pager::facts::TurnState;
use crate::pager::rules::Pattern;
use crate::pager::rules::Rules;
use crate::pager::rules::Table;
use crate::pager::screen::Screen;

/// A client's last key keeps its pane busy this long, in milliseconds.
const PERSON_MS: i64 = 5_000;
/// An agent this young is starting, in milliseconds.
const BOOT_MS: i64 = 3_000;
/// An agent this young is starting until its composer was seen [`BOOT_COMPOSERS`] times, in milliseconds.
const SLOW_BOOT_MS: i64 = 60_000;
const BOOT_COMPOSERS: u32 = 2;

/// Everything one look found behind the right pane with an agent in front.
pub struct Look<'a> {
    facts: &'a Facts,
    pane: &'a PaneFacts,
    agent: Agent,
    table: Option<&'a Table>,
    screen: Option<Screen>,
    composer: Option<Composer>,
    dialog: Option<Dialog>,
    marker: Option<usize>,
    busy_title: bool,
    sample: Option<Sample>,
    above: Squeezed,
    now: i64,
}

impl<'a> Look<'a> {
    /// Reads what the facts hold.
    pub fn take(
        rules: &'a Rules,
        facts: &'a Facts,
        pane: &'a PaneFacts,
        agent: Agent,
        previous: Option<&Sample>,
        now: i64,
    ) -> Self {
        let table = agent.table(rules);
        let mut look = Self {
            facts,
            pane,
            agent,
            table,
            screen: facts
                .capture
                .as_deref()
                .and_then(|capture| Screen::parse(capture, pane.width, pane.height)),
            composer: None,
            dialog: None,
            marker: None,
            busy_title: table
                .and_then(|t| t.title_busy.as_ref())
                .is_some_and(|p| p.is_match(&pane.title)),
            sample: None,
            above: Squeezed::default(),
            now,
        };
        if let Some(screen) = look.screen.take() {
            look.read(&screen);
            look.sample = Some(look.sample(&screen).after(previous));
            look.screen = Some(screen);
        }
        look
    }

    fn read(&mut self, screen: &Screen) {
        let Some(table) = self.table else {
            return;
        };
        let rows = screen.rows();
        self.composer = table
            .composer
            .as_ref()
            .and_then(|rule| composer::find(rule, &table.footer, screen, self.pane));
        self.dialog = match &self.composer {
            Some(found) => dialog::find(&table.dialog, rows, found.first)
                .or_else(|| dialog::missing_login(&table.dialog, rows, found.end)),
            None => dialog::find(&table.dialog, rows, 0),
        };
        if let Some(found) = &self.composer {
            self.marker = live::marker(table, rows, found);
            let above: String = rows[..found.top].iter().map(|row| row.text()).collect();
            self.above = Squeezed::of(&above);
        }
    }

    fn sample(&self, screen: &Screen) -> Sample {
        let pane = self.pane;
        let cursor = (usize::from(pane.cursor_x), usize::from(pane.cursor_y));
        let end = self
            .composer
            .as_ref()
            .map_or(screen.rows().len(), |found| found.end);
        Sample {
            hash: screen.hash(end, (!pane.cursor_shown).then_some(cursor)),
            title: pane.title.clone(),
            cursor: (pane.cursor_x, pane.cursor_y, pane.cursor_shown),
            size: (pane.width, pane.height),
            pane_pid: pane.identity.pane_pid,
            agent_pid: self.agent.pid,
            activity: pane.window_activity,
            taken_at: self.now,
            since: self.now,
            activity_since: pane.window_activity,
            doubt_at: None,
            still: false,
            composers: u32::from(self.composer.is_some()),
        }
    }

    /// Everything found, under the finding `judge` came to.
    pub fn verdict(self, (kind, detail, evidence): Finding) -> Verdict {
        let (composer, text) = self
            .composer
            .map(|found| (found.standing, found.text))
            .unwrap_or_default();
        Verdict {
            kind,
            detail,
            evidence,
            composer,
            busy_marker: self.marker.is_some(),
            busy_title: self.busy_title,
            screen: (kind, detail),
            agent: Some(self.agent),
            sample: self.sample,
            text,
            above: self.above,
        }
    }

    /// The table of pager.md 4: the first that matches wins.
    pub fn judge(&self, turn: TurnState) -> Finding {
        self.mode()
            .or_else(|| self.question(turn))
            .or_else(|| self.busy(turn))
            .or_else(|| self.starting())
            .unwrap_or_else(|| self.standing())
    }

    fn mode(&self) -> Option<Finding> {
        let mode = |detail, evidence: &str| Some((Kind::Mode, detail, evidence.to_string()));
        if self.pane.in_mode {
            return mode("copy", &self.pane.mode);
        }
        if self.pane.input_off {
            return mode("input_off", "");
        }
        if self.pane.synchronized {
            return mode("synchronized", "");
        }
        if self.facts.refused_read_only {
            return mode("read_only", "");
        }
        let (table, composer, rows) = (
            self.table?,
            self.composer.as_ref()?,
            self.screen.as_ref()?.rows(),
        );
        let shows = |y: usize, pattern: &Option<Pattern>| {
            pattern
                .as_ref()
                .is_some_and(|pattern| pattern.is_match(rows[y].text()))
        };
        if let Some(row) = (composer.end..rows.len()).find(|&y| shows(y, &table.mode.vi_normal)) {
            return mode("vi_normal", &format!("row {row}"));
        }
        if shows(composer.first, &table.mode.shell_mode) {
            return mode("shell_mode", &format!("row {}", composer.first));
        }
        None
    }

    fn question(&self, turn: TurnState) -> Option<Finding> {
        if turn == TurnState::Blocked {
            return Some((Kind::Dialog, "hook", "turn blocked".into()));
        }
        if let Some(dialog) = &self.dialog {
            let evidence = format!("{} row {}; {}", dialog.rule, dialog.row, self.described());
            return Some((Kind::Dialog, dialog.detail, evidence));
        }
        let title = self.table?.title_dialog.as_ref()?;
        title.is_match(&self.pane.title).then(|| {
            (
                Kind::Dialog,
                "other",
                format!("title_dialog; {}", self.described()),
            )
        })
    }

    fn busy(&self, turn: TurnState) -> Option<Finding> {
        let busy = |detail, evidence: String| Some((Kind::Busy, detail, evidence));
        if turn == TurnState::Busy {
            return busy("turn", "turn busy".into());
        }
        // Without a screen nothing moves and nothing stands still: what is missing is judged as unknown.
        let still = self.sample.as_ref().is_none_or(|sample| sample.still);
        if let Some(row) = self.marker.filter(|_| turn != TurnState::Idle) {
            return busy("marker", format!("marker row {row}; {}", self.described()));
        }
        if self.busy_title {
            return busy("title", format!("title_busy; {}", self.described()));
        }
        if turn != TurnState::Idle && self.title_unlike_idle() {
            return busy("no_title", format!("title_idle; {}", self.described()));
        }
        if !still {
            return busy("moving", "two equal looks wanted".into());
        }
        let key = self.last_key().filter(|key| self.now - key < PERSON_MS)?;
        busy(
            "person",
            format!("client key {} s ago", (self.now - key).max(0) / 1_000),
        )
    }

    fn title_unlike_idle(&self) -> bool {
        let folder = self.agent.folder.as_deref();
        let idle = self.table.and_then(|table| table.title_idle.as_ref());
        idle.is_some_and(|idle| !idle.matches(self.pane.title.trim_end(), folder))
    }

    /// The latest a client could have typed into this pane. tmux tells whole seconds, so the end of that second counts.
    fn last_key(&self) -> Option<i64> {
        let here =
            |client: &&ClientFacts| !client.read_only && client.pane == self.pane.identity.pane;
        let activity = self
            .facts
            .clients
            .iter()
            .filter(here)
            .map(|client| client.activity)
            .max()?;
        Some(activity.saturating_add(1).saturating_mul(1_000))
    }

    fn starting(&self) -> Option<Finding> {
        let age = self.now - self.agent.start;
        let seen = self.sample.as_ref().map_or(0, |sample| sample.composers);
        let boots =
            age < BOOT_MS || (age < SLOW_BOOT_MS && seen < BOOT_COMPOSERS && self.screen.is_some());
        boots.then(|| {
            (
                Kind::Starting,
                "starting",
                format!("pid {} started {} s ago", self.agent.pid, age / 1_000),
            )
        })
    }

    fn standing(&self) -> Finding {
        let unknown = |detail, evidence: String| (Kind::Unknown, detail, evidence);
        if self.screen.is_none() {
            return unknown("no_capture", String::new());
        }
        if self.table.is_none_or(|table| table.composer.is_none()) {
            return unknown("no_rules", self.agent.cli.clone());
        }
        let Some(composer) = &self.composer else {
            return unknown("no_composer", self.described());
        };
        let row = composer.first;
        match composer.standing.draft() {
            Some(detail) => {
                let evidence = format!(
                    "composer row {row}, {} cells; {}",
                    composer.marks,
                    self.described()
                );
                (Kind::Draft, detail, evidence)
            }
            None => (
                Kind::Ready,
                "",
                format!("composer row {row} empty; {}", self.described()),
            ),
        }
    }

    /// Which table was used.
    fn described(&self) -> String {
        let version = self.agent.version_number();
        self.table
            .map_or_else(String::new, |table| table.describe(version.as_ref()))
    }
}
