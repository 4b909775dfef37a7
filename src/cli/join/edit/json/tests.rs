//! What is put in can be taken out again, and what was there stays.

use serde_json::json;

use super::Json;

/// Puts an entry in and takes it out again; the text with it. Without it, it must be the text of before.
#[track_caller]
fn there_and_back(before: &str) -> String {
    let mut json = Json::parse(before).unwrap();
    let entry = json!({"type": "http", "url": "u"});
    json.set(&["mcpServers", "relayroom"], &entry).unwrap();
    json.push(&["list"], &json!("ours")).unwrap();
    let with = json.text();
    let value = Json::parse(&with).unwrap().value().unwrap();
    assert_eq!(value["mcpServers"]["relayroom"], entry, "{with}");
    let list = value["list"].as_array().unwrap();
    assert_eq!(list.last(), Some(&json!("ours")), "{with}");
    let last = list.len() - 1;

    let same = json.clone();
    json.set(&["mcpServers", "relayroom"], &entry).unwrap();
    assert_eq!(json, same, "equal content is not another");

    json.remove_at(&["list"], last).unwrap();
    json.remove(&["mcpServers", "relayroom"]).unwrap();
    let mut after = json.text();
    if before.trim().is_empty() {
        after = after.replace("{}\n", before);
    }
    assert_eq!(after, before, "{with}");
    with
}

#[test]
fn what_was_put_in_can_be_taken_out_again() {
    for before in [
        "",
        "{}",
        "{}\n",
        "{\"a\": 1}",
        "{\"mcpServers\":{\"docs\":{\"command\":\"docs\"}},\"list\":[\"x\"]}",
        "{\n  \"mcpServers\": {\n    \"docs\": {\n      \"command\": \"docs\"\n    }\n  }\n}\n",
        "{\n\t\"mcpServers\": {\n\t\t\"docs\": {},\n\t},\n\t\"list\": [\n\t\t1,\n\t],\n}\n",
        "{\r\n  \"a\": [1, 2],\r\n  \"b\": null\r\n}\r\n",
        "// first\n{\n  // about a\n  \"a\": 1, // why\n  /* b */ \"b\": 2 // that is why\n  // end\n}\n// after\n",
        "{ \"list\": [ \"x\" /* one */ ], \"mcpServers\": {\"docs\": 1} }",
        "\u{feff}{\n    \"deep\": {\"x\": [{}]},\n    \"list\": [\"é\", {\"a\": 1}]\n}",
        "{\"a\":1 // x\n}",
    ] {
        there_and_back(before);
    }
}

#[test]
fn a_new_file_looks_as_a_person_writes_it() {
    assert_eq!(
        there_and_back(""),
        "{\n  \"mcpServers\": {\n    \"relayroom\": {\n      \"type\": \"http\",\n      \"url\": \"u\"\n    }\n  },\n  \"list\": [\"ours\"]\n}\n"
    );
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let with = there_and_back("{\n  \"list\": [\n    \"x\" // about x\n  ]\n}\n");
    assert!(with.contains("\"x\", // about x\n    \"ours\"\n"), "{with}");
}

#[test]
fn a_changed_value_leaves_its_neighbours_alone() {
    let mut json = Json::parse("{\n  \"a\": {\"b\": 1}, // c\n  \"d\": [1,  2]\n}\n").unwrap();
    json.set(&["a", "b"], &json!({"x": 1})).unwrap();
    assert_eq!(
        json.text(),
        "{\n  \"a\": {\"b\": {\n    \"x\": 1\n  }}, // c\n  \"d\": [1,  2]\n}\n"
    );
    json.replace_at(&["d"], 1, &json!(3)).unwrap();
    assert!(json.text().contains("[1,  3]"));
}

#[test]
fn cli_008_what_cannot_be_edited_is_named_with_its_line() {
    for (text, line) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", 3),
        ("{\n  \"a\": 'x'\n}", 2),
        ("[]", 1),
        ("{\"a\": 1} x", 1),
    ] {
        assert_eq!(Json::parse(text).unwrap_err().line, line, "{text}");
    }
    let mut twice = Json::parse("{\n  \"a\": {},\n  \"a\": {}\n}").unwrap();
    let error = twice.set(&["a", "b"], &json!(1)).unwrap_err();
    assert_eq!(
        (error.line, error.why.as_str()),
        (3, "a stands there twice")
    );
    let mut scalar = Json::parse("{\n  \"a\": 1\n}").unwrap();
    assert_eq!(scalar.set(&["a", "b"], &json!(1)).unwrap_err().line, 2);
    assert_eq!(scalar.push(&["a"], &json!(1)).unwrap_err().line, 2);
}
