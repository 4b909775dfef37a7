//! The ledger beside what the model server handed out.

use std::time::Duration;
use std::time::Instant;

use serde_json::Value;

use super::desk::Desk;
use crate::support::model_server::Usage;

/// How long the last rows may be on their way.
const LATE: Duration = Duration::from_secs(20);

/// Replies and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    replies: u64,
    usage: Usage,
}

impl Sum {
    /// What is due for turns whose prompt is asked for: every answer of the main conversation that was handed out to its end. Titles and
    /// summaries stand in no transcript.
    pub fn due(desk: &Desk, asked: impl Fn(&str) -> bool) -> Self {
        let heard = desk.model.heard();
        let main = heard
            .iter()
            .filter(|heard| !heard.side && asked(&heard.turn));
        let usages: Vec<Usage> = main
            .filter_map(|heard| match heard.done {
                Some(_) => Some(heard.usage),
                None => desk
                    .agent
                    .writes_broken_off()
                    .then(|| heard.usage.of_start()),
            })
            .collect();
        Self {
            replies: usages.len() as u64,
            usage: usages.into_iter().sum(),
        }
    }

    /// A line of the ledger.
    fn read(line: &Value) -> Self {
        let number = |name: &str| line[name].as_u64().unwrap_or_default();
        Self {
            replies: number("replies"),
            usage: Usage {
                input: number("input_tokens"),
                cache_read: number("cache_read_tokens"),
                cache_write: number("cache_write_tokens"),
                output: number("output_tokens"),
                reasoning: number("reasoning_tokens"),
            },
        }
    }
}

/// Holds the ledger's sum of each part to what is due for it.
///
/// # Panics
/// If it is another one.
pub fn equals(desk: &Desk, scenario: &str, due: &[(&str, Sum)]) {
    let sums = || {
        let page = desk.json(&["usage", "--json", "--by", "part"]);
        let sum = |name: &str| {
            let rows = page["rows"].as_array().into_iter().flatten();
            let row = rows.clone().find(|row| row["part"] == name);
            row.map(Sum::read)
        };
        due.iter().map(|(name, _)| sum(name)).collect::<Vec<_>>()
    };
    let wanted: Vec<Option<Sum>> = due.iter().map(|(_, due)| Some(*due)).collect();
    println!("{} {}, {scenario}", desk.agent.name(), desk.agent.version());
    println!("handed out {wanted:?}");
    let begun = Instant::now();
    while sums() != wanted && begun.elapsed() < LATE {
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("the ledger {:?}", sums());
    assert_eq!(sums(), wanted);
}
