//! Everything tested from outside, in one binary: a module per subject, the shared harness in `support`.

mod access;
mod store;
mod support;
