//! Registering, signing in and out, and who may make a browser do so.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use crate::accounts::SESSION_LIFETIME_MS;
use crate::http::client_address::Peer;
use crate::http::site::Site;
use crate::http::testing::{Answer, PASSWORD, TestArena, TestSite, credentials, post};
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore;
use crate::storage::store::{Store as _, Write};

const ACCOUNTS: &str = "/api/v1/accounts";
const SESSIONS: &str = "/api/v1/sessions";

#[tokio::test]
async fn a_registered_name_signs_in_in_any_case() {
    let site = TestSite::new();
    let registered = site.post(ACCOUNTS, &credentials("Ada", PASSWORD)).await;
    assert_eq!(registered.status, StatusCode::CREATED);
    assert_eq!((&registered.json()["name"], &registered.json()["kind"]), (&json!("Ada"), &json!("human")));
    let signed_in = site.post(SESSIONS, &credentials("aDA", PASSWORD)).await;
    assert_eq!(signed_in.status, StatusCode::CREATED);
    assert_eq!(signed_in.json()["id"], registered.json()["id"]);
    assert_ne!(signed_in.cookie(), registered.cookie());
}

#[tokio::test]
async fn neither_password_nor_session_is_stored_in_plain() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let ada = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let password = site.store.password(&ada.id).await.unwrap().unwrap();
    assert!(password.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{password}");
    let tokens = site.store.tokens_of(&ada.id, UnixMillis::now()).await.unwrap();
    let secret = cookie.split_once('=').unwrap().1;
    assert!(!format!("{tokens:?}").contains(secret));
}

