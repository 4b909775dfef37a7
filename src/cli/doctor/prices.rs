//! What turns cost: models the price table does not know.

use std::path::PathBuf;

use super::around::Around;
use super::finding::Finding;
use super::finding::quoted;
use crate::cli::field;
use crate::config;

/// What is known of them.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Models with tokens of the last week that have no price, each once.
    pub models: Vec<String>,
    /// The person's own prices.
    pub file: PathBuf,
    /// The command that ends the relay and starts it again: it reads prices when it starts.
    pub restart: String,
}

/// Gathers, over all projects.
pub async fn gather(around: &Around) -> Facts {
    let mut facts = Facts {
        models: Vec::new(),
        file: config::prices_file(&around.db),
        restart: around.restart(),
    };
    let Some(client) = around.client.as_ref().filter(|_| around.status.is_ok()) else {
        return facts;
    };
    for project in around.live_projects() {
        let query = [("project", project.to_owned()), ("by", "model".to_owned())];
        let Ok(answer) = client.get("usage", &query).await else {
            continue;
        };
        // Without a table no price is missed.
        if answer["pricesAsOf"].is_string() {
            let models = field::list(&answer, "unpricedModels").iter();
            facts
                .models
                .extend(models.filter_map(|model| Some(model.as_str()?.to_owned())));
        }
    }
    facts.models.sort();
    facts.models.dedup();
    facts
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    if facts.models.is_empty() {
        return Vec::new();
    }
    let file = facts.file.to_string_lossy();
    let text = format!("{file} is to say what a million tokens of them cost");
    let fix = format!("${{EDITOR:-vi}} {} && {}", quoted(&file), facts.restart);
    vec![Finding::warning("price.missing", facts.models.join(", "), text).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_without_a_price_are_one_finding() {
        assert_eq!(judge(&Facts::default()), []);
        let found = judge(&Facts {
            models: vec!["a".into(), "b".into()],
            file: "/data/prices.toml".into(),
            restart: "relayroom up".into(),
        });
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].subject, "a, b");
        assert_eq!(
            found[0].fix,
            "${EDITOR:-vi} /data/prices.toml && relayroom up"
        );
    }
}
