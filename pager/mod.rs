//! The pager: one short line, into the right pane, at the right moment, or not at all.

pub mod facts;
pub mod line;
pub mod read;
pub mod rules;
pub mod screen;
