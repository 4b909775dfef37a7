//! tmux and the panes: the program, its version, and one pane for each part that is joined here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::around::Around;
use super::finding::Finding;
use super::finding::quoted;
use crate::cli::context::Context;
use crate::cli::tmux;
use crate::pager::setup;
use crate::pager::target;
use crate::pager::tmux::Tmux;
use crate::pager::tmux::Trouble;
use crate::pager::tmux::Version;

/// What is known of them.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The program's version, or why it has none.
    pub version: Result<Version, String>,
    /// The command that installs it.
    pub install: String,
    /// Parts joined here, each with the socket its session is on.
    pub joined: Vec<Seat>,
    /// Panes by the part their option names.
    pub panes: BTreeMap<(String, String), Vec<Pane>>,
}

/// A part's place.
#[derive(Debug, Clone, Default)]
pub struct Seat {
    /// Connect code.
    pub code: String,
    /// The part.
    pub part: String,
    /// Its session's name.
    pub session: String,
    /// The socket.
    pub socket: PathBuf,
}

/// A pane that names a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    /// `%3`.
    pub id: String,
    /// The socket.
    pub socket: PathBuf,
    /// Name of the session it is in.
    pub session: String,
    /// The process it was started with.
    pub pid: i32,
}

/// Gathers: lists the panes of every tmux server that matters here, and starts none.
pub async fn gather(context: &Context, around: &Around) -> Facts {
    let usual = setup::socket(None, &context.env);
    let files = around
        .joined
        .iter()
        .filter_map(|one| one.file.as_ref().ok());
    let joined: Vec<Seat> = files
        .map(|file| Seat {
            code: file.code.clone().unwrap_or_default(),
            part: file.part.clone().unwrap_or_default(),
            session: file.session.clone().unwrap_or_default(),
            socket: file.socket.clone().unwrap_or_else(|| usual.clone()),
        })
        .filter(|seat| !seat.code.is_empty())
        .collect();
    let mut sockets: Vec<PathBuf> = joined.iter().map(|seat| seat.socket.clone()).collect();
    sockets.push(usual);
    sockets.sort();
    sockets.dedup();
    let mut facts = Facts {
        version: Err("there is none".to_owned()),
        install: tmux::install(context),
        joined,
        panes: BTreeMap::new(),
    };
    for socket in sockets {
        let tmux = match Tmux::find(&socket, &context.env).await {
            Ok(tmux) => tmux,
            Err(trouble) => {
                facts.version = Err(match trouble {
                    Trouble::NotRun(_) => "it is not installed".to_owned(),
                    other => other.to_string(),
                });
                return facts;
            }
        };
        facts.version = Ok(tmux.version);
        let Ok(listing) = tmux.look(&[], true).await else {
            continue;
        };
        for (key, panes) in target::discover(&listing, None) {
            let known = facts.panes.entry((key.code, key.part)).or_default();
            known.extend(panes.iter().map(|pane| Pane {
                id: pane.identity.pane.clone(),
                socket: socket.clone(),
                session: pane.session_name.clone(),
                pid: pane.identity.pane_pid,
            }));
        }
    }
    facts
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    match &facts.version {
        Err(why) => {
            let text = format!("{why}; the pager cannot reach any agent");
            let finding = Finding::error("tmux.missing", "tmux", text);
            return vec![finding.fix(&facts.install)];
        }
        Ok(version) if !version.has_pane_options() => {
            let text = format!("is {version}, the pager needs {} or newer", Version::OLDEST);
            return vec![Finding::error("tmux.old", "tmux", text).fix(&facts.install)];
        }
        Ok(_) => {}
    }
    for seat in &facts.joined {
        let key = (seat.code.clone(), seat.part.clone());
        if facts.panes.get(&key).is_none_or(Vec::is_empty) {
            let text = format!("no pane on {} is its own", seat.socket.display());
            let finding = Finding::error("pane.none", &seat.part, text);
            found.push(finding.fix("relayroom up"));
        }
    }
    for ((code, part), panes) in &facts.panes {
        if panes.len() > 1 {
            let seat = facts
                .joined
                .iter()
                .find(|seat| seat.code == *code && seat.part == *part);
            found.push(twice(part, panes, seat));
        }
    }
    found
}

/// Two panes of one part: the one in the part's own session stays, else the older.
fn twice(part: &str, panes: &[Pane], seat: Option<&Seat>) -> Finding {
    let session = seat.map(|seat| seat.session.as_str());
    let right = panes
        .iter()
        .find(|pane| Some(pane.session.as_str()) == session)
        .unwrap_or(&panes[0]);
    let ids: Vec<&str> = panes.iter().map(|pane| pane.id.as_str()).collect();
    let text = format!(
        "{} panes are its own: {}; none is served",
        panes.len(),
        ids.join(", ")
    );
    let unset: Vec<String> = panes
        .iter()
        .filter(|pane| *pane != right)
        .map(|pane| {
            let socket = quoted(&pane.socket.to_string_lossy());
            format!(
                "tmux -S {socket} set-option -p -u -t {} @relayroom",
                pane.id
            )
        })
        .collect();
    Finding::error("pane.twice", part, text).fix(unset.join(" && "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(id: &str, session: &str) -> Pane {
        Pane {
            id: id.into(),
            socket: "/tmp/s".into(),
            session: session.into(),
            pid: 7,
        }
    }

    fn with(panes: Vec<Pane>) -> Facts {
        Facts {
            version: Ok(Version::NEWEST_KNOWN),
            install: "sudo apt-get install tmux".into(),
            joined: vec![Seat {
                code: "c".into(),
                part: "web".into(),
                session: "shop-web".into(),
                socket: "/tmp/s".into(),
            }],
            panes: BTreeMap::from([(("c".into(), "web".into()), panes)]),
        }
    }

    fn found(facts: &Facts) -> Vec<(&'static str, String)> {
        judge(facts)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    #[test]
    fn one_pane_a_part_is_right() {
        assert_eq!(found(&with(vec![pane("%1", "shop-web")])), []);
        let none = found(&with(Vec::new()));
        assert_eq!(none, [("pane.none", "relayroom up".to_owned())]);
    }

    #[test]
    fn of_two_panes_the_one_in_the_parts_session_stays() {
        let two = found(&with(vec![pane("%1", "other"), pane("%2", "shop-web")]));
        let fix = "tmux -S /tmp/s set-option -p -u -t %1 @relayroom".to_owned();
        assert_eq!(two, [("pane.twice", fix)]);
    }

    #[test]
    fn tmux_itself_comes_before_its_panes() {
        let mut facts = with(Vec::new());
        facts.version = Err("it is not installed".into());
        let install = || "sudo apt-get install tmux".to_owned();
        assert_eq!(found(&facts), [("tmux.missing", install())]);
        facts.version = Ok(Version::parse("tmux 2.9a").unwrap());
        assert_eq!(found(&facts), [("tmux.old", install())]);
    }
}
