//! Rows of answers as structs.
//!
//! sqlx has a derive macro for this, but a second sqlx and a second SQLite come with it, built for the compiler alone.

/// Declares a struct that is read from the columns with the names of its fields. The fields after `with` are such
/// structs themselves and are read from the same row.
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$of_column:meta])* $column_visible:vis $column:ident: $type:ty,)*
        } $(with {
            $($part:ident: $struct:ty,)*
        })?
    ) => {
        $(#[$attribute])*
        $visible struct $name {
            $($(#[$of_column])* $column_visible $column: $type,)*
            $($($part: $struct,)*)?
        }

        impl sqlx::FromRow<'_, sqlx::sqlite::SqliteRow> for $name {
            fn from_row(row: &sqlx::sqlite::SqliteRow) -> sqlx::Result<Self> {
                Ok(Self {
                    $($column: sqlx::Row::try_get(row, stringify!($column))?,)*
                    $($($part: sqlx::FromRow::from_row(row)?,)*)?
                })
            }
        }
    };
}
