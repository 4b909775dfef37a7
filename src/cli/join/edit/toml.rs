//! A TOML file changed at one place and nowhere else.

use toml_edit::DocumentMut;
use toml_edit::Item;
use toml_edit::Table;
use toml_edit::TableLike;

use super::BOM;
use super::Broken;

/// A TOML file as it is edited.
#[derive(Debug, Clone)]
pub struct Toml {
    document: DocumentMut,
    bom: bool,
}

impl Toml {
    /// Reads a file's text.
    ///
    /// # Errors
    /// [`Broken`] with the line.
    pub fn parse(text: &str) -> Result<Self, Broken> {
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let before = error.span().and_then(|span| text.get(..span.start));
            Broken {
                line: before.map_or(1, |before| before.matches('\n').count() + 1),
                why: error.message().to_owned(),
            }
        })?;
        Ok(Self { document, bom })
    }

    /// The text to be written.
    #[must_use]
    pub fn text(&self) -> String {
        let bom = if self.bom { BOM } else { "" };
        format!("{bom}{}", self.document)
    }

    /// Whether nothing is left in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.document.to_string().trim().is_empty()
    }

    /// The text of a value.
    #[must_use]
    pub fn word(&self, path: &[&str]) -> Option<&str> {
        let mut item = self.document.as_item();
        for key in path {
            item = item.get(key)?;
        }
        item.as_str()
    }

    /// Makes `[outer.inner]` hold exactly what `wanted` does, unless it does already.
    ///
    /// # Errors
    /// [`Broken`] where `outer` is no table.
    pub fn set_table(&mut self, outer: &str, inner: &str, mut wanted: Table) -> Result<(), Broken> {
        let blank = if self.is_empty() { "" } else { "\n" };
        if !self.document.contains_key(outer) {
            let mut table = Table::new();
            table.set_implicit(true);
            self.document.insert(outer, Item::Table(table));
        }
        let no_table = || Broken {
            line: 1,
            why: format!("{outer} is no table"),
        };
        let is_block = self.document[outer].is_table();
        let tables = self
            .document
            .get_mut(outer)
            .and_then(Item::as_table_like_mut)
            .ok_or_else(no_table)?;
        let present = tables.get(inner).and_then(Item::as_table_like);
        if present.is_some_and(|present| says(present) == says(&wanted)) {
            return Ok(());
        }
        if !is_block {
            tables.insert(inner, toml_edit::value(wanted.into_inline_table()));
            return Ok(());
        }
        match tables.get(inner).and_then(Item::as_table) {
            Some(present) => {
                *wanted.decor_mut() = present.decor().clone();
                wanted.set_position(present.position());
                tables.insert(inner, Item::Table(wanted));
            }
            None => {
                tables.insert(inner, Item::Table(wanted));
                self.set_apart(outer, inner, blank);
            }
        }
        Ok(())
    }

    /// Keeps the comments at the end of the file before the new table, and a blank line between.
    fn set_apart(&mut self, outer: &str, inner: &str, blank: &str) {
        let above = self.trailing();
        let table = self
            .document
            .get_mut(outer)
            .and_then(|tables| tables.get_mut(inner))
            .and_then(Item::as_table_mut);
        if let Some(table) = table {
            table.decor_mut().set_prefix(format!("{above}{blank}"));
            self.document.set_trailing("");
        }
    }

    fn trailing(&self) -> String {
        let trailing = self.document.trailing().as_str();
        trailing.unwrap_or_default().to_owned()
    }

    /// Takes `[outer.inner]` out, and `outer` if it held nothing else and nobody wrote its header.
    pub fn remove_table(&mut self, outer: &str, inner: &str) {
        let Some(tables) = self
            .document
            .get_mut(outer)
            .and_then(Item::as_table_like_mut)
        else {
            return;
        };
        let Some(gone) = tables.remove(inner) else {
            return;
        };
        let empty = tables.is_empty();
        if empty
            && self.document[outer]
                .as_table()
                .is_some_and(Table::is_implicit)
        {
            self.document.remove(outer);
        }
        let above = gone
            .as_table()
            .and_then(|table| table.decor().prefix())
            .and_then(|prefix| prefix.as_str())
            .unwrap_or_default();
        let above = above.strip_suffix('\n').unwrap_or(above).to_owned();
        let below = self.trailing();
        self.document.set_trailing(format!("{above}{below}"));
    }

    /// Gives a key of the outermost table this value, unless it has it.
    pub fn set(&mut self, key: &str, value: toml_edit::Value) {
        let same = self
            .document
            .get(key)
            .and_then(Item::as_value)
            .is_some_and(|present| text_of(present) == text_of(&value));
        if !same {
            self.document[key] = Item::Value(value);
        }
    }

    /// Takes a key of the outermost table out.
    pub fn remove(&mut self, key: &str) {
        self.document.remove(key);
    }

    /// The value of a key of the outermost table.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&toml_edit::Value> {
        self.document.get(key).and_then(Item::as_value)
    }
}

