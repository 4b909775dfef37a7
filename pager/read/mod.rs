//! Reading a pane: from the facts of one look to a [`Verdict`], without I/O and without a clock (pager.md 4).
//!
//! The promise is one-sided: whatever cannot be read, or could be read two ways, is never [`Kind::Ready`].

mod agent;
mod sample;
mod verdict;

pub use agent::Agent;
pub use sample::Sample;
pub use verdict::Kind;
pub use verdict::Squeezed;
pub use verdict::Standing;
pub use verdict::Verdict;
