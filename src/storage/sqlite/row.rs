//! Rows of answers as structs.
//!
//! A derive macro would do the same, and be one more crate to build.

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

        impl super::db::FromRow for $name {
            fn from_row(columns: &mut super::db::Columns<'_>) -> super::db::Result<Self> {
                Ok(Self {
                    $($column: columns.named(stringify!($column))?,)*
                    $($($part: super::db::FromRow::from_row(columns)?,)*)?
                })
            }
        }
    };
}
