//! `doctor --wake`: the pager's canary in every joined pane (pager.md 8). It is the pager's business; here it is only asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::around::Around;
use super::finding::Finding;
use super::panes;
use crate::api::canary::CanaryLine;
use crate::api::canary::CanaryOutcome;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::text;

/// How long one server's panes may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Tries every joined pane, server by server.
///
/// # Errors
/// A pager that cannot be run.
pub async fn run(
    context: &Context,
    around: &Around,
    panes: &panes::Facts,
) -> Result<Vec<CanaryLine>, Failure> {
    let sockets: BTreeSet<&PathBuf> = panes
        .panes
        .values()
        .flatten()
        .map(|pane| &pane.socket)
        .collect();
    let _trying = Progress::start(&context.screen, "trying the panes");
    let mut lines = Vec::new();
    for socket in sockets {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command
            .args([
                "pager",
                "--canary",
                "--json",
                "--server",
                &around.base,
                "--socket",
            ])
            .arg(socket)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(LIMIT, command.output()).await;
        let output = output.map_err(|_| Failure::fault("the pager's canary did not end"))??;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.extend(
            said.lines()
                .filter_map(|line| serde_json::from_str::<CanaryLine>(line).ok()),
        );
    }
    Ok(lines)
}

/// What a pane's canary means.
#[must_use]
pub fn judge(line: &CanaryLine) -> Finding {
    let reason = line.reason.as_deref().unwrap_or_default();
    let text = format!("{reason} {}", line.text);
    let text = text.trim();
    match line.outcome {
        CanaryOutcome::Passed => Finding::note("wake.canary", &line.part, told(line)),
        CanaryOutcome::Refused => {
            let text = format!("its pane was not tried: {text}");
            Finding::warning("wake.canary", &line.part, text)
        }
        CanaryOutcome::Failed => {
            let left = match line.left {
                0 => String::new(),
                left => format!("; {left} letters may stand in its composer"),
            };
            let text = format!("its pane did not do as it should: {text}{left}");
            Finding::error("wake.canary", &line.part, text)
        }
    }
}

/// `%3 took a line in 0.2 s and gave it back in 1.9 s, 0 submits; hook idle, 3 min ago; claude 2.1.332 (rules 1), tmux 3.3`
fn told(line: &CanaryLine) -> String {
    let span = |ms: Option<u64>| text::span(ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0));
    let hook = match line.hook_age {
        Some(age) => {
            let ago = text::span(i64::try_from(age * 1_000).unwrap_or(i64::MAX));
            let here = match line.hook_here {
                Some(true) => ", from this pane",
                Some(false) => ", from another pane",
                None => "",
            };
            format!("hook {}, {ago} ago{here}", line.hook)
        }
        None => format!("hook {}", line.hook),
    };
    let rules = line
        .rules
        .map_or_else(String::new, |rules| format!(" (rules {rules})"));
    format!(
        "{} took a line in {} and gave it back in {}, {} submits; {hook}; {} {}{rules}, tmux {}",
        line.pane.as_deref().unwrap_or("-"),
        span(line.render_ms),
        span(line.erase_ms),
        line.submits,
        line.cli.as_deref().unwrap_or("an agent"),
        line.cli_version.as_deref().unwrap_or("of unknown version"),
        line.tmux,
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn line(outcome: CanaryOutcome) -> CanaryLine {
        CanaryLine {
            pane: Some("%3".into()),
            part: "web".into(),
            outcome,
            reason: Some("draft/text".into()),
            text: "a draft".into(),
            render_ms: Some(210),
            erase_ms: Some(1_900),
            submits: 0,
            left: 4,
            hook: "idle".into(),
            hook_age: Some(180),
            hook_here: Some(true),
            tmux: "3.3".into(),
            cli: Some("claude".into()),
            cli_version: Some("2.1.332".into()),
            rules: Some(1),
        }
    }

    #[test]
    fn cli_038_a_pane_that_passed_is_told_with_what_was_measured() {
        let told = judge(&line(CanaryOutcome::Passed));
        assert_eq!(told.level, Level::Note);
        assert_eq!(
            told.text,
            "%3 took a line in 0.2 s and gave it back in 1.9 s, 0 submits; hook idle, 3 min ago, from this pane; \
             claude 2.1.332 (rules 1), tmux 3.3"
        );
        let refused = judge(&line(CanaryOutcome::Refused));
        assert_eq!(
            (refused.level, refused.code),
            (Level::Warning, "wake.canary")
        );
        let failed = judge(&line(CanaryOutcome::Failed));
        assert_eq!(failed.level, Level::Error);
        assert!(failed.text.contains("4 letters"), "{failed:?}");
    }
}
