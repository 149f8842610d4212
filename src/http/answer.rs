//! Answers: lists, and things that browsers and proxies may keep.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::preview::PictureKind;
use super::request::Part;

/// Bytes of the digest in an `ETag`: 96 bits do not collide by chance.
const ETAG_BYTES: usize = 12;

/// A part of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct List<T> {
    /// In the order of the list.
    pub(crate) items: Vec<T>,
    /// Goes into the next request as `cursor`; null at the end.
    pub(crate) cursor: Option<String>,
}

impl<T> List<T> {
    /// A list that has no further part.
    pub(super) fn whole(items: Vec<T>) -> Self {
        Self { items, cursor: None }
    }

    /// The part that was asked for, of the first [`Part::up_to`] of all items.
    pub(super) fn part(first: Vec<T>, part: Part) -> Self {
        let end = part.end();
        let goes_on = first.len() as u64 > u64::from(end);
        let items = first.into_iter().skip(part.skip as usize).take(part.limit as usize).collect();
        Self { items, cursor: goes_on.then(|| end.to_string()) }
    }
}

/// A table to be kept in a file of this name, as CSV.
pub(super) fn table(name: &str, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, text).into_response()
}

/// How long an answer may be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// It follows from its URL alone: a day, after which a new version may draw it better.
    Derived,
    /// It changes when its owner likes, and nobody minds the old one for five minutes.
    Briefly,
    /// It hardly ever changes, but a moderator can: asked for again each time, sent again only if it did.
    Settled,
}

impl Keep {
    fn cache_control(self) -> HeaderValue {
        match self {
            Self::Derived => HeaderValue::from_static("public, max-age=86400"),
            Self::Briefly => HeaderValue::from_static("public, max-age=300"),
            Self::Settled => HeaderValue::from_static("public, no-cache"),
        }
    }
}

/// Answers with a body that seldom changes: with its `ETag`, and without the body if the asker has it.
pub(super) fn keepable(
    request: &HeaderMap,
    keep: Keep,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response {
    let body: Bytes = body.into();
    let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(&Sha256::digest(&body)[..ETAG_BYTES]));
    let is_known = request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*");
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, content_type)], Body::from(body)).into_response()
    };
    let etag = HeaderValue::try_from(etag).expect("base64url in quotes is a header value");
    response.headers_mut().insert(header::ETAG, etag);
    response.headers_mut().insert(header::CACHE_CONTROL, keep.cache_control());
    response
}

/// As [`keepable`], of a value that serialises.
pub(super) fn keepable_json(request: &HeaderMap, keep: Keep, value: &impl Serialize) -> Response {
    let body = serde_json::to_string(value).expect("answers have string keys only");
    keepable(request, keep, "application/json", body)
}

pub(super) fn picture(request: &HeaderMap, keep: Keep, svg: String) -> Response {
    keepable(request, keep, "image/svg+xml; charset=utf-8", svg)
}

/// As [`keepable`], of a picture in pixels.
pub(super) fn pixels(request: &HeaderMap, keep: Keep, kind: PictureKind, picture: Bytes) -> Response {
    let content_type = match kind {
        PictureKind::Still => "image/png",
        PictureKind::Moving => "image/gif",
    };
    keepable(request, keep, content_type, picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_list_join_without_a_gap() {
        let read = |skip, limit| {
            let part = Part { skip, limit };
            let List { items, cursor } = List::part((0..7).take(part.up_to() as usize).collect(), part);
            (items, cursor)
        };
        assert_eq!(read(0, 3), (vec![0, 1, 2], Some("3".to_owned())));
        assert_eq!(read(3, 3), (vec![3, 4, 5], Some("6".to_owned())));
        assert_eq!(read(6, 3), (vec![6], None));
        assert_eq!(read(0, 7), ((0..7).collect(), None));
        assert_eq!(read(u32::MAX, 200), (Vec::new(), None));
    }
}
