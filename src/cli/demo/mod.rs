//! `relayroom demo` (cli.md 8): a real relay, a real pager and two scripted agents in real tmux sessions, in a place of their own that is
//! gone afterwards. The person's database, settings, port and tmux are never touched.

mod crew;
mod place;
mod view;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio::time::Instant;

use self::crew::Pace;
use self::place::Place;
use self::view::View;
use self::watch::Counts;
use self::watch::Watch;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;

/// What the person answers.
const ANSWER: &str = "Newest first, please, for every list of orders.";

/// How often the demo looks at its relay.
const LOOK: Duration = Duration::from_millis(250);

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// End within 20 seconds in place of 60
    #[arg(long)]
    fast: bool,
    /// Keep the folder with database and logs
    #[arg(long)]
    keep: bool,
}

impl Arguments {
    fn pace(&self) -> Pace {
        let ms = Duration::from_millis;
        if self.fast {
            Pace {
                think: ms(250),
                park: ms(5_000),
                person: ms(300),
            }
        } else {
            Pace {
                think: ms(1_500),
                park: ms(12_000),
                person: ms(4_000),
            }
        }
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(if self.fast { 20 } else { 60 })
    }
}

/// Plays the story and prints the counts.
///
/// # Errors
/// Exit 1 if not every wake was consumed in time, or without tmux; exit 130 if interrupted.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    crate::cli::tmux::need(context, "the demo")?;
    let temporary = context.env.path("TMPDIR");
    let temporary = temporary.unwrap_or_else(|| PathBuf::from("/tmp"));
    let mut place = Place::make(&temporary, arguments.keep)?;
    let begun = Instant::now();
    let played = tokio::select! {
        played = play(context, arguments, &mut place, begun) => played,
        () = told_to_stop() => Err(Failure::new(Exit::Interrupted, "interrupted", "the demo was interrupted")),
    };
    if arguments.keep {
        let folder = place.folder().display();
        context.screen.note(format!("kept {folder}"));
    }
    drop(place);
    let counts = played?;
    if !counts.all_consumed() {
        return Err(Failure::fault(format!(
            "not every wake was consumed; {}",
            counts.words()
        )));
    }
    let seconds = begun.elapsed().as_secs_f32();
    if context.screen.json {
        return context.screen.object(json!({
            "wakes": counts.to_json(),
            "seconds": (f64::from(seconds) * 10.0).round() / 10.0,
        }));
    }
    context.screen.line(counts.words())?;
    let left = if arguments.keep {
        "its folder is kept"
    } else {
        "nothing is left of it"
    };
    context
        .screen
        .line(format!("done in {seconds:.1} s, {left}"))
}

/// The story from its start to its last fact, or to the end of its time.
async fn play(
    context: &Context,
    arguments: &Arguments,
    place: &mut Place,
    begun: Instant,
) -> Result<Counts, Failure> {
    // The story's clock includes the start: the promise is about the whole run, with a second for the end.
    let end = begun + arguments.limit() - Duration::from_millis(1_500);
    let mut view = View::open(&context.screen)?;
    let pace = arguments.pace();
    let crew = crew::start(context, place, pace, view.pane_size()).await?;
    let mut watch = Watch::default();
    let mut asked: Option<Instant> = None;
    let mut answered = false;
    while Instant::now() < end && !watch.is_over() {
        tokio::time::sleep(LOOK).await;
        if let Some(why) = place.ended() {
            return Err(Failure::fault(format!("the demo broke off: {why}")));
        }
        let mut lines = watch.look(&crew.client).await?;
        if let Some(thread) = watch.question.clone().filter(|_| !answered) {
            let since = *asked.get_or_insert_with(Instant::now);
            if since.elapsed() >= pace.person {
                crew.answer(&thread, ANSWER).await?;
                lines.push(format!("you     {ANSWER}"));
                answered = true;
            }
        }
        view.show(&crew, &watch, begun.elapsed(), &lines)?;
    }
    if !watch.is_over() {
        return Err(Failure::fault(format!(
            "the story did not end within {} s; {}",
            arguments.limit().as_secs(),
            watch.counts().words()
        )));
    }
    Ok(watch.counts())
}

/// Waits for a signal that ends the demo.
async fn told_to_stop() {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        // Without handlers the signals end the process themselves, and the next demo tidies up.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}
