//! A link as a QR code, to be read by the phone on the other side of the table: of an invitation, a tournament or a
//! class.

use std::fmt::Write as _;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use qrcodegen::{QrCode, QrCodeEcc};

use crate::http::site::host;
use crate::http::state::AppState;
use crate::model::class_code::ClassCode;
use crate::model::ids::{ChallengeId, TournamentId};

/// White around the code, in modules: what the standard asks for.
const QUIET: i32 = 4;

/// The picture of `/challenge/ID`, whether or not the invitation stands: the link alone says nothing.
pub(super) async fn challenge(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    match id.parse::<ChallengeId>() {
        Ok(id) => picture(&state, &headers, &format!("/challenge/{id}")),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The picture of `/tournament/ID`, in the same way.
pub(super) async fn tournament(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    match id.parse::<TournamentId>() {
        Ok(id) => picture(&state, &headers, &format!("/tournament/{id}")),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The picture of `/class/CODE`, in the same way.
pub(super) async fn class(
    State(state): State<AppState>,
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Response {
    match code.parse::<ClassCode>() {
        Ok(code) => picture(&state, &headers, &format!("/class/{code}")),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The whole address of a page, as the asker has found the site.
pub(super) fn address(state: &AppState, headers: &HeaderMap, path: &str) -> String {
    match &state.site.public_url {
        Some(_) => state.site.url(path),
        None => format!("{}://{}{path}", state.site.scheme(), host(headers).unwrap_or_default()),
    }
}

/// The code of the address of a page, as the asker has found the site.
fn picture(state: &AppState, headers: &HeaderMap, path: &str) -> Response {
    match svg(&address(state, headers, path)) {
        Some(picture) => ([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The code of a text, black on white; nothing if it is too long for one.
fn svg(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let size = code.size() + 2 * QUIET;
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            // Writing to a string never fails.
            let _ = write!(path, "M{},{}h1v1h-1z", x + QUIET, y + QUIET);
        }
    }
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/><path d=\"{path}\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;

    use super::*;
    use crate::http::testing::TestSite;

    #[test]
    fn a_link_becomes_a_square_with_white_around_it() {
        let picture = svg("http://127.0.0.1:4444/challenge/abc").expect("a short text");
        // Version 3 has 29 modules a side.
        assert!(picture.contains("viewBox=\"0 0 37 37\""), "{picture:.200}");
        assert!(picture.contains("M4,4h1v1h-1z"), "a corner of the finder pattern: {picture:.300}");
        assert!(!picture.contains("M3,"), "nothing lies in the quiet zone");
    }

    #[tokio::test]
    async fn the_code_on_the_wall_leads_where_the_browser_has_found_the_site() {
        let site = TestSite::new();
        let asked = async |host: &str, path: &str| {
            let request = Request::get(format!("{path}/qr.svg")).header(header::HOST, host);
            site.send(request.body(Body::empty()).unwrap()).await.body
        };
        for host in ["192.168.7.20:4444", "localhost:4444", "arena.school.example"] {
            for path in ["/class/ABCDEF", "/challenge/abc", "/tournament/abc"] {
                assert_eq!(asked(host, path).await, svg(&format!("http://{host}{path}")).unwrap(), "{host}");
            }
        }
        assert_ne!(asked("a.example", "/class/ABCDEF").await, asked("b.example", "/class/ABCDEF").await);
    }

    #[test]
    fn what_is_too_long_has_no_code() {
        assert!(svg(&"x".repeat(10_000)).is_none());
    }
}
