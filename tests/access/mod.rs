//! The doors of the relay (access.md).

mod door;
mod health;
mod holders;
mod metrics;
mod pager;
mod playbook;
mod program;
