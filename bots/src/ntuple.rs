//! The n-tuple learner.

mod average;
mod codec;
mod layout;
mod learner;
mod network;
mod player;
mod self_play;
mod shape;
mod trace;
mod trainer;
mod walk;
mod weights;

pub use self::codec::CodecError;
pub use self::learner::{Learner, Lessons};
pub use self::network::Network;
pub use self::player::{Look, NTuple};
pub use self::shape::Shape;
pub use self::trainer::{Plan, Trainer};
pub use self::weights::Weights;
