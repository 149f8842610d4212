//! Thinking: the threads that think, and what the exact solver says of positions and games.

pub mod background;
pub mod compute;
pub mod judged;
pub mod live_value;
pub mod values;
