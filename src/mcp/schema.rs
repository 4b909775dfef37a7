//! Tools as clients list them (tools.md 3). Flat schemas only: one feature a client's model does not take makes every prompt fail, or a
//! tool vanish without a word.

use std::sync::Arc;
use std::sync::LazyLock;

use rmcp::model::ToolAnnotations;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::catalogue::TOOLS;

/// What an argument is.
#[derive(Debug)]
pub(super) enum Kind {
    Text,
    OneOf(&'static [&'static str]),
    Flag,
    Integer { least: i64, most: i64 },
    Number,
    List,
    Object(&'static [Argument]),
}

/// An argument, or a member of one.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// Empty where the name says it all.
    pub(super) text: &'static str,
}

/// What a client may assume of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    Adds,
    AddsOnce,
}

/// A tool of the list.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) effect: Effect,
    pub(super) arguments: &'static [Argument],
}

impl Tool {
    /// Whether it has an argument of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.kind(name).is_some()
    }

    /// What an argument is.
    pub(super) fn kind(&self, name: &str) -> Option<&Kind> {
        self.arguments
            .iter()
            .find(|argument| argument.name == name)
            .map(|argument| &argument.kind)
    }
}

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The list, in its order.
pub(super) fn tools() -> &'static [rmcp::model::Tool] {
    static LISTED: LazyLock<Vec<rmcp::model::Tool>> =
        LazyLock::new(|| TOOLS.iter().map(listed).collect());
    &LISTED
}

fn listed(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match tool.effect {
        Effect::Reads => annotations.read_only(true),
        Effect::Adds => annotations.destructive(false),
        Effect::AddsOnce => annotations.destructive(false).idempotent(true),
    };
    rmcp::model::Tool::new(tool.name, tool.text, Arc::new(object(tool.arguments)))
        .with_annotations(annotations)
}

fn object(arguments: &[Argument]) -> Map<String, Value> {
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|argument| (argument.name.to_owned(), property(argument).into()))
        .collect();
    let required: Vec<&str> = arguments
        .iter()
        .filter(|argument| argument.required)
        .map(|argument| argument.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}

fn property(argument: &Argument) -> Map<String, Value> {
    let kind = |name: &str| Map::from_iter([("type".to_owned(), Value::from(name))]);
    let mut schema = match &argument.kind {
        Kind::Text | Kind::OneOf(_) => kind("string"),
        Kind::Flag => kind("boolean"),
        Kind::Integer { .. } => kind("integer"),
        Kind::Number => kind("number"),
        Kind::List => kind("array"),
        Kind::Object(members) => object(members),
    };
    match &argument.kind {
        Kind::OneOf(words) => {
            schema.insert("enum".into(), json!(words));
        }
        Kind::Integer { least, most } => {
            schema.insert("minimum".into(), (*least).into());
            schema.insert("maximum".into(), (*most).into());
        }
        Kind::Number => {
            schema.insert("minimum".into(), 0.into());
        }
        Kind::List => {
            schema.insert("items".into(), kind("string").into());
        }
        Kind::Text | Kind::Flag | Kind::Object(_) => {}
    }
    if !argument.text.is_empty() {
        schema.insert("description".into(), argument.text.into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a schema and returns what no client need understand.
    fn strange(schema: &Value, at: &str, found: &mut Vec<String>) {
        const PLAIN: &[&str] = &[
            "type",
            "properties",
            "required",
            "items",
            "description",
            "enum",
            "minimum",
            "maximum",
        ];
        let object = schema.as_object().unwrap();
        if !object.get("type").is_some_and(Value::is_string) {
            found.push(format!("{at} has no one type"));
        }
        for name in object.keys().filter(|name| !PLAIN.contains(&name.as_str())) {
            found.push(format!("{at} has {name}"));
        }
        for (name, property) in object
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            strange(property, &format!("{at}.{name}"), found);
        }
        match (object["type"].as_str(), object.get("items")) {
            (Some("array"), Some(items)) => assert_eq!(items, &json!({"type": "string"})),
            (Some("array"), None) | (_, Some(_)) => found.push(format!("{at} and its items")),
            _ => {}
        }
        if object["type"] == "object" && !object.contains_key("properties") {
            found.push(format!("{at} names no properties"));
        }
    }

    #[test]
    fn tools_021_schemas_are_flat_and_texts_short() {
        let mut found = Vec::new();
        for tool in tools() {
            assert!(
                tool.description.as_ref().unwrap().len() <= 240,
                "{}",
                tool.name
            );
            strange(
                &Value::Object(tool.input_schema.as_ref().clone()),
                &tool.name,
                &mut found,
            );
        }
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_listed_tool_is_found_and_required_arguments_exist() {
        for tool in TOOLS {
            assert_eq!(find(tool.name).unwrap().name, tool.name);
            assert!(!tool.has("nothing"));
        }
        assert!(find("sned").is_none());
    }
}
