//! The rules behind the tools (tools.md 12), called in-process with a time of the test's choosing.

mod auto_close;
mod brakes;
mod close;
mod idempotency;
mod inbox;
mod invariants;
mod marks;
mod person;
mod recipients;
mod reply;
mod search;
mod send;
mod show;
mod signals;
mod states;
mod texts;
mod threads;
