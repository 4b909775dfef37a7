//! Ids: `seq` numbers for joins and order inside, UUIDv7 outside.

use rusqlite::ToSql;
use rusqlite::types::FromSql;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ToSqlOutput;
use rusqlite::types::ValueRef;

macro_rules! seq {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

seq! {
    /// An organisation's row.
    OrgSeq,
    /// A person's row.
    UserSeq,
    /// A project's row.
    ProjectSeq,
    /// A part's row.
    PartSeq,
    /// A credential's row.
    TokenSeq,
    /// A thread's row.
    ThreadSeq,
    /// A message's row.
    MessageSeq,
    /// A wake's row.
    WakeSeq,
    /// An event's row.
    EventSeq,
    /// A turn's row.
    TurnSeq,
    /// A knowledge entry's row.
    KnowledgeSeq,
}

/// A fresh UUIDv7 in its hyphenated lower-case form.
#[must_use]
pub fn new_id() -> String {
    uuid::Uuid::now_v7().hyphenated().to_string()
}

/// Reads an id a caller sent (blanks around it ignored, case ignored) into the form it is stored in; `None` if it is no UUID.
#[must_use]
pub fn parse_id(text: &str) -> Option<String> {
    let text = text.trim();
    // The parser also takes braces and URNs; only the plain hyphenated form was ever handed out.
    if text.len() != 36 {
        return None;
    }
    uuid::Uuid::try_parse(text)
        .ok()
        .map(|id| id.hyphenated().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hyphenated_form_is_an_id() {
        let id = new_id();
        assert_eq!(
            parse_id(&format!(" {} ", id.to_uppercase())),
            Some(id.clone())
        );
        for bad in [
            "",
            "x",
            &id[1..],
            &id.replace('-', ""),
            &format!("{{{id}}}"),
        ] {
            assert_eq!(parse_id(bad), None, "{bad}");
        }
    }
}
