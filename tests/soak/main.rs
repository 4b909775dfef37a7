//! The soak (pager.md 9 and 10): many wakes over twelve panes of one private tmux server, agents of three styles whose knobs are turned at
//! random, people in the way, and a relay that goes away. Promised: no stray key, no line submitted twice, every wake consumed in the end.
//!
//! `PAGER_SOAK=1000 SEED=n cargo test --test soak` makes a thousand wakes and repeats the turns of the knobs of that seed (not the
//! machine's timing). `tests/mutants` shows that it can fail.

#![expect(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected is to fail there"
)]

mod audit;
mod lane;
#[path = "../support"]
mod support {
    #[expect(dead_code, reason = "shared with the tests of single cases")]
    pub mod fake_agent;
    #[expect(dead_code, reason = "shared with the tests of single cases")]
    pub mod pager;
    #[expect(dead_code, reason = "shared with the tests of single cases")]
    pub mod scripted_relay;
    #[expect(dead_code, reason = "shared with the tests of single cases")]
    pub mod tmux;
    #[expect(dead_code, reason = "shared with the tests of single cases")]
    pub mod wait;
}

use std::time::Duration;
use std::time::Instant;

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;

use lane::Lane;
use support::pager::Home;
use support::scripted_relay::Relay;
use support::tmux::Tmux;

const PANES: usize = 12;
/// Wakes of a run in CI.
const WAKES: usize = 60;
const TICK: Duration = Duration::from_millis(50);

/// What all panes share.
struct Stage {
    relay: Relay,
    tmux: Tmux,
    home: Home,
}

impl Stage {
    /// What was told of a part, for a failure.
    fn told(&self, part: &str) -> String {
        let log = self.home.log();
        let name = format!(" {part} ");
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(&name)).collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

/// A number a person may set.
#[expect(
    clippy::disallowed_methods,
    reason = "a test run is steered by its environment, not by settings of the relay"
)]
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().ok().expect("a number"))
}

#[test]
fn pager_072_case_t26_soak_no_stray_key_no_double_submit_every_wake_consumed() {
    let wakes = number("PAGER_SOAK").unwrap_or(WAKES);
    let seed: u64 = number("SEED").unwrap_or_else(rand::random);
    println!("replay: PAGER_SOAK={wakes} SEED={seed} cargo test --test soak");
    let mut random = StdRng::seed_from_u64(seed);
    let names: Vec<String> = (0..PANES).map(|lane| format!("part-{lane}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stage = Stage {
        relay: Relay::start(&names),
        tmux: Tmux::new(),
        home: Home::new(),
    };
    let mut lanes: Vec<Lane> = names
        .iter()
        .enumerate()
        .map(|(number, name)| Lane::new(number, name, &stage, random.random()))
        .collect();
    let _pager = stage.home.pager(&stage.tmux, &stage.relay, &[]);
    let (begun, mut left) = (Instant::now(), wakes);
    let mut away_at = begun + Duration::from_secs(20);
    loop {
        for lane in &mut lanes {
            left -= lane.step(&stage, left > 0);
        }
        if left == 0 && lanes.iter().all(Lane::is_idle) {
            break;
        }
        if Instant::now() > away_at {
            stage.relay.go_down();
            std::thread::sleep(Duration::from_millis(random.random_range(200..2_500)));
            stage.relay.come_back();
            away_at = Instant::now() + Duration::from_secs(random.random_range(15..40));
        }
        std::thread::sleep(TICK);
    }
    let took = begun.elapsed().as_secs();
    let submits: usize = lanes.iter().map(|lane| audit::check(lane, &stage)).sum();
    let consumed = stage.relay.script().consumed.len();
    assert_eq!(consumed, wakes);
    println!(
        "{wakes} wakes over {PANES} panes in {took} s: {submits} submits, none twice, 0 stray keys, {consumed} consumed"
    );
}
