//! The door (access.md 7): what every request passes before a route sees it, and every answer on its way out.

use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::HeaderMap;
use http::HeaderValue;
use http::Request;
use http::header;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::app::App;
use super::failure::Failure;
use super::host;
use super::peer;
use super::peer::Peer;
use super::refusals::Refusals;
use super::refusals::Refused;
use super::router::router;
use super::settings::Settings;
use super::trace::Trace;
use crate::api::ErrorBody;
use crate::store::Outcome;
use crate::store::Store;
use crate::store::system_clock;

/// How long a request waits for the file to be opened and migrated (access.md 8).
const OPENING: Duration = Duration::from_secs(10);

/// How long a handler may take.
const HANDLER: Duration = Duration::from_secs(30);

/// Everything a connection needs before and around the routes. Made before the file is open, so that the port answers early.
pub struct Door {
    settings: Arc<Settings>,
    addresses: Vec<SocketAddr>,
    refusals: Arc<Refusals>,
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
        let mut response = match self.pass(&request, &path, peer) {
            Ok(()) => self.route(request).await,
            Err(failure) => axum::response::IntoResponse::into_response(failure),
        };
        if let Some(failure) = response.extensions_mut().remove::<Failure>() {
            self.note(&failure, &trace, from);
            response = render(&failure, &trace, &path, response.headers());
        }
        self.add_headers(response.headers_mut(), &trace);
        let status = response.status().as_u16();
        tracing::info!(
            request_id = %trace.id,
            %method,
            route = trace.route(),
            status,
            ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            peer = %from,
            actor = trace.actor(),
            "request"
        );
        response
    }

    fn pass(&self, request: &Request<Body>, path: &str, peer: Peer) -> Result<(), Failure> {
        host::check(
            request.headers(),
            &self.settings,
            &self.addresses,
            peer.local,
        )?;
        host::check_origin(request.headers(), path, &self.settings)
    }

    async fn route(&self, request: Request<Body>) -> Response {
        let Some(router) = self.opened().await else {
            let failure = Failure::unavailable("starting", "the relay is opening its file");
            return axum::response::IntoResponse::into_response(failure);
        };
        match tokio::time::timeout(HANDLER, router.oneshot(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => axum::response::IntoResponse::into_response(Failure::unavailable(
                "busy",
                "the request took longer than 30 seconds",
            )),
        }
    }

    /// The routes, waited for.
    async fn opened(&self) -> Option<Router> {
        let mut routes = self.routes.subscribe();
        let opened = tokio::time::timeout(OPENING, routes.wait_for(Option::is_some)).await;
        opened.ok()?.ok()?.clone()
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
        for (name, value) in [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert("cross-origin-opener-policy", SAME_ORIGIN);
        headers.insert("cross-origin-resource-policy", SAME_ORIGIN);
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

const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Gives a failure the body its path speaks.
fn render(failure: &Failure, trace: &Trace, path: &str, kept: &HeaderMap) -> Response {
    let body = if path.starts_with("/mcp/") {
        crate::mcp::refused(failure)
    } else {
        serde_json::to_vec(&ErrorBody {
            error: failure.reason.to_owned(),
            message: failure.message.clone().into_owned(),
            hint: failure.hint.clone().into_owned(),
            request_id: trace.id.clone(),
        })
        .unwrap_or_default()
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = failure.status;
    if let Some(allow) = kept.get(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allow.clone());
    }
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    for (name, value) in &failure.headers {
        response.headers_mut().insert(name, value.clone());
    }
    response
}
