//! The relay: whether it answers, is well, is of our version, and knows us.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::around::Around;
use super::finding::Finding;
use super::finding::quoted;
use crate::api::Health;
use crate::config;

/// What is known of it.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Its address.
    pub base: String,
    /// Whether that is this machine.
    pub here: bool,
    /// What it says of its health.
    pub health: Option<Health>,
    /// The admin token's file, and who may read it.
    pub admin: (PathBuf, Option<u32>),
    /// Whether it refused the admin token.
    pub refused: Option<String>,
    /// The command that ends it and starts it again.
    pub restart: String,
}

/// Gathers.
#[must_use]
pub fn gather(around: &Around) -> Facts {
    let admin = config::admin_token_file(&around.db);
    let mode = std::fs::metadata(&admin)
        .ok()
        .map(|meta| meta.permissions().mode() & 0o777);
    Facts {
        base: around.base.clone(),
        here: around.here,
        health: around.health.clone(),
        admin: (admin, mode),
        refused: match &around.status {
            Err(failure) if failure.code == "token_unknown" => Some(failure.message.clone()),
            _ => None,
        },
        restart: around.restart(),
    }
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    match &facts.health {
        None => {
            let down = Finding::error("relay.down", &facts.base, "does not answer");
            found.push(if facts.here {
                down.fix("relayroom up")
            } else {
                down
            });
        }
        Some(health) if !health.ok => {
            let cause = health.cause.as_deref().unwrap_or("it does not say why");
            let text = format!("cannot write: {cause}");
            found.push(Finding::error("relay.health", &facts.base, text).fix(&facts.restart));
        }
        Some(health) => {
            let theirs = health.version.as_deref().unwrap_or_default();
            if theirs != env!("CARGO_PKG_VERSION") {
                let text = format!(
                    "is relayroom {theirs}, this is {}",
                    env!("CARGO_PKG_VERSION")
                );
                let finding = Finding::warning("relay.version", &facts.base, text);
                found.push(finding.fix(&facts.restart));
            }
        }
    }
    found.extend(admin(facts));
    found
}

fn admin(facts: &Facts) -> Option<Finding> {
    let (file, mode) = &facts.admin;
    let shown = file.display().to_string();
    if let Some(mode) = mode.filter(|mode| mode & 0o077 != 0) {
        let text = format!("is readable by others (mode {mode:o})");
        let fix = format!("chmod 600 {}", quoted(&shown));
        return Some(Finding::error("admin.token", shown, text).fix(fix));
    }
    // Without a relay nothing is wrong: the next start makes what is missing.
    facts.health.as_ref()?;
    let text = match mode {
        None => "is missing".to_owned(),
        Some(_) => facts.refused.clone()?,
    };
    let finding = Finding::error("admin.token", shown, text);
    Some(finding.fix(&facts.restart)).filter(|_| facts.here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn well() -> Facts {
        Facts {
            base: "http://127.0.0.1:1".into(),
            here: true,
            health: Some(Health {
                ok: true,
                version: Some(env!("CARGO_PKG_VERSION").into()),
                cause: None,
            }),
            admin: ("/data/relayroom.db.admin".into(), Some(0o600)),
            refused: None,
            restart: "kill 7 && sleep 2 && relayroom up".into(),
        }
    }

    fn codes(facts: &Facts) -> Vec<(&'static str, String)> {
        judge(facts)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    #[test]
    fn a_relay_that_is_well_gives_no_finding() {
        assert_eq!(codes(&well()), []);
    }

    #[test]
    fn what_is_wrong_with_a_relay_has_its_code_and_cure() {
        let up = || "relayroom up".to_owned();
        let down = Facts {
            health: None,
            admin: ("/x".into(), None),
            ..well()
        };
        assert_eq!(codes(&down), [("relay.down", up())]);
        let elsewhere = Facts {
            here: false,
            ..down
        };
        assert_eq!(codes(&elsewhere), [("relay.down", String::new())]);
        let full = Health {
            ok: false,
            version: None,
            cause: Some("the disk of the database is full".into()),
        };
        let unwell = Facts {
            health: Some(full),
            ..well()
        };
        assert_eq!(codes(&unwell), [("relay.health", well().restart)]);
        let mut old = well();
        if let Some(health) = &mut old.health {
            health.version = Some("0.0.9".into());
        }
        assert_eq!(codes(&old), [("relay.version", well().restart)]);
    }

    #[test]
    fn an_admin_token_others_can_read_or_nobody_knows_is_told() {
        let open = Facts {
            admin: ("/my data/db.admin".into(), Some(0o640)),
            ..well()
        };
        let fix = "chmod 600 '/my data/db.admin'".to_owned();
        assert_eq!(codes(&open), [("admin.token", fix)]);
        for broken in [
            Facts {
                admin: ("/x".into(), None),
                ..well()
            },
            Facts {
                refused: Some("unknown".into()),
                ..well()
            },
        ] {
            assert_eq!(codes(&broken), [("admin.token", well().restart)]);
        }
    }
}
