//! What the log says of a request (access.md 7): never a query, a body, a cookie, a credential or a value of the path.

use std::sync::OnceLock;

use crate::store::new_id;

/// One request's notes, filled in while it is served; in its extensions.
#[derive(Debug)]
pub struct Trace {
    /// The request's id, ours: an incoming one is ignored.
    pub id: String,
    route: OnceLock<String>,
    actor: OnceLock<String>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self {
            id: new_id(),
            route: OnceLock::new(),
            actor: OnceLock::new(),
        }
    }

    /// Notes the pattern of the route.
    pub fn set_route(&self, pattern: &str) {
        let _ = self.route.set(pattern.to_owned());
    }

    /// Notes who was let in: `part 3`, `user 1`.
    pub fn set_actor(&self, actor: String) {
        let _ = self.actor.set(actor);
    }

    /// The pattern; `none` if no route matched.
    #[must_use]
    pub fn route(&self) -> &str {
        self.route.get().map_or("none", String::as_str)
    }

    /// Who was let in; empty if nobody was.
    #[must_use]
    pub fn actor(&self) -> &str {
        self.actor.get().map_or("", String::as_str)
    }
}
