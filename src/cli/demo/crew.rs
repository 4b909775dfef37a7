//! Everything real in the demo: a relay, a pager, a tmux server with two sessions, and the person's door to the relay.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::place::Place;
use crate::cli::client;
use crate::cli::client::Client;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::logging;
use crate::cli::tmux::Tmux;
use crate::config;
use crate::store::Store;

/// The parts of the story.
pub(super) const PARTS: [&str; 2] = ["api", "web"];

/// The program name by which the pager knows an agent of the demo (`rules.toml`).
const AGENT: &str = "relayroom-demo-agent";

/// How the pager reads the demo's agents.
const RULES: &str = include_str!("rules.toml");

/// How long the relay may take to answer.
const START: Duration = Duration::from_secs(10);

/// How fast the story goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// How long an agent thinks about each step.
    pub think: Duration,
    /// How long api is limited.
    pub park: Duration,
    /// How long the person thinks about an answer.
    pub person: Duration,
}

/// Size of the agents' panes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A crew at work.
pub(super) struct Crew {
    /// The person's door.
    pub client: Client,
    tmux: Tmux,
}

/// Starts relay, sessions and pager, in this order.
///
/// # Errors
/// What did not start, and why.
pub(super) async fn start(
    context: &Context,
    place: &mut Place,
    pace: Pace,
    size: Size,
) -> Result<Crew, Failure> {
    let folder = place.folder().to_owned();
    let config = folder.join("config/relayroom");
    std::fs::create_dir_all(&config)?;
    std::fs::write(config.join("pager-rules.toml"), RULES)?;
    let agent = folder.join(AGENT);
    std::os::unix::fs::symlink(std::env::current_exe()?, &agent)?;

    let client = relay(context, place).await?;
    let project = client
        .call(
            Method::POST,
            "projects",
            &[],
            Some(&json!({"name": "demo"})),
        )
        .await?;
    let code = field::word(&project, "code");
    let tmux = Tmux::alone(place.socket(), environment(context, &folder));
    for part in PARTS {
        let body = json!({ "part": part });
        let added = client.call(Method::POST, "parts", &[], Some(&body)).await?;
        let token_file = folder.join(format!("{part}.token"));
        config::write_secret(&token_file, field::word(&added, "token"))?;
        let url = format!("{}/mcp/{code}?part={part}", client.base());
        let session = agent_command(&agent, part, &url, &token_file, pace);
        new_session(&tmux, part, size, &session)?;
        tmux.run(&[
            "set-option",
            "-p",
            "-F",
            "-t",
            &format!("={part}:"),
            "@relayroom",
            &format!("{code}/{part}/#{{pane_pid}}"),
        ])?;
    }
    let mut pager = ours(context, &folder, "pager.out")?;
    pager
        .arg("pager")
        .args(["--server", client.base()])
        .arg("--socket")
        .arg(place.socket());
    place.start(&mut pager)?;
    Ok(Crew { client, tmux })
}

/// Starts the relay and opens the person's door to it.
async fn relay(context: &Context, place: &mut Place) -> Result<Client, Failure> {
    let folder = place.folder().to_owned();
    let db = folder.join("relayroom.db");
    let mut relay = ours(context, &folder, "relay.log")?;
    relay
        .args(["serve", "--listen", "127.0.0.1:0", "--db"])
        .arg(&db);
    let pid = place.start(&mut relay)?;
    let begun = Instant::now();
    while begun.elapsed() < START {
        if let Some(holder) = Store::holder(&db).filter(|holder| holder.pid == pid)
            && client::health(&holder.address, Duration::from_secs(1))
                .await
                .is_some_and(|health| health.ok)
        {
            let token = config::admin_token_file(&db);
            return Client::at(&holder.address, token, context.timeout());
        }
        if let Some(why) = place.ended() {
            return Err(not_started(&folder, &why));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(not_started(&folder, "it did not answer within 10 s"))
}

fn not_started(folder: &Path, why: &str) -> Failure {
    let said = std::fs::read_to_string(folder.join("relay.log")).unwrap_or_default();
    Failure::fault(format!("the demo's relay did not start: {why}\n{said}"))
}

/// This very program, in the demo's own surroundings, its words going to a file there.
fn ours(context: &Context, folder: &Path, log: &str) -> Result<Command, Failure> {
    let said = logging::append(&folder.join(log))?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .env_clear()
        .envs(environment(context, folder))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(said.try_clone()?)
        .stderr(said);
    Ok(command)
}

/// Nothing of the person's own settings, places or tmux.
fn environment(context: &Context, folder: &Path) -> Vec<(&'static str, PathBuf)> {
    vec![
        ("PATH", context.env.path("PATH").unwrap_or_default()),
        ("HOME", folder.to_owned()),
        ("XDG_CONFIG_HOME", folder.join("config")),
        ("XDG_DATA_HOME", folder.join("data")),
        ("XDG_STATE_HOME", folder.join("state")),
        ("LC_ALL", "C.UTF-8".into()),
        ("USER", "you".into()),
    ]
}

fn agent_command(
    program: &Path,
    part: &str,
    url: &str,
    token_file: &Path,
    pace: Pace,
) -> Vec<String> {
    vec![
        program.to_string_lossy().into_owned(),
        "demo-agent".to_owned(),
        part.to_owned(),
        "--url".to_owned(),
        url.to_owned(),
        "--token-file".to_owned(),
        token_file.to_string_lossy().into_owned(),
        "--think-ms".to_owned(),
        pace.think.as_millis().to_string(),
        "--park-ms".to_owned(),
        pace.park.as_millis().to_string(),
    ]
}

impl Crew {
    /// What a part's pane shows, row by row.
    pub(super) fn pane(&self, part: &str) -> Vec<String> {
        let target = format!("={part}:");
        let shown = self.tmux.run(&["capture-pane", "-p", "-t", &target]);
        let text = shown.unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Answers a question as the person.
    ///
    /// # Errors
    /// A refusal of the relay.
    pub(super) async fn answer(&self, thread: &str, body: &str) -> Result<Value, Failure> {
        let message = json!({"threadId": thread, "body": body});
        self.client
            .call(Method::POST, "messages", &[], Some(&message))
            .await
    }
}

/// A detached session of that size that runs `command`.
fn new_session(tmux: &Tmux, name: &str, size: Size, command: &[String]) -> Result<(), Failure> {
    let (width, height) = (size.width.to_string(), size.height.to_string());
    let mut words = vec![
        "new-session",
        "-d",
        "-s",
        name,
        "-x",
        &width,
        "-y",
        &height,
        "--",
    ];
    words.extend(command.iter().map(String::as_str));
    tmux.run(&words).map(drop)
}
