//! `--as-part` and `ack` (cli.md 1 and 9): the part of the worktree speaks, by its own token.

use serde_json::json;

use super::desk::Desk;

#[test]
fn cli_020_inside_a_worktree_the_part_speaks_and_outside_nobody() {
    let desk = Desk::new();
    let shop = desk.repository("shop");
    let api = desk.worktree(&shop, "api");
    desk.json(&shop, &["join", "web", "--agent", "claude", "--no-start"]);
    desk.json(&api, &["join", "api", "--agent", "codex", "--no-start"]);
    let deep = shop.join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();

    let sent = desk.json(
        &deep,
        &["send", "--as-part", "api", "Index", "-m", "Which one?"],
    );
    let thread = sent["threadId"].as_str().unwrap();
    let end = &thread[thread.len() - 8..];
    let mail = desk.json(&api, &["inbox", "--as-part"]);
    assert_eq!(mail["items"][0]["from"], "web", "{mail}");
    assert_eq!(mail["items"][0]["unread"], true);
    let message = mail["items"][0]["messageId"].as_str().unwrap();
    let acked = desk.json(&api, &["ack", &message[message.len() - 8..], "--as-part"]);
    assert_eq!(acked["ok"], true);
    assert_eq!(desk.json(&api, &["inbox", "--as-part"])["items"], json!([]));

    let replied = desk.json(&api, &["reply", "--as-part", end, "-m", "The new one."]);
    assert_eq!(replied["threadStatus"], "answered", "{replied}");
    let shown = desk.done(&shop, &["show", "--as-part", end]);
    assert!(
        shown.contains("The new one.") && shown.contains("api"),
        "{shown}"
    );
    let found = desk.json(&shop, &["search", "--as-part", "new one"]);
    assert_eq!(found["threads"][0]["threadId"], thread, "{found}");
    let roster = desk.json(&shop, &["roster", "--as-part"]);
    let you: Vec<_> = roster["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| &part["you"])
        .collect();
    assert_eq!(you, [false, true], "{roster}");
    let closed = desk.json(&shop, &["close", "--as-part", end]);
    assert_eq!(closed["status"], "closed");
    let listed = desk.json(&shop, &["threads", "--as-part", "--status", "closed"]);
    assert_eq!(listed["threads"][0]["id"], thread);

    let refused = desk.run(&shop, &["send", "--as-part", "apo", "Hi", "-m", "x"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("did you mean api?"), "{refused:?}");
    let missing = desk.run(&shop, &["show", "--as-part", "ffffff"]);
    assert_eq!(missing.code, 5, "{missing:?}");

    let outside = desk.path("");
    for words in [
        &["send", "--as-part", "api", "Hi", "-m", "x"][..],
        &["inbox", "--as-part"],
        &["ack", "ffffff"],
    ] {
        let ran = desk.run(&outside, words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
    }
}
