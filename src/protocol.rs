//! The wire contract `fourfold.v1`: message types, error codes and how text becomes a message. Nothing else.
//!
//! The contract itself is described in `docs/protocol.md`; the types here are its only implementation, and the
//! published JSON Schema is generated from them.

pub mod client;
pub mod error;
pub mod parse;
pub mod server;
pub(crate) mod terms;
mod wording;

pub use client::{ClientMessage, Request};
pub use error::{ErrorCode, WireError};
pub use server::{Frame, ServerMessage};

/// The version spoken here.
pub(crate) const PROTOCOL_VERSION: u32 = 1;

/// The WebSocket subprotocol that names the version.
pub(crate) const SUBPROTOCOL: &str = "fourfold.v1";

/// Largest client frame and message: the longest sensible request has about 1 KiB.
pub(crate) const CLIENT_FRAME_BYTES_MAX: usize = 4 * 1024;

/// Largest server frame. A snapshot of the longest game has under 4 KiB; feeds are cut to fit.
pub(crate) const SERVER_FRAME_BYTES_MAX: usize = 64 * 1024;

/// Deepest nesting in a client message.
pub(crate) const JSON_DEPTH_MAX: usize = 8;

/// Longest `id` of a request.
pub(crate) const REQUEST_ID_CHARS_MAX: usize = 32;

/// Longest `info` of a move.
pub(crate) const INFO_BYTES_MAX: usize = 512;

/// What is spoken here beyond the smallest exchange, for clients that ask before they rely on it. The list only grows.
/// An arena adds `guests`, `truth` and `watch_delay` if its settings allow them.
pub(crate) const FEATURES: &[&str] = &[
    "claim",
    "drain",
    "feeds",
    "info",
    "links",
    "needs",
    "pace",
    "pairs",
    "phrases",
    "reactions",
    "rematch",
    "reserve_for_humans",
    "resume",
    "strict",
    "takeback",
    "variants",
];

/// Features that one `hello` may need: more than there are, and a bound on what is compared.
pub(crate) const NEEDS_MAX: usize = 64;

/// The reactions that `react` takes: emojis, and phrases as codes, which each reader is shown in the own language.
pub(crate) const REACTIONS: &[&str] = &[
    "👍",
    "👏",
    "😀",
    "😮",
    "😅",
    "🤔",
    "🎉",
    "🤝",
    "phrase:hello",
    "phrase:good_luck",
    "phrase:nice_move",
    "phrase:oops",
    "phrase:well_played",
    "phrase:good_game",
    "phrase:thank_you",
    "phrase:one_more",
    "phrase:sorry_away",
    "phrase:have_to_go",
];

/// Close codes of the WebSocket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseCode {
    /// The client said bye, or nothing is left to do.
    Bye,
    /// The frames broke the WebSocket protocol.
    Protocol,
    /// A binary frame came.
    Binary,
    /// A text frame was not UTF-8.
    Utf8,
    /// Too many frames in one message, or too many pings.
    Policy,
    /// A frame over the limit came.
    TooLarge,
    /// The daemon restarts.
    Restart,
    /// Requests without sense, again and again.
    Abuse,
    /// Credentials missing, unknown or revoked.
    Credentials,
    /// The player is banned.
    Banned,
    /// No common protocol version.
    Version,
    /// The client reads slower than it is sent to.
    TooSlow,
    /// A newer connection of the same bot took over.
    Replaced,
    /// Over the message limit again and again.
    Flooding,
}

impl CloseCode {
    /// The number on the wire.
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Bye => 1000,
            Self::Protocol => 1002,
            Self::Binary => 1003,
            Self::Utf8 => 1007,
            Self::Policy => 1008,
            Self::TooLarge => 1009,
            Self::Restart => 1012,
            Self::Abuse => 4400,
            Self::Credentials => 4401,
            Self::Banned => 4403,
            Self::Version => 4406,
            Self::TooSlow => 4408,
            Self::Replaced => 4409,
            Self::Flooding => 4429,
        }
    }

    /// The words that go with it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Bye => "bye",
            Self::Protocol => "not the WebSocket protocol",
            Self::Binary => "text frames only",
            Self::Utf8 => "text must be UTF-8",
            Self::Policy => "too many frames",
            Self::TooLarge => "frame too large",
            Self::Restart => "restarting",
            Self::Abuse => "too many senseless requests",
            Self::Credentials => "credentials missing or not valid",
            Self::Banned => "banned",
            Self::Version => "no common protocol version",
            Self::TooSlow => "too slow",
            Self::Replaced => "replaced by a newer connection",
            Self::Flooding => "too many messages",
        }
    }
}
