//! `doctor --settings`: every value with the place it comes from (cli.md 2). Secrets are only said to be set.

use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::screen::Style;
use crate::cli::table::Cell;
use crate::cli::table::Table;
use crate::config;
use crate::config::Env;
use crate::config::File;
use crate::config::OneOrMore;
use crate::pager::setup;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: &'static str,
    value: String,
    /// `flag`, a variable, a file, `built in`.
    source: String,
}

/// The layers a value may come from.
struct Layers<'a> {
    env: &'a Env,
    worktree: (&'a File, String),
    person: (&'a File, String),
}

impl Layers<'_> {
    /// The first layer that says something.
    fn row(
        &self,
        name: &'static str,
        flag: Option<String>,
        variable: &'static str,
        key: impl Fn(&File) -> Option<String>,
        built_in: Option<String>,
    ) -> Option<Row> {
        let from = |value: String, source: &str| Row {
            name,
            value,
            source: source.to_owned(),
        };
        flag.map(|value| from(value, "flag"))
            .or_else(|| Some(from(self.env.get(variable)?.to_owned(), variable)))
            .or_else(|| Some(from(key(self.worktree.0)?, &self.worktree.1)))
            .or_else(|| Some(from(key(self.person.0)?, &self.person.1)))
            .or_else(|| Some(from(built_in?, "built in")))
    }
}

/// Prints them.
///
/// # Errors
/// A write that fails.
pub fn print(context: &Context) -> Result<(), Failure> {
    let rows = rows(context);
    if context.screen.json {
        let values: Vec<Value> = rows
            .iter()
            .map(|row| json!({"name": row.name, "value": row.value, "source": row.source}))
            .collect();
        return context.screen.object(json!({ "settings": values }));
    }
    let mut table = Table::new(&["setting", "value", "source"]);
    for row in rows {
        table.row(vec![
            Cell::text(row.name).styled(Style::Bold),
            Cell::text(&row.value),
            Cell::text(&match row.source.as_str() {
                "built in" => "built in".to_owned(),
                source => format!("from {source}"),
            }),
        ]);
    }
    context.screen.table(&table, "")
}

