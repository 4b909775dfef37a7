//! Programs in the background: a session of their own, their words in a log file, and a start that is waited for (cli.md 3).

use std::ffi::OsString;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use serde_json::json;

use super::client;
use super::context::Context;
use super::failure::Failure;
use super::logging;
use super::progress::Progress;
use crate::store::Store;

/// How long a relay may take to be in good health.
const START: Duration = Duration::from_secs(10);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// Lines of a log that a failed start shows.
const LINES: usize = 10;

/// The hidden first argument of a program that is to live in a session of its own.
const BACKGROUND: &str = "in-background";

/// Takes the words off `args` by which [`ours`] starts a program in the background; returns where its log goes. Such a program is in
/// a session of its own from here on, so that closing the terminal does not end it.
pub fn enter_background(args: &mut Vec<OsString>) -> Option<PathBuf> {
    if args.len() < 3 || args[1] != BACKGROUND {
        return None;
    }
    let log = args.drain(1..3).next_back().map(PathBuf::from);
    // Refused only to the leader of a group, which then has a session already.
    let _ = rustix::process::setsid();
    log
}

/// Starts the relay in the background and prints where it is.
///
/// # Errors
/// Exit 1 with the last lines of its log if it does not get into good health; no process is left then.
pub fn serve(context: &Context, listen: &[String]) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let started = runtime.block_on(relay(context, listen))?;
    if context.screen.json {
        return context.screen.object(json!({
            "address": started.address,
            "pid": started.pid,
            "log": started.log.to_string_lossy(),
        }));
    }
    context.screen.fields(&[
        ("relay", started.address),
        ("pid", started.pid.to_string()),
        ("log", started.log.display().to_string()),
    ])
}

/// A relay that answers.
#[derive(Debug, Clone)]
pub struct Started {
    /// Where it answers.
    pub address: String,
    /// Its process.
    pub pid: u32,
    /// Its log.
    pub log: PathBuf,
}

/// Starts a relay in the background and waits until it is in good health.
///
/// # Errors
/// As [`serve`].
pub async fn relay(context: &Context, listen: &[String]) -> Result<Started, Failure> {
    let db = std::path::absolute(context.db())?;
    let log = context.env.state_dir().join("relay.log");
    let before = std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let mut command = ours(&log)?;
    command.arg("serve").arg("--db").arg(&db);
    for address in listen {
        command.arg("--listen").arg(address);
    }
    let mut child = command.spawn()?;
    let _starting = Progress::start(&context.screen, "starting the relay");
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Err(not_started(
                &log,
                before,
                &format!("it ended with {status}"),
            ));
        }
        if let Some(address) = healthy(&db, child.id()).await {
            return Ok(Started {
                address,
                pid: child.id(),
                log,
            });
        }
        if begun.elapsed() > START {
            end(&mut child);
            return Err(not_started(&log, before, "it did not answer within 10 s"));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// This very program, with a session of its own and all it says going to `log`.
///
/// # Errors
/// The file system's.
pub fn ours(log: &Path) -> Result<Command, Failure> {
    if let Some(folder) = log.parent() {
        private_folder(folder)?;
    }
    let said = logging::append(log)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(BACKGROUND)
        .arg(log)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said);
    Ok(command)
}

/// Where the relay of that file and process answers, if it does.
async fn healthy(db: &Path, pid: u32) -> Option<String> {
    let holder = Store::holder(db).filter(|holder| holder.pid == pid)?;
    let health = client::health(&holder.address, Duration::from_secs(1)).await?;
    health.ok.then_some(holder.address)
}

fn not_started(log: &Path, before: u64, why: &str) -> Failure {
    let words = last_lines(log, before);
    let said = if words.is_empty() {
        String::new()
    } else {
        format!("\n{words}")
    };
    Failure::fault(format!(
        "the relay did not start: {why}; {}{said}",
        log.display()
    ))
}

/// The last lines a log got after it was `before` bytes long.
#[must_use]
pub fn last_lines(log: &Path, before: u64) -> String {
    let mut text = String::new();
    if let Ok(mut file) = std::fs::File::open(log)
        && file.seek(SeekFrom::Start(before)).is_ok()
    {
        // What cannot be read is not shown.
        let _ = file.read_to_string(&mut text);
    }
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

fn end(child: &mut Child) {
    // Both fail only if it is gone already.
    let _ = child.kill();
    let _ = child.wait();
}

/// Makes a folder only the person can look into; one that exists is left as it is.
///
/// # Errors
/// The file system's.
pub fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}
