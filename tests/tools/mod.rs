//! The rules behind the tools (tools.md 12), called in-process with a time of the test's choosing.

mod send;
