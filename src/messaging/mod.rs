//! Threads, messages, and what became of them: send, reply, inbox, ack, threads, show, close, search, whoami (tools.md 5–10), for agents
//! and, in the lane `human`, for people.
//!
//! What this folder promises:
//!
//! - **A refusal stores nothing.** Every check comes before the first row; one call is one transaction.
//! - **Reading and acknowledging are apart.** Listing marks nothing read, and what it showed is marked only after the answer left: an
//!   answer that is lost comes again with the same ids.
//! - **Order is `seq`**, never a time: lists and cursors neither skip nor repeat when the clock jumps.
//! - **Texts are data.** Bodies reach nobody but through results; search words are quoted or escaped; the sender's name comes from the
//!   token.
//! - **Answers are bounded** ([`list`], [`show()`]), and say where to go on.

mod ack;
mod author;
mod auto_close;
mod brakes;
mod close;
mod compose;
mod cursor;
mod digest;
mod empty_polls;
mod end;
mod find;
mod idempotency;
mod inbox;
pub mod list;
mod marks;
mod participants;
pub mod person;
#[cfg(test)]
mod plans;
mod post;
mod preview;
mod receipts;
mod recipients;
mod reply;
mod search;
mod send;
mod show;
mod status;
mod threads;
mod waiting_marks;
mod whoami;

pub use ack::Acked;
pub use ack::ack;
pub use author::Author;
pub use auto_close::auto_close;
pub use close::CloseArgs;
pub use close::Closed;
pub use close::LessonArgs;
pub use close::close;
pub use empty_polls::EmptyPolls;
pub use inbox::Inbox;
pub use inbox::InboxArgs;
pub use inbox::InboxItem;
pub use inbox::inbox;
pub use list::List;
pub use list::Note;
pub use marks::mark_shown;
pub use post::RecipientOutcome;
pub use reply::Replied;
pub use reply::ReplyArgs;
pub use reply::reply;
pub use search::SearchArgs;
pub use search::SearchHit;
pub use search::search;
pub use send::SendArgs;
pub use send::Sent;
pub use send::send;
pub use show::ShowArgs;
pub use show::Shown;
pub use show::ShownMessage;
pub use show::show;
pub use status::Status;
pub use threads::ThreadRow;
pub use threads::ThreadsArgs;
pub use threads::threads;
pub use waiting_marks::WaitingMarks;
pub use whoami::Whoami;
pub use whoami::unread;
pub use whoami::whoami;
