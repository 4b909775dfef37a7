//! Answers too large for a client (case M25): they come in pages, and only what was given counts as given.

use std::collections::BTreeSet;

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::SendArgs;
use relayroom::store::Outcome;
use serde_json::Value;
use serde_json::json;

use crate::support::server::Relay;
use crate::support::server::now;

/// Most bytes of a list, and of a `show` (tools.md 4 and 6).
const LIST: usize = 24 << 10;
const SHOW: usize = 48 << 10;

const MANY: usize = 300;

/// Kim, who has no brakes, writes to web; the first of the threads.
async fn write(relay: &Relay, mails: Vec<(String, String)>) -> String {
    let (user, project) = (relay.kim, relay.shop);
    let mut sent = relay
        .write(move |tx| {
            mails
                .into_iter()
                .map(|(subject, body)| {
                    let args = SendArgs {
                        subject,
                        body,
                        to: vec!["web".into()],
                        ..SendArgs::default()
                    };
                    messaging::send(tx, &Author::Person { user, project }, &args, now())
                })
                .collect::<Outcome<Vec<_>>>()
        })
        .await;
    sent.remove(0).thread_id
}

#[tokio::test]
async fn case_m25_a_full_inbox_comes_in_pages_and_only_what_was_given_counts() {
    let relay = Relay::start().await;
    let body = "\u{96e8}".repeat((65_536 / 3) - 1) + "end.";
    let mut mails = vec![("large".to_owned(), body.clone())];
    let long = "\u{6f22}".repeat(190);
    mails.extend((1..MANY).map(|n| (format!("{n} {long}"), "x".repeat(1_000))));
    let large = write(&relay, mails).await;
    let mut arguments = json!({"unreadOnly": true, "limit": 50});
    let mut given = BTreeSet::new();
    let seen = "SELECT count(*) FROM recipient WHERE seen_at IS NOT NULL";
    loop {
        let (blocks, refused) = relay.blocks("web", "inbox", arguments.clone()).await;
        assert!(!refused && blocks[1].len() <= LIST, "{}", blocks[1].len());
        let page: Vec<Value> = serde_json::from_str(&blocks[1]).unwrap();
        let ids = page.iter().filter_map(|row| row["messageId"].as_str());
        let before = given.len();
        given.extend(ids.map(str::to_owned));
        assert!(given.len() > before, "each page has something new");
        relay.write(|_| Ok(())).await;
        assert_eq!(relay.count(seen).await, i64::try_from(given.len()).unwrap());
        if given.len() == MANY {
            break;
        }
        // A cut page says so; one of full length is followed by its last id.
        let last = page.last().unwrap();
        arguments["before"] = if last["more"] == true {
            last["before"].clone()
        } else {
            last["messageId"].clone()
        };
    }
    let unread = relay.tool("web", "whoami", json!({})).await["unread"].clone();
    assert_eq!(unread, MANY, "given is not read");

    let mut arguments = json!({"threadId": large});
    let mut pieces = String::new();
    loop {
        let (blocks, _) = relay.blocks("web", "show", arguments.clone()).await;
        assert!(blocks[0].len() <= SHOW, "{}", blocks[0].len());
        let shown: Value = serde_json::from_str(&blocks[0]).unwrap();
        pieces += shown["messages"][0]["body"].as_str().unwrap();
        if shown["more"] != true {
            break;
        }
        assert_eq!(shown["messages"][0]["cut"], true);
        arguments["after"] = shown["after"].clone();
    }
    assert_eq!(pieces, body);
}
