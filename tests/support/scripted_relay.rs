//! A relay that says what the test tells it to: it speaks the pager's two routes, keeps all it heard, and can refuse, delay and forget.

mod agent;

use std::collections::BTreeMap;
use std::net::SocketAddr;
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
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::Response;
use axum::routing::post;
use relayroom::api::HookSeen;
use relayroom::api::PollAnswer;
use relayroom::api::PollPartAnswer;
use relayroom::api::PollRequest;
use relayroom::api::ReportAnswer;
use relayroom::api::ReportRequest;
use relayroom::api::ReportResult;
use relayroom::api::Stage;
use relayroom::api::TurnView;
use relayroom::api::WakeOffer;
use tokio::sync::Notify;
use tokio::sync::oneshot;

use super::wait::until;

/// The connect code of all scripted parts.
pub const CODE: &str = "CODEabcdefgh1234";
/// The tag of the wakes [`Relay::wake`] offers.
pub const TAG: &str = "kqmwvz";

/// The line of a wake.
pub fn line(tag: &str) -> String {
    format!("relayroom: you have mail, call the inbox tool (tag {tag})")
}

/// What one part is answered.
#[derive(Debug, Clone, Default)]
pub struct PartScript {
    pub wake: Option<WakeOffer>,
    pub turn: TurnView,
    pub unread: u64,
    pub error: Option<String>,
    pub machine: Option<String>,
    pub hook: Option<HookSeen>,
    /// Tag of the wake last offered, until the agent comes for its mail.
    pub open: Option<String>,
}

/// How a call is met instead of being answered.
#[derive(Debug, Clone)]
pub enum Instead {
    /// This status, with `Retry-After` if given.
    Status(u16, Option<u64>),
    /// Nothing at all.
    Silence,
}

/// A call that came in.
#[derive(Debug, Clone)]
pub struct Heard<T> {
    pub at: Instant,
    pub bearer: Option<String>,
    pub call: T,
}

/// Something that depends on the report.
type OfReport<T> = Box<dyn FnMut(&ReportRequest) -> Option<T> + Send>;

/// Everything a test may change.
pub struct Script {
    pub instance: String,
    pub parts: BTreeMap<String, PartScript>,
    pub polls: Vec<Heard<PollRequest>>,
    pub reports: Vec<Heard<ReportRequest>>,
    /// Parts and tags of the wakes whose agents came for their mail, in order.
    pub consumed: Vec<(String, String)>,
    /// Met by every poll.
    pub poll_instead: Option<Instead>,
    /// Met by every report of which this says so.
    pub report_instead: OfReport<Instead>,
    /// The answer to a report, where it is not the usual one.
    pub answer: OfReport<ReportResult>,
    rev: u64,
}

struct Shared {
    script: Mutex<Script>,
    changed: Notify,
}

/// A running relay; it ends with the value.
pub struct Relay {
    shared: Arc<Shared>,
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
}

