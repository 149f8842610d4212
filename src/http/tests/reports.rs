//! Reports of players about others.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{Answer, TestArena, TestSite, post};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};
use crate::storage::conformance::{FIRST_WINS, add, play, player, player_id, spec};
use crate::storage::record::StoredPlayer;
use crate::storage::reports::{ReportQuery, ReportReason, ReportStore};
use crate::storage::store::Store;
use crate::system::config::AccessConfig;

const REPORTS: &str = "/api/v1/reports";

/// A site on which Bob, who is reported, has beaten Eve.
async fn site() -> TestSite {
    with_bob(TestSite::new()).await
}

async fn with_bob(site: TestSite) -> TestSite {
    let house = StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) };
    for player in [player("Bob", PlayerKind::Human), player("Eve", PlayerKind::Human), house] {
        site.store.commit(&[add(player)]).await.unwrap();
    }
    play(&*site.store, spec("g1", "Bob", "Eve"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    play(&*site.store, spec("g2", "Eve", "perfect"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    site
}

async fn report(site: &TestSite, cookie: &str, body: Value) -> Answer {
    site.as_page(Method::POST, REPORTS, cookie, &body).await
}

fn of_bob() -> Value {
    json!({ "player": "bob", "reason": "cheating", "note": " plays\nlike a machine ", "game": "g1" })
}

#[tokio::test]
async fn a_report_reaches_the_operators_and_ones_own_export() {
    let site = site().await;
    let ada = site.register("Ada").await;
    let sent = report(&site, &ada, of_bob()).await;
    assert_eq!((sent.status, &*sent.body), (StatusCode::NO_CONTENT, ""), "nobody learns how many there are");
    let stored = site.store.reports(ReportQuery::Open, 9).await.unwrap();
    let [stored] = &stored[..] else { panic!("{stored:?}") };
    assert_eq!((&stored.player, stored.reason), (&player_id("Bob"), ReportReason::Cheating));
    assert_eq!(stored.note, "plays\nlike a machine");
    report(&site, &ada, of_bob()).await.check_refused(409, "conflict", None);
    let export = site.as_page(Method::GET, "/api/v1/account/export", &ada, &Value::Null).await.body;
    assert!(export.contains("\"reported\":\"idBob\",\"reason\":\"cheating\""), "{export}");
}

#[tokio::test]
async fn a_guest_reports_too_where_guests_play() {
    let site = site().await;
    let guest = site.state.accounts.new_guest();
    let cookie = format!("fourfold={}", guest.cookie.unwrap().expose());
    assert_eq!(report(&site, &cookie, of_bob()).await.status, StatusCode::NO_CONTENT);
    let stored = site.store.reports(ReportQuery::Open, 9).await.unwrap();
    assert_eq!(stored[0].reporter.as_ref(), Some(&guest.identity.id));
    site.post(REPORTS, &of_bob()).await.check_refused(401, "unauthorized", None);
    let access = AccessConfig { guests: false, ..AccessConfig::default() };
    let site = with_bob(TestSite::admitting(access, Site::default(), TestArena::default())).await;
    let guest = site.state.accounts.new_guest();
    let cookie = format!("fourfold={}", guest.cookie.unwrap().expose());
    report(&site, &cookie, of_bob()).await.check_refused(401, "unauthorized", None);
}

#[tokio::test]
async fn what_is_wrong_with_a_report_is_named() {
    let site = site().await;
    let ada = site.register("Ada").await;
    let with = |field: &str, value: Value| {
        let mut body = of_bob();
        body[field] = value;
        body
    };
    let long = "ä".repeat(501);
    for (field, value) in [
        ("player", json!("nobody")),
        ("player", json!("")),
        ("player", json!("a name\u{0}")),
        ("player", json!("perfect")),
        ("player", json!("ada")),
        ("player", json!(7)),
        ("reason", json!("Cheating")),
        ("reason", json!("")),
        ("note", json!(long)),
        ("note", json!("turned \u{202e}round")),
        ("game", json!("nosuchgame")),
        ("game", json!("../x")),
        ("game", json!("g2")),
    ] {
        report(&site, &ada, with(field, value)).await.check_refused(422, "bad_field", Some(field));
    }
    let unsaid = json!({ "player": "Bob", "reason": "other", "note": " \n " });
    report(&site, &ada, unsaid).await.check_refused(422, "bad_field", Some("note"));
    report(&site, &ada, with("by", json!("Eve"))).await.check_refused(422, "bad_field", Some("by"));
    assert_eq!(site.store.reports(ReportQuery::All, 9).await.unwrap(), []);
    let note = json!("ä".repeat(500));
    assert_eq!(report(&site, &ada, with("note", note)).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_page_of_another_site_and_a_bot_report_nobody() {
    let site = site().await;
    let ada = site.register("Ada").await;
    let made = site.as_page(Method::POST, "/api/v1/bots", &ada, &json!({ "name": "six" })).await.json();
    let own = json!({ "player": "six", "reason": "name" });
    report(&site, &ada, own).await.check_refused(422, "bad_field", Some("player"));
    let forged = post(REPORTS).header(header::COOKIE, &ada).header(header::ORIGIN, "https://evil.example");
    let forged = site.send(forged.body(of_bob().to_string().into()).unwrap()).await;
    forged.check_refused(403, "origin_not_allowed", None);
    let token = format!("Bearer {}", made["token"].as_str().unwrap());
    let bot = post(REPORTS).header(header::AUTHORIZATION, token).body(of_bob().to_string().into()).unwrap();
    site.send(bot).await.check_refused(403, "forbidden", None);
    assert_eq!(site.store.reports(ReportQuery::All, 9).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn nobody_floods_the_operators() {
    let site = site().await;
    let ada = site.register("Ada").await;
    for number in 0..11 {
        let name = format!("target{number}");
        site.store.commit(&[add(player(&name, PlayerKind::Human))]).await.unwrap();
        let answer = report(&site, &ada, json!({ "player": name, "reason": "name" })).await;
        if number < 10 {
            assert_eq!(answer.status, StatusCode::NO_CONTENT, "{number}: {}", answer.body);
        } else {
            answer.check_refused(429, "rate_limited", None);
        }
    }
}

#[tokio::test]
async fn pages_offer_it_for_others_who_are_not_of_the_house() {
    let site = site().await;
    let ada = site.register("Ada").await;
    let page = async |path: &str| site.as_page(Method::GET, path, &ada, &Value::Null).await.body;
    for (path, about) in [
        ("/player/bob", Some("Bob")),
        ("/player/perfect", None),
        ("/player/ada", None),
        ("/game/g1", Some("Bob Eve")),
        ("/game/g2", Some("Eve")),
    ] {
        let body = page(path).await;
        let offered = body.split_once("data-report=\"").and_then(|(_, rest)| rest.split('"').next());
        assert_eq!(offered, about, "{path}");
        assert_eq!(body.contains("report.js"), about.is_some(), "{path}");
    }
}
