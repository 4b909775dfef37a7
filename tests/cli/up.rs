//! `relayroom up`: everything runs that should, and nothing twice.

use std::process::Command;

use super::home::Home;

/// A home whose background programs end with the test.
struct Running {
    home: Home,
}

impl Running {
    fn new() -> Self {
        Self {
            home: Home::empty(),
        }
    }

    fn up(&self, args: &[&str]) -> serde_json::Value {
        let mut all = vec!["--json", "up"];
        all.extend(args);
        let mut command = self.home.command(&all);
        command
            .env_remove("RELAYROOM_SERVER")
            .env("TMUX_TMPDIR", self.home.path());
        let ran = super::home::Ran::of(&command.output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()
    }

    /// Processes with this home in their environment.
    fn processes(&self) -> Vec<String> {
        let home = format!("HOME={}", self.home.path().display());
        let mut pids = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment
                .split(|byte| *byte == 0)
                .any(|field| field == home.as_bytes())
            {
                pids.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        pids
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for pid in self.processes() {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    }
}

#[test]
fn cli_001_up_starts_relay_and_pager_once_and_says_what_is_next() {
    let running = Running::new();
    // Its own port: the usual one may be taken on this machine.
    let address = crate::support::process::free_address();
    let config = running.home.path().join(".config/relayroom");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        format!("listen = \"{address}\"\nserver = \"http://{address}\"\n"),
    )
    .unwrap();

    let dry = running.up(&["--dry-run"]);
    assert_eq!(dry["relay"]["state"], "would be started");
    assert_eq!(running.processes(), [""; 0]);

    let first = running.up(&[]);
    assert_eq!(first["relay"]["state"], "started", "{first}");
    assert_eq!(first["pager"]["state"], "started", "{first}");
    assert_eq!(first["next"], "cd <worktree> && relayroom join web");
    let before = running.processes();
    assert_eq!(before.len(), 2, "{before:?}");

    let again = running.up(&[]);
    assert_eq!(again["relay"]["state"], "runs", "{again}");
    assert_eq!(again["pager"]["state"], "runs", "{again}");
    assert_eq!(running.processes(), before);
}
