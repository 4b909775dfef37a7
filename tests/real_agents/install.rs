//! The pinned CLIs, from the npm registry, in a cache outside the repository: `${XDG_CACHE_HOME:-~/.cache}/relayroom-test-agents/<pin>`.
//! A pin is installed whole or not at all, once, whatever runs beside it.

use std::fs;
use std::fs::File;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use relayroom::config::Env;

use crate::agent::Agent;

/// Where a CLI is.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The folder of its programs; Gemini's holds the Node it needs.
    pub programs: PathBuf,
}

/// Installs the CLI unless it is there. `None` if it cannot be had and nobody insists: said loudly, and entered into the table.
///
/// # Panics
/// If it cannot be had and `CI` is `true`.
pub fn install(agent: Agent) -> Option<Installed> {
    let env = Env::capture();
    let why = match try_install(agent, &env) {
        Ok(installed) => return Some(installed),
        Err(why) => why,
    };
    let pin = agent.pin();
    assert!(env.get("CI") != Some("true"), "{pin}: {why}");
    println!("\n*** {pin}: NOT TESTED. {why} ***\n");
    crate::table::not_tested(agent, &why);
    None
}

fn try_install(agent: Agent, env: &Env) -> Result<Installed, String> {
    let place = cache(env).join(agent.pin());
    let installed = Installed {
        programs: place.join("node_modules/.bin"),
    };
    if installed.programs.join(agent.program()).exists() {
        return Ok(installed);
    }
    let npm = Command::new("npm")
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    if !npm.is_ok_and(|output| output.status.success()) {
        return Err("skipped: npm not found".to_owned());
    }
    let said = |error: std::io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(cache(env)).map_err(said)?;
    let lock = File::create(place.with_added_extension("lock")).map_err(said)?;
    lock.lock().map_err(said)?;
    if !installed.programs.join(agent.program()).exists() {
        fetch(agent, &place)?;
    }
    Ok(installed)
}

fn cache(env: &Env) -> PathBuf {
    env.path("XDG_CACHE_HOME")
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| env.path("HOME").unwrap_or_default().join(".cache"))
        .join("relayroom-test-agents")
}

/// Installs beside the place and moves it there when all of it works.
fn fetch(agent: Agent, place: &Path) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", place.display());
    let making = place.with_added_extension("new");
    for leftover in [place, &making] {
        if leftover.exists() {
            fs::remove_dir_all(leftover).map_err(said)?;
        }
    }
    fs::create_dir_all(&making).map_err(said)?;
    fs::write(making.join("package.json"), r#"{"private":true}"#).map_err(said)?;
    run(Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--save-exact",
        ])
        .args(agent.packages())
        .current_dir(&making))?;
    let programs = making.join("node_modules/.bin");
    let version = run(Command::new(programs.join(agent.program()))
        .arg("--version")
        .env_clear()
        .env("HOME", &making)
        .env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()),
        ))?;
    if !version.contains(agent.version()) {
        return Err(format!("--version says {}", version.trim()));
    }
    fs::rename(&making, place).map_err(said)
}

/// What a command printed; what it complained of, if it failed.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?}: {}: {}", output.status, text.trim()))
}
