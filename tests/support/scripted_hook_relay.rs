//! A relay that says what the test tells it to: it speaks the hook's routes, keeps all it heard, and can refuse, delay and forget.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;
use std::time::Instant;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::Response;
use axum::routing::get;
use axum::routing::post;
use relayroom::api::hook::ActivityAnswer;
use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::ActivityReport;
use relayroom::api::hook::UsageAnswer;
use relayroom::api::hook::UsageReport;
use relayroom::api::hook::UsageRow;
use tokio::sync::oneshot;

use super::scripted_relay::Heard;
use super::scripted_relay::Instead;
use super::scripted_relay::bearer;
use super::scripted_relay::meet;
use super::wait::until;

/// What the relay serves as playbook.
pub struct Playbook {
    pub text: String,
    pub hash: String,
    pub etag: String,
}

/// Everything a test may look at and change.
#[derive(Default)]
pub struct Script {
    pub activities: Vec<Heard<ActivityReport>>,
    pub posts: Vec<Heard<UsageReport>>,
    /// The rows by key, each number the largest that came, as the relay keeps them.
    pub rows: BTreeMap<String, UsageRow>,
    /// Rows that changed nothing.
    pub same: u64,
    /// Met by every call.
    pub instead: Option<Instead>,
    /// Met by calls with rows.
    pub rows_instead: Option<Instead>,
    pub playbook: Option<Playbook>,
    pub playbook_calls: u32,
}

type Shared = Arc<Mutex<Script>>;

/// A running relay; it ends with the value.
pub struct HookRelay {
    shared: Shared,
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
}

impl HookRelay {
    /// Starts one.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut relay = Self {
            shared: Arc::default(),
            address,
            end: None,
        };
        relay.serve(listener);
        relay
    }

    fn serve(&mut self, listener: TcpListener) {
        let (end, ended) = oneshot::channel();
        self.end = Some(end);
        let shared = Arc::clone(&self.shared);
        listener.set_nonblocking(true).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let app = Router::new()
                    .route("/api/activity", post(activity))
                    .route("/api/usage", post(usage))
                    .route("/api/playbook", get(playbook))
                    .with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    done = axum::serve(listener, app) => done.unwrap(),
                    _ = ended => {}
                }
            });
        });
    }

    /// Goes away.
    pub fn go_down(&mut self) {
        self.end = None;
        until(Duration::from_secs(10), "the relay is gone", || {
            std::net::TcpStream::connect(self.address).is_err()
        });
    }

    /// Comes back at the same address.
    pub fn come_back(&mut self) {
        let mut listener = None;
        until(Duration::from_secs(10), "the relay is back", || {
            listener = TcpListener::bind(self.address).ok();
            listener.is_some()
        });
        self.serve(listener.unwrap());
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The script, to read and to change.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.shared.lock().unwrap()
    }

    /// The kinds of the activities, in order.
    pub fn kinds(&self) -> Vec<ActivityKind> {
        let script = self.script();
        script
            .activities
            .iter()
            .map(|heard| heard.call.kind)
            .collect()
    }

    /// The last activity.
    pub fn last(&self) -> ActivityReport {
        self.script().activities.last().unwrap().call.clone()
    }

    /// Sums of all rows: input, cache read, cache write, of it for an hour, output, reasoning.
    pub fn sums(&self) -> [u64; 6] {
        let mut sums = [0; 6];
        for row in self.script().rows.values() {
            for (sum, value) in sums.iter_mut().zip(counts(row)) {
                *sum += value;
            }
        }
        sums
    }
}

/// A row's numbers, in the order of [`HookRelay::sums`].
pub fn counts(row: &UsageRow) -> [u64; 6] {
    [
        row.input_tokens,
        row.cache_read_tokens,
        row.cache_write_tokens,
        row.cache_write_1h_tokens,
        row.output_tokens,
        row.reasoning_tokens,
    ]
}

async fn activity(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let call: ActivityReport = serde_json::from_slice(&body).unwrap();
    let instead = shared.lock().unwrap().instead.clone();
    if let Some(instead) = instead {
        return meet(instead).await;
    }
    let turn = call.turn.clone();
    shared.lock().unwrap().activities.push(Heard {
        at: Instant::now(),
        bearer: bearer(&headers),
        call,
    });
    Json(ActivityAnswer { ok: true, turn }).into_response()
}

async fn usage(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let call: UsageReport = serde_json::from_slice(&body).unwrap();
    let instead = {
        let script = shared.lock().unwrap();
        script.instead.clone().or(script.rows_instead.clone())
    };
    if let Some(instead) = instead {
        return meet(instead).await;
    }
    let mut script = shared.lock().unwrap();
    let mut answer = UsageAnswer {
        ok: true,
        ..UsageAnswer::default()
    };
    for row in &call.rows {
        match script.rows.get_mut(&row.key) {
            None => {
                answer.new += 1;
                script.rows.insert(row.key.clone(), row.clone());
            }
            Some(known) => {
                let before = known.clone();
                raise(known, row);
                if *known == before {
                    answer.same += 1;
                } else {
                    answer.raised += 1;
                }
            }
        }
    }
    script.same += answer.same;
    script.posts.push(Heard {
        at: Instant::now(),
        bearer: bearer(&headers),
        call,
    });
    Json(answer).into_response()
}

fn raise(known: &mut UsageRow, row: &UsageRow) {
    known.input_tokens = known.input_tokens.max(row.input_tokens);
    known.output_tokens = known.output_tokens.max(row.output_tokens);
    known.cache_read_tokens = known.cache_read_tokens.max(row.cache_read_tokens);
    known.cache_write_tokens = known.cache_write_tokens.max(row.cache_write_tokens);
    known.cache_write_1h_tokens = known.cache_write_1h_tokens.max(row.cache_write_1h_tokens);
    known.reasoning_tokens = known.reasoning_tokens.max(row.reasoning_tokens);
}

async fn playbook(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let mut script = shared.lock().unwrap();
    script.playbook_calls += 1;
    let Some(playbook) = &script.playbook else {
        return axum::http::StatusCode::NOT_FOUND.into_response();
    };
    let etag = format!("\"{}\"", playbook.etag);
    if headers
        .get("if-none-match")
        .is_some_and(|known| known == etag.as_str())
    {
        return axum::http::StatusCode::NOT_MODIFIED.into_response();
    }
    let names = [
        ("etag", etag),
        ("x-relayroom-playbook-hash", playbook.hash.clone()),
    ];
    (names, playbook.text.clone()).into_response()
}
