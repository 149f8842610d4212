//! Which values a search has to tell apart, and how those it gives relate to the true ones.

/// The values a search has to tell apart: it may return any value ≤ `alpha` for those that are, and ≥ `beta`
/// alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub alpha: i32,
    pub beta: i32,
}

impl Window {
    /// Tells all values apart.
    pub const FULL: Self = Self { alpha: -1_000_000_000, beta: 1_000_000_000 };
}

/// How a value relates to the true one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bound {
    Exact,
    /// The true value is at least this.
    Lower,
    /// The true value is at most this.
    Upper,
}
