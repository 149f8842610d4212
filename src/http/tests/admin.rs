//! The operators' page, as operators use it and as others try to.

use std::sync::Arc;

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{Answer, PASSWORD, TestArena, TestSite, credentials, get, post};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::totp::step_of;
use crate::storage::members::NodeList;
use crate::storage::members::tests::ListInMemory;
use crate::storage::moderation::AuditAction::{
    Appoint, Ban, DrainNode, Mute, Rename, ResolveReport, UndoDrains,
};
use crate::storage::moderation::{Because, ModerationStore as _};
use crate::storage::people::PeopleStore as _;
use crate::storage::reports::{NewReport, ReportQuery, ReportReason, ReportStore as _};
use crate::storage::store::{Store as _, Write};
use crate::system::config::AccessConfig;

const PAGE: &str = "/admin";
const SESSION: &str = "/admin/session";
const ACTS: &str = "/admin/acts";

/// Ada, an operator who is signed in, and her code of now.
struct Ada {
    cookie: String,
    code: String,
    recovery: Vec<String>,
}

async fn id(site: &TestSite, name: &str) -> PlayerId {
    site.store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap().id
}

async fn ada(site: &TestSite) -> Ada {
    let cookie = site.register("Ada").await;
    let player = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let because = Because { reason: "keeps order".into(), by: "root".into(), at: UnixMillis(0) };
    let enrolment = site.state.accounts.appoint(&player, because).await.unwrap();
    let code = enrolment.totp.code(step_of(UnixMillis::now()));
    Ada { cookie, code, recovery: enrolment.recovery }
}

async fn ask(site: &TestSite, method: Method, path: &str, cookie: &str, body: Value) -> Answer {
    site.as_page(method, path, cookie, &body).await
}

async fn look(site: &TestSite, cookie: &str) -> Answer {
    ask(site, Method::GET, PAGE, cookie, Value::Null).await
}

async fn prove(site: &TestSite, cookie: &str, code: &str) -> Answer {
    ask(site, Method::POST, SESSION, cookie, json!({ "code": code })).await
}

async fn act(site: &TestSite, cookie: &str, body: Value) -> Answer {
    ask(site, Method::POST, ACTS, cookie, body).await
}

fn ban(name: &str) -> Value {
    json!({ "act": "ban", "subject": name, "reason": "rude", "days": 7 })
}

async fn report(site: &TestSite, reporter: &str, about: &str) {
    let report = NewReport {
        reporter: id(site, reporter).await,
        player: id(site, about).await,
        game: None,
        reason: ReportReason::Harassment,
        note: "<script>alert(1)</script>".into(),
        at: UnixMillis(0),
    };
    site.store.commit(&[Write::AddReport(report)]).await.unwrap().remove(0).unwrap();
}

#[tokio::test]
async fn an_operator_gives_a_code_looks_and_acts_in_its_own_name() {
    let site = TestSite::new();
    let ada = ada(&site).await;
    site.register("Bob").await;
    site.register("Eve").await;
    report(&site, "Eve", "Bob").await;
    let asked = look(&site, &ada.cookie).await;
    assert!(asked.body.contains("id=\"admin-code\"") && !asked.body.contains("Bob"), "{}", asked.body);
    assert_eq!(prove(&site, &ada.cookie, &ada.code).await.status, StatusCode::NO_CONTENT);
    let page = look(&site, &ada.cookie).await;
    assert_eq!(page.header(header::CACHE_CONTROL), "no-store");
    for words in ["data-report-number=\"1\"", "harassment", "&lt;script&gt;", "[server]", "appoint Ada"] {
        let words = words.replace("&lt;", "&#60;").replace("&gt;", "&#62;");
        assert!(page.body.contains(&words), "{words}: {}", page.body);
    }
    let mute = json!({ "act": "mute", "subject": "bob", "report": 1, "reason": "rude to Eve" });
    assert_eq!(act(&site, &ada.cookie, mute).await.status, StatusCode::OK);
    assert_eq!(site.store.reports(ReportQuery::Open, 9).await.unwrap(), []);
    assert!(look(&site, &ada.cookie).await.body.contains("<td>muted</td>"));
    assert_eq!(act(&site, &ada.cookie, ban("Bob")).await.status, StatusCode::OK);
    let rename = json!({ "act": "rename", "subject": "Bob", "name": "Robert", "reason": "asked for it" });
    assert_eq!(act(&site, &ada.cookie, rename).await.status, StatusCode::OK);
    let log = site.store.audit_log(None, 9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.by.as_deref().unwrap())).collect();
    let expected = [(Rename, "Ada"), (Ban, "Ada"), (ResolveReport, "Ada"), (Mute, "Ada"), (Appoint, "root")];
    assert_eq!(told, expected);
    assert_eq!(
        ask(&site, Method::DELETE, SESSION, &ada.cookie, Value::Null).await.status,
        StatusCode::NO_CONTENT
    );
    assert!(look(&site, &ada.cookie).await.body.contains("id=\"admin-code\""));
    act(&site, &ada.cookie, ban("Robert")).await.check_refused(403, "forbidden", Some("code"));
}

