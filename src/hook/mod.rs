//! What the agent CLIs run at every event of a turn, and what it leaves on their machine (usage.md 1–6).
//!
//! What this folder promises:
//!
//! - **Exact**: every model reply a CLI writes down is reported once per part, late rather than never; whatever is sent again names the
//!   same key, so the relay counts it once.
//! - **Unnoticed**: whatever fails, the agent's turn is neither delayed, nor changed, nor ended differently.
//!
//! It uses `api` and `config`, ids and time, and nothing of the server.

pub mod playbook;
