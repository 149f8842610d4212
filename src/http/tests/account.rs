//! One's own account: from guest to person, sessions, password, export and end.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::accounts::Revoked;
use crate::http::site::Site;
use crate::http::testing::{Answer, PASSWORD, TestArena, TestSite, credentials};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore;
use crate::storage::puzzles::{Goal, Harvest, NewPuzzle, PuzzleTry, TryResult};
use crate::storage::store::{Store, Write};
use crate::system::config::AccessConfig;

const ACCOUNT: &str = "/api/v1/account";
const ACCOUNTS: &str = "/api/v1/accounts";
const SESSIONS: &str = "/api/v1/sessions";

async fn ask(site: &TestSite, method: Method, path: &str, cookie: &str, body: Value) -> Answer {
    site.as_page(method, path, cookie, &body).await
}

async fn show(site: &TestSite, cookie: &str) -> Answer {
    ask(site, Method::GET, ACCOUNT, cookie, Value::Null).await
}

/// A guest who has played, with the cookie.
async fn stored_guest(site: &TestSite) -> (PlayerId, String) {
    let guest = site.state.accounts.new_guest();
    let identity = site.state.accounts.ensure_guest_stored(&guest.identity).await.unwrap();
    (identity.id, format!("fourfold={}", guest.cookie.unwrap().expose()))
}

#[tokio::test]
async fn a_guest_keeps_id_and_games_and_the_old_cookie_opens_nothing() {
    let site = TestSite::new();
    let (id, guest_cookie) = stored_guest(&site).await;
    let registered = ask(&site, Method::POST, ACCOUNTS, &guest_cookie, credentials("Ada", PASSWORD)).await;
    assert_eq!(registered.status, StatusCode::CREATED, "{}", registered.body);
    assert_eq!(registered.json()["id"], json!(id));
    assert_eq!(show(&site, &registered.cookie()).await.json()["account"]["name"], json!("Ada"));
    show(&site, &guest_cookie).await.check_refused(401, "unauthorized", None);
    let again = ask(&site, Method::POST, ACCOUNTS, &guest_cookie, credentials("Bob", PASSWORD)).await;
    assert_ne!(again.json()["id"], json!(id), "the cookie must not name the account any more");
}

#[tokio::test]
async fn a_guest_who_never_played_gets_a_fresh_account() {
    let site = TestSite::new();
    let guest = site.state.accounts.new_guest();
    let cookie = format!("fourfold={}", guest.cookie.unwrap().expose());
    let registered = ask(&site, Method::POST, ACCOUNTS, &cookie, credentials("Ada", PASSWORD)).await;
    assert_eq!(registered.status, StatusCode::CREATED);
    assert_ne!(registered.json()["id"], json!(guest.identity.id));
}

#[tokio::test]
async fn a_guest_chooses_a_name_that_nobody_has_or_looks_like_until_an_account_is_called_so() {
    let word = "idiot".parse().unwrap();
    let access = AccessConfig { forbidden_names: vec![word], ..AccessConfig::default() };
    let site = TestSite::admitting(access, Site::default(), TestArena::default());
    site.register("Ilona").await;
    let (id, stored) = stored_guest(&site).await;
    let fresh = format!("fourfold={}", site.state.accounts.new_guest().cookie.unwrap().expose());
    let name = async |cookie: &str, name: &str| {
        ask(&site, Method::PUT, "/api/v1/guest", cookie, json!({ "name": name })).await
    };
    for (refused, status, code) in [
        ("ilona", 409, "name_taken"),
        ("1lona", 409, "name_taken"),
        ("an-1D10T", 422, "name_reserved"),
        ("admin", 422, "name_reserved"),
        ("guest-Bob", 422, "name_reserved"),
        ("fifteen-letters", 422, "bad_field"),
        ("an na", 422, "bad_field"),
    ] {
        name(&stored, refused).await.check_refused(status, code, Some("name"));
    }
    let mut revoked = site.state.accounts.revocations();
    for (cookie, chosen) in [(&stored, "Anna"), (&stored, "anna"), (&fresh, "B0b")] {
        let named = name(cookie, chosen).await;
        assert_eq!(named.json()["name"], json!(format!("guest-{chosen}")), "{named:?}");
        assert_eq!(named.json()["kind"], json!("guest"));
    }
    assert_eq!(revoked.try_recv().unwrap(), Revoked::Name(id.clone()));
    name(&stored, "bob").await.check_refused(409, "name_taken", Some("name"));
    name("", "Carl").await.check_refused(401, "unauthorized", None);
    let ada = site.register("Ada").await;
    name(&ada, "Carl").await.check_refused(403, "forbidden", None);
    // The account comes first.
    site.register("Anna").await;
    let guest = site.store.player(&id).await.unwrap().unwrap();
    assert_eq!(guest.name.spoken(), guest.name.as_str());
}

