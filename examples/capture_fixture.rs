//! Captures the screen of a pane with all the pager judges it by, in the form of `pager/fixtures`: for a screen the pager reads wrongly, or
//! an agent CLI it does not know.
//!
//!     cargo run --example capture_fixture -- %3 dialog-permission "it asked before it ran make"
//!
//! It only looks: no key, no option, no relay. Two files appear in `./fixtures/<cli>`, and it says what the pager reads in the pane now.
//! They hold what the pane shows, word for word: read them before you send them.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use relayroom::config::Env;
use relayroom::pager::facts::Facts;
use relayroom::pager::facts::PaneFacts;
use relayroom::pager::facts::Process;
use relayroom::pager::facts::Turn;
use relayroom::pager::look;
use relayroom::pager::look::Glance;
use relayroom::pager::read;
use relayroom::pager::read::Verdict;
use relayroom::pager::rules::Rules;
use relayroom::pager::setup;
use relayroom::pager::tmux::Tmux;
use relayroom::store;
use serde::Serialize;

/// Between the two looks that must be equal.
const APART: Duration = Duration::from_millis(1_600);

/// Captures a pane's screen and the facts of the same moment.
#[derive(Parser)]
#[command(name = "capture_fixture")]
struct Args {
    /// The pane's id, %3
    pane: String,
    /// What it shows, in a few words with dashes between: dialog-permission
    state: String,
    /// How it came to show that
    #[arg(default_value = "")]
    how: String,
    /// The tmux server's socket
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folder for the files
    #[arg(long, default_value = "fixtures", value_name = "DIR")]
    out: PathBuf,
    /// Name of the agent CLI, where the pager does not know it
    #[arg(long, value_name = "NAME")]
    cli: Option<String>,
    /// Its version, where the pager cannot tell
    #[arg(long, value_name = "V")]
    cli_version: Option<String>,
}

/// The `.toml` beside a screen.
#[derive(Serialize)]
struct Fixture {
    cli: String,
    cli_version: String,
    state: String,
    size: String,
    width: u16,
    height: u16,
    cursor_x: u16,
    cursor_y: u16,
    cursor_flag: u8,
    alternate_on: u8,
    pane_in_mode: u8,
    pane_mode: String,
    pane_current_command: String,
    pane_title: String,
    argv: Vec<String>,
    foreground_group: Vec<Vec<String>>,
    tmux: String,
    term: String,
    synthetic: bool,
    how: String,
}

/// One look at the pane.
struct Shot {
    pane: PaneFacts,
    capture: Vec<u8>,
    processes: Vec<Process>,
    verdict: Verdict,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args, &Env::capture()) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("capture_fixture: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args, env: &Env) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let socket = setup::socket(args.socket.as_deref(), env);
    let (tmux, shot) = runtime.block_on(async {
        let tmux = Tmux::find(&socket, env).await.map_err(|e| e.to_string())?;
        let first = shoot(&tmux, &args.pane, None).await?;
        tokio::time::sleep(APART).await;
        let second = shoot(&tmux, &args.pane, Some(&first)).await?;
        Ok::<_, String>((tmux, second))
    })?;
    let [alternate, command, term] = told(&socket, &args.pane)?;
    let (pane, agent) = (&shot.pane, shot.verdict.agent.as_ref());
    let in_front: Vec<&Process> = shot.processes.iter().filter(|p| p.foreground).collect();
    let leader = in_front.iter().find(|process| process.pid == process.pgrp);
    let argv = leader
        .map(|process| process.argv.clone())
        .unwrap_or_default();
    let fixture = Fixture {
        cli: args
            .cli
            .clone()
            .or_else(|| Some(agent?.cli.clone()))
            .ok_or("the pager knows no agent there: say --cli NAME")?,
        cli_version: args
            .cli_version
            .clone()
            .or_else(|| agent?.version.clone())
            .ok_or("the pager cannot tell its version: say --cli-version V")?,
        state: args.state.clone(),
        size: format!("{}x{}", pane.width, pane.height),
        width: pane.width,
        height: pane.height,
        cursor_x: pane.cursor_x,
        cursor_y: pane.cursor_y,
        cursor_flag: pane.cursor_shown.into(),
        alternate_on: u8::from(alternate == "1"),
        pane_in_mode: pane.in_mode.into(),
        pane_mode: pane.mode.clone(),
        pane_current_command: command,
        pane_title: pane.title.clone(),
        argv,
        foreground_group: in_front
            .iter()
            .map(|process| process.argv.clone())
            .collect(),
        tmux: tmux.version.to_string(),
        term,
        synthetic: false,
        how: args.how.clone(),
    };
    let written = write(&args.out, &fixture, &shot.capture)?;
    let reads = [shot.verdict.state(), shot.verdict.detail].join(" ");
    Ok(format!(
        "{}.ansi and .toml\nthe pager reads: {}  {}\nThey hold what the pane shows: read them before you send them.",
        written.display(),
        reads.trim_end(),
        shot.verdict.evidence
    ))
}

/// Looks once, and judges after the look before.
async fn shoot(tmux: &Tmux, pane: &str, before: Option<&Shot>) -> Result<Shot, String> {
    let glance: Glance = look::take(tmux, vec![pane.to_owned()], false).await;
    let listing = glance.listing.as_ref().map_err(ToString::to_string)?;
    let found = listing
        .pane(pane)
        .ok_or(format!("there is no pane {pane}"))?;
    let capture = glance.capture(pane).ok_or("its screen cannot be read")?;
    let processes = glance.tree(found.identity.pane_pid);
    let facts = Facts {
        expected: None,
        pane: Ok(found.clone()),
        processes: processes.clone(),
        clients: Vec::new(),
        capture: Some(capture.clone()),
        cli_version: None,
        refused_read_only: false,
    };
    let sample = before.and_then(|shot| shot.verdict.sample.as_ref());
    let now = store::system_clock().0.0;
    let verdict = read::verdict(&Rules::shipped(), &facts, sample, &Turn::default(), now);
    Ok(Shot {
        pane: found.clone(),
        capture,
        processes: processes.ok_or("its processes cannot be read")?,
        verdict,
    })
}

/// What only a person who looks at the fixture wants to know: alternate screen, command, TERM.
fn told(socket: &Path, pane: &str) -> Result<[String; 3], String> {
    let ask = |words: &[&str]| {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(socket)
            .args(words)
            .output();
        let output = output.map_err(|error| error.to_string())?;
        Ok::<_, String>(
            String::from_utf8_lossy(&output.stdout)
                .trim_end()
                .to_owned(),
        )
    };
    let format = |field| ask(&["display-message", "-p", "-t", pane, field]);
    Ok([
        format("#{alternate_on}")?,
        format("#{pane_current_command}")?,
        ask(&["show-options", "-gv", "default-terminal"])?,
    ])
}

fn write(folder: &Path, fixture: &Fixture, capture: &[u8]) -> Result<PathBuf, String> {
    let plain = |text: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        (!text.is_empty() && !text.starts_with('.') && text.chars().all(fits))
            .then_some(())
            .ok_or(format!("{text:?} does not fit into a file's name"))
    };
    for text in [&fixture.cli, &fixture.cli_version, &fixture.state] {
        plain(text)?;
    }
    let size = match fixture.size.as_str() {
        "80x24" => String::new(),
        other => format!("-{other}"),
    };
    let folder = folder.join(&fixture.cli);
    let path = folder.join(format!("{}-{}{size}", fixture.cli_version, fixture.state));
    let file = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
    let text = toml::to_string(fixture).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(file("ansi"), capture))
        .and_then(|()| fs::write(file("toml"), text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
