//! Everything the file holds but its secrets, as JSON Lines (cli.md 7): for a person's own tools, and for the day they leave.
//!
//! What this folder promises:
//!
//! - **Each row once, in the order of its number**, up to the newest there was at the start: what is added meanwhile is for the next.
//! - **No long read**: 1,000 rows at a time, each page a snapshot of its own, so that no export keeps the log from being folded back.
//! - **No token, hash or connect code** (`kinds`).

mod kinds;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use self::kinds::KINDS;
use super::Outcome;
use super::ProjectSeq;
use super::Time;

/// Rows of one read.
const PAGE: usize = 1_000;

/// How far an export has come.
#[derive(Debug, Clone)]
pub struct Export {
    project: Option<ProjectSeq>,
    /// The newest row of each kind at the start.
    ends: Vec<i64>,
    kind: usize,
    after: i64,
}

impl Export {
    /// An export of one project, or of all, that ends at the newest rows there are now.
    ///
    /// # Errors
    /// A fault of the store.
    pub fn begin(connection: &Connection, project: Option<ProjectSeq>) -> Outcome<Self> {
        let ends = KINDS.iter().map(|kind| {
            let sql = format!("SELECT coalesce(max(rowid), 0) FROM {}", kind.table);
            connection.query_row(&sql, [], |row| row.get(0))
        });
        Ok(Self {
            project,
            ends: ends.collect::<rusqlite::Result<_>>()?,
            kind: 0,
            after: 0,
        })
    }

    /// The first line: what follows, and the form it has.
    #[must_use]
    pub fn heading(&self, now: Time) -> String {
        let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let line = json!({"v": 1, "type": "export", "version": env!("CARGO_PKG_VERSION"), "at": now.rfc3339(), "types": kinds});
        format!("{line}\n")
    }

    /// The next lines; `None` after the last.
    ///
    /// # Errors
    /// A fault of the store.
    pub fn next(&mut self, connection: &Connection) -> Outcome<Option<String>> {
        while let Some(kind) = KINDS.get(self.kind) {
            let mut statement = connection.prepare_cached(kind.sql)?;
            let columns: Vec<Column> = statement.column_names().skip(1).map(Column::of).collect();
            let end = self.ends[self.kind];
            let mut rows = statement.query((self.after, end, self.project, PAGE as i64))?;
            let (mut lines, mut count) = (String::new(), 0);
            while let Some(row) = rows.next()? {
                self.after = row.get(0)?;
                count += 1;
                let mut line = Map::new();
                line.insert("type".into(), kind.name.into());
                for (index, column) in columns.iter().enumerate() {
                    line.insert(column.name.clone(), column.read(row.get_ref(index + 1)?)?);
                }
                lines.push_str(&Value::Object(line).to_string());
                lines.push('\n');
            }
            if count < PAGE {
                self.kind += 1;
                self.after = 0;
            }
            if count > 0 {
                return Ok(Some(lines));
            }
        }
        Ok(None)
    }
}

/// A column of a kind's SQL: its name in JSON, and how its values are read.
struct Column {
    name: String,
    form: Form,
}

enum Form {
    Plain,
    Time,
    Flag,
    Json,
}

impl Column {
    /// `name?` is a flag, `name{}` is JSON already; `at`, `…At` and `…Until` are times.
    fn of(column: &str) -> Self {
        let (name, form) = if let Some(name) = column.strip_suffix('?') {
            (name, Form::Flag)
        } else if let Some(name) = column.strip_suffix("{}") {
            (name, Form::Json)
        } else if column == "at" || column.ends_with("At") || column.ends_with("Until") {
            (column, Form::Time)
        } else {
            (column, Form::Plain)
        };
        Self {
            name: name.to_owned(),
            form,
        }
    }

    fn read(&self, value: ValueRef<'_>) -> Outcome<Value> {
        Ok(match (value, &self.form) {
            (ValueRef::Null | ValueRef::Blob(_), _) => Value::Null,
            (ValueRef::Integer(at), Form::Time) => Time(at).rfc3339().into(),
            (ValueRef::Integer(flag), Form::Flag) => (flag != 0).into(),
            (ValueRef::Integer(number), _) => number.into(),
            (ValueRef::Real(number), _) => number.into(),
            (ValueRef::Text(text), Form::Json) => {
                serde_json::from_slice(text).unwrap_or(Value::Null)
            }
            (ValueRef::Text(text), _) => String::from_utf8_lossy(text).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn every_page_is_read_by_the_number_of_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("r.db"), "", Time(1)).unwrap();
        store
            .read_blocking(|connection| {
                for kind in KINDS {
                    let sql = format!("EXPLAIN QUERY PLAN {}", kind.sql);
                    let mut statement = connection.prepare(&sql)?;
                    let steps: Vec<String> = statement
                        .query_map((0, 1, None::<i64>, 1), |row| row.get(3))?
                        .collect::<rusqlite::Result<_>>()?;
                    let by_number = steps.iter().any(|step| {
                        step.contains("USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
                    });
                    let sorted = steps
                        .iter()
                        .any(|step| step.contains("TEMP B-TREE FOR ORDER"));
                    assert!(by_number && !sorted, "{}: {steps:#?}", kind.name);
                }
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn columns_are_read_by_their_names() {
        let read = |name: &str, value| Column::of(name).read(value).unwrap();
        assert_eq!(
            read("seenAt", ValueRef::Integer(0)),
            "1970-01-01T00:00:00.000Z"
        );
        assert_eq!(read("urgent?", ValueRef::Integer(1)), true);
        assert_eq!(read("tags{}", ValueRef::Text(b"[\"a\"]")), json!(["a"]));
        assert_eq!(read("ordinal", ValueRef::Integer(3)), 3);
        assert_eq!(read("at", ValueRef::Null), Value::Null);
        assert_eq!(Column::of("tags{}").name, "tags");
    }
}
