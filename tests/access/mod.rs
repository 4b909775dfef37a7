//! The doors of the relay (access.md).

mod door;
mod health;
mod pager;
mod program;
