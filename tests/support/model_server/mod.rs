//! A model server on loopback for running real agent CLIs without a login: Anthropic Messages, OpenAI Responses and Gemini
//! generateContent, streamed.
//!
//! It keeps what every prompt was, so that a test can tell ours from a stray one. It is also the proxy the CLIs are told to use for
//! everything else: it refuses each such connection, so that none leaves this machine.

mod request;
mod script;
mod usage;
mod wire;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::body::Bytes;
use axum::body::HttpBody;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::Response;
use http::Method;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use hyper::body::Frame;
use relayroom::store::Time;
use relayroom::store::system_clock;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::sync::watch;

pub use self::request::Dialect;
use self::request::Request;
pub use self::script::Block;
pub use self::usage::Usage;
use self::wire::Answer;

/// Largest request read, in bytes.
const BODY_LIMIT: usize = 64 << 20;

/// A request for an answer, and what became of it.
#[derive(Debug, Clone)]
pub struct Heard {
    pub at: Time,
    /// Asked beside the turns: a title, a summary.
    pub side: bool,
    /// What this request says for the first time; empty where it goes on with a turn.
    pub prompts: Vec<String>,
    /// The prompt whose turn it belongs to.
    pub turn: String,
    pub answer: Vec<Block>,
    /// What the answer says it cost.
    pub usage: Usage,
    /// When the answer was out to its end; never, if the CLI broke it off.
    pub done: Option<Time>,
}

impl Heard {
    /// Whether its answer ends the turn.
    pub fn ends_turn(&self) -> bool {
        !self.side
            && self
                .answer
                .iter()
                .all(|block| matches!(block, Block::Text(_)))
    }
}

struct Shared {
    heard: Mutex<Vec<Heard>>,
    outside: Mutex<BTreeSet<String>>,
    /// While true, no turn begun by a wake is answered.
    hold: watch::Sender<bool>,
}

/// A running server; stopped when dropped.
pub struct ModelServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    _runtime: Runtime,
}

impl ModelServer {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let shared = Arc::new(Shared {
            heard: Mutex::default(),
            outside: Mutex::default(),
            hold: watch::Sender::new(false),
        });
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            shared,
            _runtime: runtime,
        }
    }

    /// Everything asked so far, oldest first.
    pub fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }

    /// The prompts of all turns so far, oldest first.
    pub fn prompts(&self) -> Vec<String> {
        let heard = self.heard();
        heard
            .into_iter()
            .filter(|heard| !heard.side)
            .flat_map(|heard| heard.prompts)
            .collect()
    }

    /// Places outside that a CLI asked for and was refused.
    pub fn outside(&self) -> BTreeSet<String> {
        self.shared.outside.lock().unwrap().clone()
    }

    /// Lets turns begun by a wake wait for their first answer, or go on.
    pub fn hold_mail(&self, hold: bool) {
        self.shared.hold.send_replace(hold);
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: axum::extract::Request) -> Response {
    if request.method() == Method::CONNECT {
        let place = request.uri().to_string();
        shared.outside.lock().unwrap().insert(place);
        return StatusCode::FORBIDDEN.into_response();
    }
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let Some(dialect) = Dialect::of(&path).filter(|_| head.method == Method::POST) else {
        return axum::Json(
            json!({"data": [], "models": [], "input_tokens": 10, "totalTokens": 10}),
        )
        .into_response();
    };
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let raw = String::from_utf8_lossy(&body).into_owned();
    let request = Request::read(&path, raw);
    let (at, _) = system_clock();
    let blocks = script::decide(&request);
    let (number, usage) = {
        let mut heard = shared.heard.lock().unwrap();
        let mut prompts = request.newest_prompts();
        prompts.retain(|prompt| request.times_said(prompt) > times_heard(&heard, prompt));
        let number = heard.len();
        let usage = Usage::of(dialect, number);
        heard.push(Heard {
            at,
            side: request.is_side(),
            prompts,
            turn: request.turn().0,
            answer: blocks.clone(),
            usage,
            done: None,
        });
        (number, usage)
    };
    let answer = Answer {
        id: format!("n{number}t{}", at.0),
        model: request.model.clone(),
        blocks,
        usage,
    };
    let think = script::think_ms(&request);
    if script::is_mail(&request) {
        let mut hold = shared.hold.subscribe();
        let _ = hold.wait_for(|hold| !hold).await;
    }
    tokio::time::sleep(Duration::from_millis(think)).await;
    if !request.stream {
        shared.done(number);
        return axum::Json(answer.whole(dialect)).into_response();
    }
    let pause = Duration::from_millis(think / answer.words().max(1) as u64);
    let (out, pieces) = mpsc::channel(1);
    tokio::spawn(async move {
        for (paced, piece) in answer.stream(dialect) {
            if paced {
                tokio::time::sleep(pause).await;
            }
            if out.send(Bytes::from(piece)).await.is_err() {
                return;
            }
        }
        shared.done(number);
    });
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::new(Pieces(pieces)),
    )
        .into_response()
}

fn times_heard(heard: &[Heard], prompt: &str) -> usize {
    let turns = heard.iter().filter(|heard| !heard.side);
    turns
        .flat_map(|heard| &heard.prompts)
        .filter(|heard| *heard == prompt)
        .count()
}

impl Shared {
    fn done(&self, number: usize) {
        self.heard.lock().unwrap()[number].done = Some(system_clock().0);
    }
}

/// A body that comes piece by piece.
struct Pieces(mpsc::Receiver<Bytes>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