#[tokio::test]
async fn a_taken_name_leaves_the_guest_a_guest() {
    let site = TestSite::new();
    site.register("Ada").await;
    let (id, cookie) = stored_guest(&site).await;
    let refused = ask(&site, Method::POST, ACCOUNTS, &cookie, credentials("ada", PASSWORD)).await;
    refused.check_refused(409, "name_taken", Some("name"));
    let stored = site.store.player(&id).await.unwrap().unwrap();
    assert!(stored.name.as_str().starts_with("guest-"), "{stored:?}");
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions() {
    let site = TestSite::new();
    let first = site.register("Ada").await;
    let second = site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.cookie();
    let change = json!({"password": PASSWORD, "new_password": "battery staple"});
    let changed = ask(&site, Method::PUT, "/api/v1/account/password", &second, change).await;
    assert_eq!(changed.status, StatusCode::NO_CONTENT, "{}", changed.body);
    assert_eq!(show(&site, &second).await.status, StatusCode::OK);
    show(&site, &first).await.check_refused(401, "unauthorized", None);
    site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.check_refused(401, "unauthorized", None);
    assert_eq!(site.post(SESSIONS, &credentials("Ada", "battery staple")).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_password_is_not_changed_without_the_old_one_nor_to_a_bad_one() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let path = "/api/v1/account/password";
    let change = async |old: &str, new: &str| {
        ask(&site, Method::PUT, path, &cookie, json!({"password": old, "new_password": new})).await
    };
    change("wrong horse", "battery staple").await.check_refused(403, "forbidden", Some("password"));
    change(PASSWORD, "short").await.check_refused(422, "bad_field", Some("new_password"));
    assert_eq!(site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn wrong_passwords_of_somebody_signed_in_count_too() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    for _ in 0..5 {
        let refused = ask(&site, Method::DELETE, ACCOUNT, &cookie, json!({"password": "wrong horse"})).await;
        refused.check_refused(403, "forbidden", Some("password"));
    }
    let locked = ask(&site, Method::DELETE, ACCOUNT, &cookie, json!({"password": PASSWORD})).await;
    locked.check_refused(429, "rate_limited", None);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_but_not_those_of_others() {
    let site = TestSite::new();
    let here = site.register("Ada").await;
    let there = site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.cookie();
    let bob = site.register("Bob").await;
    let listed = show(&site, &here).await.json();
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{listed}");
    let other = sessions.iter().find(|session| session["current"] == json!(false)).unwrap();
    let path = format!("{ACCOUNT}/sessions/{}", other["id"].as_str().unwrap());
    ask(&site, Method::DELETE, &path, &bob, Value::Null).await.check_refused(404, "not_found", None);
    let ended = ask(&site, Method::DELETE, &path, &here, Value::Null).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT, "{}", ended.body);
    show(&site, &there).await.check_refused(401, "unauthorized", None);
    ask(&site, Method::DELETE, &path, &here, Value::Null).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn who_leaves_takes_name_bots_and_sessions_along_and_the_name_is_free() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let bot = ask(&site, Method::POST, "/api/v1/bots", &cookie, json!({"name": "adas-bot"})).await.json();
    let ada: PlayerId = show(&site, &cookie).await.json()["account"]["id"].as_str().unwrap().parse().unwrap();
    let gone = ask(&site, Method::DELETE, ACCOUNT, &cookie, json!({"password": PASSWORD})).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.body);
    assert!(gone.header(header::SET_COOKIE).contains("Max-Age=0"), "{gone:?}");
    show(&site, &cookie).await.check_refused(401, "unauthorized", None);
    site.post(SESSIONS, &credentials("Ada", PASSWORD)).await.check_refused(401, "unauthorized", None);
    let player = site.store.player(&ada).await.unwrap().unwrap();
    assert!(player.name.as_str().starts_with("gone-"), "{player:?}");
    assert_eq!(site.get("/api/v1/players/adas-bot").await.status, StatusCode::NOT_FOUND);
    let token = crate::model::secret::Secret::new(bot["token"].as_str().unwrap());
    assert!(site.state.accounts.authenticate(&token).await.is_err(), "the bot's token must be revoked");
    assert_eq!(site.post(ACCOUNTS, &credentials("Ada", PASSWORD)).await.status, StatusCode::CREATED);
    site.post(ACCOUNTS, &credentials("gone-ada", PASSWORD)).await.check_refused(
        422,
        "name_reserved",
        Some("name"),
    );
}

#[tokio::test]
async fn the_export_has_the_puzzles_that_one_has_tried() {
    let site = TestSite::new();
    let (cookie, other) = (site.register("Ada").await, site.register("Bob").await);
    let puzzle = NewPuzzle {
        id: "p1".parse().unwrap(),
        moves: "4444".into(),
        line: "4".into(),
        goal: Goal::Win,
        prior: 1_450,
        quality: 0,
        game: None,
        made_at: UnixMillis(0),
    };
    let ada = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    let (id, at) = (puzzle.id.clone(), UnixMillis(1_000));
    let attempt = PuzzleTry { player: ada, puzzle: id, result: TryResult::Failed, level: 900, at };
    let writes = [Write::AddPuzzles(Harvest { puzzles: vec![puzzle], keep: 9 }), Write::TryPuzzle(attempt)];
    for written in site.store.commit(&writes).await.unwrap() {
        written.unwrap();
    }
    let export =
        async |cookie| ask(&site, Method::GET, "/api/v1/account/export", cookie, Value::Null).await.body;
    let lines: Vec<Value> =
        export(&cookie).await.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = json!({"puzzle": "p1", "solved": false, "level": 900, "at": "1970-01-01T00:00:01.000Z"});
    assert_eq!(lines[1..], [line]);
    assert_eq!(export(&other).await.lines().count(), 1);
}

#[tokio::test]
async fn the_export_is_a_file_that_begins_with_the_account() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let export = ask(&site, Method::GET, "/api/v1/account/export", &cookie, Value::Null).await;
    assert_eq!(export.header(header::CONTENT_TYPE), "application/x-ndjson");
    assert!(export.header(header::CONTENT_DISPOSITION).contains("fourfold-Ada.ndjson"), "{export:?}");
    let head: Value = serde_json::from_str(export.body.lines().next().unwrap()).unwrap();
    assert_eq!(head["account"]["name"], json!("Ada"));
    assert!(!export.body.contains("argon2"), "no credential leaves the store");
}

#[tokio::test]
async fn bots_and_strangers_have_no_account_to_look_after() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let bot = ask(&site, Method::POST, "/api/v1/bots", &cookie, json!({"name": "adas-bot"})).await.json();
    let bearer = format!("Bearer {}", bot["token"].as_str().unwrap());
    let request = crate::http::testing::get(ACCOUNT).header(header::AUTHORIZATION, bearer);
    let answer = site.send(request.body(axum::body::Body::empty()).unwrap()).await;
    answer.check_refused(403, "forbidden", None);
    site.get(ACCOUNT).await.check_refused(401, "unauthorized", None);
}

