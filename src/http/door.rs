//! The door (access.md 7): what every request passes before a route sees it, and every answer on its way out.

use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::body::HttpBody;
use axum::response::IntoResponse;
use axum::response::Response;
use http::HeaderMap;
use http::HeaderValue;
use http::Request;
use http::StatusCode;
use http::header;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::app::App;
use super::failure::Failure;
use super::host;
use super::peer;
use super::peer::Peer;
use super::rates::Class;
use super::rates::Rates;
use super::refusals::Refusals;
use super::refusals::Refused;
use super::router::router;
use super::settings::Settings;
use super::trace::Trace;
use crate::store::Outcome;
use crate::store::Store;
use crate::store::system_clock;

/// Longest request line, in bytes.
const LINE_BYTES: usize = 8 << 10;

/// Most bytes of header names and values.
pub(super) const HEADER_BYTES: usize = 16 << 10;

/// Most header fields.
pub(super) const HEADER_FIELDS: usize = 64;

/// How long a request waits for the file to be opened and migrated (access.md 8).
const OPENING: Duration = Duration::from_secs(10);

/// How long a handler may take.
const HANDLER: Duration = Duration::from_secs(30);

/// The one that takes as long as the file is large.
const UNLIMITED: &str = "/api/admin/backup";

/// Everything a connection needs before and around the routes. Made before the file is open, so that the port answers early.
pub struct Door {
    settings: Arc<Settings>,
    addresses: Vec<SocketAddr>,
    refusals: Arc<Refusals>,
    rates: Rates,
    started: Instant,
    routes: watch::Sender<Option<Router>>,
    /// Cancelled: accept no more, end what waits.
    pub stop: CancellationToken,
}

impl Door {
    /// A door for listeners at `addresses`, whose relay is still being opened.
    #[must_use]
    pub fn new(settings: Settings, addresses: Vec<SocketAddr>, stop: CancellationToken) -> Self {
        Self {
            settings: Arc::new(settings),
            addresses,
            refusals: Arc::default(),
            rates: Rates::default(),
            started: Instant::now(),
            routes: watch::channel(None).0,
            stop,
        }
    }

