//! What holds for every screen: doubt is never ready, and nothing panics.

use proptest::prelude::*;

use super::Kind;
use super::fixture;
use super::fixture::reads;
use super::fixture::still;
use crate::pager::facts::Facts;
use crate::pager::facts::Turn;
use crate::pager::rules::Rules;
use crate::pager::screen::Cell;
use crate::pager::screen::Screen;
use crate::pager::screen::Style;

fn ready_screens() -> Vec<String> {
    let expected = fixture::expected();
    let ready = |(name, reads): (String, String)| (reads == "ready").then_some(name);
    expected.screens.into_iter().filter_map(ready).collect()
}

/// A ready screen with one more cell in normal style in its composer.
fn with_cell(name: &str, column: u16, ch: char) -> Facts {
    let mut facts = fixture::facts(name);
    let pane = facts.pane.as_ref().unwrap();
    let screen = Screen::parse(facts.capture.as_ref().unwrap(), pane.width, pane.height).unwrap();
    let (home, row) = (pane.cursor_x, usize::from(pane.cursor_y));
    let x = usize::from(home + column % (pane.width - home));
    let blank = Cell {
        ch: ' ',
        style: Style::default(),
    };
    let mut lines = Vec::new();
    for (y, written) in screen.rows().iter().enumerate() {
        let mut cells = written.cells().to_vec();
        if y == row {
            cells.resize(cells.len().max(x + 1), blank);
            cells[x] = Cell { ch, ..blank };
        }
        lines.push(fixture::render(&cells));
    }
    facts.capture = Some(lines.join("\n").into_bytes());
    facts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn pager_039_one_normal_cell_makes_it_a_draft(name in prop::sample::select(ready_screens()), column in any::<u16>(), ch in "[!-~äñ日]") {
        let facts = with_cell(&name, column, ch.chars().next().unwrap());
        let verdict = still(&Rules::shipped(), &facts, &fixture::turn("idle"));
        prop_assert_ne!(verdict.kind, Kind::Ready, "{} {}", name, verdict.evidence);
    }

    #[test]
    fn pager_052_missing_capture_is_never_ready(name in prop::sample::select(ready_screens())) {
        let mut facts = fixture::facts(&name);
        facts.capture = None;
        prop_assert_eq!(reads(&still(&Rules::shipped(), &facts, &Turn::default())), "unknown/no_capture");
    }

    #[test]
    fn random_bytes_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        escapes in proptest::collection::vec("\x1b(\\[[0-9;:]{0,12}[a-zA-Z]?|\\]8;;x|[()]|.)", 0..20),
        width in 0_u16..100,
        height in 0_u16..50,
        name in prop::sample::select(vec!["claude/2.1.332-empty", "codex/0.171.0-empty", "gemini/0.61.0-empty"]),
    ) {
        let mut capture = bytes;
        for escape in &escapes {
            let at = capture.len() / 2;
            capture.splice(at..at, escape.bytes());
        }
        let mut facts = fixture::facts(name);
        let pane = facts.pane.as_mut().unwrap();
        (pane.width, pane.height) = (width, height);
        facts.capture = Some(capture);
        prop_assert_ne!(still(&Rules::shipped(), &facts, &Turn::default()).kind, Kind::Ready);
    }

    #[test]
    fn a_capture_cut_short_never_panics(name in prop::sample::select(ready_screens()), cut in any::<proptest::sample::Index>()) {
        let mut facts = fixture::facts(&name);
        let capture = facts.capture.as_mut().unwrap();
        capture.truncate(cut.index(capture.len()));
        let _ = still(&Rules::shipped(), &facts, &Turn::default());
    }
}
