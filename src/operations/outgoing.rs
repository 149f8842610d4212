//! Requests that go from here to addresses which others choose: to whom they are addressed and nowhere else, and never
//! into networks that are not the Internet unless the operator says so.

#[cfg(test)]
mod listener;
mod network;
mod post;
mod target;

use axum::http::HeaderMap;
use bytes::Bytes;

#[cfg(test)]
pub(super) use self::listener::listener;
pub(super) use self::network::may_reach;
pub(super) use self::post::post;
pub(super) use self::target::{InvalidTarget, Target};

/// What is posted: `Host` and length come with it.
#[derive(Clone, Debug)]
pub(super) struct Posting {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}
