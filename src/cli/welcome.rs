//! `relayroom` without a command, outside a joined worktree: where to begin, in at most 24 lines.

use super::failure::Failure;
use super::screen::Screen;

const WELCOME: &str = "\
relayroom: mail between coding agents in tmux panes

begin
  relayroom up                    start relay and pager
  relayroom join web              in a worktree: its agent becomes the part web
  relayroom demo                  watch two scripted agents first

every day
  relayroom status                what needs you
  relayroom inbox                 mail for you
  relayroom send web,api \"Freeze\" -m \"No merges today\"
  relayroom show 3f9a2c           a thread, by the end of its id
  relayroom reply 3f9a2c -m \"Go ahead\"
  relayroom roster                what the parts are doing

relayroom --help lists every command; relayroom COMMAND --help explains one";

/// Prints it.
///
/// # Errors
/// A write that fails.
pub fn print(screen: &Screen) -> Result<(), Failure> {
    screen.line(WELCOME)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_fits_a_small_terminal() {
        assert!(super::WELCOME.lines().count() <= 24);
        assert!(super::WELCOME.lines().all(|line| line.len() <= 80));
    }
}
