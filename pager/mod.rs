//! The pager: one short line, into the right pane, at the right moment, or not at all.

pub mod deliver;
pub mod facts;
pub mod journal;
pub mod line;
pub mod lock;
pub mod proc;
pub mod read;
pub mod rules;
pub mod screen;
pub mod target;
pub mod tmux;
