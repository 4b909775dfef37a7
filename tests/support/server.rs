//! A relay in this process, on a port of its own, with the project of the specs' cases: `shop` with the parts api, web and db of Kim.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use relayroom::config;
use relayroom::http;
use relayroom::identity;
use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Outcome;
use relayroom::store::ProjectSeq;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Tx;
use relayroom::store::UserSeq;
use relayroom::store::system_clock;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::http::Call;
use super::http::Reply;

/// A running relay; stopped when dropped.
pub struct Relay {
    pub address: SocketAddr,
    pub store: Store,
    pub app: Arc<http::App>,
    pub stop: CancellationToken,
    pub kim: UserSeq,
    pub shop: ProjectSeq,
    /// Connect code of shop.
    pub code: String,
    pub admin: String,
    _folder: TempDir,
    pub serving: Option<JoinHandle<()>>,
    tokens: BTreeMap<String, String>,
    ids: AtomicU64,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub fn now() -> Time {
    system_clock().0
}

impl Relay {
    pub async fn start() -> Self {
        Self::with(http::Settings::default(), &["127.0.0.1:0"]).await
    }

    /// Starts with settings; the first of `listen` is where tests call.
    pub async fn with(settings: http::Settings, listen: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listen: Vec<String> = listen.iter().map(|&text| text.to_owned()).collect();
        let listeners = http::bind(&listen).await.unwrap();
        let addresses: Vec<SocketAddr> = listeners
            .iter()
            .map(|listener| listener.local_addr().unwrap())
            .collect();
        let stop = CancellationToken::new();
        let door = Arc::new(http::Door::new(settings, addresses.clone(), stop.clone()));
        let serving = tokio::spawn(http::serve(Arc::clone(&door), listeners));
        let path: PathBuf = folder.path().join("relay.db");
        let store = Store::open(&path, "", now()).unwrap();
        let (kim, shop) = store.write(furnish).await.unwrap();
        http::admin_token::prepare(&store, now()).await.unwrap();
        let admin = config::read_secret(&config::admin_token_file(store.path())).unwrap();
        let app = door.open(store.clone()).await.unwrap();
        let code = store
            .read(move |connection| project::get(connection, shop))
            .await
            .unwrap()
            .connect_code;
        let mut relay = Self {
            address: addresses[0],
            store,
            app,
            stop,
            kim,
            shop,
            code,
            admin,
            _folder: folder,
            serving: Some(serving),
            tokens: BTreeMap::new(),
            ids: AtomicU64::new(1),
        };
        for part in ["api", "web", "db"] {
            let token = relay.agent_token(part).await;
            relay.tokens.insert(part.to_owned(), token);
        }
        relay
    }

    /// The token of one of the three parts, or of one that joined.
    pub fn token(&self, part: &str) -> &str {
        let token = self.tokens.get(part);
        token.unwrap_or_else(|| panic!("no token was kept for {part}"))
    }

    /// Adds a member of shop, and parts of theirs.
    pub async fn member(&mut self, name: &'static str, level: Level, parts: &[&str]) -> UserSeq {
        let shop = self.shop;
        let user = self
            .write(move |tx| {
                let user = people::add(tx, name, now())?;
                people::set_member(tx, shop, user, level, false, false)?;
                Ok(user)
            })
            .await;
        for &part in parts {
            let slug = part.to_owned();
            self.write(move |tx| part::add(tx, shop, &slug, user, now()))
                .await;
            let binding = Binding::Agent {
                project: shop,
                part: part.to_owned(),
            };
            let token = self.issue_to(user, binding).await;
            self.tokens.insert(part.to_owned(), token);
        }
        user
    }

    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    ) -> T {
        self.store.write(job).await.unwrap()
    }

    /// Issues Kim a token for a name of shop.
    pub async fn agent_token(&self, part: &str) -> String {
        let binding = Binding::Agent {
            project: self.shop,
            part: part.to_owned(),
        };
        self.issue(binding).await
    }

    pub async fn pager_token(&self) -> String {
        self.issue(Binding::Pager {
            machine: "vm".into(),
        })
        .await
    }

    pub async fn issue(&self, binding: Binding) -> String {
        self.issue_to(self.kim, binding).await
    }

    pub async fn issue_to(&self, user: UserSeq, binding: Binding) -> String {
        self.write(move |tx| token::issue(tx, user, &binding, "", None, now()))
            .await
            .0
    }

    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.address, method, path)
    }

    /// A POST to shop's MCP endpoint with a good token, without a body.
    pub fn mcp(&self, part: &str) -> Call {
        self.call("POST", &format!("/mcp/{}?part={part}", self.code))
            .bearer(self.token(part))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    /// A JSON-RPC request with an id of its own.
    pub fn rpc(&self, method: &str, params: Value) -> Value {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// The result of a call that must succeed on the level of JSON-RPC.
    pub async fn result(&self, part: &str, method: &str, params: Value) -> Value {
        let reply = self.mcp(part).json(&self.rpc(method, params)).send().await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["result"].clone()
    }

    /// Calls a tool; the texts of its blocks and `isError`.
    pub async fn blocks(&self, part: &str, tool: &str, arguments: Value) -> (Vec<String>, bool) {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.result(part, "tools/call", params).await;
        let content = result["content"].as_array().unwrap();
        let texts = content
            .iter()
            .map(|block| {
                assert_eq!(block["type"], "text");
                block["text"].as_str().unwrap().to_owned()
            })
            .collect();
        (texts, result["isError"] == true)
    }

    /// Calls a tool that must not refuse; its JSON.
    pub async fn tool(&self, part: &str, tool: &str, arguments: Value) -> Value {
        let (texts, refused) = self.blocks(part, tool, arguments).await;
        assert!(!refused, "{tool}: {texts:?}");
        serde_json::from_str(texts.last().unwrap()).unwrap()
    }

    /// Calls a tool that must refuse; the refusal.
    pub async fn refusal(&self, part: &str, tool: &str, arguments: Value) -> Value {
        let (texts, refused) = self.blocks(part, tool, arguments).await;
        assert!(refused, "{tool}: {texts:?}");
        assert_eq!(texts.len(), 1);
        serde_json::from_str(&texts[0]).unwrap()
    }

    /// A number out of the file.
    pub async fn count(&self, sql: &'static str) -> i64 {
        self.store
            .read(move |connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
            .await
            .unwrap()
    }

    pub async fn admin_get(&self, path: &str) -> Reply {
        self.call("GET", path).bearer(&self.admin).send().await
    }
}

fn furnish(tx: &Tx<'_>) -> Outcome<(UserSeq, ProjectSeq)> {
    let now = now();
    identity::found(tx, "Kim", now)?;
    let kim = people::first_owner(tx)?.seq;
    let shop = project::create(tx, kim, "shop", now)?.seq;
    for name in ["api", "web", "db"] {
        part::add(tx, shop, name, kim, now)?;
    }
    Ok((kim, shop))
}
