//! The client side of the usage hook (usage.md 1–5) and of the playbook's file: what runs on the agent's machine.
//!
//! It uses `api` and `config` and nothing of the server.

pub mod playbook;
