//! The HTTP edge: the door every request passes, and the routes for pagers, hooks and the person's commands (access.md 6–8).
//!
//! What this folder promises:
//!
//! - **Every route passes the same door**: `Host`, `Origin`, sizes, times, rates, security headers, one log line ([`door`]).
//! - **A refusal says what to do** ([`failure`]), costs no memory and leaves no row.
//! - **Answering early, ending soon**: the port is bound before the file is opened; after a stop signal everything ends within 5 s.
//! - Handlers read the request, call a rule and render its answer. They hold no rule.

pub mod admin;
pub mod admin_token;
pub mod app;
mod arriving;
pub mod body;
pub mod door;
pub mod extract;
pub mod failure;
pub mod health;
mod hook;
pub mod host;
mod machine;
mod metrics;
mod pager;
pub mod peer;
mod places;
pub mod rates;
pub mod refusals;
mod router;
pub mod serve;
pub mod settings;
pub mod stop;
pub mod trace;
mod wire;

pub use app::App;
pub use door::Door;
pub use failure::Failure;
pub use serve::bind;
pub use serve::serve;
pub use settings::Settings;
