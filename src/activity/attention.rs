//! What needs a person now, worst first: one ranking for `relayroom status` and every page (dashboard.md 4).

use serde::Serialize;

use crate::store::Time;

/// Classes of dashboard.md 4, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Mail waits and no pager was heard for 90 s.
    PagerMissing,
    /// A thread is flagged for the person, or a message to them is unread.
    NeedsPerson,
    /// A pane keeps a line out.
    BlockedPane,
    /// A wake was not answered, or what became of its line is not known.
    Unanswered,
    /// An entry was contradicted.
    Contradiction,
    /// Mail waits for the next hour's budget.
    BudgetSpent,
    /// Mail waits for the end of a park.
    Limited,
}

/// One thing that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Its class.
    pub class: Class,
    /// Before others of its class.
    pub urgent: bool,
    /// Project.
    pub project: String,
    /// The part it is about, if one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The thread it is about, if one.
    #[serde(rename = "threadId", skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// In words.
    pub what: String,
    /// The command that goes on from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Since when.
    #[serde(serialize_with = "rfc3339")]
    pub since: Time,
}

fn rfc3339<S: serde::Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time.rfc3339())
}

/// Class, urgent before not, oldest first.
pub fn rank(items: &mut [Item]) {
    items.sort_by_key(|item| (item.class, !item.urgent, item.since));
}

/// How long a pane may keep a line out before it is told, in milliseconds.
const BLOCKED_MS: i64 = 60_000;

/// How long a dialog may stand without any wake before it is told, in milliseconds.
const DIALOG_MS: i64 = 300_000;

/// What is known of one part.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its project.
    pub project: String,
    /// Its name.
    pub name: String,
    /// No pager polled for it within 90 s.
    pub pager_silent: bool,
    /// Its open wake: when it was issued, and whether what became of its line is unknown.
    pub wake: Option<(Time, bool)>,
    /// What holds that wake up in the pane, and since when.
    pub blocked: Option<(String, Time)>,
    /// A dialog stands in its pane since.
    pub dialog: Option<Time>,
    /// Its newest wake ended unanswered at.
    pub unanswered: Option<Time>,
    /// Why wakes are due and not issued.
    pub holds: Vec<(String, Time)>,
    /// Parked until.
    pub limited_until: Option<Time>,
}

/// What of a part needs a person.
#[must_use]
pub fn of_part(part: &Part, now: Time) -> Vec<Item> {
    let name = &part.name;
    let item = |class, what: String, fix: Option<String>, since| Item {
        class,
        urgent: false,
        project: part.project.clone(),
        part: Some(name.clone()),
        thread: None,
        what,
        fix,
        since,
    };
    let mut items = Vec::new();
    if let Some((issued, unknown)) = part.wake {
        if part.pager_silent {
            items.push(item(
                Class::PagerMissing,
                format!("mail for {name} waits and no pager serves it"),
                Some("relayroom up".into()),
                issued,
            ));
        } else if unknown {
            items.push(item(
                Class::Unanswered,
                format!("what became of the line typed for {name} is not known"),
                Some(format!("relayroom wake {name}")),
                issued,
            ));
        }
    }
    let dialog = part.dialog.map(|since| ("dialog".to_owned(), since));
    let (blocked, patience) = match &part.blocked {
        Some(blocked) => (Some(blocked.clone()), BLOCKED_MS),
        None => (dialog, DIALOG_MS),
    };
    if let Some((reason, since)) = blocked.filter(|(reason, since)| {
        !matches!(reason.as_str(), "busy" | "no_pager") && now.since(*since) >= patience
    }) {
        items.push(item(
            Class::BlockedPane,
            format!("the pane of {name} takes no line: {}", in_words(&reason)),
            None,
            since,
        ));
    }
    if let Some(since) = part.unanswered {
        items.push(item(
            Class::Unanswered,
            format!("{name} did not answer its wakes"),
            Some(format!("relayroom wake {name}")),
            since,
        ));
    }
    for (reason, since) in &part.holds {
        match reason.as_str() {
            "budget" => items.push(item(
                Class::BudgetSpent,
                format!("mail for {name} waits: this hour's wakes are spent"),
                Some(format!("relayroom wake {name}")),
                *since,
            )),
            "limited" => {
                let until = part
                    .limited_until
                    .map_or_else(String::new, |until| format!(" until {until}"));
                items.push(item(
                    Class::Limited,
                    format!("mail for {name} waits: it is limited{until}"),
                    None,
                    *since,
                ));
            }
            _ => {}
        }
    }
    items
}

/// A pane's reason, in words.
fn in_words(reason: &str) -> &str {
    match reason {
        "dialog" => "a dialog waits for an answer",
        "draft" => "a draft stands in its composer",
        "mode" => "it is in a mode",
        "no_agent" => "no agent runs in it",
        "no_pane" => "it is gone",
        _ => "its screen is not understood",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> Part {
        Part {
            project: "shop".into(),
            name: "web".into(),
            ..Part::default()
        }
    }

    fn classes(part: &Part, now: i64) -> Vec<Class> {
        let items = of_part(part, Time(now));
        items.iter().map(|item| item.class).collect()
    }

    #[test]
    fn a_pane_is_told_only_when_it_keeps_a_line_out_for_a_minute() {
        let mut web = part();
        web.wake = Some((Time(0), false));
        web.blocked = Some(("draft".into(), Time(0)));
        assert_eq!(classes(&web, 59_999), []);
        assert_eq!(classes(&web, 60_000), [Class::BlockedPane]);
        web.blocked = Some(("busy".into(), Time(0)));
        assert_eq!(classes(&web, 600_000), []);
        web = part();
        web.dialog = Some(Time(0));
        assert_eq!(classes(&web, 299_999), []);
        assert_eq!(classes(&web, 300_000), [Class::BlockedPane]);
    }

    #[test]
    fn mail_that_waits_says_for_what() {
        let mut web = part();
        web.wake = Some((Time(0), false));
        web.pager_silent = true;
        assert_eq!(classes(&web, 1), [Class::PagerMissing]);
        web = part();
        web.holds = vec![
            ("budget".into(), Time(0)),
            ("limited".into(), Time(0)),
            ("cooldown".into(), Time(0)),
        ];
        assert_eq!(classes(&web, 1), [Class::BudgetSpent, Class::Limited]);
    }

    #[test]
    fn worst_first_then_urgent_then_oldest() {
        let item = |class, urgent, since| Item {
            class,
            urgent,
            project: String::new(),
            part: None,
            thread: None,
            what: String::new(),
            fix: None,
            since: Time(since),
        };
        let mut items = vec![
            item(Class::Limited, false, 1),
            item(Class::NeedsPerson, false, 2),
            item(Class::NeedsPerson, false, 1),
            item(Class::NeedsPerson, true, 3),
            item(Class::PagerMissing, false, 9),
        ];
        rank(&mut items);
        let order: Vec<i64> = items.iter().map(|item| item.since.0).collect();
        assert_eq!(order, [9, 3, 1, 2, 1]);
    }
}
