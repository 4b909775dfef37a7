//! Which project a worktree belongs to (cli.md 4, step 1): one for all worktrees of a repository.

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::git::Place;
use super::register::Register;
use crate::cli::client::Client;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::identity::slug;
use crate::store::quote;

/// What was settled: a project that is there, or the name of one to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// This one, by its name.
    Known(String),
    /// One to be made.
    New(String),
}

impl Choice {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) | Self::New(name) => name,
        }
    }
}

/// Chooses: what was asked for, else what the repository has, else a name of the folder's.
///
/// # Errors
/// Exit 3 where both names are another repository's, or a folder's name makes no project's.
pub fn choose(
    asked: Option<&str>,
    place: &Place,
    register: &Register,
    server: &str,
    projects: &[Value],
) -> Result<Choice, Failure> {
    let known = |name: &str| {
        projects
            .iter()
            .any(|project| field::word(project, "slug") == name)
    };
    let choice = |name: String| match known(&name) {
        true => Choice::Known(name),
        false => Choice::New(name),
    };
    let common = place.common.as_deref();
    if let Some(asked) = asked {
        let name = slug::from_name(asked).ok_or_else(|| no_name(asked))?;
        return Ok(choice(name));
    }
    let recorded = common.and_then(|common| register.project(common, server));
    if let Some(recorded) = recorded.filter(|recorded| known(recorded)) {
        return Ok(Choice::Known(recorded.to_owned()));
    }
    let (folder, above) = place.names();
    let names = [folder.clone(), format!("{above}-{folder}")];
    let free = names
        .iter()
        .filter_map(|name| slug::from_name(name))
        .find(|name| !register.is_of_another(name, common, server));
    free.map(choice).ok_or_else(|| no_name(&folder))
}

fn no_name(name: &str) -> Failure {
    Failure::new(
        Exit::Refused,
        "conflict",
        format!("{} makes no free project name", quote(name)),
    )
    .fix("name one with --project")
}

/// The project's connect code; makes the project if it is to be made.
///
/// # Errors
/// A refusal of the relay.
pub async fn settle(client: &Client, choice: &Choice) -> Result<Value, Failure> {
    match choice {
        Choice::Known(name) => {
            let path = format!("projects/{}", crate::cli::client::encode(name));
            client.get(&path, &[]).await
        }
        Choice::New(name) => {
            let body = json!({ "name": name });
            client
                .call(Method::POST, "projects", &[], Some(&body))
                .await
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::register::Worktree;
    use super::*;

    const SERVER: &str = "http://127.0.0.1:1";

    #[test]
    fn cli_003_a_name_of_another_repository_gets_the_folder_above_in_front() {
        let home = tempfile::tempdir().unwrap();
        let repository = |folder: &str| -> Place {
            let root = home.path().join(folder);
            let common = root.join(".git");
            std::fs::create_dir_all(&common).unwrap();
            Place {
                root,
                common: Some(common),
            }
        };
        let mut register = Register::default();
        let shop = repository("src/shop");
        let chosen = |asked, place: &Place, register: &Register, projects: &[Value]| {
            choose(asked, place, register, SERVER, projects).unwrap()
        };
        assert_eq!(
            chosen(None, &shop, &register, &[]),
            Choice::New("shop".into())
        );
        register.enter(Worktree {
            root: PathBuf::from("/w/web"),
            common: shop.common.clone(),
            server: SERVER.into(),
            project: "shop".into(),
            part: "web".into(),
            agent: "claude".into(),
            command: Vec::new(),
        });
        let there = [json!({"slug": "shop"})];
        assert_eq!(
            chosen(None, &shop, &register, &there),
            Choice::Known("shop".into())
        );
        let old = repository("src/old/shop");
        assert_eq!(
            chosen(None, &old, &register, &there),
            Choice::New("old-shop".into())
        );
        assert_eq!(
            chosen(Some("shop"), &old, &register, &there),
            Choice::Known("shop".into())
        );
        // A person may have made it by hand: nobody's repository has it.
        let notes = repository("src/notes");
        let there = [json!({"slug": "notes"})];
        assert_eq!(
            chosen(None, &notes, &register, &there),
            Choice::Known("notes".into())
        );
    }
}
