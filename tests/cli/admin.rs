//! Projects, parts, tokens, budgets, knowledge.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::home::Home;

#[test]
fn cli_026_a_code_is_rotated_only_after_a_yes() {
    let home = Home::furnished();
    let before = home.done(&["project", "code"]);
    let ran = home.run(&["project", "rotate-code"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("add --yes"), "{ran:?}");
    assert_eq!(home.done(&["project", "code"]), before);

    let ran = home.run(&["project", "rotate-code", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("api, web"), "{ran:?}");
    assert_ne!(home.done(&["project", "code"]), before);
}

#[test]
fn a_token_goes_into_a_file_only_the_person_can_read_and_is_never_printed() {
    let home = Home::furnished();
    let ran = home.run(&[
        "token",
        "new",
        "web",
        "--expires",
        "30d",
        "--label",
        "second",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let file = home.state().join("tokens/shop-web.token");
    let secret = relayroom::config::read_secret(&file).unwrap();
    assert!(secret.starts_with("rrt_"), "{secret}");
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        !ran.out.contains("rrt_") && !ran.err.contains("rrt_"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("claude mcp add --transport http relayroom"),
        "{ran:?}"
    );
    assert!(
        ran.out.contains(&format!("$(cat '{}')", file.display())),
        "{ran:?}"
    );

    let shown = home.run(&["token", "new", "web", "--show"]);
    assert!(
        shown.out.contains("Authorization: Bearer rrt_"),
        "{shown:?}"
    );

    let tokens = home.json(&["token", "list"]);
    // The one these commands use is told apart from those nobody ever used.
    assert_eq!(tokens["tokens"][0]["kind"], "admin");
    assert!(tokens["tokens"][0]["lastUsedAt"].is_string(), "{tokens}");
    let second = tokens["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .find(|token| token["label"] == "second")
        .unwrap();
    assert_eq!(second["lastUsedAt"], json!(null));
    assert!(second["expiresAt"].is_string());
    assert_eq!(home.tool("web", "whoami", &json!({}))["part"], "web");
    let id = second["id"].as_str().unwrap();
    home.done(&["token", "revoke", &id[id.len() - 8..]]);
    let gone = home.run(&["token", "revoke", id]);
    assert_eq!(gone.code, 5, "{gone:?}");
}

#[test]
fn a_token_for_a_free_name_begins_the_part_with_its_first_call() {
    let home = Home::furnished();
    home.done(&["token", "new", "ops"]);
    let named = |home: &Home| {
        let parts = home.json(&["part", "list"]);
        let parts = parts["parts"].as_array().unwrap().clone();
        parts.iter().any(|part| part["part"] == "ops")
    };
    assert!(!named(&home));
    assert_eq!(home.tool("ops", "whoami", &json!({}))["part"], "ops");
    assert!(named(&home));
}

#[test]
fn a_part_is_named_coloured_made_main_deleted_and_revived() {
    let home = Home::furnished();
    assert_eq!(home.json(&["part", "nick", "web", "Bo"])["nickname"], "Bo");
    assert_eq!(home.json(&["part", "nick", "web"])["nickname"], json!(null));
    assert_eq!(
        home.json(&["part", "colour", "web", "#7AA2F7"])["colour"],
        "#7aa2f7"
    );
    assert_eq!(home.run(&["part", "colour", "web", "blue"]).code, 2);
    assert_eq!(home.json(&["part", "main", "web"])["isMain"], true);
    assert_eq!(home.json(&["project", "show"])["main"], "web");
    assert_eq!(home.json(&["part", "main", "--none"])["isMain"], false);

    assert_eq!(home.run(&["part", "delete", "web"]).code, 2);
    assert_eq!(
        home.json(&["part", "delete", "web", "--yes"])["state"],
        "deleted"
    );
    assert_eq!(
        home.json(&["part", "list"])["parts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let again = home.run(&["part", "add", "web"]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.err.contains("relayroom part revive web"), "{again:?}");
    home.done(&["part", "revive", "web"]);
    assert_eq!(
        home.json(&["part", "list"])["parts"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let unknown = home.run(&["part", "nick", "wbe", "x"]);
    assert_eq!(unknown.code, 5, "{unknown:?}");
    assert!(unknown.err.contains("did you mean web?"), "{unknown:?}");
}

#[test]
fn a_paused_part_is_not_woken_until_it_is_resumed() {
    let home = Home::furnished();
    home.done(&["pause", "web"]);
    assert_eq!(home.json(&["roster"])["parts"][1]["state"], "paused");
    let sent = home.json(&["send", "web", "Index", "-m", "Is it in?"]);
    assert_eq!(sent["recipients"][0]["wake"], "held");
    assert_eq!(sent["recipients"][0]["reason"], "paused");
    let held = home.json(&["wake", "web"]);
    assert_eq!(held["wake"], "held", "{held}");
    home.done(&["resume", "web"]);
    assert_eq!(
        home.json(&["roster"])["parts"][1]["wake"]["state"],
        "waiting"
    );
}

#[test]
fn nothing_loud_is_no_reason_for_a_wake() {
    let home = Home::furnished();
    let ran = home.run(&["wake", "web"]);
    assert_eq!(ran.code, 3, "{ran:?}");
}

#[test]
fn an_archived_project_turns_its_agents_away_until_it_is_taken_back() {
    let home = Home::furnished();
    assert!(home.json(&["project", "archive"])["archivedAt"].is_string());
    let none = home.run(&["roster"]);
    assert_eq!(none.code, 5, "{none:?}");
    assert!(none.err.contains("relayroom project new NAME"), "{none:?}");
    let back = home.json(&["project", "unarchive", "--project", "shop"]);
    assert_eq!(back["archivedAt"], json!(null));
    home.done(&["roster"]);
}

#[test]
fn with_several_projects_one_is_to_be_named() {
    let home = Home::furnished();
    home.done(&["project", "new", "Blog (old)"]);
    let ran = home.run(&["roster"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("blog-old, shop"), "{ran:?}");
    home.done(&["roster", "--project", "shop"]);
    let unknown = home.run(&["roster", "--project", "shpo"]);
    assert_eq!(unknown.code, 5, "{unknown:?}");
    assert!(unknown.err.contains("did you mean shop?"), "{unknown:?}");
    // Attention and parts of all projects are one list.
    assert_eq!(home.json(&["status"])["parts"].as_array().unwrap().len(), 2);
}

#[test]
fn settings_of_a_project_are_shown_as_they_are() {
    let home = Home::furnished();
    home.done(&["project", "set", "maxBroadcastRecipients", "1"]);
    let refused = home.run(&["send", "web,api", "Freeze", "-m", "x"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    home.done(&["project", "set", "maxbroadcastrecipients", "default"]);
    assert_eq!(
        home.json(&["project", "show"])["maxBroadcastRecipients"],
        json!(null)
    );
    home.done(&["send", "web,api", "Freeze", "-m", "x"]);
    assert_eq!(
        home.run(&["project", "set", "maxBroadcastRecipients", "65"])
            .code,
        2
    );
    assert_eq!(home.run(&["project", "set", "colour", "red"]).code, 2);
}

#[test]
fn an_entry_is_seen_by_agents_once_a_person_vouches_for_it() {
    let home = Home::furnished();
    let added = home.json(&[
        "knowledge",
        "add",
        "Build with make",
        "--kind",
        "convention",
        "-m",
        "Never npm.",
    ]);
    assert_eq!(added["state"], "candidate");
    let recalled = home.tool("web", "recall", &json!({"query": "build with make"}));
    assert_eq!(recalled["entries"], json!([]));
    let id = added["id"].as_str().unwrap();
    let confirmed = home.json(&["knowledge", "confirm", &id[id.len() - 8..]]);
    assert_eq!(confirmed["state"], "trusted");
    let recalled = home.tool("web", "recall", &json!({"query": "build with make"}));
    assert_eq!(recalled["entries"][0]["title"], "Build with make");
    let listed = home.json(&["knowledge", "list", "--state", "trusted"]);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
}
