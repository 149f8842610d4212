//! What requests carry, read strictly: JSON bodies, query parameters, parts of the path.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;

use super::error::{ApiCode, ApiError};
use crate::accounts::token::{BOT_PREFIX, SESSION_PREFIX};
use crate::model::bounded::{Bounded, BoundedLong};
use crate::protocol::error::{ErrorCode, WireError};
use crate::protocol::parse;

/// Largest body: the longest sensible one is a name and a password of 200 characters, under 2 KiB.
pub(crate) const BODY_BYTES_MAX: usize = 16 * 1_024;

/// How long a body may take. It is one packet; who is slower holds a place that others need.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Items of a list if the asker does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Items of one answer at most: 200 records have some 100 KiB.
const LIMIT_MAX: u32 = 200;

/// How many items somebody wants.
pub(super) type Limit = Bounded<1, LIMIT_MAX>;

/// Where the last answer ended: a number of something stored.
pub(super) type Cursor = BoundedLong<0, { u64::MAX >> 1 }>;

/// A JSON body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        json_body(request, BODY_BYTES_MAX).await.map(Self)
    }
}

/// A JSON body of at most so many bytes, for what is longer than [`JsonBody`] takes.
///
/// # Errors
///
/// 400, 408, 413 or 415, naming the field if it is one.
pub(super) async fn json_body<T: DeserializeOwned>(
    request: Request,
    bytes_max: usize,
) -> Result<T, ApiError> {
    check_content_type(request.headers())?;
    let body = Limited::new(request.into_body(), bytes_max).collect();
    let body = match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Err(_) => return Err(ApiError::new(ApiCode::Timeout, "the body did not come in time")),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("a body has at most {bytes_max} bytes");
            return Err(ApiError::new(ApiCode::TooLarge, message));
        }
        Ok(Err(_)) => return Err(ApiError::new(ApiCode::BadJson, "the body could not be read")),
        Ok(Ok(body)) => body.to_bytes(),
    };
    let text =
        std::str::from_utf8(&body).map_err(|_| ApiError::new(ApiCode::BadJson, "the body must be UTF-8"))?;
    parse::parse_object(text).map_err(|error| body_error(&error))
}

fn body_error(error: &WireError) -> ApiError {
    match (error.code, &error.field) {
        (ErrorCode::BadField, Some(field)) => ApiError::bad_field(field, &error.message),
        _ => ApiError::new(ApiCode::BadJson, &error.message),
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(ApiError::new(ApiCode::UnsupportedMediaType, "the body must be application/json"))
    }
}

/// Refuses compressed bodies: what 16 KiB unpack to is not for a stranger to say.
pub(super) fn check_content_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        Ok(())
    } else {
        Err(ApiError::new(ApiCode::UnsupportedMediaType, "the body must not be compressed"))
    }
}

/// A part of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// How many items are before it.
    pub(crate) skip: u32,
    /// Items of its own at most.
    pub(crate) limit: u32,
}

impl Part {
    /// How many items there are up to its end: where the next one begins.
    pub(crate) fn end(self) -> u32 {
        self.skip.saturating_add(self.limit)
    }

    /// How many items tell whether there are more: those up to its end, and one.
    pub(crate) fn up_to(self) -> u32 {
        self.end().saturating_add(1)
    }
}

/// The query of a request: names and values, decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct QueryParameters(Vec<(String, String)>);

impl QueryParameters {
    /// A parameter's value, if it is there and not empty.
    ///
    /// # Errors
    ///
    /// 400 naming the parameter, if it stands there twice or cannot be read.
    pub(crate) fn optional<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let mut values = self.0.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (None | Some(""), None) => Ok(None),
            (Some(value), None) => value
                .parse()
                .map(Some)
                .map_err(|error: T::Err| ApiError::bad_parameter(name, error.to_string())),
            (_, Some(_)) => Err(ApiError::bad_parameter(name, "the parameter stands there twice")),
        }
    }

    /// `limit`: how many items the asker wants, 1 to 200, else 50.
    ///
    /// # Errors
    ///
    /// 400 naming it.
    pub(crate) fn limit(&self) -> Result<u32, ApiError> {
        let limit = self.optional::<Limit>("limit")?;
        Ok(limit.map_or(LIMIT_DEFAULT, Limit::number))
    }

    /// `limit` and `cursor` of a list in which the cursor counts the items before it.
    ///
    /// # Errors
    ///
    /// 400 naming the one that cannot be read.
    pub(crate) fn part(&self) -> Result<Part, ApiError> {
        let skip = u32::try_from(self.cursor()?.unwrap_or_default()).unwrap_or(u32::MAX);
        Ok(Part { skip, limit: self.limit()? })
    }

    /// `cursor`: where the last answer ended.
    ///
    /// # Errors
    ///
    /// 400 naming it.
    pub(crate) fn cursor(&self) -> Result<Option<u64>, ApiError> {
        let cursor = self.optional::<Cursor>("cursor");
        let cursor =
            cursor.map_err(|_| ApiError::bad_parameter("cursor", "take the cursor from the answer before"));
        Ok(cursor?.map(Cursor::number))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParameters {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let unreadable = |_| ApiError::bad_parameter("query", "the query cannot be read");
        pairs.map(|Query(pairs)| Self(pairs)).map_err(unreadable)
    }
}

