//! The pager: one short line, into the right pane, at the right moment, or not at all.
