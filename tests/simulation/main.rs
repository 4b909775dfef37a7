//! The relay's rules under a seeded scheduler with a virtual clock (wake.md 11): random days of agents, people, pagers and faults, and
//! after every step all that was promised.
//!
//! `SIM_SEED=n SIM_SEEDS=1 cargo test --test simulation` replays one day. `SIM_SEEDS` widens the search, `SIM_STEPS` lengthens the days.
//! `tests/mutants` shows that it can fail.

#![expect(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected is to fail there"
)]

mod agent;
mod issued;
mod pager;
mod random;
mod relay;
mod settle;
mod shrink;
mod standing;
mod step;
mod swept;
mod tally;
mod typed;
mod watch;
mod world;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use relay::Template;
use shrink::Failure;
use step::Day;
use tally::Tally;

/// Days lived in a run: where every change is judged, and at home. Fewer do not meet everything worth meeting.
const SEEDS_IN_CI: u64 = 2_000;
const SEEDS: u64 = 300;

/// Steps of a day, about.
const STEPS: u64 = 40;

/// A setting of this run.
#[expect(
    clippy::disallowed_methods,
    reason = "a test run is steered by its environment, not by settings of the relay"
)]
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A number a person may set.
fn number(name: &str, otherwise: u64) -> u64 {
    set(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

#[test]
fn wake_sim_whatever_happens_the_promises_hold() {
    let first = number("SIM_SEED", 1);
    let seeds = number(
        "SIM_SEEDS",
        if set("CI").is_some() {
            SEEDS_IN_CI
        } else {
            SEEDS
        },
    );
    let end = first + seeds;
    let steps = number("SIM_STEPS", STEPS);
    let template = Template::new(step::PARTS, step::CAP);
    let next = AtomicU64::new(first);
    let failed: Mutex<Option<(u64, Failure)>> = Mutex::new(None);
    let all = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let day = Day::of(seed, steps as usize);
                    match shrink::live(&template, &day) {
                        Ok(tally) => all.lock().unwrap().merge(tally),
                        Err(failure) => {
                            next.store(end, Ordering::Relaxed);
                            let mut failed = failed.lock().unwrap();
                            if failed.as_ref().is_none_or(|(other, _)| seed < *other) {
                                *failed = Some((seed, failure));
                            }
                        }
                    }
                }
            });
        }
    });
    if let Some((seed, failure)) = failed.into_inner().unwrap() {
        panic!("{}", story(&template, seed, steps, failure));
    }
    let all = all.into_inner().unwrap();
    println!("{all}");
    if seeds >= SEEDS {
        assert!(
            all.missing().is_empty(),
            "never happened: {:?}",
            all.missing()
        );
    }
}

/// What went wrong, the one command that shows it again, and the shortest history that was found.
fn story(template: &Template, seed: u64, steps: u64, failure: Failure) -> String {
    let day = Day::of(seed, steps as usize);
    let (day, failure) = shrink::shrunk(template, day, failure);
    let mut story = format!(
        "{}\nreplay: SIM_SEED={seed} SIM_SEEDS=1 SIM_STEPS={steps} cargo test --test simulation\n{:?}\nlimits {:?}\n",
        failure.what, day.characters, day.limits
    );
    for step in &day.steps {
        let _ = writeln!(story, "  {step:?}");
    }
    if failure.step >= day.steps.len() {
        story.push_str("  and then the day comes to its end\n");
    }
    story
}
