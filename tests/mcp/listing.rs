//! `tools/list` and what every tool shares: arguments, results, refusals (tools.md 3, 4, 11; cases M21–M24, M31).

use serde_json::Value;
use serde_json::json;

use crate::support::server::Relay;

const ORDER: [&str; 14] = [
    "send",
    "reply",
    "inbox",
    "ack",
    "event",
    "threads",
    "show",
    "close",
    "search",
    "roster",
    "whoami",
    "recall",
    "learn",
    "recall_used",
];

#[tokio::test]
async fn tools_021_case_m21_the_list_is_the_same_fourteen_and_small() {
    let relay = Relay::start().await;
    let result = relay
        .result("web", "tools/list", json!({"cursor": "x"}))
        .await;
    let size = result.to_string().len();
    assert!(size <= 9_000, "{size}");
    let tools = result["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ORDER);
    for tool in tools {
        let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "description", "inputSchema", "annotations"]);
        let hints = &tool["annotations"];
        assert_eq!(hints["openWorldHint"], false);
        let name = tool["name"].as_str().unwrap();
        let reads = [
            "inbox", "threads", "show", "search", "roster", "whoami", "recall",
        ]
        .contains(&name);
        let once = ["ack", "close", "recall_used"].contains(&name);
        let is = |hint: &str, value: bool| hints.get(hint) == Some(&json!(value));
        assert_eq!(is("readOnlyHint", true), reads, "{name}");
        assert_eq!(is("destructiveHint", false), !reads, "{name}");
        assert_eq!(is("idempotentHint", true), once, "{name}");
    }
    assert_eq!(result.as_object().unwrap().len(), 1);
    insta::assert_json_snapshot!("tools_list", result);
}

#[tokio::test]
async fn tools_022_no_arguments_have_many_shapes() {
    let relay = Relay::start().await;
    let mut answers = Vec::new();
    for params in [
        json!({"name": "whoami"}),
        json!({"name": "whoami", "arguments": null}),
        json!({"name": "whoami", "arguments": {}}),
        json!({"name": "whoami", "arguments": "{}"}),
    ] {
        answers.push(relay.result("web", "tools/call", params).await);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let refusal = relay.refusal("web", "whoami", json!([1])).await;
    assert_eq!(refusal["error"], "invalid_argument");
    relay.tool("web", "whoami", json!({})).await;
}

#[tokio::test]
async fn tools_023_bounds_are_named_and_never_clamped() {
    let relay = Relay::start().await;
    for limit in [json!(51), json!(0), json!(1.5), json!("x")] {
        let refusal = relay.refusal("web", "inbox", json!({"limit": limit})).await;
        assert_eq!(refusal["error"], "invalid_argument", "{limit}");
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains("1–50") && message.len() <= 240,
            "{message}"
        );
    }
}

#[tokio::test]
async fn tools_024_case_m22_arguments_are_read_as_meant() {
    let relay = Relay::start().await;
    for arguments in [
        json!({"limit": "5"}),
        json!({"limit": 5.0}),
        json!({"unreadOnly": "true"}),
        json!({"before": null}),
    ] {
        let inbox = relay.tool("web", "inbox", arguments.clone()).await;
        assert_eq!(inbox, json!([]), "{arguments}");
    }
}

#[tokio::test]
async fn tools_025_recipients_come_in_many_shapes() {
    let relay = Relay::start().await;
    for (n, (to, parts)) in [
        (json!("web"), vec!["web"]),
        (json!("[\"web\",\"db\"]"), vec!["web", "db"]),
        (json!("web, db"), vec!["web", "db"]),
        (json!(["@Web"]), vec!["web"]),
    ]
    .into_iter()
    .enumerate()
    {
        let send = json!({"subject": format!("s{n}"), "body": "b", "to": to});
        let sent = relay.tool("api", "send", send).await;
        let recipients = sent["recipients"].as_array().unwrap();
        let names: Vec<&Value> = recipients.iter().map(|row| &row["part"]).collect();
        assert_eq!(names, parts);
    }
}

#[tokio::test]
async fn tools_026_a_body_that_looks_like_json_stays_text() {
    let relay = Relay::start().await;
    for (body, stored) in [
        (json!("{\"a\":1}"), "{\"a\":1}"),
        (json!(42), "42"),
        (json!("half \u{fffd} é"), "half \u{fffd} é"),
    ] {
        let send = json!({"subject": "s", "body": body, "to": ["web"]});
        let sent = relay.tool("api", "send", send).await;
        let shown = relay
            .tool("web", "show", json!({"threadId": sent["threadId"]}))
            .await;
        assert_eq!(shown["messages"][0]["body"], stored);
    }
    let send = json!({"subject": "s", "body": {"a": 1}, "to": ["web"]});
    let refusal = relay.refusal("api", "send", send).await;
    assert_eq!(refusal["error"], "invalid_argument");
}

