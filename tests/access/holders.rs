//! Who holds a token, and what changes under them between two calls (access.md 1–3; case A10).

use relayroom::identity::Level;
use relayroom::identity::people;
use relayroom::identity::token;
use relayroom::store::Error;
use relayroom::wake;
use serde_json::Value;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::http::Call;
use crate::support::http::PATIENCE;
use crate::support::http::Reply;
use crate::support::server::Relay;
use crate::support::server::now;

/// A whole call of the cheapest tool, with this token.
fn whoami(relay: &Relay, token: &str) -> Call {
    let body = relay.rpc("tools/call", json!({"name": "whoami"}));
    let path = format!("/mcp/{}", relay.code);
    relay.call("POST", &path).bearer(token).json(&body)
}

fn outcome(reply: &Reply) -> (u16, String) {
    (reply.status, reply.reason())
}

/// One connection for several calls, as agents keep it.
struct Kept(TcpStream);

impl Kept {
    async fn ask(&mut self, call: &Call) -> Reply {
        let text = String::from_utf8(call.bytes()).unwrap();
        let text = text.replace("connection: close\r\n", "");
        self.0.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let whole = async {
            loop {
                self.0.read_buf(&mut answer).await.unwrap();
                let reply = Reply::parse(&answer);
                let length = reply.header("content-length");
                if length == Some(&reply.body.len().to_string()) {
                    return reply;
                }
            }
        };
        tokio::time::timeout(PATIENCE, whole).await.unwrap()
    }
}

#[tokio::test]
async fn access_009_a_name_somebody_else_took_meanwhile_is_not_shared() {
    let mut relay = Relay::start().await;
    let kims = relay.agent_token("ops").await;
    relay.member("Lee", Level::Write, &["ops"]).await;
    let reply = whoami(&relay, &kims).send().await;
    assert_eq!(outcome(&reply), (403, "part_taken".into()));
    // A use is posted, not waited for; any later write stands behind it.
    relay.write(|_| Ok(())).await;
    let used = "SELECT count(*) FROM token WHERE last_used_at IS NOT NULL AND part_slug = 'ops'";
    assert_eq!(relay.count(used).await, 0);
    assert_eq!(relay.tool("ops", "whoami", json!({})).await["part"], "ops");
    let owner = "SELECT count(*) FROM part AS p JOIN user AS u ON u.seq = p.owner
                  WHERE p.slug = 'ops' AND u.name = 'Lee'";
    assert_eq!(relay.count(owner).await, 1);
}

#[tokio::test]
async fn access_011_a_revoked_token_ends_with_the_next_call_and_others_go_on() {
    let relay = Relay::start().await;
    let second = relay.agent_token("web").await;
    let mut connected = Kept(TcpStream::connect(relay.address).await.unwrap());
    let call = whoami(&relay, relay.token("web"));
    assert_eq!(connected.ask(&call).await.status, 200);

    let listed = relay.admin_get("/api/admin/tokens").await.json();
    let mut of_web = listed["tokens"].as_array().unwrap().clone();
    of_web.retain(|token| token["part"] == "web");
    assert_eq!(of_web.len(), 2, "{listed}");
    let first = of_web[0]["id"].as_str().unwrap();
    let path = format!("/api/admin/tokens/{first}");
    let revoked = relay.call("DELETE", &path).bearer(&relay.admin);
    assert_eq!(revoked.send().await.status, 200);

    let reply = connected.ask(&call).await;
    assert_eq!(outcome(&reply), (401, "token_unknown".into()));
    assert!(reply.body.contains("revoked"), "{}", reply.body);
    assert_eq!(whoami(&relay, &second).send().await.status, 200);
}

#[tokio::test]
async fn access_017_urgency_is_granted_and_taken_between_two_calls() {
    let mut relay = Relay::start().await;
    let lee = relay.member("Lee", Level::Write, &["ops"]).await;
    let shop = relay.shop;
    for (n, granted) in [false, true, false].into_iter().enumerate() {
        relay
            .write(move |tx| people::set_member(tx, shop, lee, Level::Write, granted, false))
            .await;
        let send = json!({"subject": format!("s{n}"), "body": "b", "to": ["web"], "urgent": true});
        if granted {
            relay.tool("ops", "send", send).await;
        } else {
            let refusal = relay.refusal("ops", "send", send).await;
            assert_eq!(refusal["error"], "urgent_not_granted");
        }
    }
    let urgent = "SELECT count(*) FROM message WHERE urgent = 1";
    assert_eq!(relay.count(urgent).await, 1);
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 1);
}