    /// Opens the door to the relay over `store`: requests that waited are served.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn open(&self, store: Store) -> Outcome<Arc<App>> {
        let app = App::new(
            store,
            Arc::clone(&self.settings),
            self.addresses.clone(),
            Arc::clone(&self.refusals),
            self.stop.clone(),
        )
        .await?;
        let app = Arc::new(app);
        self.routes.send_replace(Some(router(Arc::clone(&app))));
        Ok(app)
    }

    /// Lets go of the relay, and with it of the file.
    pub(super) fn close(&self) {
        self.routes.send_replace(None);
    }

    /// Serves one request.
    pub(super) async fn serve(&self, mut request: Request<Body>, peer: Peer) -> Response {
        let begun = Instant::now();
        let trace = Arc::new(Trace::new());
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let from = peer::for_rates(
            peer.remote.ip(),
            request.headers(),
            &self.settings.trusted_proxies,
        );
        request.extensions_mut().insert(Arc::clone(&trace));
        request.extensions_mut().insert(peer);
        let mut response = match self.pass(&request, &path, peer, from) {
            Ok(()) => self.route(request).await,
            Err(failure) => failure.into_response(),
        };
        if let Some(failure) = response.extensions_mut().remove::<Failure>() {
            let failure = self.count(failure, from);
            self.note(&failure, &trace, from);
            response = failure.render(&trace, &path, response.headers().get(header::ALLOW));
        }
        self.add_headers(response.headers_mut(), &trace);
        tracing::info!(
            request_id = %trace.id,
            %method,
            route = trace.route(),
            status = response.status().as_u16(),
            ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            bytes = response.body().size_hint().lower(),
            peer = %from,
            actor = trace.actor(),
            "request"
        );
        response
    }

    /// What is judged before any route.
    fn pass(
        &self,
        request: &Request<Body>,
        path: &str,
        peer: Peer,
        from: IpAddr,
    ) -> Result<(), Failure> {
        check_sizes(request)?;
        host::check(request, &self.settings, &self.addresses, peer.local)?;
        host::check_origin(request.headers(), path, &self.settings)?;
        if self.stop.is_cancelled() {
            return Err(self.not_open());
        }
        // A credential is judged by its route, and counted there if it fails.
        let bare = !request.headers().contains_key(header::AUTHORIZATION);
        if path == "/health" || (path == "/metrics" && bare) {
            return self.hit(from, Class::Open);
        }
        Ok(())
    }

    fn hit(&self, from: IpAddr, class: Class) -> Result<(), Failure> {
        let Some(wait) = self.rates.hit(from, class, self.started.elapsed()) else {
            return Ok(());
        };
        let seconds = wait.as_secs() + 1;
        let failure = Failure::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            "too many such requests came from this address within a minute",
            format!("wait {seconds} seconds"),
        );
        Err(failure.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)))
    }

    /// Counts bearers and codes that failed; over the rate the answer no longer says how they did.
    fn count(&self, failure: Failure, from: IpAddr) -> Failure {
        if !failure.counts {
            return failure;
        }
        self.hit(from, Class::Failed).err().unwrap_or(failure)
    }

    async fn route(&self, request: Request<Body>) -> Response {
        let Some(router) = self.opened().await else {
            return self.not_open().into_response();
        };
        let limit = match request.uri().path() {
            UNLIMITED => Duration::MAX,
            _ => HANDLER,
        };
        match tokio::time::timeout(limit, router.oneshot(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => Failure::unavailable("busy", "the request took longer than 30 seconds")
                .into_response(),
        }
    }

    /// The routes, waited for.
    async fn opened(&self) -> Option<Router> {
        let mut routes = self.routes.subscribe();
        tokio::select! {
            biased;
            opened = routes.wait_for(Option::is_some) => opened.ok()?.clone(),
            () = tokio::time::sleep(OPENING) => None,
            () = self.stop.cancelled() => None,
        }
    }

    fn not_open(&self) -> Failure {
        if self.stop.is_cancelled() {
            Failure::unavailable("stopping", "the relay is stopping")
        } else {
            Failure::unavailable("starting", "the relay is opening its file")
        }
    }

    fn note(&self, failure: &Failure, trace: &Trace, from: IpAddr) {
        let (wall, _) = system_clock();
        self.refusals.note(Refused {
            at: wall.rfc3339(),
            route: trace.route().to_owned(),
            status: failure.status.as_u16(),
            reason: failure.reason,
            peer: from.to_string(),
        });
    }

    fn add_headers(&self, headers: &mut HeaderMap, trace: &Trace) {
        for (name, value) in HEADERS {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        if self.settings.is_https() {
            headers.insert(
                header::STRICT_TRANSPORT_SECURITY,
                HeaderValue::from_static("max-age=31536000"),
            );
        }
        if let Ok(id) = HeaderValue::from_str(&trace.id) {
            headers.insert("x-request-id", id);
        }
    }
}

/// On every answer (access.md 7).
const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
];

fn check_sizes(request: &Request<Body>) -> Result<(), Failure> {
    let too_large = |what: String, hint: &'static str| {
        Failure::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "too_large",
            what,
            hint,
        )
    };
    let uri = request.uri();
    let line = request.method().as_str().len()
        + uri.path_and_query().map_or(0, |text| text.as_str().len())
        + " HTTP/1.1  ".len();
    if line > LINE_BYTES {
        return Err(too_large(
            format!("the request line is over {LINE_BYTES} bytes"),
            "shorten the address",
        ));
    }
    let headers = request.headers();
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
        .sum();
    if headers.len() > HEADER_FIELDS || bytes > HEADER_BYTES {
        return Err(too_large(
            format!("the headers are over {HEADER_FIELDS} fields or {HEADER_BYTES} bytes"),
            "send fewer or shorter headers",
        ));
    }
    Ok(())
}

/// The whole answer to a connection there is no place for.
pub(super) fn no_place() -> Vec<u8> {
    let failure = Failure::unavailable("busy", "too many connections are open");
    let body = failure.body(&Trace::new(), "");
    let mut answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: 1\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    answer
}
