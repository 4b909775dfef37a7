//! Which part an event belongs to (usage.md 1, step 2), and whether its relay may hear of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use super::event::Provider;
use crate::config;
use crate::config::Env;
use crate::config::loopback::is_loopback;
use crate::store::Time;

/// What the command line said; each wins over the file.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names are those of usage.md 1")]
pub struct Flags {
    pub code: Option<String>,
    pub part: Option<String>,
    pub server: Option<String>,
}

/// A joined part, as far as its hook has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The relay's URL, without a final `/`.
    pub server: String,
    /// Connect code.
    pub code: String,
    /// The part's name.
    pub part: String,
    /// The machine token; absent on loopback, where the code is enough.
    pub token: Option<String>,
    /// Replies older than this are none of the part's.
    pub joined_at: Option<Time>,
    /// Its `.relayroom/config.toml`; none if the flags said everything.
    pub config: Option<PathBuf>,
    /// Whether the person wants excerpts shown.
    pub excerpts: bool,
}

impl Joined {
    /// The worktree's root.
    #[must_use]
    pub fn worktree(&self) -> Option<&Path> {
        self.config.as_deref()?.parent()?.parent()
    }
}

/// Where an event led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// To no part: nothing is to be done, and nothing to be said.
    Nowhere,
    /// To a file or a relay that must not be used.
    Refused {
        /// The file.
        config: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// To a part.
    Part(Box<Joined>),
}

/// Finds the part of an event that happened in `cwd`.
#[must_use]
pub fn find(provider: Provider, flags: &Flags, cwd: Option<&Path>, env: &Env) -> Found {
    let config = path(provider, cwd.unwrap_or(&env.cwd), env);
    match config {
        Some(config) => at(&config, flags, env),
        None => join(config::File::default(), None, flags, env),
    }
}

/// The part of one `.relayroom/config.toml`.
#[must_use]
pub fn at(config: &Path, flags: &Flags, env: &Env) -> Found {
    let refused = |why: String| Found::Refused {
        config: config.to_owned(),
        why,
    };
    if let Err(why) = is_ours(config) {
        return refused(why);
    }
    match config::read_file(config) {
        Ok((file, _)) => join(file, Some(config), flags, env),
        Err(bad) => refused(bad.cause),
    }
}

fn path(provider: Provider, cwd: &Path, env: &Env) -> Option<PathBuf> {
    // One Codex server runs the hooks of all its sessions, in the environment of whoever started it.
    if provider != Provider::Codex
        && let Some(path) = env.path("RELAYROOM_CONFIG")
    {
        return path.is_file().then_some(path);
    }
    cwd.ancestors()
        .map(|folder| folder.join(".relayroom/config.toml"))
        .find(|path| path.is_file())
}

/// A file that another can write says what another wants.
fn is_ours(config: &Path) -> Result<(), String> {
    let meta = fs::metadata(config).map_err(|error| error.to_string())?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    if meta.mode() & 0o022 != 0 {
        return Err("others can write it".to_owned());
    }
    Ok(())
}

