//! Settings: the person's file, the environment, and what is written in the worktrees.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use super::around::Around;
use super::around::Joined;
use super::finding::Finding;
use super::finding::quoted;
use crate::cli::context::Context;
use crate::config;

/// What is known of them.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Variables that mean nothing.
    pub variables: Vec<String>,
    /// Files with keys in them that mean nothing.
    pub keys: Vec<(PathBuf, String)>,
    /// The person's file.
    pub person: PathBuf,
    /// Relays elsewhere that may be reported to.
    pub relays: Vec<String>,
    /// Relays that parts here are joined to.
    pub used: Vec<String>,
    /// Worktrees.
    pub worktrees: Vec<Worktree>,
}

/// A joined worktree's own file.
#[derive(Debug, Clone, Default)]
pub struct Worktree {
    /// The worktree; `None`: it is not there.
    pub root: PathBuf,
    /// Whether the worktree is there.
    pub there: bool,
    /// The part.
    pub part: String,
    /// The file.
    pub config: PathBuf,
    /// What is wrong with it.
    pub broken: Option<String>,
    /// Its mode and its folder's.
    pub modes: Option<(u32, u32)>,
}

/// Gathers.
#[must_use]
pub fn gather(context: &Context, around: &Around) -> Facts {
    let person = context.env.config_dir().join("config.toml");
    let mut files = vec![person.clone()];
    files.extend(around.joined.iter().map(Joined::config));
    let keys = files.iter().flat_map(|path| {
        let unknown = config::read_file(path).map_or_else(|_| Vec::new(), |(_, unknown)| unknown);
        unknown.into_iter().map(|key| (path.clone(), key))
    });
    let variables = context.env.unknown_variables();
    let used = around
        .joined
        .iter()
        .filter_map(|one| one.file.as_ref().ok());
    Facts {
        variables: variables.into_iter().map(str::to_owned).collect(),
        keys: keys.collect(),
        relays: context.settings.person.relays.clone(),
        used: used.filter_map(|file| file.server.clone()).collect(),
        worktrees: around.joined.iter().map(worktree).collect(),
        person,
    }
}

fn worktree(joined: &Joined) -> Worktree {
    let config = joined.config();
    let mode = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        Some(meta.permissions().mode() & 0o777)
    };
    let modes = config.parent().and_then(mode);
    Worktree {
        root: joined.root.clone(),
        there: joined.root.is_dir(),
        part: joined.part.clone(),
        broken: joined.file.as_ref().err().cloned(),
        modes: mode(&config).zip(modes),
        config,
    }
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for worktree in &facts.worktrees {
        found.extend(missing(worktree));
        found.extend(modes(worktree));
    }
    for name in &facts.variables {
        let finding = Finding::warning("config.unknown", name, "no variable of ours is called so");
        found.push(finding.fix(format!("unset {name}")));
    }
    for (file, key) in &facts.keys {
        let text = format!("the key {key} means nothing");
        let file = file.to_string_lossy();
        let fix = format!("sed -i '/^ *{key} *=/d' {}", quoted(&file));
        found.push(Finding::warning("config.unknown", &file, text).fix(fix));
    }
    for relay in facts
        .relays
        .iter()
        .filter(|relay| !facts.used.contains(relay))
    {
        let text = "may be reported to, and no part here is joined to it";
        let file = facts.person.to_string_lossy();
        let fix = format!("sed -i 's|\"{relay}\",* *||' {}", quoted(&file));
        found.push(Finding::warning("relays.stray", relay, text).fix(fix));
    }
    found
}

fn missing(worktree: &Worktree) -> Option<Finding> {
    let Worktree { root, part, .. } = worktree;
    let shown = root.to_string_lossy();
    if !worktree.there {
        let text = format!("its worktree {shown} is gone");
        let finding = Finding::error("config.missing", part, text);
        return Some(finding.fix(format!("relayroom leave {part}")));
    }
    let text = match (&worktree.broken, worktree.modes) {
        (Some(why), _) => why.clone(),
        (None, None) => format!("{} is not there", worktree.config.display()),
        _ => return None,
    };
    let fix = rejoin(root, part);
    Some(Finding::error("config.missing", part, text).fix(fix))
}

/// The command that repairs a worktree.
#[must_use]
pub fn rejoin(root: &Path, part: &str) -> String {
    format!(
        "cd {} && relayroom join {part}",
        quoted(&root.to_string_lossy())
    )
}

fn modes(worktree: &Worktree) -> Option<Finding> {
    let (file, folder) = worktree.modes?;
    let path = worktree.config.as_path();
    let (path, mode, right) = if file & 0o077 != 0 {
        (path, file, "600")
    } else if folder & 0o077 != 0 {
        (path.parent()?, folder, "700")
    } else {
        return None;
    };
    let path = path.to_string_lossy();
    let text = format!("holds tokens and is open to others (mode {mode:o})");
    let fix = format!("chmod {right} {}", quoted(&path));
    Some(Finding::error("config.mode", path, text).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worktree() -> Worktree {
        Worktree {
            root: "/src/shop-web".into(),
            there: true,
            part: "web".into(),
            config: "/src/shop-web/.relayroom/config.toml".into(),
            broken: None,
            modes: Some((0o600, 0o700)),
        }
    }

    fn found(worktree: Worktree) -> Vec<(&'static str, String)> {
        let facts = Facts {
            worktrees: vec![worktree],
            ..Facts::default()
        };
        judge(&facts)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    #[test]
    fn cli_037_a_file_with_tokens_is_for_its_owner_only() {
        assert_eq!(found(worktree()), []);
        let file = Worktree {
            modes: Some((0o644, 0o755)),
            ..worktree()
        };
        let fix = "chmod 600 /src/shop-web/.relayroom/config.toml".to_owned();
        assert_eq!(found(file), [("config.mode", fix)]);
        let folder = Worktree {
            modes: Some((0o600, 0o755)),
            ..worktree()
        };
        let fix = "chmod 700 /src/shop-web/.relayroom".to_owned();
        assert_eq!(found(folder), [("config.mode", fix)]);
    }

    #[test]
    fn a_worktree_without_its_file_is_joined_again_and_a_lost_one_left() {
        let join = "cd /src/shop-web && relayroom join web".to_owned();
        let without = Worktree {
            modes: None,
            ..worktree()
        };
        assert_eq!(found(without), [("config.missing", join.clone())]);
        let broken = Worktree {
            broken: Some("line 3: no value".into()),
            ..worktree()
        };
        assert_eq!(found(broken), [("config.missing", join)]);
        let gone = Worktree {
            there: false,
            modes: None,
            ..worktree()
        };
        let leave = "relayroom leave web".to_owned();
        assert_eq!(found(gone), [("config.missing", leave)]);
    }
}
