//! Connect Four rules and search.
