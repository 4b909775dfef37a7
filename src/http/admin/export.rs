//! `GET /api/admin/export`: everything but secrets, as JSON Lines, read page by page while it is sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;

use axum::body::Body;
use axum::body::HttpBody;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header;
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::scope::InProject;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::store::Outcome;
use crate::store::Store;
use crate::store::export::Export;

/// Pages read ahead of a slow reader.
const AHEAD: usize = 2;

/// The project asked for, or all.
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(scope): Params<InProject>,
) -> Result<Response, Failure> {
    let begun = app
        .store
        .read(move |connection| {
            let project = match scope.project {
                Some(_) => Some(scope.find(connection)?.seq),
                None => None,
            };
            Export::begin(connection, project)
        })
        .await?;
    let (pages, read) = mpsc::channel(AHEAD);
    let heading = begun.heading(app.now());
    tokio::spawn(send(app.store.clone(), begun, heading, pages));
    let mut response = Response::new(Body::new(Pages(read)));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/jsonl"),
    );
    Ok(response)
}

/// Reads page by page until the end, or until nobody reads any more. A failed read breaks the answer off, so that nobody takes it for
/// the whole.
async fn send(store: Store, export: Export, heading: String, pages: mpsc::Sender<Option<String>>) {
    let mut next: Outcome<(Export, Option<String>)> = Ok((export, Some(heading)));
    loop {
        let (mut export, page) = match next {
            Ok((export, Some(page))) => (export, page),
            Ok((_, None)) => return,
            Err(error) => {
                tracing::error!(%error, "an export broke off");
                let _ = pages.send(None).await;
                return;
            }
        };
        if pages.send(Some(page)).await.is_err() {
            return;
        }
        next = store
            .read(move |connection| {
                let page = export.next(connection)?;
                Ok((export, page))
            })
            .await;
    }
}

/// The answer: pages as they come; `None` in their place breaks it off.
struct Pages(mpsc::Receiver<Option<String>>);

impl HttpBody for Pages {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(context).map(|page| {
            let page = page?;
            Some(
                page.map(|page| Frame::data(page.into()))
                    .ok_or_else(|| std::io::Error::other("the file could not be read")),
            )
        })
    }
}
