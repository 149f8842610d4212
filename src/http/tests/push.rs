//! Browsers that show notices, over HTTP.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{Answer, TestArena, TestSite};
use crate::operations::push::tests::push_service;
use crate::storage::people::PeopleStore as _;
use crate::storage::pushes::PushStore as _;

const PUSH: &str = "/api/v1/account/push";

/// The key of the example in RFC 8291.
const POINT: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// A site whose push services may be on this machine.
fn site() -> TestSite {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    TestSite::with(Site::default(), TestArena { push_networks: Some(networks), ..TestArena::default() })
}

fn browser(endpoint: &str) -> Value {
    json!({
        "endpoint": endpoint, "keys": { "p256dh": POINT, "auth": "BTBZMqHH6r4Tts7J_aSIgg" }, "language": "de-AT",
    })
}

async fn ask(site: &TestSite, method: Method, cookie: &str, body: &Value) -> Answer {
    site.as_page(method, PUSH, cookie, body).await
}

#[tokio::test]
async fn a_browser_is_turned_on_tried_and_turned_off() {
    let site = site();
    let ada = site.register("Ada").await;
    let (address, mut heard) = push_service(&["201 Created", "410 Gone"]).await;
    let endpoint = format!("http://{address}/ada");
    let shown = ask(&site, Method::GET, &ada, &Value::Null).await.json();
    assert_eq!((shown["public_key"].as_str().unwrap().len(), &shown["browsers"]), (87, &json!([])));
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(page.contains(shown["public_key"].as_str().unwrap()), "{page}");
    for _ in 0..2 {
        let added = ask(&site, Method::PUT, &ada, &browser(&endpoint)).await;
        assert_eq!(added.status, StatusCode::NO_CONTENT, "{}", added.body);
    }
    let shown = ask(&site, Method::GET, &ada, &Value::Null).await.json();
    let [one] = shown["browsers"].as_array().unwrap().as_slice() else { panic!("{shown}") };
    assert_eq!((&one["endpoint"], &one["language"]), (&json!(endpoint), &json!("de")));
    let export = site.as_page(Method::GET, "/api/v1/account/export", &ada, &Value::Null).await.body;
    assert!(export.contains(&format!("{{\"push\":{{\"endpoint\":\"{endpoint}\"")), "{export}");
    let test = async || site.as_page(Method::POST, &format!("{PUSH}/test"), &ada, &Value::Null).await.json();
    assert_eq!(test().await, json!({ "taken": 1 }));
    assert_eq!(heard.recv().await.unwrap().path, "/ada");
    assert_eq!(test().await, json!({ "taken": 0 }));
    let named = json!({ "endpoint": endpoint });
    ask(&site, Method::DELETE, &ada, &named).await.check_refused(404, "not_found", None);
    ask(&site, Method::PUT, &ada, &browser(&endpoint)).await;
    assert_eq!(ask(&site, Method::DELETE, &ada, &named).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn what_is_no_browser_is_refused_by_its_field() {
    let site = site();
    let ada = site.register("Ada").await;
    let long = format!("https://push.example/{}", "x".repeat(1_024));
    for endpoint in
        ["", "push", "http://push.example/", "https://10.0.0.1/", "https://u:p@push.example/", &long]
    {
        let refused = ask(&site, Method::PUT, &ada, &browser(endpoint)).await;
        refused.check_refused(422, "bad_field", Some("endpoint"));
    }
    let mut other = browser("https://push.example/1");
    other["keys"]["auth"] = json!("short");
    ask(&site, Method::PUT, &ada, &other).await.check_refused(422, "bad_field", Some("keys"));
    other["expirationTime"] = Value::Null;
    ask(&site, Method::PUT, &ada, &other).await.check_refused(422, "bad_field", Some("expirationTime"));
}

#[tokio::test]
async fn browsers_are_the_business_of_people_and_go_with_the_account() {
    let site = site();
    let ada = site.register("Ada").await;
    let body = || browser("https://push.example/1").to_string().into();
    let put = || axum::http::Request::put(PUSH).header(header::CONTENT_TYPE, "application/json");
    site.send(put().body(body()).unwrap()).await.check_refused(401, "unauthorized", None);
    let forged = put().header(header::COOKIE, &ada).header(header::ORIGIN, "https://evil.example");
    site.send(forged.body(body()).unwrap()).await.check_refused(403, "origin_not_allowed", None);
    ask(&site, Method::PUT, &ada, &browser("https://push.example/1")).await;
    let owner = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    assert_eq!(site.store.pushes_of(&owner).await.unwrap().len(), 1);
    let gone = json!({ "password": crate::http::testing::PASSWORD });
    site.as_page(Method::DELETE, "/api/v1/account", &ada, &gone).await;
    assert_eq!(site.store.pushes_of(&owner).await.unwrap(), []);
}

#[tokio::test]
async fn where_operators_have_no_keys_no_browser_is_told_anything() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let refused = ask(&site, Method::PUT, &ada, &browser("https://push.example/1")).await;
    refused.check_refused(404, "not_found", None);
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(page.contains("change-password") && !page.contains("push-here"), "{page}");
}
