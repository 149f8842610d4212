//! What no route takes: odd URLs, bodies, methods. And what every answer has.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};

use crate::http::request::BODY_BYTES_MAX;
use crate::http::testing::{Answer, PASSWORD, TestArena, TestSite, credentials, post};

const ACCOUNTS: &str = "/api/v1/accounts";

#[tokio::test]
async fn an_unknown_route_is_a_json_404() {
    let site = TestSite::new();
    for path in ["/api", "/api/", "/api/v1", "/api/v2/live", "/api/v1/players/a/b/c", "/api/v1/games/x/y/z"] {
        site.get(path).await.check_refused(404, "not_found", None);
    }
    let posted = site.post("/api/v1/nothing", &credentials("a", "b")).await;
    posted.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let site = TestSite::new();
    let send = async |method: Method, path: &str| {
        site.send(Request::builder().method(method).uri(path).body(Body::empty()).unwrap()).await
    };
    let answer = send(Method::PUT, "/api/v1/leaderboard").await;
    answer.check_refused(405, "method_not_allowed", None);
    assert_eq!(answer.header(header::ALLOW), "GET,HEAD");
    let answer = send(Method::GET, "/api/v1/sessions").await;
    answer.check_refused(405, "method_not_allowed", None);
    assert_eq!(answer.header(header::ALLOW), "POST,DELETE");
}

#[tokio::test]
async fn head_answers_as_get_without_the_body() {
    let site = TestSite::new();
    let head = Request::head("/api/v1/positions/44.svg").body(Body::empty()).unwrap();
    let (head, get) = (site.send(head).await, site.get("/api/v1/positions/44.svg").await);
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
    assert_eq!(head.headers[header::ETAG], get.headers[header::ETAG]);
    assert_eq!(head.headers[header::CONTENT_TYPE], get.headers[header::CONTENT_TYPE]);
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let site = TestSite::new();
    let check = async |path: &str, field: &str| {
        site.get(path).await.check_refused(400, "bad_parameter", Some(field));
    };
    for limit in ["0", "-1", "201", "1e9", "abc", "99999999999999999999", "1&limit=2"] {
        check(&format!("/api/v1/leaderboard?limit={limit}"), "limit").await;
        check(&format!("/api/v1/games?limit={limit}"), "limit").await;
        check(&format!("/api/v1/live?limit={limit}"), "limit").await;
        check(&format!("/api/v1/bots?limit={limit}"), "limit").await;
        check(&format!("/api/v1/tournaments?limit={limit}"), "limit").await;
    }
    check("/api/v1/games?cursor=xyz", "cursor").await;
    check("/api/v1/games?since=yesterday", "since").await;
    check("/api/v1/games?player=x%21", "player").await;
    check("/api/v1/games.ndjson?limit=0", "limit").await;
    check("/api/v1/leaderboard?list=cats", "list").await;
    check("/api/v1/leaderboard?variant=99x99", "variant").await;
    check("/api/v1/players/nobody/ratings?variant=x", "variant").await;
    check("/api/v1/positions/44?variant=1x1", "variant").await;
    check("/api/v1/positions/4444444", "moves").await;
    check("/api/v1/positions/12121214", "moves").await;
    check("/api/v1/positions/9", "moves").await;
    check("/api/v1/positions/abc.svg", "moves").await;
    check("/api/v1/players/%00", "path").await;
    check("/api/v1/players/%zz", "path").await;
    check("/api/v1/players/%c3", "path").await;
    check("/api/v1/leaderboard?limit=%", "limit").await;
}

#[tokio::test]
async fn what_cannot_be_a_name_names_nothing() {
    let site = TestSite::new();
    for path in [
        "/api/v1/players/nobody",
        "/api/v1/players/x",
        "/api/v1/players/%2e%2e%2fetc",
        "/api/v1/players/%F0%9F%98%80",
        "/api/v1/players/a%20b/games",
        "/api/v1/games/unknown",
        "/api/v1/games/..%2F..%2Fetc%2Fpasswd",
        "/api/v1/games/unknown.svg",
        "/api/v1/games/.svg",
        "/api/v1/tournaments/first",
    ] {
        site.get(path).await.check_refused(404, "not_found", None);
    }
    site.get("/api/v1/games?player=nobody").await.check_refused(404, "not_found", Some("player"));
}

