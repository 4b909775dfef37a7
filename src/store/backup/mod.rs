//! Backups of the file, and how one takes the file's place (cli.md 7; cases.md S07).
//!
//! What this folder promises:
//!
//! - **A backup is whole or is not there.** SQLite copies one snapshot of the file under a temporary name while the relay goes on
//!   ([`make()`]); the copy is checked page by page and gets its name last.
//! - **What a killed run left is removed by the next** ([`names`]), and nothing else is.
//! - **A restore loses nothing.** The file that was there keeps its content under another name, and at every instant one whole file has
//!   the relay's name ([`restore`]).
//! - Only SQLite opens a database. Every other handle here is on a copy nobody uses yet, and outlives SQLite's.

mod make;
pub mod names;
pub mod restore;

pub use super::inspect::look;
pub use super::inspect::whole as check;
pub use make::Backup;
pub use make::Cause;
pub use make::NotMade;
pub use make::make;