#[tokio::test]
async fn an_operator_sees_the_nodes_and_drains_one() {
    let alone = TestSite::new();
    let grace = ada(&alone).await;
    prove(&alone, &grace.cookie, &grace.code).await;
    assert!(!look(&alone, &grace.cookie).await.body.contains("id=\"nodes\""), "one node alone is no list");
    let drain = json!({ "act": "drain_node", "subject": "node-1", "reason": "an update" });
    act(&alone, &grace.cookie, drain.clone()).await.check_refused(409, "conflict", None);

    let nodes: Arc<dyn NodeList> = Arc::new(ListInMemory::of(2));
    let (access, own) = (AccessConfig::default(), Some(Arc::clone(&nodes)));
    let site = TestSite::of_nodes(access, Site::default(), TestArena::default(), own);
    let ada = ada(&site).await;
    act(&site, &ada.cookie, drain.clone()).await.check_refused(403, "forbidden", Some("code"));
    prove(&site, &ada.cookie, &ada.code).await;
    let page = look(&site, &ada.cookie).await.body;
    for words in ["<td>leads</td>", "<td>stands by</td>", "<code>10.0.0.2:4446</code>", "1970-01-01 00:01:00"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("id=\"undo-drains\""), "nobody is drained");
    assert_eq!(act(&site, &ada.cookie, drain).await.status, StatusCode::OK);
    let page = look(&site, &ada.cookie).await.body;
    assert!(page.contains("<td>leads, drained</td>") && page.contains("id=\"undo-drains\""), "{page}");
    let nobody = json!({ "act": "drain_node", "subject": "node-9", "reason": "an update" });
    act(&site, &ada.cookie, nobody).await.check_refused(404, "not_found", None);
    let undo = json!({ "act": "undo_drains", "reason": "is done" });
    assert_eq!(act(&site, &ada.cookie, undo).await.status, StatusCode::OK);
    assert!(!nodes.roll().await.unwrap().members.iter().any(|node| node.is_drained));
    let log = site.store.audit_log(None, 2).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.by.as_deref().unwrap())).collect();
    assert_eq!(told, [(UndoDrains, "Ada"), (DrainNode, "Ada")]);
}