#[tokio::test]
async fn bad_names_and_passwords_are_refused_by_field() {
    let site = TestSite::new();
    site.register("Ada").await;
    let check = async |name: &str, password: &str, status, code, field| {
        site.post(ACCOUNTS, &credentials(name, password)).await.check_refused(status, code, Some(field));
    };
    check("ada", PASSWORD, 409, "name_taken", "name").await;
    check("admin", PASSWORD, 422, "name_reserved", "name").await;
    check("guest-bob", PASSWORD, 422, "name_reserved", "name").await;
    check("", PASSWORD, 422, "bad_field", "name").await;
    check("b\u{202e}ob", PASSWORD, 422, "bad_field", "name").await;
    check(&"b".repeat(10_000), PASSWORD, 422, "bad_field", "name").await;
    check("bob", "1234567", 422, "bad_field", "password").await;
    check("bob", &"x".repeat(201), 422, "bad_field", "password").await;
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_look_alike() {
    let site = TestSite::new();
    site.register("Ada").await;
    let wrong = site.post(SESSIONS, &credentials("Ada", "wrong horse")).await;
    let unknown = site.post(SESSIONS, &credentials("Bob", "wrong horse")).await;
    let impossible = site.post(SESSIONS, &credentials("no name", "x")).await;
    wrong.check_refused(401, "unauthorized", None);
    assert_eq!((&wrong.body, wrong.status), (&unknown.body, unknown.status));
    assert_eq!((&wrong.body, wrong.status), (&impossible.body, impossible.status));
}

#[tokio::test(start_paused = true)]
async fn five_wrong_passwords_lock_an_account_for_a_minute() {
    let site = TestSite::new();
    site.register("Ada").await;
    for _ in 0..5 {
        site.post(SESSIONS, &credentials("Ada", "wrong horse")).await.check_refused(
            401,
            "unauthorized",
            None,
        );
    }
    let locked = site.post(SESSIONS, &credentials("ADA", PASSWORD)).await;
    locked.check_refused(429, "rate_limited", None);
    let seconds: u64 = locked.header(header::RETRY_AFTER).parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let retry_ms = locked.json()["retry_ms"].as_u64().unwrap();
    assert_eq!(retry_ms.div_ceil(1_000), seconds);
    tokio::time::advance(Duration::from_millis(retry_ms)).await;
    assert_eq!(site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.status, StatusCode::CREATED);
}

#[tokio::test(start_paused = true)]
async fn who_was_right_in_between_starts_anew() {
    let site = TestSite::new();
    site.register("Ada").await;
    for _ in 0..3 {
        for _ in 0..4 {
            site.post(SESSIONS, &credentials("Ada", "wrong horse")).await;
        }
        // From this machine, where the network is not counted.
        let mut request = post(SESSIONS).body(Body::from(credentials("Ada", PASSWORD).to_string())).unwrap();
        request.extensions_mut().insert(Peer("127.0.0.1:1".parse().unwrap()));
        let answer = site.send(request).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
        tokio::time::advance(Duration::from_secs(601)).await;
    }
}

async fn sign_in_from(site: &TestSite, peer: &str, name: &str) -> Answer {
    let mut request = post(SESSIONS).body(Body::from(credentials(name, "wrong horse").to_string())).unwrap();
    request.extensions_mut().insert(Peer(peer.parse().unwrap()));
    site.send(request).await
}

#[tokio::test(start_paused = true)]
async fn ten_wrong_passwords_lock_a_network_but_not_others() {
    let site = TestSite::new();
    for name in 0..10 {
        let peer = format!("[2001:db8::{name}]:1");
        assert_eq!(sign_in_from(&site, &peer, &format!("user{name}")).await.status, StatusCode::UNAUTHORIZED);
    }
    sign_in_from(&site, "[2001:db8::ffff]:1", "other").await.check_refused(429, "rate_limited", None);
    assert_eq!(sign_in_from(&site, "[2001:db8:1::1]:1", "other").await.status, StatusCode::UNAUTHORIZED);
    tokio::time::advance(Duration::from_mins(10)).await;
    assert_eq!(sign_in_from(&site, "[2001:db8::1]:1", "again").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn signing_out_ends_the_session_and_the_cookie() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let mut revoked = site.state.accounts.revocations();
    let out = site.as_page(Method::DELETE, SESSIONS, &cookie, &Value::Null).await;
    assert_eq!((out.status, out.body.as_str()), (StatusCode::NO_CONTENT, ""));
    assert!(out.header(header::SET_COOKIE).starts_with("fourfold=; Path=/; Max-Age=0;"), "{out:?}");
    assert!(revoked.try_recv().is_ok());
    let again = site.as_page(Method::DELETE, SESSIONS, &cookie, &Value::Null).await;
    again.check_refused(401, "unauthorized", None);
}

#[tokio::test]
async fn a_session_expires_in_the_store() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let ada = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let tokens = site.store.tokens_of(&ada.id, UnixMillis::now()).await.unwrap();
    let token = tokens.first().unwrap();
    assert_eq!(token.expires_at, Some(UnixMillis(token.created_at.0 + SESSION_LIFETIME_MS)));
    let after = UnixMillis(token.created_at.0 + SESSION_LIFETIME_MS);
    assert_eq!(site.store.token(&token.digest, after).await.unwrap(), None, "{cookie}");
}

/// Signs in with a browser that says so of itself, and the cookie.
async fn sign_in_with(site: &TestSite, user_agent: &str) -> String {
    let request = post(SESSIONS).header(header::USER_AGENT, user_agent);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let body = Body::from(credentials("Ada", PASSWORD).to_string());
    site.send(request.body(body).unwrap()).await.cookie()
}

#[tokio::test]
async fn sessions_say_with_what_they_began_and_nothing_that_a_stranger_writes() {
    let site = TestSite::new();
    site.register("Ada").await;
    sign_in_with(&site, "Mozilla/5.0 (Windows NT 10.0; <b>x</b>) Gecko/20100101 Firefox/140.0").await;
    let cookie = sign_in_with(&site, "<script>alert(1)</script>").await;
    let page = site.as_page(Method::GET, "/account", &cookie, &Value::Null).await.body;
    assert!(page.contains("<strong>Firefox on Windows</strong>"), "{page}");
    assert!(page.contains("<strong>Unknown device</strong>"), "{page}");
    assert!(!page.contains("alert(1)") && !page.contains("<b>x"), "{page}");
    let account = site.as_page(Method::GET, "/api/v1/account", &cookie, &Value::Null).await.json();
    let known: Vec<_> = account["sessions"].as_array().unwrap().iter().map(|of| &of["browser"]).collect();
    assert_eq!(known, [&Value::Null, &json!("Firefox"), &Value::Null], "the newest first");
    assert_eq!(account["sessions"][1]["system"], "Windows");
}

#[tokio::test(start_paused = true)]
async fn the_last_use_of_a_session_is_noted_now_and_then() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let ada = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let session = async || site.store.tokens_of(&ada.id, UnixMillis::now()).await.unwrap().remove(0);
    let open = async || {
        site.as_page(Method::GET, "/account", &cookie, &Value::Null).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    open().await;
    assert_eq!(session().await.used_at, None, "it began just now");
    let at = UnixMillis(1_000);
    site.store.commit(&[Write::NoteUse { token: session().await.id, at }]).await.unwrap();
    open().await;
    let noted = session().await.used_at.unwrap();
    assert!(noted > at, "{noted}");
    open().await;
    assert_eq!(session().await.used_at, Some(noted), "not each time");
}

async fn delete_session(site: &TestSite, cookie: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::delete(SESSIONS).header(header::HOST, "localhost:4444");
    request = request.header(header::COOKIE, cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    site.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn other_sites_cannot_use_a_cookie() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    for headers in [
        &[][..],
        &[("origin", "null")],
        &[("origin", "http://evil.example")],
        &[("origin", "http://localhost:5555")],
        &[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
    ] {
        delete_session(&site, &cookie, headers).await.check_refused(403, "origin_not_allowed", None);
    }
    let own = delete_session(&site, &cookie, &[("sec-fetch-site", "same-origin")]).await;
    assert_eq!(own.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn other_sites_cannot_sign_a_browser_in() {
    let site = TestSite::new();
    let request = post(ACCOUNTS).header(header::ORIGIN, "http://evil.example");
    let body = Body::from(credentials("Ada", PASSWORD).to_string());
    site.send(request.body(body).unwrap()).await.check_refused(403, "origin_not_allowed", None);
}

#[tokio::test]
async fn with_tls_the_cookie_is_bound_to_the_host() {
    let settings = Site { public_url: Some("https://play.example".parse().unwrap()), ..Site::default() };
    let site = TestSite::with(settings, TestArena::default());
    let answer = site.post(ACCOUNTS, &credentials("Ada", PASSWORD)).await;
    let set = answer.header(header::SET_COOKIE);
    assert!(set.starts_with("__Host-fourfold=c4s_"), "{set}");
    assert!(set.ends_with("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure"), "{set}");
    let cookie = answer.cookie();
    let plain = cookie.replace("__Host-", "");
    delete_session(&site, &plain, &[("origin", "https://play.example")]).await.check_refused(
        401,
        "unauthorized",
        None,
    );
    let out = delete_session(&site, &cookie, &[("origin", "https://play.example")]).await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn strange_cookies_are_as_good_as_none() {
    let site = TestSite::new();
    let strange = "x".repeat(5_000);
    for value in ["", "c4s_", "c4b_x", "a.b", "%00", "\"\"", strange.as_str()] {
        let answer = delete_session(
            &site,
            &format!("other=1; fourfold={value}; fourfold"),
            &[("sec-fetch-site", "same-origin")],
        )
        .await;
        answer.check_refused(401, "unauthorized", None);
    }
}