#[tokio::test]
async fn a_token_in_the_url_is_refused_and_not_repeated() {
    let site = TestSite::new();
    for path in ["/api/v1/live?token=c4b_hidden", "/?access_token=c4b_hidden"] {
        let answer = site.get(path).await;
        answer.check_refused(400, "token_in_url", None);
        assert!(!answer.body.contains("hidden"));
    }
}

async fn post_raw(site: &TestSite, content_type: Option<&str>, body: impl Into<Body>) -> Answer {
    let mut request = Request::post(ACCOUNTS);
    if let Some(content_type) = content_type {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    site.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_body_must_be_one_json_object_with_the_right_fields() {
    let site = TestSite::new();
    let json = Some("application/json");
    for body in
        ["", "{", "[]", "null", "{\"name\":\"a\"} x", "\u{feff}{}", "{\"name\":\"a\",\"name\":\"b\"}", "NaN"]
    {
        post_raw(&site, json, body).await.check_refused(400, "bad_json", None);
    }
    post_raw(&site, json, b"{\"name\":\"\xff\"}".to_vec()).await.check_refused(400, "bad_json", None);
    let deep = format!("{{\"name\":{}{}}}", "[".repeat(1_000), "]".repeat(1_000));
    post_raw(&site, json, deep).await.check_refused(400, "bad_json", None);
    post_raw(&site, json, "{}").await.check_refused(422, "bad_field", Some("name"));
    post_raw(&site, json, "{\"name\":5}").await.check_refused(422, "bad_field", Some("name"));
    let missing = "{\"name\":\"ada\"}";
    post_raw(&site, json, missing).await.check_refused(422, "bad_field", Some("password"));
    let wrong = "{\"name\":\"ada\",\"password\":[\"hidden\"]}";
    let answer = post_raw(&site, json, wrong).await;
    answer.check_refused(422, "bad_field", Some("password"));
    assert!(!answer.body.contains("hidden"));
}

#[tokio::test]
async fn other_types_of_body_are_refused() {
    let site = TestSite::new();
    let body = credentials("Ada", PASSWORD).to_string();
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("json")] {
        post_raw(&site, content_type, body.clone()).await.check_refused(415, "unsupported_media_type", None);
    }
    for encoding in ["gzip", "br", "identity, gzip", "x"] {
        let request = post(ACCOUNTS).header(header::CONTENT_ENCODING, encoding);
        let answer = site.send(request.body(Body::from(body.clone())).unwrap()).await;
        answer.check_refused(415, "unsupported_media_type", None);
    }
    let accepted = post_raw(&site, Some("Application/JSON; charset=utf-8"), body).await;
    assert_eq!(accepted.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let site = TestSite::new();
    let body = format!("{{\"name\":\"{}\"}}", "a".repeat(BODY_BYTES_MAX));
    post_raw(&site, Some("application/json"), body).await.check_refused(413, "too_large", None);
    let full = " ".repeat(BODY_BYTES_MAX);
    post_raw(&site, Some("application/json"), full).await.check_refused(400, "bad_json", None);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let site = TestSite::new();
    let never = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    post_raw(&site, Some("application/json"), never).await.check_refused(408, "timeout", None);
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let site = TestSite::new();
    for path in ["/api/v1/live", "/api/v1/nothing", "/healthz", "/api/v1/positions/-.svg", "/%zz"] {
        let request = Request::get(path).header(header::HOST, "localhost:4444");
        let answer = site.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            answer.header(header::CONTENT_SECURITY_POLICY),
            "default-src 'none'; script-src 'self'; style-src 'self'; \
             connect-src 'self' ws://localhost:4444 wss://localhost:4444; img-src 'self' data:; font-src 'self'; \
             manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; \
             require-trusted-types-for 'script'; trusted-types service-worker bot-worker",
            "{path}"
        );
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(answer.header(header::REFERRER_POLICY), "same-origin", "{path}");
    }
}

#[tokio::test]
async fn what_pages_are_made_of_has_the_headers_that_it_needs_alone() {
    let site = TestSite::new();
    for path in ["/static/style.css", "/static/logo.svg", "/static/nothing"] {
        let answer = site.get(path).await;
        assert_eq!(
            answer.header(header::CONTENT_SECURITY_POLICY),
            "default-src 'none'; frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(answer.header(header::REFERRER_POLICY), "", "{path}");
    }
}

#[tokio::test]
async fn a_host_header_cannot_widen_the_policy() {
    let site = TestSite::new();
    for host in ["*", "a b", "a;script-src *", "a'b", "a, b"] {
        let request = Request::get("/healthz").header(header::HOST, host);
        let answer = site.send(request.body(Body::empty()).unwrap()).await;
        assert!(answer.header(header::CONTENT_SECURITY_POLICY).contains("connect-src 'self';"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_stopping_daemon_is_well_but_not_ready() {
    let arena = TestArena::default();
    arena.is_stopping.store(true, Ordering::Relaxed);
    let site = TestSite::with(crate::http::site::Site::default(), arena);
    assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
    let answer = site.get("/readyz").await;
    assert_eq!(answer.json()["reasons"], serde_json::json!(["no new games begin now"]));
    assert_eq!((answer.header(header::RETRY_AFTER), &answer.json()["retry_ms"]), ("2", &2_000.into()));
    answer.check_refused(503, "not_ready", None);
    assert_eq!(TestSite::new().get("/readyz").await.body, r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn a_node_that_leads_two_others_leaves_players_to_them() {
    let site = TestSite::new();
    for (living, status) in [(0, 200), (1, 200), (2, 200), (3, 404), (7, 404), (2, 200)] {
        site.metrics.nodes(living, true);
        let answer = site.get("/healthz/players").await;
        assert_eq!(answer.status.as_u16(), status, "{living} nodes: {}", answer.body);
        assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
        if status == 404 {
            answer.check_refused(404, "not_found", None);
        } else {
            assert_eq!(answer.body, r#"{"status":"ok"}"#);
        }
    }
}

#[tokio::test]
async fn a_daemon_with_a_part_that_pauses_says_which() {
    let reason = "lobby has failed several times and pauses".to_owned();
    let arena = TestArena { pauses: vec![reason.clone()], ..TestArena::default() };
    let site = TestSite::with(crate::http::site::Site::default(), arena);
    let answer = site.get("/readyz").await;
    assert_eq!(answer.json()["reasons"], serde_json::json!([reason]));
    answer.check_refused(503, "not_ready", None);
    assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_daemon_that_cannot_store_anything_is_not_ready_and_says_why() {
    let arena = TestArena::default();
    arena.is_full.store(true, Ordering::Relaxed);
    let site = TestSite::with(crate::http::site::Site::default(), arena);
    assert_eq!(site.get("/healthz").await.status, StatusCode::OK);
    let answer = site.get("/readyz").await;
    assert!(answer.body.contains("disk_full: no space is left on the disk"), "{}", answer.body);
    answer.check_refused(503, "not_ready", None);
}

#[tokio::test]
async fn requests_are_counted_by_route_and_status() {
    let site = TestSite::new();
    site.get("/api/v1/players/nobody").await;
    site.get("/api/v1/players/someone").await;
    let text = site.metrics.text();
    let line =
        "fourfold_http_requests_total{method=\"GET\",route=\"/api/v1/players/{name}\",status=\"404\"} 2";
    assert!(text.contains(line), "{text}");
}
