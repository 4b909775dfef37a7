//! What a project has learned, and whom it believes (knowledge.md).
//!
//! What this folder promises:
//!
//! - **Only what was vouched for reaches an agent**: an entry is born a candidate, and [`recall`](recall::recall) returns trusted
//!   entries only. An owner's confirmation makes one trusted; no agent can.
//! - **Secrets are cut out first**, in the transaction that writes ([`crate::redact`]).
//! - **Each change of state is one transaction with one audit row**: who, when, from, to, why; never the text.

mod contradict;
mod entry;
mod lesson;
mod limit;
pub mod playbook;
mod recall;
mod write;

pub use contradict::Contradiction;
pub use contradict::contradict;
pub use entry::Entry;
pub use entry::Kind;
pub use entry::NewEntry;
pub use entry::confirm;
pub use entry::list;
pub use lesson::LessonOutcome;
pub use lesson::lesson;
pub use recall::RecallArgs;
pub use recall::Recalled;
pub use recall::recall;
pub use recall::recall_used;
pub use write::Learned;
pub use write::add;
pub use write::learn;
