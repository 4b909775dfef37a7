//! One scripted agent of `relayroom demo`: a full-screen program in a tmux pane that looks to the pager like any agent CLI, and to the
//! relay like any MCP client. What it says is in [`script`]; nothing else about it is pretended.

mod composer;
mod script;
mod surface;
mod tools;

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use self::composer::Composer;
use self::script::Agent;
use self::surface::Surface;
use self::tools::Tools;
use super::failure::Failure;

/// What every typed line of the relay begins with (pager.md 5).
const LINE: &str = "relayroom:";

/// Arguments of `demo-agent`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Its part in the story
    #[arg(value_enum)]
    role: script::Role,
    /// Its MCP endpoint
    #[arg(long)]
    url: String,
    /// The file with its token
    #[arg(long)]
    token_file: PathBuf,
    /// How long it thinks about each step, in milliseconds
    #[arg(long, default_value_t = 400)]
    think_ms: u64,
    /// How long it is limited, in milliseconds
    #[arg(long, default_value_t = 4_000)]
    park_ms: u64,
}

/// What can happen to it.
enum News {
    /// Bytes from the terminal.
    Typed(Vec<u8>),
    /// A line of its transcript.
    Said(String),
    /// Its turn is over.
    Done(Agent),
}

/// What a turn says as it goes.
#[derive(Clone)]
struct Say(mpsc::UnboundedSender<News>);

impl Say {
    fn line(&self, text: impl Into<String>) {
        // Nobody listens only once the program is ending.
        let _ = self.0.send(News::Said(text.into()));
    }
}

/// Runs until its pane is closed.
///
/// # Errors
/// A token file that cannot be read, or a pane that is no terminal.
pub async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let token = crate::config::read_secret(&arguments.token_file).map_err(Failure::usage)?;
    let (news, mut happened) = mpsc::unbounded_channel();
    let agent = Agent::new(
        arguments.role,
        Tools::new(&arguments.url, token)?,
        Duration::from_millis(arguments.think_ms),
        Duration::from_millis(arguments.park_ms),
    );
    let mut surface = Surface::open(arguments.role.name())?;
    let mut composer = Composer::default();
    read_keys(news.clone());
    let mut waiting: Vec<String> = arguments.role.first_prompt().into_iter().collect();
    let mut idle = Some(agent);
    loop {
        if !waiting.is_empty()
            && let Some(agent) = idle.take()
        {
            let prompt = waiting.remove(0);
            surface.say(format!("> {prompt}"));
            let news = news.clone();
            tokio::spawn(turn(agent, prompt, news));
        }
        surface.draw(&composer.text, idle.is_none())?;
        match happened.recv().await {
            None => return Ok(()),
            Some(News::Typed(bytes)) => {
                for byte in bytes {
                    waiting.extend(composer.take(byte));
                }
            }
            Some(News::Said(line)) => surface.say(line),
            Some(News::Done(agent)) => idle = Some(agent),
        }
    }
}

async fn turn(mut agent: Agent, prompt: String, news: mpsc::UnboundedSender<News>) {
    let say = Say(news.clone());
    let done = if prompt.starts_with(LINE) {
        agent.read_mail(&say).await
    } else {
        agent.begin(&say).await
    };
    if let Err(why) = done {
        say.line(format!("! {why}"));
    }
    let _ = news.send(News::Done(agent));
}

/// Reads the terminal on a thread of its own: a read there cannot be broken off.
fn read_keys(news: mpsc::UnboundedSender<News>) {
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut bytes = [0; 256];
        while let Ok(read @ 1..) = stdin.read(&mut bytes) {
            if news.send(News::Typed(bytes[..read].to_vec())).is_err() {
                return;
            }
        }
    });
}
