//! Starting and stopping the relay.

use std::net::TcpListener;
use std::process::Command;

use clap::CommandFactory;
use relayroom::cli::Cli;
use relayroom::config;
use serde_json::json;

use super::home::Home;
use crate::support::http::Call;
use crate::support::process::ask;

#[test]
fn cli_041_a_second_relay_names_the_first_and_starts_once_that_is_gone() {
    let mut home = Home::new();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let holder = relayroom::store::Store::holder(&home.db()).unwrap();
    assert!(
        ran.err
            .contains(&format!("pid {} {}", holder.pid, home.address)),
        "{ran:?}"
    );
    home.kill();
    home.serve();
}

#[test]
fn access_8_a_taken_port_is_named_with_the_relay_that_has_it() {
    let home = Home::new();
    let taken = home.address.trim_start_matches("http://");
    let other = Home::empty();
    let ran = other.run(&["serve", "--listen", taken]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        ran.err
            .contains(&format!("{taken} is taken: relayroom {version}")),
        "{ran:?}"
    );
    assert!(!other.db().exists());
    // The first relay's own person learns its process too.
    let ran = home.run(&["serve", "--listen", taken]);
    let pid = relayroom::store::Store::holder(&home.db()).unwrap().pid;
    assert!(ran.err.contains(&format!("(pid {pid})")), "{ran:?}");
}

#[test]
fn cli_041_detached_on_a_taken_port_ends_with_the_last_log_lines() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = stranger.local_addr().unwrap().to_string();
    let home = Home::empty();
    let ran = home.run(&["serve", "--detach", "--listen", &taken]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err
            .contains(&format!("{taken} is taken: another program")),
        "{ran:?}"
    );
    assert!(!home.db().exists());
}

#[test]
fn a_detached_relay_answers_when_the_command_returns_and_outlives_it() {
    let home = Home::empty();
    let started = home.json(&["serve", "--detach", "--listen", "127.0.0.1:0"]);
    let (address, pid) = (
        started["address"].as_str().unwrap(),
        started["pid"].to_string(),
    );
    let status = home.run(&["status", "--server", address]);
    assert_eq!(status.code, 0, "{status:?}");
    // A session of its own: its leader is the relay itself.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3);
    assert_eq!(session, Some(pid.as_str()));
    let log = std::fs::read_to_string(home.state().join("relay.log")).unwrap();
    assert!(log.contains("listening on"), "{log}");
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let begun = std::time::Instant::now();
    while std::path::Path::new(&format!("/proc/{pid}")).exists() {
        assert!(begun.elapsed() < crate::support::http::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn access_001_a_new_file_has_one_person_and_no_text_speaks_of_orgs() {
    let home = Home::new();
    let admin = config::read_secret(&config::admin_token_file(&home.db())).unwrap();
    let address = home.address.trim_start_matches("http://").parse().unwrap();
    let call = Call::new(address, "GET", "/api/admin/people").bearer(&admin);
    let people = ask(&call).unwrap().json()["people"].clone();
    assert_eq!(people.as_array().unwrap().len(), 1, "{people}");
    assert_eq!(people[0]["name"], "kim");

    let mut texts = vec![home.done(&["status"]), home.run(&["roster"]).err];
    let mut commands = vec![Cli::command()];
    while let Some(mut command) = commands.pop() {
        texts.push(command.render_long_help().to_string());
        commands.extend(command.get_subcommands().cloned());
    }
    for text in texts {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        assert!(
            !words.any(|word| word.eq_ignore_ascii_case("org")),
            "{text}"
        );
    }
}

#[test]
fn tools_020_agents_are_told_the_version_the_program_prints() {
    let home = Home::furnished();
    let client = json!({"name": "x", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let answer = ask(&home.seat("web").request("initialize", &hello)).unwrap();
    let told = &answer.json()["result"]["serverInfo"]["version"];
    let printed = home.done(&["--version"]);
    assert_eq!(printed, format!("relayroom {}\n", told.as_str().unwrap()));
}

#[test]
fn case_m10_hosts_of_the_settings_reach_mcp_and_others_are_told_the_setting() {
    let mut home = Home::empty();
    let config = home.path().join(".config/relayroom");
    std::fs::create_dir_all(&config).unwrap();
    let hosts = "allowed_hosts = [\"relay.example\", \"192.168.1.5\"]\n";
    std::fs::write(config.join("config.toml"), hosts).unwrap();
    home.serve();
    home.furnish();
    let call = home.seat("web").call("whoami", &json!({}));
    for host in [
        "relay.example",
        "Relay.Example:8080",
        "192.168.1.5:8080",
        "localhost:8080",
    ] {
        let reply = ask(&call.clone().header("host", host)).unwrap();
        assert_eq!(reply.status, 200, "{host}: {}", reply.body);
    }
    for host in ["evil.example", "relay.example.evil", "192.168.1.6:8080"] {
        let reply = ask(&call.clone().header("host", host)).unwrap();
        assert_eq!(
            (reply.status, reply.reason().as_str()),
            (403, "host"),
            "{host}"
        );
        assert!(reply.body.contains("allowed_hosts"), "{}", reply.body);
    }
}
