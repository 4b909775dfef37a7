//! The doors of the relay (access.md).

mod door;
mod health;
mod holders;
mod pager;
mod program;