#[tokio::test]
async fn for_everybody_else_nothing_is_there() {
    let site = TestSite::new();
    let ada = ada(&site).await;
    prove(&site, &ada.cookie, &ada.code).await;
    let eve = site.register("Eve").await;
    let made = ask(&site, Method::POST, "/api/v1/bots", &eve, json!({ "name": "six" })).await.json();
    let nowhere = site.get("/nowhere").await;
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let mut guest = vec![look(&site, &eve).await, site.get(PAGE).await];
    let bot = get(PAGE).header(header::AUTHORIZATION, &bearer).body(axum::body::Body::empty()).unwrap();
    guest.push(site.send(bot).await);
    for answer in guest {
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
        assert_eq!(answer.body.contains("<h1>"), nowhere.body.contains("<h1>"));
        assert!(!answer.body.contains("admin-page"), "{}", answer.body);
    }
    prove(&site, &eve, &ada.recovery[0]).await.check_refused(404, "not_found", None);
    act(&site, &eve, ban("Ada")).await.check_refused(404, "not_found", None);
    let unsigned = post(ACTS).body(ban("Eve").to_string().into()).unwrap();
    site.send(unsigned).await.check_refused(404, "not_found", None);
    let bot = post(ACTS).header(header::AUTHORIZATION, &bearer).body(ban("Eve").to_string().into()).unwrap();
    site.send(bot).await.check_refused(404, "not_found", None);
    let both = post(ACTS)
        .header(header::AUTHORIZATION, &bearer)
        .header(header::COOKIE, &ada.cookie)
        .body(ban("Eve").to_string().into());
    site.send(both.unwrap()).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn a_stolen_session_without_the_phone_does_nothing() {
    let site = TestSite::new();
    let ada = ada(&site).await;
    site.register("Bob").await;
    let stolen = site.post("/api/v1/sessions", &credentials("Ada", PASSWORD)).await.cookie();
    prove(&site, &ada.cookie, &ada.code).await;
    assert!(look(&site, &stolen).await.body.contains("id=\"admin-code\""));
    act(&site, &stolen, ban("Bob")).await.check_refused(403, "forbidden", Some("code"));
    prove(&site, &stolen, &ada.code).await.check_refused(403, "forbidden", Some("code"));
    for wrong in ["", "1", "000000", "AAAA-AAAA-AAAA-AAAA"] {
        prove(&site, &stolen, wrong).await.check_refused(403, "forbidden", Some("code"));
    }
    prove(&site, &stolen, &ada.recovery[0]).await.check_refused(429, "rate_limited", None);
    assert_eq!(site.store.audit_log(None, 9).await.unwrap().len(), 1, "nothing but the appointment");
}

#[tokio::test]
async fn a_page_of_another_site_acts_for_nobody() {
    let site = TestSite::new();
    let ada = ada(&site).await;
    site.register("Bob").await;
    prove(&site, &ada.cookie, &ada.code).await;
    for path in [ACTS, SESSION] {
        let forged =
            post(path).header(header::COOKIE, &ada.cookie).header(header::ORIGIN, "https://evil.example");
        let forged = site.send(forged.body(ban("Bob").to_string().into()).unwrap()).await;
        forged.check_refused(403, "origin_not_allowed", None);
        let silent = post(path).header(header::COOKIE, &ada.cookie).body(ban("Bob").to_string().into());
        site.send(silent.unwrap()).await.check_refused(403, "origin_not_allowed", None);
    }
    assert_eq!(site.store.audit_log(None, 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_wrong_with_an_act_is_named() {
    let site = TestSite::new();
    let ada = ada(&site).await;
    site.register("Bob").await;
    prove(&site, &ada.cookie, &ada.code).await;
    for (body, status, field) in [
        (json!({ "act": "burn", "subject": "Bob", "reason": "x" }), 422, Some("act")),
        (json!({ "act": "ban", "subject": "Bob" }), 422, Some("reason")),
        (json!({ "act": "ban", "subject": "Bob", "reason": " " }), 422, Some("reason")),
        (json!({ "act": "ban", "reason": "x" }), 422, Some("subject")),
        (json!({ "act": "ban", "subject": "Bob", "reason": "x", "days": 0 }), 422, Some("days")),
        (json!({ "act": "ban", "subject": "Bob", "reason": "x", "by": "root" }), 422, Some("by")),
        (json!({ "act": "rename", "subject": "Bob", "reason": "x", "name": "root" }), 422, Some("name")),
        (json!({ "act": "void", "subject": "../x", "reason": "x" }), 422, Some("subject")),
        (json!({ "act": "void", "subject": "nosuchgame", "reason": "x" }), 404, None),
        (json!({ "act": "cancel_tournament", "subject": "../x", "reason": "x" }), 422, Some("subject")),
        (json!({ "act": "cancel_tournament", "reason": "x" }), 422, Some("subject")),
        (json!({ "act": "ban", "subject": "../../arena/pause", "reason": "x" }), 400, Some("name")),
        (json!({ "act": "ban", "subject": "nobody", "reason": "x" }), 404, None),
        (json!({ "act": "ban", "subject": "ADA", "reason": "x" }), 409, Some("subject")),
        (json!({ "act": "unban", "subject": "Bob", "reason": "x" }), 409, None),
        (json!({ "act": "take", "reason": "x" }), 422, Some("report")),
        (json!({ "act": "take", "report": 9, "reason": "x" }), 404, None),
    ] {
        let answer = act(&site, &ada.cookie, body.clone()).await;
        assert_eq!(answer.status.as_u16(), status, "{body}: {}", answer.body);
        assert_eq!(answer.json().get("field").and_then(Value::as_str), field, "{body}: {}", answer.body);
    }
    assert_eq!(site.store.audit_log(None, 9).await.unwrap().len(), 1);
}
