//! New tokens and codes for joined worktrees (cli.md 6 and 9).

use serde_json::Value;
use serde_json::json;

use super::desk::Desk;
use super::desk::text;
use crate::support::process::ask;
use crate::support::seat::Seat;

fn seat(desk: &Desk, root: &std::path::Path) -> Seat {
    let record = desk.record(root);
    Seat {
        address: desk
            .home
            .address
            .trim_start_matches("http://")
            .parse()
            .unwrap(),
        code: record.code.unwrap(),
        part: record.part.unwrap(),
        token: record.agent_token.unwrap(),
    }
}

fn status(seat: &Seat) -> u16 {
    ask(&seat.call("whoami", &json!({}))).unwrap().status
}

#[test]
fn a_rotated_token_is_in_the_worktree_and_the_old_one_ends_in_a_day_or_now() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    desk.json(&shop, &["join", "web", "--agent", "claude", "--no-start"]);
    let first = seat(&desk, &shop);
    let rotated = desk.json(&shop, &["token", "rotate", "web"]);
    assert_eq!(rotated["restart"], json!(["web"]), "{rotated}");
    let second = seat(&desk, &shop);
    assert_ne!(first.token, second.token);
    assert!(
        text(&shop.join(".mcp.json"))
            .unwrap()
            .contains(&second.token)
    );
    assert_eq!((status(&first), status(&second)), (200, 200));
    let tokens = desk.json(&shop, &["token", "list"]);
    let ends: Vec<&Value> = tokens["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|token| token["kind"] == "agent")
        .map(|token| &token["expiresAt"])
        .collect();
    assert!(ends[0].is_string() && ends[1].is_null(), "{tokens}");

    desk.json(&shop, &["token", "rotate", "web", "--now"]);
    assert_eq!((status(&first), status(&second)), (401, 401));
    assert_eq!(status(&seat(&desk, &shop)), 200);
    assert_eq!(desk.run(&shop, &["token", "rotate", "nobody"]).code, 5);
}

#[test]
fn cli_026_a_rotated_code_is_told_to_the_worktrees_of_this_machine() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let api = desk.worktree(&shop, "api");
    desk.json(&shop, &["join", "web", "--agent", "claude"]);
    desk.json(&api, &["join", "api", "--agent", "codex", "--no-start"]);
    let before = seat(&desk, &shop);
    let asked = desk.run(&shop, &["project", "rotate-code"]);
    assert_eq!(asked.code, 2, "{asked:?}");
    assert_eq!(seat(&desk, &shop).code, before.code);
    assert_eq!(desk.marks(), ["shop-web web"]);

    let rotated = desk.json(&shop, &["project", "rotate-code", "--yes"]);
    assert_eq!(rotated["restart"], json!(["api", "web"]), "{rotated}");
    let after = seat(&desk, &shop);
    assert_ne!(after.code, before.code);
    assert_eq!((status(&before), status(&after)), (404, 200));
    assert_eq!(seat(&desk, &api).code, after.code);
    for (root, file) in [(&shop, ".mcp.json"), (&api, ".codex/config.toml")] {
        assert!(
            text(&root.join(file)).unwrap().contains(&after.code),
            "{file}"
        );
    }
    let mark = desk.tmux(&["list-panes", "-a", "-F", "#{@relayroom}"]);
    assert!(mark.starts_with(&format!("{}/web/", after.code)), "{mark}");
}
