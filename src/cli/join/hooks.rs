//! The hook's entries in the settings of an agent CLI (usage.md 2): only the events its installed version knows, beside whatever hooks
//! the person has.

use serde_json::Value;
use serde_json::json;

use super::agent::Agent;
use super::edit::Broken;
use super::edit::json::Json;
use crate::pager::rules::Version;

/// An event of a CLI.
struct Event {
    name: &'static str,
    /// What of it is asked for.
    matcher: Option<&'static str>,
    /// In the CLI's own unit.
    timeout: u32,
    /// The first version that takes it.
    since: &'static str,
}

const fn event(name: &'static str, timeout: u32, since: &'static str) -> Event {
    Event {
        name,
        matcher: None,
        timeout,
        since,
    }
}

const fn matching(matcher: &'static str, event: Event) -> Event {
    Event {
        matcher: Some(matcher),
        ..event
    }
}

/// Before 2.1.101 a whole file is dropped over one event it does not know.
const CLAUDE: &[Event] = &[
    event("SessionStart", 5, "0"),
    event("UserPromptSubmit", 5, "0"),
    event("Stop", 5, "0"),
    event("StopFailure", 5, "2.1.101"),
    event("PermissionRequest", 5, "2.1.101"),
    matching(
        "permission_prompt|elicitation_dialog",
        event("Notification", 5, "0"),
    ),
    event("SessionEnd", 5, "0"),
];

/// The version from which on Codex runs hooks without being told to.
const CODEX_HOOKS: &str = "0.124";

const CODEX: &[Event] = &[
    event("SessionStart", 5, CODEX_HOOKS),
    event("UserPromptSubmit", 5, CODEX_HOOKS),
    event("Stop", 5, CODEX_HOOKS),
    event("PermissionRequest", 5, CODEX_HOOKS),
    event("Interrupt", 3, "0.150"),
    event("SessionEnd", 3, "0.145"),
];

const GEMINI: &[Event] = &[
    matching("*", event("SessionStart", 5000, "0.26")),
    matching("*", event("BeforeAgent", 5000, "0.26")),
    matching("*", event("AfterAgent", 5000, "0.26")),
    matching("*", event("Notification", 5000, "0.26")),
    matching("*", event("SessionEnd", 5000, "0.26")),
];

fn events(agent: Agent) -> &'static [Event] {
    match agent {
        Agent::Claude => CLAUDE,
        Agent::Codex => CODEX,
        Agent::Gemini => GEMINI,
    }
}

/// Whether Codex of this version runs hooks; one that tells no version is taken for the newest.
#[must_use]
pub fn codex_has_hooks(version: Option<Version>) -> bool {
    knows(version, CODEX_HOOKS)
}

fn knows(version: Option<Version>, since: &str) -> bool {
    match (version, Version::parse(since)) {
        (Some(version), Some(since)) => version >= since,
        _ => true,
    }
}

/// Whether a CLI of this version takes an event. A Claude Code that tells no version may be one that drops a file over an unknown event.
fn takes(agent: Agent, version: Option<Version>, event: &Event) -> bool {
    match (agent, version) {
        (Agent::Claude, None) => event.since == "0",
        _ => knows(version, event.since),
    }
}

/// Puts our entry into every event the version knows, and takes it out of the others.
///
/// # Errors
/// [`Broken`] where `hooks` has another form than the CLI reads.
pub fn put(
    json: &mut Json,
    agent: Agent,
    version: Option<Version>,
    command: &str,
) -> Result<(), Broken> {
    for event in events(agent) {
        let wanted = takes(agent, version, event).then(|| group(agent, event, command));
        settle(json, agent, event.name, wanted.as_ref())?;
    }
    Ok(())
}

/// Takes our entries out.
///
/// # Errors
/// As [`put`].
pub fn take(json: &mut Json, agent: Agent) -> Result<(), Broken> {
    for event in events(agent) {
        settle(json, agent, event.name, None)?;
    }
    Ok(())
}

