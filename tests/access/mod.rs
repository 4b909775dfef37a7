//! The doors of the relay (access.md).

mod door;
