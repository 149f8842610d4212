//! House bots.
