//! What is there before a test begins, and must be gone after it: the furnished file, the agent in its pane.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Outcome;
use relayroom::store::Time;
use relayroom::store::Tx;

use crate::agent::Agent;
use crate::agent::Place;
use crate::pane::Pane;

/// What the relay was furnished with.
pub struct Made {
    pub code: String,
    /// Tokens of the agent and of the pager.
    pub agent: String,
    pub pager: String,
}

/// A project `shop` with the part `web`.
pub fn furnish(tx: &Tx<'_>, now: Time) -> Outcome<Made> {
    identity::found(tx, "kim", now)?;
    let kim = people::first_owner(tx)?.seq;
    let shop = project::create(tx, kim, "shop", now)?;
    part::add(tx, shop.seq, "web", kim, now)?;
    let agent = Binding::Agent {
        project: shop.seq,
        part: "web".to_owned(),
    };
    let pager = Binding::Pager {
        machine: "vm".to_owned(),
    };
    Ok(Made {
        code: shop.connect_code,
        agent: token::issue(tx, kim, &agent, "", None, now)?.0,
        pager: token::issue(tx, kim, &pager, "", None, now)?.0,
    })
}

/// What an agent finds around it.
pub struct Surroundings<'a> {
    pub folder: &'a Path,
    pub mcp: &'a str,
    pub token: &'a str,
    pub model: SocketAddr,
    pub trusted: bool,
}

/// Starts the CLI in a repository and a home folder of its own.
pub fn start(agent: Agent, programs: &Path, around: &Surroundings<'_>) -> Pane {
    let home = around.folder.join("home");
    let shop = around.folder.join("shop");
    fs::create_dir_all(&home).unwrap();
    // Codex asks whether it may trust a folder only where that is a repository.
    let initialized = Command::new("git").args(["init", "-q"]).arg(&shop).status();
    assert!(initialized.unwrap().success());
    let launch = agent.prepare(&Place {
        home: &home,
        folder: &shop,
        relay: Some((around.mcp, around.token)),
        model: around.model,
        trusted: around.trusted,
        programs,
    });
    Pane::start(agent, &launch, &shop)
}

/// Ends what a CLI left running in the background (Codex's app-server): every process whose `HOME` is that folder.
pub fn end_all_of(home: &Path) {
    let mark = format!("HOME={}", home.display());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) else {
            continue;
        };
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ
            .split(|byte| *byte == 0)
            .any(|line| line == mark.as_bytes())
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}
