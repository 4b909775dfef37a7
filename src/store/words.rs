//! Words of a column as enums: written, read and shown by one spelling.

/// An enum whose values are words of a column.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($value:ident = $word:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($value),*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// The word of the tables and of JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word),*
                }
            }
        }

        impl ::rusqlite::ToSql for $name {
            fn to_sql(&self) -> ::rusqlite::Result<::rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl ::rusqlite::types::FromSql for $name {
            fn column_result(value: ::rusqlite::types::ValueRef<'_>) -> ::rusqlite::types::FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$value),)*
                    _ => Err(::rusqlite::types::FromSqlError::InvalidType),
                }
            }
        }
    )*};
}

pub(crate) use words;
