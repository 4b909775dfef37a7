//! What the agents' own logs say after the soak: every byte is accounted for.

use crate::Stage;
use crate::lane::Lane;
use crate::support::scripted_relay::line;

const BEGIN: &str = "\u{1b}[200~";
const END: &str = "\u{1b}[201~";

/// Checks one pane's log; gives how many prompts its agent was sent.
pub fn check(lane: &Lane, stage: &Stage) -> usize {
    let part = &lane.part;
    let told = || format!("{part}:\n{}", stage.told(part));
    let lines: Vec<String> = lane.tags.iter().map(|tag| line(tag)).collect();
    let text = String::from_utf8(lane.agent.bytes()).unwrap();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('\r') {
            rest = after;
            continue;
        }
        let framed = rest
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.split_once(END));
        let Some((pasted, after)) = framed else {
            panic!("stray keys: {rest:?}; {}", told());
        };
        assert!(
            lines.iter().any(|line| line == pasted),
            "no line of ours: {pasted:?}; {}",
            told()
        );
        rest = after;
    }
    for stray in ["joined", "dialog", "empty_enter", "escape"] {
        assert_eq!(lane.agent.notes(stray), 0, "{stray}; {}", told());
    }
    let submits = lane.agent.submits();
    for submit in &submits {
        assert!(lines.contains(submit), "submitted {submit:?}; {}", told());
        let times = submits.iter().filter(|other| *other == submit).count();
        assert_eq!(times, 1, "{submit:?}; {}", told());
    }
    // A wake whose agent comes for its mail by itself may end without a line.
    submits.len()
}