#[tokio::test]
async fn tools_027_an_unknown_argument_is_named() {
    let relay = Relay::start().await;
    let send = json!({"subject": "s", "body": "b", "to": ["web"], "urgnet": true});
    let sent = relay.tool("api", "send", send).await;
    assert_eq!(sent["ignored"], json!(["urgnet"]));
    let inbox = relay.tool("web", "inbox", json!({"foo": 1})).await;
    let last = inbox.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"ignored": ["foo"]}));
    assert_eq!(inbox.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tools_105_case_m23_blocks_have_the_promised_form() {
    let relay = Relay::start().await;
    let none = relay.blocks("web", "inbox", json!({})).await.0;
    assert_eq!(none, ["no messages", "[]"]);
    for n in 1..=2 {
        let send = json!({"subject": format!("s{n}"), "body": "é\n😀", "to": ["web"]});
        let params = json!({"name": "send", "arguments": send});
        let result = relay.result("api", "tools/call", params).await;
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        assert_eq!(result.get("structuredContent"), None);
        let blocks = relay.blocks("web", "inbox", json!({"x": n})).await.0;
        let first = if n == 1 { "1 message" } else { "2 messages" };
        assert_eq!(blocks[0], first);
        assert!(serde_json::from_str::<Value>(&blocks[0]).is_err());
        assert!(blocks[1].contains("é 😀"), "{}", blocks[1]);
        assert!(blocks[1].starts_with("[{\"messageId\":"), "{}", blocks[1]);
    }
    for (tool, arguments, first) in [
        ("threads", json!({}), "2 threads"),
        ("search", json!({"query": "😀"}), "2 threads"),
        ("search", json!({"query": "nowhere"}), "no threads"),
        ("roster", json!({}), "3 parts"),
    ] {
        let blocks = relay.blocks("web", tool, arguments).await.0;
        assert_eq!((blocks.len(), blocks[0].as_str()), (2, first), "{tool}");
        assert!(serde_json::from_str::<Vec<Value>>(&blocks[1]).is_ok());
    }
    let (blocks, refused) = relay.blocks("web", "ack", json!({})).await;
    assert_eq!((blocks.len(), refused), (1, true));
}

#[tokio::test]
async fn case_m24_no_tool_promises_an_output_schema_and_every_result_is_text() {
    let relay = Relay::start().await;
    let list = relay.result("web", "tools/list", json!({})).await;
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!(tool.get("outputSchema"), None, "{tool}");
        // Without arguments some succeed, some are empty, the others refuse; the last is none.
        let name = tool["name"].as_str().unwrap();
        for arguments in [json!({}), json!([1])] {
            let params = json!({"name": name, "arguments": arguments});
            let result = relay.result("web", "tools/call", params).await;
            let refused = result["isError"] == true;
            let mut keys: Vec<&String> = result.as_object().unwrap().keys().collect();
            keys.retain(|key| *key != "isError");
            assert_eq!(keys, ["content"], "{name}");
            let lists = ["inbox", "threads", "roster"].contains(&name);
            let blocks = 1 + usize::from(lists && !refused);
            assert_eq!(
                result["content"].as_array().unwrap().len(),
                blocks,
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn tools_104_a_woken_turn_costs_at_most_1200_bytes_of_results() {
    let relay = Relay::start().await;
    let body = "x".repeat(160);
    let send =
        json!({"subject": "Index on the orders table, when it suits", "body": body, "to": ["web"]});
    relay.tool("api", "send", send).await;
    let mut bytes = 0;
    let mut spend = async |tool: &str, arguments: Value| {
        let (blocks, refused) = relay.blocks("web", tool, arguments).await;
        assert!(!refused, "{blocks:?}");
        bytes += blocks.iter().map(String::len).sum::<usize>();
        serde_json::from_str::<Value>(blocks.last().unwrap()).unwrap()
    };
    let inbox = spend("inbox", json!({"unreadOnly": true})).await;
    assert_eq!(inbox[0]["full"], true);
    let element = inbox[0].to_string().len();
    assert!(element <= 440, "{element}");
    let thread = inbox[0]["threadId"].clone();
    spend(
        "reply",
        json!({"threadId": thread, "body": "Yes, tonight."}),
    )
    .await;
    spend("close", json!({"threadId": thread})).await;
    assert!(bytes <= 1_200, "{bytes}");
}

#[tokio::test]
async fn tools_061_case_a09_the_sixth_empty_inbox_is_answered_with_a_word() {
    let relay = Relay::start().await;
    for n in 1..=5 {
        let blocks = relay.blocks("web", "inbox", json!({})).await.0;
        assert_eq!(blocks, ["no messages", "[]"], "{n}");
    }
    let blocks = relay.blocks("web", "inbox", json!({})).await.0;
    let hint = r#"[{"hint":"No mail. End your turn; you will be woken."}]"#;
    assert_eq!(blocks, ["no messages", hint]);
    let other = relay.blocks("db", "inbox", json!({})).await.0;
    assert_eq!(other[1], "[]");
    let list = relay
        .result("web", "tools/list", json!({}))
        .await
        .to_string();
    assert!(list.contains("end your turn") && list.contains("Do not poll"));
}

#[tokio::test]
async fn case_m31_wrong_arguments_are_results_that_say_what_to_change() {
    let relay = Relay::start().await;
    for (tool, arguments, names) in [
        ("send", json!({"subject": "s", "body": "b"}), "to"),
        ("send", json!({"subject": "s", "to": ["web"]}), "body"),
        ("send", json!({"body": "b", "to": ["web"]}), "subject"),
        (
            "send",
            json!({"subject": "s", "body": "b", "to": ["web"], "fyi": "perhaps"}),
            "fyi",
        ),
        ("reply", json!({"threadId": "x", "body": "b"}), "threadId"),
        ("ack", json!({"messageId": 7}), "messageId"),
        ("show", json!({"threadId": {}}), "threadId"),
        ("threads", json!({"status": "done"}), "status"),
        ("close", json!({"threadId": "x", "lesson": "no"}), "lesson"),
        ("recall", json!({"query": "q", "limit": 21}), "limit"),
        (
            "learn",
            json!({"title": "t", "body": "b", "kind": "joke"}),
            "kind",
        ),
        ("event", json!({"type": ["x"]}), "type"),
    ] {
        let refusal = relay.refusal("db", tool, arguments).await;
        assert_eq!(refusal["error"], "invalid_argument", "{tool}: {refusal}");
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains(names) && message.len() <= 240,
            "{tool}: {message}"
        );
        assert!(refusal.to_string().len() <= 500);
    }
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 0);
}