fn join(file: config::File, config: Option<&Path>, flags: &Flags, env: &Env) -> Found {
    let code = flags.code.clone().or(file.code);
    let part = flags.part.clone().or(file.part);
    let (Some(code), Some(part)) = (code, part) else {
        return Found::Nowhere;
    };
    let server = flags
        .server
        .as_deref()
        .or(file.server.as_deref())
        .or_else(|| env.get("RELAYROOM_SERVER"))
        .unwrap_or(config::DEFAULT_SERVER)
        .trim_end_matches('/')
        .to_owned();
    let (person, _) = config::read_file(&env.config_dir().join("config.toml")).unwrap_or_default();
    let listed = |relay: &String| relay.trim_end_matches('/') == server;
    if !is_loopback(&server) && !person.relays.iter().any(listed) {
        return Found::Refused {
            config: config.map(Path::to_path_buf).unwrap_or_default(),
            why: "its relay is on another machine and not listed under relays".to_owned(),
        };
    }
    Found::Part(Box::new(Joined {
        server,
        code,
        part,
        token: file.token,
        joined_at: file.joined_at.as_deref().and_then(Time::parse),
        config: config.map(Path::to_path_buf),
        excerpts: person.hook.excerpts,
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        config: PathBuf,
        env: Env,
    }

    fn place(text: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("shop/.relayroom/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::create_dir_all(folder.path().join("home/relayroom")).unwrap();
        fs::write(&config, text).unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let home = folder.path().join("home");
        let env = Env::of([("XDG_CONFIG_HOME", home.to_str().unwrap())], folder.path());
        Place {
            folder,
            config,
            env,
        }
    }

    impl Place {
        fn find(&self, provider: Provider, cwd: &str) -> Found {
            let cwd = self.folder.path().join(cwd);
            find(provider, &Flags::default(), Some(&cwd), &self.env)
        }

        fn person(&self, text: &str) {
            fs::write(self.folder.path().join("home/relayroom/config.toml"), text).unwrap();
        }
    }

    const WEB: &str = "server = \"http://127.0.0.1:9\"\ncode = \"C\"\npart = \"web\"\n";

    #[test]
    fn usage_026_a_part_is_found_from_a_deep_subfolder_and_nowhere_else() {
        let place = place(WEB);
        let Found::Part(joined) = place.find(Provider::Claude, "shop/a/b/c") else {
            panic!("not found");
        };
        assert_eq!((joined.code.as_str(), joined.part.as_str()), ("C", "web"));
        assert_eq!(joined.worktree(), Some(&*place.folder.path().join("shop")));
        assert_eq!(place.find(Provider::Claude, "elsewhere"), Found::Nowhere);
    }

    #[test]
    fn usage_050_the_environment_names_the_part_of_all_but_codex() {
        let mut place = place(WEB);
        let config = place.config.to_str().unwrap().to_owned();
        place.env = Env::of([("RELAYROOM_CONFIG", &config)], place.folder.path());
        for (provider, known) in [
            (Provider::Claude, true),
            (Provider::Gemini, true),
            (Provider::Codex, false),
        ] {
            let found = place.find(provider, "elsewhere");
            assert_eq!(matches!(found, Found::Part(_)), known, "{provider:?}");
        }
        assert!(matches!(
            place.find(Provider::Codex, "shop/x"),
            Found::Part(_)
        ));
    }

    #[test]
    fn usage_025_a_file_others_can_write_is_not_used() {
        let place = place(WEB);
        for mode in [0o620, 0o602, 0o666] {
            fs::set_permissions(&place.config, fs::Permissions::from_mode(mode)).unwrap();
            let found = place.find(Provider::Claude, "shop");
            assert!(matches!(found, Found::Refused { .. }), "{mode:o}");
        }
    }

    #[test]
    fn usage_025_a_relay_on_another_machine_has_to_be_listed_by_the_person() {
        let place = place(
            "server = \"https://evil.example/\"\ncode = \"C\"\npart = \"web\"\nrelays = [\"https://evil.example\"]\n",
        );
        let found = place.find(Provider::Claude, "shop");
        assert!(matches!(found, Found::Refused { .. }));
        place.person("relays = [\"https://evil.example\"]\n");
        let found = place.find(Provider::Claude, "shop");
        assert!(matches!(found, Found::Part(_)));
    }

    #[test]
    fn usage_024_flags_are_enough_and_win() {
        let flags = Flags {
            code: Some("C".to_owned()),
            part: Some("api".to_owned()),
            server: None,
        };
        let place = place(WEB);
        for (cwd, server) in [
            ("elsewhere", config::DEFAULT_SERVER),
            ("shop", "http://127.0.0.1:9"),
        ] {
            let cwd = place.folder.path().join(cwd);
            let found = find(Provider::Claude, &flags, Some(&cwd), &place.env);
            let Found::Part(joined) = found else {
                panic!("not found");
            };
            assert_eq!(
                (joined.part.as_str(), joined.server.as_str()),
                ("api", server)
            );
        }
    }

    #[test]
    fn usage_045_excerpts_are_the_persons_to_switch_on() {
        let place = place(&format!("{WEB}[hook]\nexcerpts = true\n"));
        let excerpts = || match place.find(Provider::Claude, "shop") {
            Found::Part(joined) => joined.excerpts,
            other => panic!("{other:?}"),
        };
        assert!(!excerpts());
        place.person("[hook]\nexcerpts = true\n");
        assert!(excerpts());
    }
}
