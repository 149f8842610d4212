//! How a packet is written. Each names its version, so that nodes of two versions can share a bus; what is of another
//! one, too large or no packet at all is refused.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Incarnation;

/// The version spoken here.
const VERSION: u32 = 1;

/// Largest packet: the largest frame to a client, and what says for whom it is.
pub(crate) const PACKET_BYTES_MAX: usize = 80 * 1024;

/// A packet to one node.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Packet<M> {
    v: u32,
    pub(crate) from: Incarnation,
    /// Among those from this node to the receiver; if nothing is told, that of the last one.
    pub(crate) number: u64,
    /// When it was sent, by a clock that began with the sender.
    pub(crate) sent_ms: u64,
    /// The time of sending of the packet without a word that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) echo_ms: Option<u64>,
    /// What is told, if anything is.
    pub(crate) word: Option<M>,
}

/// Why a packet is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum BadPacket {
    /// It is longer than any packet.
    #[error("it has {bytes} bytes, and packets have up to {PACKET_BYTES_MAX}")]
    TooLarge { bytes: usize },
    /// A node of another version sent it.
    #[error("version {0} is unknown, version {VERSION} is spoken here")]
    UnknownVersion(u32),
    /// It is no packet.
    #[error("it cannot be read")]
    Unreadable,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

impl<M: Serialize> Packet<M> {
    pub(crate) fn new(from: Incarnation, number: u64, sent_ms: u64, word: Option<M>) -> Self {
        Self { v: VERSION, from, number, sent_ms, echo_ms: None, word }
    }

    /// The same as the answer to one that was sent at this time.
    pub(crate) fn echoing(self, sent_ms: u64) -> Self {
        Self { echo_ms: Some(sent_ms), ..self }
    }

    /// The packet as it travels.
    ///
    /// # Errors
    ///
    /// What it says is too long, or cannot be written.
    pub(crate) fn seal(&self) -> Result<Bytes, BadPacket> {
        let text = serde_json::to_vec(self).map_err(|_| BadPacket::Unreadable)?;
        check_size(&text)?;
        Ok(text.into())
    }
}

impl<M: DeserializeOwned> Packet<M> {
    /// Reads a packet.
    ///
    /// # Errors
    ///
    /// See [`BadPacket`].
    pub(crate) fn open(text: &[u8]) -> Result<Self, BadPacket> {
        check_size(text)?;
        match serde_json::from_slice::<Self>(text) {
            Ok(packet) if packet.v == VERSION => Ok(packet),
            Ok(packet) => Err(BadPacket::UnknownVersion(packet.v)),
            Err(_) => match serde_json::from_slice(text) {
                Ok(Version { v }) if v != VERSION => Err(BadPacket::UnknownVersion(v)),
                Ok(_) | Err(_) => Err(BadPacket::Unreadable),
            },
        }
    }
}

fn check_size(text: &[u8]) -> Result<(), BadPacket> {
    let bytes = text.len();
    if bytes > PACKET_BYTES_MAX { Err(BadPacket::TooLarge { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_refused(text: &str, expected: BadPacket) {
        assert_eq!(Packet::<String>::open(text.as_bytes()), Err(expected), "{text}");
    }

    #[test]
    fn packets_are_read_as_they_were_written_and_others_refused() {
        let packet = Packet::new(Incarnation(7), u64::MAX, 0, Some("hello".to_owned()));
        let text = packet.seal().unwrap();
        assert_eq!(text, r#"{"v":1,"from":7,"number":18446744073709551615,"sent_ms":0,"word":"hello"}"#);
        assert_eq!(Packet::open(&text), Ok(packet));
        check_refused(r#"{"v":2,"from":7,"number":1,"sent_ms":0,"word":"x"}"#, BadPacket::UnknownVersion(2));
        check_refused(r#"{"v":2,"of":"another kind"}"#, BadPacket::UnknownVersion(2));
        check_refused(r#"{"v":1,"from":7,"number":1,"sent_ms":0,"word":{"x":1}}"#, BadPacket::Unreadable);
        check_refused(r#"{"v":-1}"#, BadPacket::Unreadable);
        check_refused("", BadPacket::Unreadable);
        check_refused(&"[".repeat(60_000), BadPacket::Unreadable);
        let bytes = PACKET_BYTES_MAX + 1;
        check_refused(&" ".repeat(bytes), BadPacket::TooLarge { bytes });
        let long = Packet::new(Incarnation(7), 1, 0, Some("x".repeat(bytes)));
        assert!(matches!(long.seal(), Err(BadPacket::TooLarge { .. })));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_packet_or_refused(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Packet::<String>::open(&text);
        }
    }
}
