//! The Fourfold daemon.
