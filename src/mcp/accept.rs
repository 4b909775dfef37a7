//! What form of answer a client takes (tools.md 2). Clients name the two types in any order, with weights, by wildcard, or not at all.

use http::HeaderMap;
use http::header;

/// How a result goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One JSON object.
    Json,
    /// The same object as the one event of a stream.
    EventStream,
}

/// The form for a request's `Accept`; `None` if it takes neither.
pub(super) fn form(headers: &HeaderMap) -> Option<Form> {
    let mut ranges = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .map(weighted)
        .peekable();
    if ranges.peek().is_none() {
        return Some(Form::Json);
    }
    let ranges: Vec<(String, bool)> = ranges.collect();
    let takes = |kind: &str, essence: &str| {
        [essence, &format!("{kind}/*"), "*/*"]
            .into_iter()
            .find_map(|wanted| {
                let found = ranges.iter().find(|(range, _)| range == wanted);
                found.map(|(_, wanted)| *wanted)
            })
            .unwrap_or(false)
    };
    if takes("application", "application/json") {
        Some(Form::Json)
    } else if takes("text", "text/event-stream") {
        Some(Form::EventStream)
    } else {
        None
    }
}

/// A media range in lower case, and whether its weight is above 0; a weight that is no number counts as 1.
fn weighted(range: &str) -> (String, bool) {
    let mut parts = range.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let refused = parts
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .any(|(_, weight)| {
            weight
                .trim()
                .parse::<f64>()
                .is_ok_and(|weight| weight <= 0.0)
        });
    (essence, !refused)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn tools_012_shapes_of_accept() {
        for (accept, expected) in [
            (None, Some(Form::Json)),
            (Some(""), Some(Form::Json)),
            (Some("application/json"), Some(Form::Json)),
            (
                Some("application/json, text/event-stream"),
                Some(Form::Json),
            ),
            (
                Some("text/event-stream, application/json;q=0.9"),
                Some(Form::Json),
            ),
            (
                Some("text/event-stream;q=1, application/JSON ; q=0.001"),
                Some(Form::Json),
            ),
            (Some("*/*"), Some(Form::Json)),
            (Some("application/*"), Some(Form::Json)),
            (Some("application/json;q=abc"), Some(Form::Json)),
            (Some("text/event-stream"), Some(Form::EventStream)),
            (
                Some("text/event-stream, application/json;q=0"),
                Some(Form::EventStream),
            ),
            (
                Some("*/*;q=0.1, application/json;q=0.0"),
                Some(Form::EventStream),
            ),
            (Some("text/html"), None),
            (Some("application/json;q=0"), None),
            (Some("*/*;q=0"), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            }
            assert_eq!(form(&headers), expected, "{accept:?}");
        }
    }
}