/// Leaves exactly one entry of ours in an event, `wanted`, or none.
fn settle(
    json: &mut Json,
    agent: Agent,
    event: &str,
    wanted: Option<&Value>,
) -> Result<(), Broken> {
    let path = ["hooks", event];
    let groups = json.value()?["hooks"][event].clone();
    let ours: Vec<usize> = groups
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(_, group)| is_ours(group, agent))
        .map(|(at, _)| at)
        .collect();
    let keep = match (ours.first(), wanted) {
        (Some(first), Some(wanted)) => {
            json.replace_at(&path, *first, wanted)?;
            1
        }
        (None, Some(wanted)) => {
            json.push(&path, wanted)?;
            0
        }
        (_, None) => 0,
    };
    for at in ours.iter().skip(keep).rev() {
        json.remove_at(&path, *at)?;
    }
    Ok(())
}

fn group(agent: Agent, event: &Event, command: &str) -> Value {
    let mut hook = json!({"type": "command", "command": command, "timeout": event.timeout});
    if agent == Agent::Gemini {
        hook["name"] = "relayroom".into();
    }
    match event.matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
        None => json!({"hooks": [hook]}),
    }
}

/// Whether a group of hooks is one that `join` made: nothing but our command, whatever folder the program was in.
fn is_ours(group: &Value, agent: Agent) -> bool {
    let hooks = group["hooks"].as_array().map(Vec::as_slice);
    let Some([only]) = hooks else {
        return false;
    };
    let command = only["command"].as_str().unwrap_or_default();
    command
        .strip_suffix(&format!(" hook {}", agent.name()))
        .is_some_and(|program| program.trim_end_matches('\'').ends_with("/relayroom"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/opt/relayroom hook claude";

    fn names(agent: Agent, version: Option<&str>) -> Vec<String> {
        let mut json = Json::parse("").unwrap();
        let command = format!("/opt/relayroom hook {}", agent.name());
        let version = version.and_then(Version::parse);
        put(&mut json, agent, version, &command).unwrap();
        let value = json.value().unwrap();
        let events = value["hooks"].as_object();
        events
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    }

    #[test]
    fn only_events_the_version_knows_are_asked_for() {
        let all = [
            "SessionStart",
            "UserPromptSubmit",
            "Stop",
            "StopFailure",
            "PermissionRequest",
            "Notification",
            "SessionEnd",
        ];
        assert_eq!(names(Agent::Claude, Some("2.1.332")), all);
        let old = [
            "SessionStart",
            "UserPromptSubmit",
            "Stop",
            "Notification",
            "SessionEnd",
        ];
        assert_eq!(names(Agent::Claude, Some("2.1.100")), old);
        assert_eq!(names(Agent::Claude, None), old);
        assert_eq!(names(Agent::Codex, Some("0.171.0")).len(), 6);
        assert_eq!(names(Agent::Codex, Some("0.149.0")).len(), 5);
        assert_eq!(names(Agent::Codex, Some("0.110.0")).len(), 0);
        assert_eq!(names(Agent::Gemini, Some("0.61.0")).len(), 5);
    }

    #[test]
    fn cli_008_foreign_hooks_stay_first_and_ours_is_there_once() {
        let before = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"/x/beep\"}]}\n    ]\n  }\n}\n";
        let mut json = Json::parse(before).unwrap();
        let version = Version::parse("2.1.332");
        put(&mut json, Agent::Claude, version, COMMAND).unwrap();
        let with = json.text();
        let stop = &json.value().unwrap()["hooks"]["Stop"];
        assert_eq!(stop[0]["hooks"][0]["command"], "/x/beep");
        assert_eq!(
            stop[1],
            json!({"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]})
        );
        put(&mut json, Agent::Claude, version, COMMAND).unwrap();
        assert_eq!(json.text(), with);

        put(
            &mut json,
            Agent::Claude,
            version,
            "'/my programs/relayroom' hook claude",
        )
        .unwrap();
        let value = json.value().unwrap();
        assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
        take(&mut json, Agent::Claude).unwrap();
        assert_eq!(json.text(), before);
    }

    #[test]
    fn hooks_of_another_form_are_refused() {
        let mut json = Json::parse("{\n  \"hooks\": []\n}").unwrap();
        let broken = put(&mut json, Agent::Claude, None, COMMAND).unwrap_err();
        assert_eq!(broken.line, 2);
    }
}
