//! The command line (pager.md's head and 1).

use std::path::PathBuf;

use clap::Parser;

/// Types one short line into an idle agent's tmux pane when mail waits for it.
#[derive(Debug, Clone, Parser)]
#[command(name = "relayroom-pager", version)]
pub struct Args {
    /// Serve parts of this connect code only
    #[arg(long, value_name = "CONNECT_CODE")]
    pub code: Option<String>,
    /// Serve this part only, in the pane named by --target
    #[arg(long, requires = "target", requires = "code")]
    pub part: Option<String>,
    /// The part's pane: %id, session, session:window or session:window.pane
    #[arg(long, value_name = "TMUX_TARGET", requires = "part")]
    pub target: Option<String>,
    /// The relay
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// The tmux server's socket
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// File with the machine's token
    #[arg(long, value_name = "F")]
    pub token_file: Option<PathBuf>,
    /// Ask once, try each wake once, and exit
    #[arg(long)]
    pub once: bool,
    /// Say what would be done in each pane, touch nothing, and exit
    #[arg(long, conflicts_with = "once")]
    pub dry_run: bool,
    /// Type a word into each idle pane and erase it again, without a turn, and say how long that took
    #[arg(long, conflicts_with_all = ["once", "dry_run"])]
    pub canary: bool,
    /// With --canary: one JSON object per pane
    #[arg(long, requires = "canary")]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(line.split(' '))
    }

    #[test]
    fn part_and_target_come_together_and_need_a_code() {
        assert!(parse("p").is_ok());
        assert!(parse("p --code C").is_ok());
        assert!(parse("p --code C --part web --target web:0.1").is_ok());
        for bad in [
            "p --part web",
            "p --code C --part web",
            "p --code C --target web",
            "p --part web --target web",
            "p --once --dry-run",
            "p --canary --once",
            "p --canary --dry-run",
            "p --json",
        ] {
            assert_eq!(parse(bad).unwrap_err().exit_code(), 2, "{bad}");
        }
    }
}
