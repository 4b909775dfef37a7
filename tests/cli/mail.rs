//! Sending, reading, answering and closing as the person.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use super::home::Home;
use super::home::Ran;

#[test]
fn cli_017_an_unknown_part_is_refused_with_the_nearest_one() {
    let home = Home::furnished();
    let ran = home.run(&["send", "wbe", "hi", "-m", "x"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        ran.err,
        "error: part \"wbe\" does not exist; did you mean web? (relayroom part list)\n"
    );
    assert_eq!(ran.out, "");
    assert_eq!(home.json(&["threads"])["threads"], json!([]));
}

#[test]
fn cli_017_an_empty_message_is_wrong_usage() {
    let home = Home::furnished();
    let ran = home.run(&["send", "web", "hi"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("the message is empty"), "{ran:?}");
    assert_eq!(home.json(&["threads"])["threads"], json!([]));
}

#[test]
fn cli_018_a_person_wakes_parts_with_no_budget_at_all() {
    let home = Home::furnished();
    home.done(&["member", "budget", "kim", "--wakes", "0", "--urgent", "0"]);
    let sent = home.json(&["send", "web,api", "Freeze", "-m", "No merges today"]);
    for recipient in sent["recipients"].as_array().unwrap() {
        assert_eq!(recipient["wake"], "issued", "{sent}");
    }
    assert_eq!(sent["recipients"].as_array().unwrap().len(), 2);
}

#[test]
fn cli_019_waiting_in_vain_ends_with_6_and_names_the_thread() {
    let home = Home::furnished();
    let ran = home.run(&["send", "web", "q", "-m", "?", "--wait=1"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert_eq!(ran.out, "");
    let threads = home.json(&["threads"]);
    let id = threads["threads"][0]["id"].as_str().unwrap();
    assert!(ran.err.contains(id), "{ran:?}");
}

#[test]
fn cli_019_waiting_prints_the_first_reply() {
    let home = Home::furnished();
    let waiting = home
        .command(&["send", "web", "q", "-m", "?", "--wait=20"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let thread = loop {
        let mail = home.tool("web", "inbox", &json!({}));
        if let Some(id) = mail[0]["threadId"].as_str() {
            break id.to_owned();
        }
    };
    home.tool(
        "web",
        "reply",
        &json!({"threadId": thread, "body": "Yes.\nAll of it."}),
    );
    let ran = Ran::of(&waiting.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, "Yes.\nAll of it.\n");
}

#[test]
fn cli_021_looking_on_at_a_part_marks_nothing() {
    let home = Home::furnished();
    home.done(&["send", "web", "Index", "-m", "Is it in?"]);
    let looked = home.json(&["inbox", "--part", "web"]);
    assert_eq!(looked["items"][0]["subject"], "Index");
    assert_eq!(looked["items"][0]["unread"], true);
    let parts = home.json(&["roster"]);
    let web = &parts["parts"][1];
    assert_eq!(web["unread"], 1, "{web}");
    assert_eq!(web["wake"]["state"], "waiting", "{web}");
    let thread = looked["items"][0]["threadId"].as_str().unwrap();
    let shown = home.json(&["show", thread]);
    assert_eq!(shown["messages"][0]["receipts"]["web"], "stored", "{shown}");
}

#[test]
fn cli_022_foreign_text_never_drives_the_terminal() {
    let home = Home::furnished();
    // The relay takes no control characters; a file from elsewhere may hold them, and bidirectional ones pass.
    home.done(&["send", "web", "Title \u{202e}txt", "-m", "a\u{2066}b\tc"]);
    let threads = home.json(&["threads"]);
    let id = threads["threads"][0]["id"].as_str().unwrap();
    let shown = home.done(&["show", id]);
    assert!(shown.contains("Title \\u{202e}txt"), "{shown}");
    assert!(shown.contains("a\\u{2066}b\tc"), "{shown}");
    let listed = home.done(&["threads"]);
    assert!(listed.contains("Title \\u{202e}txt"), "{listed}");
}

#[test]
fn a_message_comes_from_stdin_or_a_file_without_its_last_line_break() {
    let home = Home::furnished();
    let mut sending = home
        .command(&["--json", "send", "web", "From stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = sending.stdin.take().unwrap();
    stdin.write_all(b"two\nlines\n").unwrap();
    drop(stdin);
    let sent = Ran::of(&sending.wait_with_output().unwrap()).json();
    let id = sent["threadId"].as_str().unwrap();
    assert_eq!(
        home.json(&["show", id])["messages"][0]["body"],
        "two\nlines"
    );

    std::fs::write(home.path().join("body.txt"), "from a file\n").unwrap();
    home.done(&["reply", id, "-F", "body.txt"]);
    assert_eq!(
        home.json(&["show", id])["messages"][1]["body"],
        "from a file"
    );
}

#[test]
fn a_thread_is_read_answered_closed_and_reopened() {
    let home = Home::furnished();
    home.done(&[
        "send",
        "web,api",
        "Freeze",
        "-m",
        "No merges today",
        "--tag",
        "release",
    ]);
    let thread = home.json(&["threads"])["threads"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    home.tool(
        "web",
        "reply",
        &json!({"threadId": thread, "body": "Until when?", "needsHuman": true}),
    );
    let inbox = home.json(&["inbox"]);
    assert_eq!(inbox["items"][0]["threadId"], thread.as_str());
    assert_eq!(inbox["items"][0]["needsHuman"], true);
    let status = home.json(&["status"]);
    let items = status["attention"]["items"].as_array().unwrap();
    let asked = items.iter().find(|item| item["class"] == "needs_person");
    assert_eq!(asked.unwrap()["threadId"], thread.as_str(), "{status}");

    let shown = home.json(&["show", &thread, "--receipts"]);
    assert_eq!(shown["messages"][1]["body"], "Until when?");
    let replied = home.json(&["reply", &thread, "-m", "Tonight.", "--to", "web"]);
    assert_eq!(replied["recipients"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["inbox"])["items"], json!([]));
    assert_eq!(
        home.json(&["inbox", "--all"])["items"][0]["needsHuman"],
        json!(null)
    );

    assert_eq!(home.json(&["close", &thread])["status"], "closed");
    assert_eq!(
        home.json(&["threads", "--status", "closed"])["threads"][0]["id"],
        thread.as_str()
    );
    assert_eq!(
        home.json(&["threads", "--status", "open"])["threads"],
        json!([])
    );
    let reopened = home.json(&["close", &thread, "--status", "holding"]);
    assert_eq!(reopened["status"], "holding");
    assert_eq!(
        home.json(&["threads", "--part", "api", "-q", "FREE"])["threads"][0]["id"],
        thread.as_str()
    );
    let found = home.json(&["search", "merges", "tonight"]);
    assert_eq!(found["threads"][0]["threadId"], thread.as_str());
    assert_eq!(home.json(&["search", "nowhere"])["threads"], json!([]));
}

#[test]
fn a_long_message_is_shown_whole() {
    let home = Home::furnished();
    let body = "\"quoted\" ".repeat(6_000);
    std::fs::write(home.path().join("long.txt"), &body).unwrap();
    home.done(&["send", "web", "Long", "-F", "long.txt"]);
    let thread = home.json(&["threads"])["threads"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = home.json(&["show", &thread]);
    assert_eq!(shown["messages"].as_array().unwrap().len(), 1);
    assert_eq!(shown["messages"][0]["body"].as_str().unwrap(), body);
}
