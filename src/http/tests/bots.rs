//! Bots of one's own, their tokens, and what the tokens are good for.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use crate::accounts::Revoked;
use crate::http::auth;
use crate::http::testing::{Answer, TestSite};
use crate::model::secret::Secret;

const BOTS: &str = "/api/v1/bots";
const TOKENS: &str = "/api/v1/bots/Robo/tokens";

async fn create_bot(site: &TestSite, cookie: &str, name: &str) -> Answer {
    site.as_page(Method::POST, BOTS, cookie, &json!({ "name": name })).await
}

fn token_of(answer: &Answer) -> Secret {
    Secret::new(answer.json()["token"].as_str().unwrap())
}

#[tokio::test]
async fn a_bot_s_token_says_who_it_is() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let created = create_bot(&site, &cookie, "Robo").await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    assert_eq!(created.json()["name"], "Robo");
    let token = token_of(&created);
    assert!(token.expose().starts_with("c4b_"));
    let robo = site.state.accounts.authenticate(&token).await.unwrap().identity;
    assert_eq!(robo.name.as_str(), "Robo");
    let ada = site.get("/api/v1/players/Ada").await.json();
    assert_eq!(robo.owner.unwrap().as_str(), ada["id"]);
    assert_eq!(ada["bots"], json!(["Robo"]));
}

#[tokio::test]
async fn only_people_with_an_account_have_bots() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    create_bot(&site, "", "Other").await.check_refused(401, "unauthorized", None);
    create_bot(&site, "fourfold=c4s_unknown", "Other").await.check_refused(401, "unauthorized", None);
    let token = token_of(&create_bot(&site, &cookie, "Robo").await);
    let request = Request::post(BOTS)
        .header(header::AUTHORIZATION, format!("Bearer {}", token.expose()))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(r#"{"name":"Child"}"#));
    site.send(request.unwrap()).await.check_refused(403, "forbidden", None);
}

#[tokio::test]
async fn a_bot_s_name_keeps_the_rule_for_names() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    create_bot(&site, &cookie, "ada").await.check_refused(409, "name_taken", Some("name"));
    create_bot(&site, &cookie, "x").await.check_refused(422, "bad_field", Some("name"));
    create_bot(&site, &cookie, "Server").await.check_refused(422, "name_reserved", Some("name"));
}

#[tokio::test]
async fn revoking_ends_all_tokens_and_says_so_to_whoever_listens() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let first = token_of(&create_bot(&site, &cookie, "Robo").await);
    let made = site.as_page(Method::POST, "/api/v1/bots/ROBO/tokens", &cookie, &Value::Null).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let second = token_of(&made);
    let id = site.state.accounts.authenticate(&second).await.unwrap().token;
    assert_eq!(made.json()["id"], id.as_str());
    assert!(site.state.accounts.authenticate(&first).await.is_ok(), "a new token leaves the others valid");

    let mut revocations = site.state.accounts.revocations();
    let revoked = site.as_page(Method::DELETE, TOKENS, &cookie, &Value::Null).await;
    assert_eq!((revoked.status, revoked.json()), (StatusCode::OK, json!({ "revoked": 2 })));
    let ended = [revocations.try_recv().unwrap(), revocations.try_recv().unwrap()];
    assert!(ended.contains(&Revoked::Token(id)), "{ended:?}");
    for token in [first, second] {
        assert!(site.state.accounts.authenticate(&token).await.is_err());
    }
    let again = site.as_page(Method::DELETE, TOKENS, &cookie, &Value::Null).await;
    assert_eq!(again.json(), json!({ "revoked": 0 }));
}

#[tokio::test]
async fn somebody_else_s_bot_is_out_of_reach() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let token = token_of(&create_bot(&site, &ada, "Robo").await);
    let bob = site.register("Bob").await;
    for method in [Method::POST, Method::DELETE] {
        let theirs = site.as_page(method.clone(), TOKENS, &bob, &Value::Null).await;
        theirs.check_refused(403, "forbidden", None);
        for path in ["/api/v1/bots/nobody/tokens", "/api/v1/bots/Ada/tokens", "/api/v1/bots/x!/tokens"] {
            let missing = site.as_page(method.clone(), path, &ada, &Value::Null).await;
            missing.check_refused(404, "not_found", None);
        }
    }
    assert!(site.state.accounts.authenticate(&token).await.is_ok());
}

#[tokio::test]
async fn a_wrong_authorization_header_is_refused_whatever_the_cookie() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let unknown = format!("Bearer c4b_{}", "A".repeat(43));
    for value in ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer c4b_short", unknown.as_str()] {
        let request = Request::delete("/api/v1/sessions")
            .header(header::AUTHORIZATION, value)
            .header(header::COOKIE, cookie.as_str())
            .header("sec-fetch-site", "same-origin");
        let answer = site.send(request.body(Body::empty()).unwrap()).await;
        answer.check_refused(401, "unauthorized", None);
        assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer", "{value}");
    }
}

#[tokio::test]
async fn a_session_cookie_is_no_bearer_token() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let secret = Secret::new(cookie.split_once('=').unwrap().1);
    assert!(site.state.accounts.session(&secret).await.is_ok());
    assert!(site.state.accounts.authenticate(&secret).await.is_err());
}

#[tokio::test]
async fn guests_stay_themselves_and_are_stored_once_they_play() {
    let site = TestSite::new();
    let accounts = &site.state.accounts;
    let guest = accounts.new_guest();
    let cookie = guest.cookie.unwrap();
    assert!(site.store.commit_sizes().is_empty(), "nothing is written for a visitor");

    let headers = axum::http::HeaderMap::from_iter([(
        header::COOKIE,
        format!("fourfold={}", cookie.expose()).parse().unwrap(),
    )]);
    let viewer = auth::identify(&site.state, &headers).await.unwrap().unwrap();
    assert_eq!(viewer.identity, guest.identity);
    assert!(!viewer.is_signed_in());

    for _ in 0..2 {
        let stored = accounts.ensure_guest_stored(&guest.identity).await.unwrap();
        assert_eq!(stored, guest.identity);
    }
    assert_eq!(site.store.commit_sizes(), [1]);
    let profile = site.get(&format!("/api/v1/players/{}", guest.identity.name)).await.json();
    assert_eq!(profile["kind"], "guest");
}

#[tokio::test]
async fn a_guest_whose_name_is_taken_gets_another_one_and_keeps_it() {
    let site = TestSite::new();
    let accounts = &site.state.accounts;
    let guest = accounts.new_guest();
    let thief = crate::storage::conformance::player(guest.identity.name.as_str(), guest.identity.kind);
    let write = crate::storage::conformance::add(thief);
    crate::storage::Store::commit(&*site.store, &[write]).await.unwrap().remove(0).unwrap();
    let stored = accounts.ensure_guest_stored(&guest.identity).await.unwrap();
    assert_eq!(stored.id, guest.identity.id);
    assert_ne!(stored.name, guest.identity.name);
    let again = accounts.guest(&guest.cookie.unwrap()).await.unwrap().unwrap();
    assert_eq!(again.identity, stored);
}