/// A value without what stands around it.
fn text_of(value: &toml_edit::Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

/// What a table says, whatever its layout.
fn says(table: &dyn TableLike) -> Vec<(String, String)> {
    let mut said: Vec<(String, String)> = table
        .iter()
        .map(|(key, item)| {
            let said = match item.as_table_like() {
                Some(inner) => format!("{:?}", says(inner)),
                None => item.as_value().map(text_of).unwrap_or_default(),
            };
            (key.to_owned(), said)
        })
        .collect();
    said.sort();
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(url: &str) -> Table {
        let mut table = Table::new();
        table["url"] = toml_edit::value(url);
        let mut headers = toml_edit::InlineTable::new();
        headers.insert("Authorization", "Bearer x".into());
        table["http_headers"] = toml_edit::value(headers);
        table
    }

    #[test]
    fn what_was_put_in_can_be_taken_out_again() {
        for before in [
            "",
            "model = \"x\" # why\n",
            "# only a comment\n",
            "[mcp_servers.docs]\ncommand = \"docs\"\n\n# the end\n",
            "[mcp_servers]\n# none yet\n",
            "mcp_servers = { docs = { command = \"docs\" } }\n",
            "\u{feff}[a]\nb = [\n  1, # one\n  2,\n]\n[c]\nd = 1\n",
        ] {
            let mut toml = Toml::parse(before).unwrap();
            toml.set_table("mcp_servers", "relayroom", entry("u"))
                .unwrap();
            let with = toml.text();
            let again = Toml::parse(&with).unwrap();
            assert_eq!(
                again.word(&["mcp_servers", "relayroom", "url"]),
                Some("u"),
                "{with}"
            );
            assert_eq!(
                again.word(&["mcp_servers", "relayroom", "http_headers", "Authorization"]),
                Some("Bearer x"),
                "{with}"
            );
            let mut again = again;
            again
                .set_table("mcp_servers", "relayroom", entry("u"))
                .unwrap();
            assert_eq!(again.text(), with, "equal content is not another");
            again.remove_table("mcp_servers", "relayroom");
            assert_eq!(again.text(), before, "{with}");
        }
    }

    #[test]
    fn a_changed_table_keeps_its_place() {
        let before = "[mcp_servers.relayroom]\nurl = \"old\"\n\n# docs\n[mcp_servers.docs]\ncommand = \"docs\"\n";
        let mut toml = Toml::parse(before).unwrap();
        toml.set_table("mcp_servers", "relayroom", entry("new"))
            .unwrap();
        assert_eq!(
            toml.text(),
            "[mcp_servers.relayroom]\nurl = \"new\"\nhttp_headers = { Authorization = \"Bearer x\" }\n\n# docs\n[mcp_servers.docs]\ncommand = \"docs\"\n"
        );
    }

    #[test]
    fn cli_008_what_cannot_be_edited_is_named_with_its_line() {
        assert_eq!(Toml::parse("a = 1\nb = = 2\n").unwrap_err().line, 2);
        let mut toml = Toml::parse("mcp_servers = 3\n").unwrap();
        assert!(
            toml.set_table("mcp_servers", "relayroom", entry("u"))
                .is_err()
        );
    }
}
