//! Where somebody has it told what happens to their bots.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{Answer, TestArena, TestSite};
use crate::operations::webhooks::tests::receiver;
use crate::storage::people::PeopleStore as _;
use crate::storage::webhooks::WebhookStore as _;

const WEBHOOK: &str = "/api/v1/account/webhook";

/// A site whose messages go to this machine too.
fn site() -> TestSite {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    TestSite::with(Site::default(), TestArena { webhook_networks: Some(networks), ..TestArena::default() })
}

async fn set(site: &TestSite, cookie: &str, url: &str) -> Answer {
    site.as_page(Method::PUT, WEBHOOK, cookie, &json!({ "url": url })).await
}

async fn show(site: &TestSite, cookie: &str) -> Answer {
    site.as_page(Method::GET, WEBHOOK, cookie, &Value::Null).await
}

async fn test(site: &TestSite, cookie: &str) -> Answer {
    site.as_page(Method::POST, &format!("{WEBHOOK}/test"), cookie, &Value::Null).await
}

async fn export(site: &TestSite, cookie: &str) -> String {
    site.as_page(Method::GET, "/api/v1/account/export", cookie, &Value::Null).await.body
}

#[tokio::test]
async fn an_address_is_set_tried_shown_and_removed() {
    let site = site();
    let ada = site.register("Ada").await;
    show(&site, &ada).await.check_refused(404, "not_found", None);
    test(&site, &ada).await.check_refused(404, "not_found", None);
    let (address, mut heard) = receiver(&["503 Later", "202 Accepted"]).await;
    let url = format!("http://{address}/hook");
    let secret = set(&site, &ada, &format!(" {url} ")).await.json()["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert_eq!(test(&site, &ada).await.json(), json!({ "delivered": false, "outcome": "503" }));
    let shown = show(&site, &ada).await;
    assert!(!shown.body.contains(&secret), "it is shown once");
    assert_eq!((&shown.json()["url"], &shown.json()["failures"]), (&json!(url), &json!(1)));
    assert_eq!((&shown.json()["last_outcome"], &shown.json()["paused"]), (&json!("503"), &json!(false)));
    assert_eq!(test(&site, &ada).await.json(), json!({ "delivered": true, "outcome": "202" }));
    assert_eq!(show(&site, &ada).await.json()["failures"], 0);
    assert!(heard.recv().await.unwrap().contains("\"account\":\"Ada\""));
    let removed = site.as_page(Method::DELETE, WEBHOOK, &ada, &Value::Null).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    site.as_page(Method::DELETE, WEBHOOK, &ada, &Value::Null).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn what_is_no_address_for_messages_is_refused_by_its_field() {
    let site = site();
    let ada = site.register("Ada").await;
    let long = format!("https://ada.example/{}", "x".repeat(300));
    for url in [
        "",
        "ada",
        "ftp://ada.example/",
        "https://a:b@ada.example/",
        "https://10.0.0.1/",
        "http://[::1]/",
        &long,
    ] {
        set(&site, &ada, url).await.check_refused(422, "bad_field", Some("url"));
    }
    let other =
        site.as_page(Method::PUT, WEBHOOK, &ada, &json!({ "url": "https://ada.example/", "x": 1 })).await;
    other.check_refused(422, "bad_field", Some("x"));
    show(&site, &ada).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn it_is_the_business_of_people_on_our_own_pages() {
    let site = site();
    let ada = site.register("Ada").await;
    let made = site.as_page(Method::POST, "/api/v1/bots", &ada, &json!({ "name": "six" })).await.json();
    let token = format!("Bearer {}", made["token"].as_str().unwrap());
    let put = || axum::http::Request::put(WEBHOOK).header(header::CONTENT_TYPE, "application/json");
    let body = || json!({ "url": "https://ada.example/" }).to_string().into();
    let bot = site.send(put().header(header::AUTHORIZATION, token).body(body()).unwrap()).await;
    bot.check_refused(403, "forbidden", None);
    site.send(put().body(body()).unwrap()).await.check_refused(401, "unauthorized", None);
    let forged = put().header(header::COOKIE, &ada).header(header::ORIGIN, "https://evil.example");
    site.send(forged.body(body()).unwrap()).await.check_refused(403, "origin_not_allowed", None);
    show(&site, &ada).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn where_operators_send_none_there_is_none() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    site.as_page(Method::POST, "/api/v1/bots", &ada, &json!({ "name": "six" })).await;
    set(&site, &ada, "https://ada.example/").await.check_refused(404, "not_found", None);
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(page.contains("six") && !page.contains("set-webhook"), "{page}");
}

#[tokio::test]
async fn it_is_taken_along_and_goes_with_the_account() {
    let site = site();
    let ada = site.register("Ada").await;
    assert!(!export(&site, &ada).await.contains("webhook"));
    let secret =
        set(&site, &ada, "https://ada.example/hook").await.json()["secret"].as_str().unwrap().to_owned();
    let export = export(&site, &ada).await;
    assert!(export.contains("{\"webhook\":{\"url\":\"https://ada.example/hook\""), "{export}");
    assert!(!export.contains(&secret), "{export}");
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(page.contains("value=\"https://ada.example/hook\""), "{page}");
    assert!(!page.contains(&secret), "{page}");
    let owner = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    let gone = json!({ "password": crate::http::testing::PASSWORD });
    let gone = site.as_page(Method::DELETE, "/api/v1/account", &ada, &gone).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.body);
    assert_eq!(site.store.webhook(&owner).await.unwrap(), None);
}
