//! `/api/playbook` and the versions behind it (knowledge.md 10, access.md 6).

use relayroom::identity::project;
use relayroom::knowledge;
use relayroom::knowledge::NewEntry;
use relayroom::knowledge::playbook;
use relayroom::store::Outcome;
use relayroom::store::Tx;
use serde_json::Value;
use serde_json::json;

use crate::support::http::Reply;
use crate::support::server::Relay;
use crate::support::server::now;

async fn ask(relay: &Relay, part: &str, known: &str) -> Reply {
    relay
        .call("GET", &format!("/api/playbook?part={part}"))
        .header("x-relayroom-code", &relay.code)
        .header("if-none-match", known)
        .send()
        .await
}

async fn put(relay: &Relay, change: Value) -> Value {
    let reply = relay
        .call("PUT", "/api/admin/playbook")
        .bearer(&relay.admin)
        .json(&change)
        .send()
        .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()
}

async fn trust(relay: &Relay, title: &'static str, ends: Option<i64>) {
    let (shop, kim) = (relay.shop, relay.kim);
    let add = move |tx: &Tx<'_>| -> Outcome<()> {
        let entry = NewEntry::check("fact", title, "First line.\nSecond line.")?;
        let id = knowledge::add(tx, shop, kim, &entry, true, now())?;
        tx.execute(
            "UPDATE knowledge SET expires_at = ?2 WHERE id = ?1",
            (id, ends.map(|ms| now().0 + ms)),
        )?;
        Ok(())
    };
    relay.write(add).await;
}

#[tokio::test]
async fn the_text_comes_with_its_names_and_only_if_it_changed() {
    let relay = Relay::start().await;
    let first = ask(&relay, "web", "").await;
    assert_eq!(first.status, 200);
    assert!(first.body.starts_with(playbook::BUILT_IN));
    assert!(first.body.ends_with("\nNo main agent is set.\n"));
    let kind = first.header("content-type").unwrap();
    assert!(kind.starts_with("text/markdown"), "{kind}");
    let etag = first.header("etag").unwrap();
    assert_eq!(ask(&relay, "web", etag).await.status, 304);
    assert_eq!(ask(&relay, "web", "\"other\"").await.status, 200);

    assert_eq!(ask(&relay, "nobody", "").await.status, 404);
    let no_code = relay.call("GET", "/api/playbook?part=web").send().await;
    assert_eq!(no_code.status, 404);
    let agent = relay
        .call("GET", "/api/playbook?part=web")
        .header("x-relayroom-code", &relay.code)
        .bearer(relay.token("web"));
    assert_eq!(agent.send().await.status, 401);
    let pager = relay
        .call("GET", "/api/playbook?part=web")
        .header("x-relayroom-code", &relay.code)
        .bearer(&relay.pager_token().await);
    assert_eq!(pager.send().await.body, first.body);
}

#[tokio::test]
async fn knowledge_038_three_trusted_facts_make_a_block_of_at_most_ten() {
    let relay = Relay::start().await;
    let hash = async || {
        let reply = ask(&relay, "web", "").await;
        reply
            .header("x-relayroom-playbook-hash")
            .unwrap()
            .to_owned()
    };
    let lines = async || {
        let text = ask(&relay, "web", "").await.body;
        text.lines()
            .filter(|line| line.starts_with("- fact: "))
            .count()
    };
    let before = hash().await;
    trust(&relay, "One", None).await;
    trust(&relay, "Two", None).await;
    assert_eq!((lines().await, hash().await), (0, before.clone()));
    trust(&relay, "Gone", Some(-1)).await;
    assert_eq!(lines().await, 0, "knowledge_033: expired a moment ago");
    trust(&relay, "Three", Some(3_600_000)).await;
    assert_eq!(lines().await, 3);
    assert_ne!(hash().await, before);
    let text = ask(&relay, "web", "").await.body;
    assert!(text.contains("- fact: Three. First line.\n"), "{text}");

    let before = hash().await;
    let etag = ask(&relay, "web", "")
        .await
        .header("etag")
        .unwrap()
        .to_owned();
    let shop = relay.shop;
    relay
        .write(move |tx| {
            let web = relayroom::identity::part::by_slug(tx, shop, "web")?.unwrap();
            project::set_main(tx, shop, Some(web.seq))
        })
        .await;
    let after = ask(&relay, "web", &etag).await;
    assert_eq!(after.status, 200, "the whole text is another");
    assert!(after.body.ends_with("\nThe main agent is web.\n"));
    assert_eq!(hash().await, before);

    for _ in 0..12 {
        trust(&relay, "More", None).await;
    }
    assert_eq!(lines().await, 10);
}

#[tokio::test]
async fn knowledge_039_versions_are_kept_rolled_back_to_and_cleaned() {
    let relay = Relay::start().await;
    for (text, version) in [("First.", 1), ("Second.", 2), ("Third.", 3)] {
        assert_eq!(put(&relay, json!({"text": text})).await["version"], version);
    }
    assert!(ask(&relay, "web", "").await.body.starts_with("Third.\n"));
    assert_eq!(put(&relay, json!({"rollback": 1})).await["version"], 4);
    assert!(ask(&relay, "web", "").await.body.starts_with("First.\n"));
    let shown = relay.admin_get("/api/admin/playbook").await.json();
    let versions = shown["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 4);
    assert_eq!(versions[0]["sha256"], versions[3]["sha256"]);
    assert_eq!(versions[0]["author"], "Kim");

    let secret = format!("Use ghp_{} here.", "a1".repeat(20));
    assert_eq!(put(&relay, json!({"text": secret})).await["removed"], 1);
    assert!(
        ask(&relay, "web", "")
            .await
            .body
            .starts_with("Use  here.\n")
    );
    assert_eq!(put(&relay, json!({"text": " \n"})).await["version"], 6);
    let text = ask(&relay, "web", "").await.body;
    assert!(text.starts_with(playbook::BUILT_IN));

    let refused = async |change: Value| {
        let call = relay
            .call("PUT", "/api/admin/playbook")
            .bearer(&relay.admin);
        call.json(&change).send().await.status
    };
    assert_eq!(refused(json!({"rollback": 9})).await, 404);
    assert_eq!(refused(json!({"text": "é".repeat(20_001)})).await, 413);
    assert_eq!(refused(json!({})).await, 400);
    assert_eq!(
        relay.count("SELECT count(*) FROM playbook").await,
        6,
        "nothing refused was stored"
    );
}
