//! Studies over HTTP and on their pages.

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use fourfold_engine::Variant;
use serde_json::{Value, json};

use crate::http::testing::{Answer, SOMEWHERE, TestSite, get};
use crate::model::study::{Study, StudyListing};
use crate::model::time::UnixMillis;
use crate::storage::conformance::player_id;
use crate::storage::moderation::Because;
use crate::storage::people::PeopleStore as _;
use crate::storage::store::{Store as _, Write};
use crate::storage::studies::{NewStudy, STUDIES_MAX, StudyStore as _};
use crate::study::studies::remove;
use crate::system::shares::{Payer, Share};

const STUDIES: &str = "/api/v1/studies";

fn body() -> Value {
    json!({
        "title": "Two towers", "moves": "443345", "start": 2, "listed": true,
        "comments": [{ "ply": 2, "text": "Here it begins." }, { "ply": 5, "text": "Three <b>in a row</b>?" }],
    })
}

async fn make(site: &TestSite, cookie: &str, body: &Value) -> Answer {
    site.as_page(Method::POST, STUDIES, cookie, body).await
}

async fn made(site: &TestSite, cookie: &str, body: &Value) -> Value {
    let answer = make(site, cookie, body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    answer.json()
}

fn address(study: &Value) -> String {
    format!("{STUDIES}/{}", study["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_study_is_made_read_changed_and_deleted() {
    let site = TestSite::new();
    let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
    let answer = make(&site, &ada, &body()).await;
    assert_eq!(answer.header(header::LOCATION), format!("/study/{}", answer.json()["id"].as_str().unwrap()));
    let study = answer.json();
    let path = address(&study);
    assert_eq!(
        (&study["by"], &study["version"], &study["variant"]),
        (&json!("Ada"), &json!(1), &json!("7x6"))
    );
    assert_eq!(site.get(&path).await.json(), study, "whoever has the link reads it");
    assert_eq!(site.get(STUDIES).await.json()["items"], json!([study]));

    let changed = json!({ "title": "One tower", "moves": "44", "version": 1 });
    for (cookie, status) in [(&bob, 404), (&ada, 200)] {
        let answer = site.as_page(Method::PUT, &path, cookie, &changed).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.body);
    }
    let late = site.as_page(Method::PUT, &path, &ada, &changed).await;
    late.check_refused(409, "conflict", None);
    let now = site.get(&path).await.json();
    assert_eq!(
        (&now["title"], &now["version"], &now["comments"]),
        (&json!("One tower"), &json!(2), &json!([]))
    );
    assert_eq!(site.get(STUDIES).await.json()["items"], json!([]), "by link alone unless it is said");
    let own = site.as_page(Method::GET, "/api/v1/studies?mine=true", &ada, &Value::Null).await.json();
    assert_eq!(own["items"], json!([now]));
    assert_eq!(site.get("/api/v1/studies?mine=true").await.status, StatusCode::UNAUTHORIZED);

    let export = site.as_page(Method::GET, "/api/v1/account/export", &ada, &Value::Null).await.body;
    assert!(export.contains("{\"study\":{\"id\":\""), "{export}");
    let end = async |cookie| site.as_page(Method::DELETE, &path, cookie, &Value::Null).await.status;
    assert_eq!((end(&bob).await, end(&ada).await), (StatusCode::NOT_FOUND, StatusCode::NO_CONTENT));
    assert_eq!(site.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_no_study_is_refused_with_its_field() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let with = |field: &str, value: Value| {
        let mut body = body();
        body[field] = value;
        body
    };
    for (wrong, field) in [
        (with("title", json!("x".repeat(81))), "title"),
        (with("title", json!("a\u{202e}b")), "title"),
        (with("title", json!(" ")), "title"),
        (with("moves", json!("4444444")), "moves"),
        (with("start", json!(7)), "start"),
        (with("variant", json!("3x3")), "variant"),
        (with("comments", json!([{ "ply": 1, "text": "before it begins" }])), "comments"),
        (with("comments", json!([{ "ply": 3, "text": "x".repeat(501) }])), "comments"),
        (with("comments", json!([{ "ply": 3, "text": "a\u{0}b" }])), "comments"),
        (with("version", json!(1)), "version"),
        (with("owner", json!("Bob")), "owner"),
    ] {
        let answer = make(&site, &ada, &wrong).await;
        answer.check_refused(422, "bad_field", Some(field));
    }
    let deep = with("comments", json!([[[[[[[[[[]]]]]]]]]]));
    make(&site, &ada, &deep).await.check_refused(400, "bad_json", None);
    let message = make(&site, &ada, &with("moves", json!("4444444"))).await.json()["message"].to_string();
    assert!(message.contains("move 7"), "the move that does not fit is named: {message}");
    let huge = with("title", json!("x".repeat(1_000_000)));
    assert_eq!(make(&site, &ada, &huge).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    let study = made(&site, &ada, &body()).await;
    let unversioned = site.as_page(Method::PUT, &address(&study), &ada, &body()).await;
    unversioned.check_refused(422, "bad_field", Some("version"));
    assert_eq!(site.get(STUDIES).await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_fills_the_store_with_studies() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let guest = site.get("/").await.cookie();
    assert_eq!(make(&site, &guest, &body()).await.status, StatusCode::UNAUTHORIZED, "guests have none");
    let id = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    let payer = Payer::account(&id);
    while site.state.shares.spend(Share::Study, &payer).is_ok() {}
    let many = make(&site, &ada, &body()).await;
    assert_eq!(many.status, StatusCode::TOO_MANY_REQUESTS, "{}", many.body);

    let bob = site.register("Bob").await;
    let owner = site.store.player_by_name(&"Bob".parse().unwrap()).await.unwrap().unwrap().id;
    let study = Study::new("x", (Variant::STANDARD, "", 0), vec![], StudyListing::ByLink).unwrap();
    let new = |number: usize| NewStudy {
        id: format!("s{number}").parse().unwrap(),
        owner: owner.clone(),
        study: study.clone(),
        at: UnixMillis(0),
    };
    let all: Vec<_> = (0..STUDIES_MAX).map(|number| Write::AddStudy(Box::new(new(number)))).collect();
    assert!(site.store.commit(&all).await.unwrap().iter().all(Result::is_ok));
    make(&site, &bob, &body()).await.check_refused(409, "conflict", None);
}

#[tokio::test]
async fn studies_read_without_script_and_say_what_is_whose() {
    let site = TestSite::new();
    let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
    let study = made(&site, &ada, &body()).await;
    let id = study["id"].as_str().unwrap();
    let page = site.get(&format!("/study/{id}")).await.body;
    for words in ["<h1 id=\"study-title\">Two towers</h1>", "Here it begins.", "Three &#60;b&#62;in a row"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<b>in a row"), "what somebody writes is no markup: {page}");
    assert!(!page.contains("noindex") && !page.contains("study-delete"), "{page}");
    let seen = async |cookie: &str, path: &str| site.as_page(Method::GET, path, cookie, &Value::Null).await;
    assert!(seen(&ada, &format!("/study/{id}")).await.body.contains("study-delete"));
    assert!(seen(&bob, &format!("/study/{id}")).await.body.contains("data-report=\"Ada\""));
    let edit = format!("/study/{id}/edit");
    let [own, other] = [seen(&ada, &edit).await.status, seen(&bob, &edit).await.status];
    assert_eq!(
        (own, other, site.get(&edit).await.status.as_u16()),
        (StatusCode::OK, StatusCode::NOT_FOUND, 404)
    );
    let copy = seen(&bob, &format!("/study/new?from={id}")).await.body;
    assert!(copy.contains("value=\"Two towers\"") && copy.contains("&#34;id&#34;:null"), "{copy}");
    let list = seen(&ada, "/studies").await.body;
    assert!(list.contains("Your studies") && list.contains("by Ada"), "{list}");
    let times = |list: &str| list.matches("Two towers").count();
    let others = seen(&bob, "/studies").await.body;
    assert_eq!((times(&list), times(&others)), (1, 1), "one's own stands above alone: {list}");
    assert!(site.get("/study/new?moves=4499").await.body.contains("Sign in"), "guests are told to");
    assert_eq!(site.get("/study/nothing").await.status, StatusCode::NOT_FOUND);
    let request = get(&format!("{}.png", address(&study))).body(Body::empty()).unwrap();
    let picture = site.open(SOMEWHERE, request).await;
    assert_eq!(picture.headers()[header::CONTENT_TYPE], "image/png");
    assert_eq!(picture.headers()[header::CACHE_CONTROL], "public, no-cache", "its maker may change it");

    let private = made(&site, &ada, &json!({ "title": "Mine", "moves": "" })).await;
    let by_link = site.get(&format!("/study/{}", private["id"].as_str().unwrap())).await.body;
    assert!(by_link.contains("noindex") && by_link.contains("by link only"), "{by_link}");
    assert!(!site.get("/studies").await.body.contains("Mine"));
}

#[tokio::test]
async fn a_long_list_of_studies_has_pages() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    for number in 0..25 {
        made(&site, &ada, &json!({ "title": format!("No. {number}"), "moves": "", "listed": true })).await;
    }
    let first = site.get("/api/v1/studies?limit=20").await.json();
    let cursor = first["cursor"].as_str().unwrap();
    let second = site.get(&format!("/api/v1/studies?limit=20&cursor={cursor}")).await.json();
    let titles = |page: &Value| page["items"].as_array().unwrap().len();
    assert_eq!((titles(&first), titles(&second), &second["cursor"]), (20, 5, &Value::Null));
    assert_eq!(first["items"][0]["title"], "No. 24");
    let page = site.get("/studies").await.body;
    let older = page.split("/studies?before=").nth(1).unwrap().split('"').next().unwrap();
    let rest = site.get(&format!("/studies?before={older}")).await.body;
    assert!(rest.contains("No. 0<") && !rest.contains("No. 24<"), "{rest}");
}

#[tokio::test]
async fn an_operator_takes_a_study_away_and_its_owner_may_be_muted() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let study = made(&site, &ada, &body()).await;
    let because = || Because { reason: "rude".into(), by: "root".into(), at: UnixMillis(5) };
    let id = study["id"].as_str().unwrap().parse().unwrap();
    remove(site.state.studies.writer(), &id, because()).await.unwrap();
    assert_eq!(site.get(&address(&study)).await.status, StatusCode::NOT_FOUND);
    assert!(remove(site.state.studies.writer(), &id, because()).await.is_err());
    let owner = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    site.state.accounts.mute(&owner, None, because()).await.unwrap();
    make(&site, &ada, &body()).await.check_refused(403, "forbidden", None);
    assert_eq!(site.store.studies_of(&player_id("nobody")).await.unwrap(), []);
}
