//! `cargo run --example capture_fixture`: a pane's screen in the form of `pager/fixtures`.

use std::fs;
use std::process::Command;

use super::*;

#[test]
fn a_captured_screen_has_the_form_of_the_fixtures() {
    let world = World::without_pager("--dialog start");
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let out = world.home.path("fixtures");
    let mut command = Command::new(profile.join("examples/capture_fixture"));
    command
        .args([&world.agent.pane, "dialog-permission", "it asked"])
        .args(["--cli-version", "2.9.9", "--socket"])
        .arg(world.tmux.socket())
        .arg("--out")
        .arg(&out);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{:?}", output.stderr);
    assert!(said.contains("the pager reads: dialog choice"), "{said}");
    let file = |extension: &str| {
        let name = format!("claude/2.9.9-dialog-permission-100x30.{extension}");
        fs::read_to_string(out.join(name)).unwrap()
    };
    assert!(file("ansi").contains("❯ 1. Yes"));
    let facts: toml::Table = file("toml").parse().unwrap();
    let shipped = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/pager/fixtures/claude/2.1.332-dialog-permission.toml"
    );
    let names = |table: &toml::Table| table.keys().cloned().collect::<Vec<_>>();
    let known: toml::Table = fs::read_to_string(shipped).unwrap().parse().unwrap();
    assert_eq!(names(&facts), names(&known));
    assert_eq!(facts["how"].as_str(), Some("it asked"));
    assert_eq!(world.agent.bytes(), b"");
}
