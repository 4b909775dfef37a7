//! Starting and stopping the relay.

use std::net::TcpListener;
use std::process::Command;

use super::home::Home;

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
