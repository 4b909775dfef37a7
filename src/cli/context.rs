//! What every command is given: the surroundings, the settings, the flags all commands share, and the screen.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::client::Client;
use super::failure::Failure;
use super::screen::Colour;
use super::screen::Screen;
use crate::activity::zone::Zone;
use crate::config::Env;
use crate::config::Settings;
use crate::store::Time;
use crate::store::system_clock;

/// Flags of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// When to colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: Colour,
    /// The relay's address
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// The relay's database; its admin token stands beside it
    #[arg(long, global = true, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// The project, where there are several
    #[arg(long, global = true, value_name = "NAME")]
    pub project: Option<String>,
    /// Seconds after which a call to the relay is given up
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
}

/// The surroundings of one command.
#[derive(Debug, Clone)]
pub struct Context {
    /// The environment.
    pub env: Env,
    /// What the settings files say.
    pub settings: Settings,
    /// Flags of every command.
    pub globals: Globals,
    /// Where words go.
    pub screen: Screen,
    /// Where the log goes of a program that runs in the background.
    pub log_file: Option<PathBuf>,
}

impl Context {
    /// Reads the settings and warns of what they hold by mistake.
    ///
    /// # Errors
    /// Exit 2 for a settings file that cannot be used.
    pub fn new(env: Env, globals: Globals, screen: Screen) -> Result<Self, Failure> {
        let settings = Settings::load(&env).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self::with(settings, env, globals, screen))
    }

    /// The same for a command that mends a worktree's own file: one that cannot be read is said, and left out.
    ///
    /// # Errors
    /// Exit 2 if the person's own file cannot be used.
    pub fn mending(env: Env, globals: Globals, screen: Screen) -> Result<Self, Failure> {
        let settings = match Settings::load(&env) {
            Ok(settings) => settings,
            Err(broken) => {
                let settings =
                    Settings::of_person(&env).map_err(|error| Failure::usage(error.to_string()))?;
                screen.note(format!("warning: {broken}"));
                settings
            }
        };
        Ok(Self::with(settings, env, globals, screen))
    }

    fn with(settings: Settings, env: Env, globals: Globals, screen: Screen) -> Self {
        for warning in &settings.warnings {
            screen.note(format!("warning: {warning}"));
        }
        Self {
            env,
            settings,
            globals,
            screen,
            log_file: None,
        }
    }

    /// The relay's URL.
    #[must_use]
    pub fn server(&self) -> String {
        self.settings
            .server(self.globals.server.as_deref(), &self.env)
    }

    /// The database file.
    #[must_use]
    pub fn db(&self) -> PathBuf {
        self.settings.db(self.globals.db.as_deref(), &self.env)
    }

    /// The project that was named, by flag, variable or file.
    #[must_use]
    pub fn project(&self) -> Option<String> {
        self.settings
            .project(self.globals.project.as_deref(), &self.env)
    }

    /// How long a call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.globals.timeout)
    }

    /// The person's door to the relay.
    ///
    /// # Errors
    /// Exit 2 or 3 for an address the admin token must not be sent to.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(self)
    }

    /// The zone of this machine, for the query of a call whose answer is of days.
    #[must_use]
    pub fn zone(&self) -> (&'static str, String) {
        ("zone", Zone::of_machine(self.now()).name().to_owned())
    }

    /// The time, for ages.
    #[must_use]
    pub fn now(&self) -> Time {
        system_clock().0
    }
}
