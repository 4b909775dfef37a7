//! A JSON file changed at one place and nowhere else: comments, final commas, layout, order and line ends of the rest stay as they are.
//!
//! The parser says where things stand; what is put in or taken out is spliced into the text itself. Taking out what was put in gives the
//! text of before.

mod layout;
#[cfg(test)]
mod tests;

use jsonc_parser::CollectOptions;
use jsonc_parser::CommentCollectionStrategy;
use jsonc_parser::ParseOptions;
use jsonc_parser::ast;
use jsonc_parser::common::Range;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token;
use jsonc_parser::tokens::TokenAndRange;
use serde_json::Value;

use super::BOM;
use super::Broken;

/// A JSON file as it is edited. An empty one is an empty object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    bom: bool,
}

/// An object or array in the text.
struct Container {
    range: Range,
    children: Vec<Range>,
}

/// A place in the text where a path leads.
struct Found {
    value: Range,
    container: Option<Container>,
}

/// What agent CLIs read beyond plain JSON: comments and final commas.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn broken(error: &ParseError) -> Broken {
    Broken {
        line: error.line_display(),
        why: error.kind().to_string(),
    }
}

impl Json {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`Broken`] with the line, for what is no JSON object.
    pub fn parse(text: &str) -> Result<Self, Broken> {
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = match text.trim() {
            "" => "{}\n".to_owned(),
            _ => text.to_owned(),
        };
        let json = Self { text, bom };
        if !json.value()?.is_object() {
            return Err(Broken {
                line: 1,
                why: "it holds no object".to_owned(),
            });
        }
        Ok(json)
    }

    /// The text to be written.
    #[must_use]
    pub fn text(&self) -> String {
        let bom = if self.bom { BOM } else { "" };
        format!("{bom}{}", self.text)
    }

    /// What it says.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn value(&self) -> Result<Value, Broken> {
        jsonc_parser::parse_to_serde_value(&self.text, &options()).map_err(|error| broken(&error))
    }

    /// Whether nothing is left in it: no key, no comment.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.split_whitespace().collect::<String>() == "{}"
    }

    /// Gives the key at the end of `path` this value, making the objects on the way.
    ///
    /// # Errors
    /// [`Broken`] where something on the way is no object, or a key stands there twice.
    pub fn set(&mut self, path: &[&str], value: &Value) -> Result<(), Broken> {
        for depth in (0..=path.len()).rev() {
            let Some(found) = self.find(&path[..depth])? else {
                continue;
            };
            let rest = &path[depth..];
            let Some((key, inner)) = rest.split_first() else {
                return self.replace(found.value, value);
            };
            let container = self.container(&found, &path[..depth], '{')?;
            let nested = inner.iter().rev().fold(
                value.clone(),
                |value, key| serde_json::json!({ *key: value }),
            );
            return self.insert(&container, Some(key), &nested);
        }
        Ok(())
    }

    /// Adds an element behind those of the array at `path`, making it where there is none.
    ///
    /// # Errors
    /// As [`Json::set`].
    pub fn push(&mut self, path: &[&str], value: &Value) -> Result<(), Broken> {
        let Some(found) = self.find(path)? else {
            return self.set(path, &Value::from(vec![value.clone()]));
        };
        let container = self.container(&found, path, '[')?;
        self.insert(&container, None, value)
    }

    /// Puts another value in an element's place.
    ///
    /// # Errors
    /// As [`Json::set`].
    pub fn replace_at(&mut self, path: &[&str], index: usize, value: &Value) -> Result<(), Broken> {
        let Some(found) = self.find(path)? else {
            return Ok(());
        };
        let container = self.container(&found, path, '[')?;
        match container.children.get(index) {
            Some(range) => self.replace(*range, value),
            None => Ok(()),
        }
    }

    /// Takes an element out, and the array with it if it was the only one.
    ///
    /// # Errors
    /// As [`Json::set`].
    pub fn remove_at(&mut self, path: &[&str], index: usize) -> Result<(), Broken> {
        let Some(found) = self.find(path)? else {
            return Ok(());
        };
        let container = self.container(&found, path, '[')?;
        if index < container.children.len() {
            self.take_out(&container, index)?;
            self.prune(path)?;
        }
        Ok(())
    }

    /// Takes a key out, and the objects that held nothing else.
    ///
    /// # Errors
    /// As [`Json::set`].
    pub fn remove(&mut self, path: &[&str]) -> Result<(), Broken> {
        let Some((_, parents)) = path.split_last() else {
            return Ok(());
        };
        let (Some(found), Some(parent)) = (self.find(path)?, self.find(parents)?) else {
            return Ok(());
        };
        let container = self.container(&parent, parents, '{')?;
        let index = container
            .children
            .iter()
            .position(|child| child.start < found.value.start && found.value.end <= child.end);
        if let Some(index) = index {
            self.take_out(&container, index)?;
            self.prune(parents)?;
        }
        Ok(())
    }

    /// Takes out what is empty now, from `path` upwards; the outermost object stays.
    fn prune(&mut self, path: &[&str]) -> Result<(), Broken> {
        let Some(found) = self.find(path)? else {
            return Ok(());
        };
        let inside = &self.text[found.value.start + 1..found.value.end - 1];
        if path.is_empty() || !inside.trim().is_empty() {
            return Ok(());
        }
        self.remove(path)
    }

    /// Where a path leads; `None` where a key on it is missing.
    fn find(&self, path: &[&str]) -> Result<Option<Found>, Broken> {
        let parsed = jsonc_parser::parse_to_ast(&self.text, &CollectOptions::default(), &options())
            .map_err(|error| broken(&error))?;
        let mut value = parsed.value;
        for (depth, key) in path.iter().enumerate() {
            let Some(ast::Value::Object(object)) = value else {
                let at = value.map_or(0, |value| value.range().start);
                return Err(self.no_container(at, &path[..depth], "object"));
            };
            let mut named: Vec<ast::ObjectProp<'_>> = object
                .properties
                .into_iter()
                .filter(|prop| prop.name.as_str() == *key)
                .collect();
            if let [_, second, ..] = named.as_slice() {
                return Err(Broken {
                    line: self.line(second.range.start),
                    why: format!("{} stands there twice", path[..=depth].join(".")),
                });
            }
            match named.pop() {
                Some(prop) => value = Some(prop.value),
                None => return Ok(None),
            }
        }
        Ok(value.map(|value| Found {
            value: value.range(),
            container: container(&value),
        }))
    }

    /// The object or array found, which opens with `bracket`.
    fn container(&self, found: &Found, path: &[&str], bracket: char) -> Result<Container, Broken> {
        let kind = if bracket == '{' { "object" } else { "array" };
        match &found.container {
            Some(container) if self.text[container.range.start..].starts_with(bracket) => {
                Ok(Container {
                    range: container.range,
                    children: container.children.clone(),
                })
            }
            _ => Err(self.no_container(found.value.start, path, kind)),
        }
    }

    fn no_container(&self, at: usize, path: &[&str], kind: &str) -> Broken {
        Broken {
            line: self.line(at),
            why: format!("{} is no {kind}", path.join(".")),
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    /// Puts another value in a value's place, unless it says the same.
    fn replace(&mut self, range: Range, value: &Value) -> Result<(), Broken> {
        let present: Option<Value> =
            jsonc_parser::parse_to_serde_value(&self.text[range.start..range.end], &options())
                .map_err(|error| broken(&error))?;
        if present.as_ref() != Some(value) {
            let one_line = layout::is_one_line(&self.text);
            let text = self.render(value, &layout::indent(&self.text, range.start), one_line);
            self.text.replace_range(range.start..range.end, &text);
        }
        Ok(())
    }

    /// Puts an entry behind the others: a value, in an object with its key.
    fn insert(
        &mut self,
        container: &Container,
        key: Option<&str>,
        value: &Value,
    ) -> Result<(), Broken> {
        let close = container.range.end - 1;
        let newline = layout::newline(&self.text);
        let Some(last) = container.children.last() else {
            let outer = layout::indent(&self.text, container.range.start);
            let inner = format!("{outer}{}", layout::unit(&self.text));
            let from = self.text[..close].trim_end().len();
            let filled = if layout::is_one_line(&self.text) {
                self.entry(key, value, "", true)
            } else {
                let entry = self.entry(key, value, &inner, false);
                format!("{newline}{inner}{entry}{newline}{outer}")
            };
            self.text.replace_range(from..close, &filled);
            return Ok(());
        };
        let tokens = tokens(&self.text)?;
        let comma = comma(&tokens, last.end, close);
        // A comment on the last entry's line is about that entry.
        let mut at = comma.map_or(last.end, |comma| comma.end);
        let mut commented_out = false;
        let behind = tokens.partition_point(|token| token.range.start < at);
        for token in &tokens[behind..] {
            let comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            if !comment || self.text[at..token.range.start].contains('\n') {
                break;
            }
            commented_out = matches!(token.token, Token::CommentLine(_));
            at = token.range.end;
        }
        let first = container.children.first().unwrap_or(last);
        let lines = commented_out || self.text[container.range.start..first.start].contains('\n');
        let indent = layout::indent(&self.text, last.start);
        let mut entry = if lines {
            let entry = self.entry(key, value, &indent, false);
            format!("{newline}{indent}{entry}")
        } else {
            format!(" {}", self.entry(key, value, "", true))
        };
        if comma.is_some() {
            entry.push(',');
        }
        self.text.insert_str(at, &entry);
        if comma.is_none() {
            self.text.insert(last.end, ',');
        }
        Ok(())
    }

    /// Takes the entry of that number out, with its comma and the blanks before it.
    fn take_out(&mut self, container: &Container, index: usize) -> Result<(), Broken> {
        let close = container.range.end - 1;
        let child = container.children[index];
        let next = container.children.get(index + 1);
        let previous = index
            .checked_sub(1)
            .and_then(|before| container.children.get(before));
        let tokens = tokens(&self.text)?;
        let behind = comma(&tokens, child.end, next.map_or(close, |next| next.start));
        let before = previous.and_then(|previous| comma(&tokens, previous.end, child.start));
        let comma = behind.or(before);
        let start = self.text[..child.start].trim_end().len();
        let comma = comma.map(|comma| comma.start..comma.end);
        let mut gone: Vec<std::ops::Range<usize>> = comma.into_iter().collect();
        gone.push(start..child.end);
        gone.sort_by_key(|range| std::cmp::Reverse(range.start));
        let mut removed = 0;
        for range in gone {
            removed += range.len();
            self.text.replace_range(range, "");
        }
        let inside = container.range.start + 1..close - removed;
        if self.text[inside.clone()].trim().is_empty() {
            self.text.replace_range(inside, "");
        }
        Ok(())
    }

    fn entry(&self, key: Option<&str>, value: &Value, indent: &str, one_line: bool) -> String {
        let value = self.render(value, indent, one_line);
        match key {
            Some(key) => format!("{}: {value}", Value::from(key)),
            None => value,
        }
    }

    /// The value as text, its lines behind the first indented; on one line where its surroundings are.
    fn render(&self, value: &Value, indent: &str, one_line: bool) -> String {
        if one_line {
            return value.to_string();
        }
        let unit = layout::unit(&self.text);
        let newline = layout::newline(&self.text);
        layout::pretty(value, indent, &unit, newline)
    }
}

fn container(value: &ast::Value<'_>) -> Option<Container> {
    let children = match value {
        ast::Value::Object(object) => object.properties.iter().map(|prop| prop.range).collect(),
        ast::Value::Array(array) => array.elements.iter().map(Ranged::range).collect(),
        _ => return None,
    };
    Some(Container {
        range: value.range(),
        children,
    })
}

fn tokens(text: &str) -> Result<Vec<TokenAndRange<'_>>, Broken> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    let parsed =
        jsonc_parser::parse_to_ast(text, &collect, &options()).map_err(|error| broken(&error))?;
    Ok(parsed.tokens.unwrap_or_default())
}

/// The comma between two places that have nothing else but comments between them.
fn comma(tokens: &[TokenAndRange<'_>], from: usize, to: usize) -> Option<Range> {
    tokens
        .iter()
        .find(|token| {
            token.range.start >= from && token.range.end <= to && token.token == Token::Comma
        })
        .map(|token| token.range)
}