#[tokio::test]
async fn access_019_a_ban_cancels_wakes_and_closes_every_door_until_it_ends() {
    let mut relay = Relay::start().await;
    let lee = relay.member("Lee", Level::Write, &["ops", "qa"]).await;
    let send = json!({"subject": "s", "body": "b", "to": ["ops", "qa"]});
    relay.tool("api", "send", send).await;
    let shop = relay.shop;
    let ban = async |banned| {
        relay
            .write(move |tx| {
                people::set_banned(tx, shop, lee, banned, now())?;
                wake::consider_owner(tx, lee, now())
            })
            .await;
    };
    let open = "SELECT count(*) FROM wake WHERE ended_at IS NULL";
    let canceled = "SELECT count(*) FROM wake WHERE outcome = 'canceled'";
    let poll = json!({"pager": "9f3c", "machine": "vm", "version": "0", "wait_ms": 0, "parts":
        [{"code": relay.code, "part": "ops"}, {"code": relay.code, "part": "web"}]});
    let poll = relay.call("POST", "/api/pager/poll").json(&poll);
    assert_eq!(
        (relay.count(open).await, relay.count(canceled).await),
        (2, 0)
    );

    ban(true).await;
    assert_eq!(
        (relay.count(open).await, relay.count(canceled).await),
        (0, 2)
    );
    for part in ["ops", "qa"] {
        let reply = whoami(&relay, relay.token(part)).send().await;
        assert_eq!(outcome(&reply), (403, "banned".into()), "{part}");
    }
    let entries = poll.clone().send().await.json()["parts"].clone();
    assert_eq!(entries[0]["error"], "banned");
    assert_eq!(entries[1].get("error"), None);

    ban(false).await;
    for part in ["ops", "qa"] {
        assert_eq!(relay.tool(part, "whoami", json!({})).await["unread"], 1);
    }
    let entries = poll.send().await.json()["parts"].clone();
    assert!(entries[0]["wake"].is_object(), "{entries}");

    let kim = relay.kim;
    let last = relay
        .store
        .write(move |tx| people::set_banned(tx, shop, kim, true, now()))
        .await;
    match last {
        Err(Error::Refusal(refusal)) => assert_eq!(refusal.code, "conflict"),
        other => panic!("the last owner was banned: {other:?}"),
    }
}

#[tokio::test]
async fn access_021_two_that_add_one_name_at_once_make_one_part() {
    let relay = Relay::start().await;
    let add = || {
        let call = relay.call("POST", "/api/admin/parts").bearer(&relay.admin);
        call.json(&json!({"part": "ops"})).send()
    };
    let (one, other) = tokio::join!(add(), add());
    let (made, refused) = if one.status == 200 {
        (one, other)
    } else {
        (other, one)
    };
    assert_eq!(made.status, 200, "{}", made.body);
    assert_eq!(outcome(&refused), (409, "conflict".into()));
    let token = made.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(whoami(&relay, &token).send().await.status, 200);
    let parts = "SELECT count(*) FROM part WHERE slug = 'ops'";
    let tokens = "SELECT count(*) FROM token WHERE part_slug = 'ops'";
    assert_eq!(
        (relay.count(parts).await, relay.count(tokens).await),
        (1, 1)
    );
}

#[tokio::test]
async fn access_024_a_valid_token_meets_no_challenge_whatever_the_answer() {
    let relay = Relay::start().await;
    let web = relay.token("web");
    let tools = relay.result("web", "tools/list", json!({})).await;
    assert_eq!(tools["tools"].as_array().unwrap().len(), 14);
    let at = |path: &str| relay.call("POST", path).bearer(web);
    let call = whoami(&relay, web);
    let other = format!("/mcp/{}?part=api", relay.code);
    for (call, status) in [
        (call.clone(), 200),
        (at(&other), 403),
        (call.clone().header("host", "evil.example"), 403),
        (at("/mcp/nothing"), 404),
        (relay.call("GET", &other).bearer(web), 405),
        (call.clone().header("accept", "text/html"), 406),
        (call.clone().body(" ".repeat((1 << 20) + 1)), 413),
        (call.clone().header("content-type", "text/plain"), 415),
        (call.body("{bad"), 400),
    ] {
        let reply = call.send().await;
        assert_eq!(reply.status, status, "{}", reply.body);
        assert_eq!(reply.header("www-authenticate"), None, "{status}");
    }
}

#[tokio::test]
async fn case_a10_agents_alike_in_all_but_the_token_stay_apart() {
    let relay = Relay::start().await;
    // One machine, one folder, one client, one session id.
    let alike = |token: &str| {
        let call = whoami(&relay, token).header("mcp-session-id", "one");
        call.header("user-agent", "claude-code/2.1.250").send()
    };
    for part in ["api", "web"] {
        let reply = alike(relay.token(part)).await;
        let named = format!("\\\"part\\\":\\\"{part}\\\"");
        assert!(reply.body.contains(&named), "{}", reply.body);
    }
    // The same name again, for another pane.
    let again = relay.call("POST", "/api/admin/parts").bearer(&relay.admin);
    let again = again.json(&json!({"part": "web"})).send().await;
    assert_eq!(outcome(&again), (409, "conflict".into()));

    // The agent started anew with a new token is the same part; the old token is told when it ends.
    let send = json!({"subject": "s", "body": "b", "to": ["web"]});
    relay.tool("api", "send", send).await;
    let fresh = relay.agent_token("web").await;
    for token in [relay.token("web"), &fresh] {
        let reply = alike(token).await;
        assert!(reply.body.contains("\\\"unread\\\":1"), "{}", reply.body);
    }
    let old = relay.token("web").to_owned();
    relay
        .write(move |tx| {
            let row = token::find(tx, &old)?.unwrap();
            token::revoke(tx, &row.id, now())
        })
        .await;
    let reply = alike(relay.token("web")).await;
    assert_eq!(outcome(&reply), (401, "token_unknown".into()));
    assert_eq!(alike(&fresh).await.status, 200);

    // A second machine that claims the part is told which one has it.
    let poll = |pager: &str| {
        let poll = json!({"pager": pager, "machine": format!("box {pager}"), "version": "0",
            "wait_ms": 0, "parts": [{"code": relay.code, "part": "web"}]});
        relay.call("POST", "/api/pager/poll").json(&poll).send()
    };
    let first = poll("one").await.json()["parts"][0].clone();
    assert!(first["wake"].is_object(), "{first}");
    let second = poll("two").await.json()["parts"][0].clone();
    assert_eq!(second.get("wake"), None::<&Value>);
    assert_eq!(
        (&second["error"], &second["machine"]),
        (&json!("held"), &json!("box one"))
    );
}