/// The two variable parts of a path, decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PathParts(pub(crate) PathPart, pub PathPart);

impl<S: Send + Sync> FromRequestParts<S> for PathParts {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::bad_parameter("path", "the path must be UTF-8"))?;
        let mut values = params.iter().map(|(_, value)| PathPart(value.to_owned()));
        let mut next = || values.next().unwrap_or_else(|| PathPart(String::new()));
        Ok(Self(next(), next()))
    }
}

/// The one variable part of a path, decoded. Routes with none or several do not use it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PathPart(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathPart {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::bad_parameter("path", "the path must be UTF-8"))?;
        Ok(Self(params.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default()))
    }
}

impl PathPart {
    /// The thing of which this is the name or id.
    ///
    /// # Errors
    ///
    /// 404: whatever cannot be a name names nothing.
    pub(crate) fn parse<T: FromStr>(&self, what: &str) -> Result<T, ApiError> {
        self.0.parse().map_err(|_| ApiError::not_found(what))
    }
}

/// Checks a path and query as they came: `%` starts a byte in two hexadecimal digits, the bytes are UTF-8 text without
/// control characters, and no token is among them.
pub(super) fn check_uri(uri: &axum::http::Uri) -> Result<(), ApiError> {
    check_escapes(uri.path()).map_err(|message| ApiError::bad_parameter("path", message))?;
    for pair in uri.query().unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // As whoever reads it would: an escape hides nothing.
        let [plain_name, plain_value] =
            [name, value].map(|text| percent_decode_str(text).decode_utf8_lossy());
        if is_credential(&plain_name, &plain_value) {
            return Err(ApiError::new(ApiCode::TokenInUrl, "a token goes into the Authorization header"));
        }
        check_escapes(name).map_err(|message| ApiError::bad_parameter("query", message))?;
        check_escapes(value).map_err(|message| ApiError::bad_parameter(name, message))?;
    }
    Ok(())
}

/// Whether this is how a credential would come: under one of the names that others use for it, or with a prefix of
/// ours.
fn is_credential(name: &str, value: &str) -> bool {
    const NAMES: [&str; 5] = ["token", "access_token", "bearer", "authorization", "secret"];
    let has_prefix = [BOT_PREFIX, SESSION_PREFIX].iter().any(|prefix| value.starts_with(prefix));
    has_prefix || NAMES.iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn check_escapes(text: &str) -> Result<(), &'static str> {
    const BROKEN: &str = "`%` must be followed by two hexadecimal digits";
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or(BROKEN);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high * 16 + low).map_err(|_| BROKEN)?
            }
            other => other,
        });
    }
    match std::str::from_utf8(&decoded) {
        Err(_) => Err("the text must be UTF-8"),
        Ok(text) if text.chars().any(char::is_control) => Err("control characters are not allowed"),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: Result<(), (ApiCode, Option<&str>)>) {
        let result = check_uri(&uri.parse().unwrap());
        let result = result.map_err(|error| (error.code, error.field));
        let expected = expected.map_err(|(code, field)| (code, field.map(str::to_owned)));
        assert_eq!(result, expected, "{uri}");
    }

    #[test]
    fn bad_escapes_are_named() {
        let bad = |field| Err((ApiCode::BadParameter, Some(field)));
        check("/a%20b?x=%C3%A4&y", Ok(()));
        check("/%2e%2e/", Ok(()));
        check("/%00", bad("path"));
        check("/%zz", bad("path"));
        check("/%a", bad("path"));
        check("/%", bad("path"));
        check("/%ff", bad("path"));
        check("/?limit=%", bad("limit"));
        check("/?limit=1&name=%0a", bad("name"));
        check("/?%00=1", bad("query"));
    }

    #[test]
    fn tokens_do_not_belong_into_the_url() {
        check("/?token=c4b_x", Err((ApiCode::TokenInUrl, None)));
        check("/?a=b&Access_Token=", Err((ApiCode::TokenInUrl, None)));
        check("/?x=c4b_1", Err((ApiCode::TokenInUrl, None)));
        check("/?%74oken=abc", Err((ApiCode::TokenInUrl, None)));
        check("/?x=c4b%5fabc", Err((ApiCode::TokenInUrl, None)));
        check("/?tokens=1", Ok(()));
    }

    #[test]
    fn limits_are_in_their_range() {
        let limit = |value: &str| QueryParameters(vec![("limit".into(), value.into())]).limit().ok();
        assert_eq!(limit(""), Some(LIMIT_DEFAULT));
        assert_eq!((limit("1"), limit("200")), (Some(1), Some(200)));
        for value in ["0", "201", "-1", "1e9", "ten", "99999999999", " 1", "1.0"] {
            assert_eq!(limit(value), None, "{value}");
        }
        let twice = QueryParameters(vec![("limit".into(), "1".into()), ("limit".into(), "2".into())]);
        assert_eq!(twice.limit().unwrap_err().field.as_deref(), Some("limit"));
    }
}