fn rows(context: &Context) -> Vec<Row> {
    let (env, flags) = (&context.env, &context.globals);
    let settings = &context.settings;
    let file = |path: PathBuf| path.to_string_lossy().into_owned();
    let of_worktree = env.path("RELAYROOM_CONFIG").or_else(|| {
        let root = settings.worktree_root.as_ref()?;
        Some(root.join(".relayroom/config.toml"))
    });
    let layers = Layers {
        env,
        worktree: (
            &settings.worktree,
            of_worktree.map(file).unwrap_or_default(),
        ),
        person: (&settings.person, file(env.config_dir().join("config.toml"))),
    };
    let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
    let hidden = |secret: Option<&String>| secret.map(|_| "(set)".to_owned());
    // The database of a worktree's file would be another's word on where ours is.
    let db = Layers {
        worktree: (&File::default(), String::new()),
        env: layers.env,
        person: (layers.person.0, layers.person.1.clone()),
    };
    let none = |_: &File| None;
    let server = Some(config::DEFAULT_SERVER.to_owned());
    let db_file = Some(file(env.data_dir().join("relayroom.db")));
    let socket = Some(file(setup::socket(None, env)));
    let listen = |file: &File| {
        file.listen
            .as_ref()
            .map(|one| OneOrMore::list(one).join(", "))
    };
    let built_in_listen = Some(config::DEFAULT_LISTEN.to_owned());
    let mut rows = vec![
        layers.row(
            "server",
            flags.server.clone(),
            "RELAYROOM_SERVER",
            |f| f.server.clone(),
            server,
        ),
        db.row(
            "db",
            flags.db.as_ref().map(shown),
            "RELAYROOM_DB",
            |f| f.db.as_ref().map(shown),
            db_file,
        ),
        db.row("listen", None, "RELAYROOM_LISTEN", listen, built_in_listen),
        layers.row(
            "project",
            flags.project.clone(),
            "RELAYROOM_PROJECT",
            |f| f.project.clone(),
            None,
        ),
        layers.row("part", None, "RELAYROOM_PART", |f| f.part.clone(), None),
        layers.row("code", None, "", |f| f.code.clone(), None),
        layers.row("agent", None, "", |f| f.agent.clone(), None),
        layers.row("session", None, "", |f| f.session.clone(), None),
        layers.row(
            "socket",
            None,
            "RELAYROOM_TMUX_SOCKET",
            |f| f.socket.as_ref().map(shown),
            socket,
        ),
        layers.row("token", None, "", |f| hidden(f.token.as_ref()), None),
        layers.row(
            "agent_token",
            None,
            "",
            |f| hidden(f.agent_token.as_ref()),
            None,
        ),
        layers.row("joined_at", None, "", |f| f.joined_at.clone(), None),
        db.row("public_url", None, "", |f| f.public_url.clone(), None),
    ];
    type List = fn(&File) -> &Vec<String>;
    let lists: [(&'static str, List); 4] = [
        ("allowed_hosts", |f| &f.allowed_hosts),
        ("allowed_origins", |f| &f.allowed_origins),
        ("trusted_proxies", |f| &f.trusted_proxies),
        ("relays", |f| &f.relays),
    ];
    for (name, list) in lists {
        let joined = |f: &File| Some(list(f).join(", ")).filter(|text| !text.is_empty());
        rows.push(db.row(name, None, "", joined, None));
    }
    rows.push(layers.row("log", None, "RELAYROOM_LOG", none, Some("info".to_owned())));
    for (name, variable) in [
        ("agent's token", "RELAYROOM_TOKEN"),
        ("attest key", "RELAYROOM_ATTEST_KEY_ID"),
        ("attest secret", "RELAYROOM_ATTEST_SECRET"),
    ] {
        let set = env.get(variable).map(|_| Row {
            name,
            value: "(set)".to_owned(),
            source: variable.to_owned(),
        });
        rows.push(set);
    }
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::context::Globals;
    use crate::cli::screen::Screen;

    fn context(env: Env, globals: Globals) -> Context {
        Context::new(env, globals, Screen::plain()).unwrap()
    }

    fn of<'a>(rows: &'a [Row], name: &str) -> (&'a str, &'a str) {
        let row = rows.iter().find(|row| row.name == name).unwrap();
        (&row.value, &row.source)
    }

    #[test]
    fn cli_025_the_flag_wins_then_the_variable_then_the_files() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".config/relayroom");
        std::fs::create_dir_all(&folder).unwrap();
        let person = folder.join("config.toml");
        std::fs::write(&person, "server = \"http://file\"\nproject = \"shop\"\n").unwrap();
        let variables = [
            ("HOME", home.path().to_str().unwrap()),
            ("RELAYROOM_SERVER", "http://variable"),
        ];
        let env = Env::of(variables, Path::new("/"));
        let flags = Globals {
            server: Some("http://flag".into()),
            ..Globals::default()
        };
        let with = rows(&context(env.clone(), flags));
        assert_eq!(of(&with, "server"), ("http://flag", "flag"));
        let without = rows(&context(env, Globals::default()));
        assert_eq!(
            of(&without, "server"),
            ("http://variable", "RELAYROOM_SERVER")
        );
        assert_eq!(of(&without, "project"), ("shop", person.to_str().unwrap()));
        assert_eq!(of(&without, "listen"), (config::DEFAULT_LISTEN, "built in"));
    }

    #[test]
    fn a_secret_is_only_said_to_be_set() {
        let worktree = tempfile::tempdir().unwrap();
        let folder = worktree.path().join(".relayroom");
        std::fs::create_dir_all(&folder).unwrap();
        let text = "part = \"web\"\ntoken = \"rrp_x\"\nagent_token = \"rrt_x\"\n";
        std::fs::write(folder.join("config.toml"), text).unwrap();
        let variables = [("HOME", "/nowhere"), ("RELAYROOM_TOKEN", "rrt_y")];
        let shown = rows(&context(
            Env::of(variables, worktree.path()),
            Globals::default(),
        ));
        assert_eq!(of(&shown, "agent_token").0, "(set)");
        assert_eq!(of(&shown, "agent's token"), ("(set)", "RELAYROOM_TOKEN"));
        assert!(
            shown.iter().all(|row| !row.value.contains("rr")),
            "{shown:?}"
        );
    }
}
