//! A name for each request, by which a client, proxies before us and our log speak of the same one.

use std::fmt;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use rand::RngExt as _;

use crate::model::world::chance;

/// The header that carries it, in and out.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest name that is taken from outside: UUIDs have 36 characters, traces of OpenTelemetry 55.
const CHARS_MAX: usize = 64;

tokio::task_local! {
    static CURRENT: RequestId;
}

/// The name of one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RequestId(Box<str>);

impl RequestId {
    /// The name that the request has already, if it is fit for a log; otherwise a new one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|value| value.to_str().ok());
        match given.filter(|given| is_fit(given)) {
            Some(given) => Self(given.into()),
            None => Self(format!("{:016x}", chance().random::<u64>()).into()),
        }
    }

    /// As it goes out.
    pub(super) fn to_header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }

    /// Does something for this request.
    pub(super) async fn scope<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of the request that is answered here, for its refusal.
pub(super) fn current() -> Option<String> {
    CURRENT.try_with(ToString::to_string).ok()
}

/// What can stand in a line of a log without being taken for anything else.
fn is_fit(given: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=CHARS_MAX).contains(&given.len()) && given.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_if_it_is_plain_and_made_if_not() {
        let of = |given: &str| {
            let headers =
                HeaderMap::from_iter([(HEADER, HeaderValue::from_bytes(given.as_bytes()).unwrap())]);
            RequestId::of(&headers).to_string()
        };
        let longest = "x".repeat(64);
        for given in ["a", "3f2b-11_c.9", &longest] {
            assert_eq!(of(given), given);
        }
        for given in ["", "a b", "\"code\":\"unauthorized\"", "ä", &"x".repeat(65)] {
            let made = of(given);
            assert!(made.len() == 16 && made != of(given), "{given}: {made}");
        }
    }
}