#[tokio::test]
async fn a_person_shows_a_picture_a_flag_and_a_line() {
    const PROFILE: &str = "/api/v1/account/profile";
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let nothing = json!({ "picture": null, "flag": null, "line": null });
    assert_eq!(ask(&site, Method::GET, PROFILE, &cookie, Value::Null).await.json(), nothing);
    let shown = json!({ "picture": "owl", "flag": "NL", "line": "<b>4</b> & 4" });
    assert_eq!(ask(&site, Method::PUT, PROFILE, &cookie, shown.clone()).await.json(), shown);
    assert_eq!(ask(&site, Method::GET, PROFILE, &cookie, Value::Null).await.json(), shown);
    let public = site.get("/api/v1/players/ada").await.json();
    assert_eq!((&public["picture"], &public["line"]), (&shown["picture"], &shown["line"]));
    let page = site.get("/player/ada").await.body;
    assert!(page.contains("#owl\"/>") && page.contains(">NL</abbr>"), "{page}");
    assert!(!page.contains("<b>4") && page.contains("&#60;b&#62;4"), "{page}");
    let own = ask(&site, Method::GET, "/account", &cookie, Value::Null).await.body;
    assert!(own.contains("value=\"owl\" checked") && own.contains("value=\"NL\" selected"), "{own}");
    let export = ask(&site, Method::GET, "/api/v1/account/export", &cookie, Value::Null).await.body;
    assert!(export.contains("\"picture\":\"owl\""), "{export}");
    for (body, field) in [
        (json!({ "picture": "../x" }), "picture"),
        (json!({ "flag": "nl" }), "flag"),
        (json!({ "line": "x".repeat(81) }), "line"),
        (json!({ "line": "a\u{202e}b" }), "line"),
        (json!({ "line": "a\nb" }), "line"),
        (json!({ "line": "" }), "line"),
    ] {
        ask(&site, Method::PUT, PROFILE, &cookie, body).await.check_refused(422, "bad_field", Some(field));
    }
    assert_eq!(
        ask(&site, Method::PUT, PROFILE, &cookie, json!({ "flag": "DE" })).await.json()["picture"],
        Value::Null
    );
    site.get(PROFILE).await.check_refused(401, "unauthorized", None);
}
