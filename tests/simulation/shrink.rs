//! Living a day, and finding a shorter one that fails alike.

use crate::relay::Template;
use crate::settle::settle;
use crate::step::Day;
use crate::tally::Tally;
use crate::world::World;

/// What went wrong, and at which step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub step: usize,
    pub what: String,
}

/// Lives a day.
///
/// # Errors
/// The first promise that was broken.
pub fn live(template: &Template, day: &Day) -> Result<Tally, Failure> {
    let at = |step: usize| move |what: String| Failure { step, what };
    let mut world = World::new(template, day).map_err(at(0))?;
    for (number, step) in day.steps.iter().enumerate() {
        world.take(*step).map_err(at(number))?;
    }
    settle(&mut world).map_err(at(day.steps.len()))?;
    let mut tally = Tally::default();
    tally.add(&world.relay).map_err(at(day.steps.len()))?;
    Ok(tally)
}

/// Without the names and numbers in it.
fn kind(failure: &Failure) -> String {
    let what = failure.what.split(':').next().unwrap_or_default();
    what.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Drops what can be dropped: half of the steps, then a quarter, down to single ones, as long as the day still fails alike.
pub fn shrunk(template: &Template, mut day: Day, mut failure: Failure) -> (Day, Failure) {
    day.steps.truncate(failure.step + 1);
    let mut size = day.steps.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut shorter = false;
        while start < day.steps.len() {
            let mut less = day.clone();
            less.steps.drain(start..(start + size).min(day.steps.len()));
            match live(template, &less) {
                Err(other) if kind(&other) == kind(&failure) => {
                    less.steps.truncate(other.step + 1);
                    (day, failure) = (less, other);
                    shorter = true;
                }
                _ => start += size,
            }
        }
        if size == 1 && !shorter {
            return (day, failure);
        }
        size = (size / 2).max(1);
    }
}
