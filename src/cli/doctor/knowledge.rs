//! What the project has learned: candidates nobody looks at.

use serde_json::Value;

use super::around::Around;
use super::finding::Finding;
use crate::cli::field;
use crate::cli::text;
use crate::store::Time;

/// How long a candidate may wait, in milliseconds.
const WAIT_MS: i64 = 14 * 24 * 3_600_000;

/// Candidates of all projects, each with its project's name.
pub async fn gather(around: &Around) -> Vec<(String, Value)> {
    let Some(client) = around.client.as_ref().filter(|_| around.status.is_ok()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for project in around.live_projects() {
        let query = [
            ("project", project.to_owned()),
            ("state", "candidate".to_owned()),
        ];
        if let Ok(answer) = client.get("knowledge", &query).await {
            let entries = field::list(&answer, "entries").iter().cloned();
            all.extend(entries.map(|entry| (project.to_owned(), entry)));
        }
    }
    all
}

/// Judges: the one that waits longest is named.
#[must_use]
pub fn judge(candidates: &[(String, Value)], now: Time) -> Vec<Finding> {
    let mut waiting: Vec<(Time, &str, &Value)> = candidates
        .iter()
        .filter_map(|(project, entry)| {
            let since = field::time(entry, "createdAt")?;
            (now.since(since) > WAIT_MS).then_some((since, project.as_str(), entry))
        })
        .collect();
    waiting.sort_by_key(|(since, ..)| *since);
    let Some((since, project, entry)) = waiting.first() else {
        return Vec::new();
    };
    let text = format!(
        "{} candidates wait over 14 days, the oldest {}: {}",
        waiting.len(),
        text::age(now, *since),
        field::word(entry, "title")
    );
    let fix = format!(
        "relayroom knowledge confirm {} --project {project}",
        field::word(entry, "id")
    );
    vec![Finding::warning("knowledge.waiting", project, text).fix(fix)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_candidate_that_waits_longest_is_named_after_two_weeks() {
        let now = Time(100 * 24 * 3_600_000);
        let entry = |id: &str, age_ms: i64| {
            let created = Time(now.0 - age_ms).rfc3339();
            (
                "shop".to_owned(),
                json!({"id": id, "title": id, "createdAt": created}),
            )
        };
        assert_eq!(judge(&[entry("young", WAIT_MS)], now), []);
        let found = judge(
            &[entry("old", WAIT_MS + 1), entry("older", WAIT_MS * 2)],
            now,
        );
        assert_eq!(
            found[0].fix,
            "relayroom knowledge confirm older --project shop"
        );
        assert!(found[0].text.starts_with("2 candidates"), "{found:?}");
    }
}