impl Relay {
    /// Starts one with these parts.
    pub fn start(parts: &[&str]) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(Script {
                instance: "0198c0de-0000-7000-8000-000000000001".to_owned(),
                parts: parts
                    .iter()
                    .map(|part| ((*part).to_owned(), PartScript::default()))
                    .collect(),
                polls: Vec::new(),
                reports: Vec::new(),
                consumed: Vec::new(),
                poll_instead: None,
                report_instead: Box::new(|_| None),
                answer: Box::new(|_| None),
                rev: 1,
            }),
            changed: Notify::new(),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut relay = Self {
            shared,
            address,
            end: None,
        };
        relay.serve(listener);
        relay
    }

    fn serve(&mut self, listener: std::net::TcpListener) {
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
                    .route("/api/pager/poll", post(poll))
                    .route("/api/pager/report", post(report))
                    .route("/api/activity", post(agent::activity))
                    .route("/mcp/{code}", post(agent::inbox))
                    .with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    done = axum::serve(listener, app) => done.unwrap(),
                    _ = ended => {}
                }
            });
        });
    }

    /// Goes away: calls under way are cut off.
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
            listener = std::net::TcpListener::bind(self.address).ok();
            listener.is_some()
        });
        self.serve(listener.unwrap());
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The script, to read; [`Self::change`] is for writing.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.shared.script.lock().unwrap()
    }

    /// Changes the script and answers the waiting polls.
    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        {
            let mut script = self.script();
            change(&mut script);
            script.rev += 1;
        }
        self.shared.changed.notify_waiters();
    }

    /// Offers a wake with the usual line.
    pub fn wake(&self, part: &str, nudge: u32) {
        self.offer(part, TAG, nudge, &line(TAG));
    }

    /// Offers a wake.
    pub fn offer(&self, part: &str, tag: &str, nudge: u32, line: &str) {
        let offer = WakeOffer {
            wake_id: format!("wake-{tag}"),
            tag: tag.to_owned(),
            nudge,
            line: line.to_owned(),
            lease_ms: 45_000,
        };
        self.change(|script| {
            let part = script.parts.get_mut(part).unwrap();
            part.unread = 1;
            part.open = Some(offer.tag.clone());
            part.wake = Some(offer);
        });
    }

    /// Stages reported for a part, in order, without `confirm`; `blocked` as `blocked reason/detail`.
    pub fn stages(&self, part: &str) -> Vec<String> {
        self.script()
            .reports
            .iter()
            .filter(|heard| heard.call.part == part)
            .filter_map(|heard| word(&heard.call.stage))
            .collect()
    }

    /// Waits for a stage, spelt as in [`Self::stages`].
    pub fn wait_for(&self, part: &str, stage: &str, limit: Duration) {
        let begun = Instant::now();
        while !self.stages(part).iter().any(|heard| heard == stage) {
            assert!(
                begun.elapsed() < limit,
                "no {stage} of {part} within {limit:?}, only {:?}",
                self.stages(part)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The tags of `submitted` and `typed` reports.
    pub fn tags(&self, part: &str) -> Vec<String> {
        self.script()
            .reports
            .iter()
            .filter(|heard| heard.call.part == part)
            .filter_map(|heard| match &heard.call.stage {
                Stage::Submitted { tag, .. } => Some(tag.clone()),
                _ => None,
            })
            .collect()
    }
}

fn word(stage: &Stage) -> Option<String> {
    Some(match stage {
        Stage::Confirm => return None,
        Stage::Blocked { reason, detail, .. } => format!("blocked {reason}/{detail}"),
        Stage::Typed { .. } => "typed".to_owned(),
        Stage::Submitted { enters, .. } => format!("submitted {enters}"),
        Stage::Unconfirmed { why } => format!("unconfirmed {why}"),
        Stage::Released => "released".to_owned(),
    })
}

/// The token of a call.
pub fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("authorization")?.to_str().ok()?;
    Some(value.trim_start_matches("Bearer ").to_owned())
}

/// Meets a call in another way than by answering it.
pub async fn meet(instead: Instead) -> Response {
    match instead {
        Instead::Silence => std::future::pending().await,
        Instead::Status(status, retry) => {
            let body = serde_json::json!({
                "error": format!("scripted_{status}"), "message": "as the script says", "hint": "none", "request_id": "r"
            });
            let mut response = (StatusCode::from_u16(status).unwrap(), Json(body)).into_response();
            if let Some(retry) = retry {
                response
                    .headers_mut()
                    .insert("retry-after", retry.to_string().parse().unwrap());
            }
            response
        }
    }
}

async fn poll(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let call: PollRequest = serde_json::from_slice(&body).unwrap();
    let until = tokio::time::Instant::now() + Duration::from_millis(call.wait_ms);
    let instead = {
        let mut script = shared.script.lock().unwrap();
        script.polls.push(Heard {
            at: Instant::now(),
            bearer: bearer(&headers),
            call: call.clone(),
        });
        script.poll_instead.clone()
    };
    if let Some(instead) = instead {
        return meet(instead).await;
    }
    loop {
        let changed = shared.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        {
            let script = shared.script.lock().unwrap();
            let news = script.rev.to_string() != call.seen;
            if news || tokio::time::Instant::now() >= until {
                return Json(answer(&script, &call)).into_response();
            }
        }
        tokio::select! {
            () = &mut changed => {}
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

fn answer(script: &Script, call: &PollRequest) -> PollAnswer {
    PollAnswer {
        rev: script.rev.to_string(),
        instance: script.instance.clone(),
        retry_ms: None,
        parts: call
            .parts
            .iter()
            .map(|asked| {
                let part = script.parts.get(&asked.part).cloned().unwrap_or_default();
                let known = script.parts.contains_key(&asked.part);
                PollPartAnswer {
                    code: asked.code.clone(),
                    part: asked.part.clone(),
                    error: part.error.or((!known).then(|| "unknown_part".to_owned())),
                    machine: part.machine,
                    unread: part.unread,
                    colour: None,
                    hold: None,
                    turn: part.turn,
                    hook: part.hook.filter(|_| !call.claim),
                    open: part.wake.is_some(),
                    wake: part.wake.filter(|_| call.claim),
                }
            })
            .collect(),
    }
}

async fn report(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let call: ReportRequest = serde_json::from_slice(&body).unwrap();
    let (instead, result) = {
        let mut script = shared.script.lock().unwrap();
        script.reports.push(Heard {
            at: Instant::now(),
            bearer: bearer(&headers),
            call: call.clone(),
        });
        let instead = (script.report_instead)(&call);
        let told = (script.answer)(&call);
        let ends = matches!(
            call.stage,
            Stage::Submitted { .. } | Stage::Unconfirmed { .. }
        );
        if ends
            && instead.is_none()
            && let Some(part) = script.parts.get_mut(&call.part)
            && part
                .wake
                .as_ref()
                .is_some_and(|wake| (&wake.wake_id, wake.nudge) == (&call.wake_id, call.nudge))
        {
            part.wake = None;
            script.rev += 1;
        }
        (instead, told.unwrap_or(ReportResult::Ok))
    };
    if let Some(instead) = instead {
        return meet(instead).await;
    }
    shared.changed.notify_waiters();
    Json(ReportAnswer { result }).into_response()
}
