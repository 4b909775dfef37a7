//! The line of a wake: ours, fixed, ASCII, without digits. Nothing a peer wrote is ever in it (DESIGN 2.5; pager.md 5).

/// What is typed for the wake of that tag.
#[must_use]
pub fn of(tag: &str) -> String {
    format!("relayroom: you have mail, call the inbox tool (tag {tag})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::line;

    #[test]
    fn the_pager_accepts_the_line_for_every_tag() {
        for tag in ["kqmwvz", "bbbbbb", "zzzzzz"] {
            assert_eq!(line::check(&of(tag), tag), Ok(()));
        }
    }
}
