//! `relayroom doctor`: what is wrong here, and the command that mends each of it (cli.md 8).
//!
//! What this folder promises:
//!
//! - **It reads and asks, nothing else**, takes 5 s at most, and works with the relay down and outside a worktree. (`--wake` types, by
//!   the pager's canary.)
//! - **Finding is apart from judging.** Per group `gather` brings facts home and `judge` decides on them alone.
//! - **A fix works as it is printed**, in a shell, in any folder.

mod agents;
mod around;
mod canary;
mod configured;
mod file;
mod finding;
mod hooks;
mod identity;
mod knowledge;
mod members;
mod pager;
mod panes;
mod prices;
mod relay;
mod settings;

use serde_json::json;

use self::around::Around;
use self::finding::Finding;
use self::finding::Level;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;

/// Arguments of `doctor`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {
    /// Prove the way into each joined pane: a word is typed and erased again, no turn begins
    #[arg(long)]
    wake: bool,
    /// Print every setting with its source instead
    #[arg(long, conflicts_with_all = ["wake", "strict"])]
    settings: bool,
    /// End with 10 also for a warning
    #[arg(long)]
    strict: bool,
}

/// Prints what it finds.
///
/// # Errors
/// Exit 10 for an error, with `--strict` for a warning.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    if arguments.settings {
        return settings::print(context);
    }
    let around = Around::look(context).await;
    let (panes, file, candidates, prices) = tokio::join!(
        panes::gather(context, &around),
        file::gather(&around),
        knowledge::gather(&around),
        prices::gather(&around),
    );
    let mut found = relay::judge(&relay::gather(&around));
    found.extend(file::judge(&file, around.now));
    found.extend(configured::judge(&configured::gather(context, &around)));
    let pager = pager::gather(context, &around, &panes);
    let members = members::gather(context, &around, &panes).await;
    found.extend(identity::judge_leaks(
        &identity::leaks(&members),
        &pager.machine,
    ));
    found.extend(identity::judge(&members));
    found.extend(agents::judge(&members, around.now));
    found.extend(hooks::judge(&members, around.now, hooks::runs));
    found.extend(panes::judge(&panes));
    found.extend(pager::judge(&pager));
    found.extend(knowledge::judge(&candidates, around.now));
    found.extend(prices::judge(&prices));
    let lines = if arguments.wake {
        canary::run(context, &around, &panes).await?
    } else {
        Vec::new()
    };
    found.extend(lines.iter().map(canary::judge));
    let flags = flags(context);
    let found = found.into_iter().map(|finding| finding.within(&flags));
    let found = finding::ranked(found.collect());
    if context.screen.json {
        let mut answer = json!({"findings": finding::views(&found)});
        if arguments.wake {
            answer["panes"] = json!(lines);
        }
        context.screen.object(answer)?;
    } else {
        finding::print(context, &found)?;
    }
    verdict(&found, arguments.strict)
}

/// The flags that said which relay this is about.
fn flags(context: &Context) -> String {
    let globals = &context.globals;
    let db = globals
        .db
        .as_ref()
        .map(|db| db.to_string_lossy().into_owned());
    let given = [("--server", &globals.server), ("--db", &db)];
    let given = given.iter().filter_map(|(flag, value)| {
        let value = finding::quoted(value.as_deref()?);
        Some(format!("{flag} {value} "))
    });
    given.collect()
}

/// How it ends.
fn verdict(found: &[Finding], strict: bool) -> Result<(), Failure> {
    let worst = found.iter().map(|finding| finding.level).min();
    let bad = match worst {
        Some(Level::Error) => true,
        Some(Level::Warning) => strict,
        _ => false,
    };
    if bad {
        return Err(Failure::new(Exit::Unwell, "unwell", "something is wrong"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_ends_with_10_and_a_warning_only_if_one_is_strict() {
        let warning = [Finding::warning("w", "", "")];
        let error = [Finding::note("n", "", ""), Finding::error("e", "", "")];
        assert!(verdict(&[], true).is_ok());
        assert!(verdict(&warning, false).is_ok());
        assert_eq!(verdict(&warning, true).unwrap_err().exit as u8, 10);
        assert_eq!(verdict(&error, false).unwrap_err().exit as u8, 10);
    }
}
