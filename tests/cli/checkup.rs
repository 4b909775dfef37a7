//! `doctor` on a desk: what it finds, and that the command it prints mends it as it stands.

use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;

use super::desk::Desk;
use super::home::Ran;
use crate::support::wait::until;

/// The program in a folder, as a person's shell runs it: a relay that is started there has the address it had before.
pub fn command(desk: &Desk, folder: &Path, words: &[&str]) -> Command {
    let mut command = desk.command(folder, words);
    let listen = desk.home.address.trim_start_matches("http://");
    if !listen.is_empty() {
        command.env("RELAYROOM_LISTEN", listen);
    }
    command
}

/// Everything doctor finds, worst first, and how it ends.
pub fn findings(desk: &Desk, folder: &Path) -> (i32, Vec<Value>) {
    let mut command = command(desk, folder, &["doctor", "--json"]);
    let ran = Ran::of(&command.output().unwrap());
    let answer = ran.json();
    assert_eq!(answer["v"], 1);
    (ran.code, answer["findings"].as_array().unwrap().clone())
}

/// `code subject` of every finding.
pub fn codes(desk: &Desk, folder: &Path) -> Vec<String> {
    let (_, found) = findings(desk, folder);
    let word = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    found
        .iter()
        .map(|finding| format!("{} {}", word(finding, "code"), word(finding, "subject")))
        .collect()
}

/// The one finding with this code.
pub fn found(desk: &Desk, folder: &Path, code: &str) -> Value {
    let (exit, all) = findings(desk, folder);
    let with: Vec<&Value> = all
        .iter()
        .filter(|finding| finding["code"] == code)
        .collect();
    let [one] = with.as_slice() else {
        panic!("{code} is not there once: {all:#?}");
    };
    let is_error = |finding: &Value| finding["level"] == "error";
    assert_eq!(
        exit,
        if all.iter().any(is_error) { 10 } else { 0 },
        "{all:#?}"
    );
    (*one).clone()
}

/// Runs a printed command in a shell, as it stands.
pub fn shell(desk: &Desk, folder: &Path, line: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_relayroom"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        desk.search_path()
    );
    let surroundings = command(desk, folder, &[]);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .envs(
            surroundings
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", path)
        .stdin(Stdio::null());
    Ran::of(&shell.output().unwrap())
}

/// Finds `code`, runs its printed command, and finds it no more.
pub fn mend(desk: &Desk, folder: &Path, code: &str) -> Value {
    let finding = found(desk, folder, code);
    let fix = finding["fix"]
        .as_str()
        .unwrap_or_else(|| panic!("no fix: {finding}"));
    let ran = shell(desk, folder, fix);
    assert_eq!(ran.code, 0, "{fix}: {ran:?}");
    let start = format!("{code} ");
    until(super::desk::PATIENCE, "it is mended", || {
        !codes(desk, folder)
            .iter()
            .any(|one| one.starts_with(&start))
    });
    finding
}
