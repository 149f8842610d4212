//! The n-tuple learner.

mod codec;
mod layout;
mod network;
mod player;
mod self_play;
mod shape;
mod weights;

pub use self::codec::CodecError;
pub use self::network::Network;
pub use self::self_play::{Method, Player};
pub use self::player::NTuple;
pub use self::shape::Shape;
pub use self::weights::Weights;
