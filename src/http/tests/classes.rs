//! A class over HTTP: who may open, see, join and direct it.

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::accounts::identity_of;
use crate::http::site::Site;
use crate::http::testing::{Answer, SOMEWHERE, TestArena, TestSite, get};
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore;
use crate::system::config::AccessConfig;
use crate::system::shares::{Payer, Share};
use crate::testing::place;

const CLASSES: &str = "/api/v1/classes";

async fn ask(site: &TestSite, method: Method, path: &str, cookie: &str, body: Value) -> Answer {
    site.as_page(method, path, cookie, &body).await
}

fn guest(site: &TestSite) -> String {
    format!("fourfold={}", site.state.accounts.new_guest().cookie.unwrap().expose())
}

/// A site with a class: the cookie of its teacher, and its path.
async fn school() -> (TestSite, String, String) {
    let site = TestSite::new();
    let teacher = site.register("Teacher").await;
    let opened = ask(&site, Method::POST, CLASSES, &teacher, json!({})).await;
    assert_eq!(opened.status, StatusCode::CREATED, "{}", opened.body);
    let path = format!("{CLASSES}/{}", opened.json()["code"].as_str().unwrap());
    (site, teacher, path)
}

#[tokio::test]
async fn a_class_is_joined_by_its_code_and_directed_by_its_teacher() {
    let (site, teacher, path) = school().await;
    let again = ask(&site, Method::POST, CLASSES, &teacher, json!({})).await.json();
    assert!(path.ends_with(again["code"].as_str().unwrap()), "a teacher has one class");

    let (ada, stranger) = (guest(&site), guest(&site));
    let join = |cookie: &str, body: Value| {
        let (path, cookie) = (format!("{}/pupil", path.to_lowercase()), cookie.to_owned());
        let site = &site;
        async move { ask(site, Method::PUT, &path, &cookie, body).await }
    };
    let joined = join(&ada, json!({ "name": "Ada" })).await.json();
    assert_eq!((&joined["teaches"], &joined["pupils"][0]["name"]), (&json!(false), &json!("guest-Ada")));
    join(&stranger, json!({ "name": "ada" })).await.check_refused(409, "name_taken", Some("name"));
    join(&stranger, json!({ "nick": "x" })).await.check_refused(422, "bad_field", Some("nick"));
    join("", json!({})).await.check_refused(401, "unauthorized", None);
    join(&teacher, json!({})).await.check_refused(409, "conflict", None);
    let bob = site.register("Bob").await;
    assert_eq!(join(&bob, json!({})).await.json()["pupils"].as_array().unwrap().len(), 2);

    // Whoever is not in it finds none.
    ask(&site, Method::GET, &path, &stranger, Value::Null).await.check_refused(404, "not_found", None);
    for (method, deed, body) in [
        (Method::POST, "/round", json!({})),
        (Method::POST, "/arena", json!({ "minutes": 10 })),
        (Method::PUT, "/lesson", json!({ "lesson": "fork" })),
        (Method::PUT, "/hold", json!({ "held": true })),
        (Method::DELETE, "", Value::Null),
        (Method::DELETE, "/pupils/guest-Ada", Value::Null),
    ] {
        let refused = ask(&site, method.clone(), &format!("{path}{deed}"), &bob, body.clone()).await;
        refused.check_refused(403, "forbidden", None);
        if method != Method::DELETE {
            let done = ask(&site, method, &format!("{path}{deed}"), &teacher, body).await;
            assert_eq!(done.status, StatusCode::NO_CONTENT, "{deed}: {}", done.body);
        }
    }
    let seen = ask(&site, Method::GET, &path, &teacher, Value::Null).await.json();
    assert_eq!(
        (&seen["activity"], &seen["lesson"], &seen["held"]),
        (&json!("lesson"), &json!("fork"), &json!(true))
    );

    let file = ask(&site, Method::GET, &format!("{path}/results.csv"), &teacher, Value::Null).await;
    assert_eq!(file.body, "rank,name,points,games,wins,draws,losses\n1,Bob,0,0,0,0,0\n2,Ada,0,0,0,0,0\n");
    let left = ask(&site, Method::DELETE, &format!("{path}/pupils/Bob"), &bob, Value::Null).await;
    assert_eq!(left.status, StatusCode::NO_CONTENT);
    let removed =
        ask(&site, Method::DELETE, &format!("{path}/pupils/guest-Ada"), &teacher, Value::Null).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    ask(&site, Method::DELETE, &format!("{path}/pupils/guest-Ada"), &teacher, Value::Null)
        .await
        .check_refused(404, "not_found", None);

    assert_eq!(ask(&site, Method::DELETE, &path, &teacher, Value::Null).await.status, StatusCode::NO_CONTENT);
    ask(&site, Method::GET, &path, &teacher, Value::Null).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn what_a_class_cannot_do_is_refused_by_its_field() {
    let (site, teacher, path) = school().await;
    for (method, deed, body, field) in [
        (Method::POST, "/arena", json!({}), "minutes"),
        (Method::POST, "/arena", json!({ "minutes": 0 }), "minutes"),
        (Method::POST, "/arena", json!({ "minutes": 91 }), "minutes"),
        (Method::POST, "/arena", json!({ "minutes": 1e300 }), "minutes"),
        (Method::POST, "/arena", json!({ "minutes": 5, "time": { "bank_ms": 1 } }), "time.bank_ms"),
        (
            Method::POST,
            "/round",
            json!({ "time": { "bank_ms": 60_000, "increment_ms": -1 } }),
            "time.increment_ms",
        ),
        (Method::PUT, "/lesson", json!({ "lesson": "alchemy" }), "lesson"),
        (Method::PUT, "/lesson", json!({ "lesson": 7 }), "lesson"),
        (Method::PUT, "/hold", json!({ "held": "yes" }), "held"),
    ] {
        let refused = ask(&site, method, &format!("{path}{deed}"), &teacher, body.clone()).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {}", refused.body);
        assert_eq!(refused.json()["field"], json!(field), "{body}");
    }
    for code in ["AAAAAA", "x", "..%2f..", "%F0%9F%92%A9", &"A".repeat(500)] {
        let path = format!("{CLASSES}/{code}");
        ask(&site, Method::GET, &path, &teacher, Value::Null).await.check_refused(404, "not_found", None);
    }
}

#[tokio::test]
async fn nothing_of_a_class_begins_while_nothing_begins() {
    let closed = TestArena { is_stopping: true.into(), ..TestArena::default() };
    let site = TestSite::admitting(AccessConfig::default(), Site::default(), closed);
    let teacher = site.register("Teacher").await;
    let opened = ask(&site, Method::POST, CLASSES, &teacher, json!({})).await.json();
    let path = format!("{CLASSES}/{}", opened["code"].as_str().unwrap());
    for (deed, body) in [("round", json!({})), ("arena", json!({ "minutes": 5 }))] {
        let refused = ask(&site, Method::POST, &format!("{path}/{deed}"), &teacher, body).await;
        refused.check_refused(503, "busy", None);
    }
    let shown = ask(&site, Method::GET, &path, &teacher, Value::Null).await;
    assert_eq!(shown.header(header::CACHE_CONTROL), "no-cache, private");
}

#[tokio::test]
async fn one_network_has_so_many_classes_and_tournaments_at_a_time() {
    let site = TestSite::new();
    let teacher = site.register("Teacher").await;
    let somewhere: std::net::SocketAddr = SOMEWHERE.parse().unwrap();
    let payer = Payer::stranger(somewhere.ip());
    let cup = json!({ "name": "Cup", "format": "arena", "begins_in_s": 60 });
    for (share, path, body) in
        [(Share::Class, CLASSES, json!({})), (Share::Tournament, "/api/v1/tournaments", cup)]
    {
        let all = share.rule().network.held.unwrap();
        let held: Vec<_> = (0..all).map(|_| site.state.shares.hold(share, &payer).unwrap()).collect();
        let refused = ask(&site, Method::POST, path, &teacher, body.clone()).await;
        refused.check_refused(429, "rate_limited", None);
        assert!(site.state.shares.hold(share, &Payer::stranger([198, 51, 100, 1].into())).is_ok(), "others");
        drop(held);
        let served = ask(&site, Method::POST, path, &teacher, body).await;
        assert_ne!(served.status, StatusCode::TOO_MANY_REQUESTS, "{}", served.body);
    }
}

#[tokio::test]
async fn codes_are_not_found_by_trying() {
    let (site, _, _) = school().await;
    let pupil = guest(&site);
    for tries in 0..1_000 {
        let path = format!("{CLASSES}/AAAAAA/pupil");
        let refused = ask(&site, Method::PUT, &path, &pupil, json!({})).await;
        if refused.status == StatusCode::TOO_MANY_REQUESTS {
            assert!(tries >= 60, "two classes behind one address get in");
            return;
        }
        refused.check_refused(404, "not_found", None);
    }
    panic!("a thousand tries");
}

#[tokio::test]
async fn classes_are_opened_by_people_where_operators_let_them_and_joined_by_guests_who_may_play() {
    let closed = AccessConfig { tournaments: false, guests: false, ..AccessConfig::default() };
    let site = TestSite::admitting(closed, Site::default(), TestArena::default());
    let ada = site.register("Ada").await;
    ask(&site, Method::POST, CLASSES, &ada, json!({})).await.check_refused(403, "forbidden", None);
    ask(&site, Method::POST, CLASSES, &guest(&site), json!({})).await.check_refused(
        401,
        "unauthorized",
        None,
    );
    let stored = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let code = site.state.classes.open(identity_of(&stored), place(), UnixMillis::now()).unwrap();
    let path = format!("{CLASSES}/{code}/pupil");
    ask(&site, Method::PUT, &path, &guest(&site), json!({ "name": "Zoe" })).await.check_refused(
        403,
        "forbidden",
        None,
    );
}

#[tokio::test]
async fn whoever_types_no_name_gets_one_of_an_animal_and_the_teacher_may_have_all_drawn() {
    let (site, teacher, path) = school().await;
    let code = path.rsplit('/').next().unwrap();
    let german = get(&format!("/class/{code}?lang=de")).header(header::COOKIE, &teacher);
    site.send(german.body(Body::empty()).unwrap()).await;
    let join = async |cookie: &str, body: Value| {
        let joined = ask(&site, Method::PUT, &format!("{path}/pupil"), cookie, body).await.json();
        let seen = joined["pupils"].as_array().unwrap().clone();
        seen.into_iter().map(|pupil| pupil["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (ada, bob, cleo) = (guest(&site), guest(&site), guest(&site));
    let names = join(&ada, json!({})).await;
    let colors = ["Rot", "Blau", "Gold", "Lila", "Rosa", "Mint", "Pink", "Oliv"];
    let is_german = |name: &str| colors.iter().any(|color| name.starts_with(&format!("guest-{color}-")));
    assert!(is_german(&names[0]), "in the language of the desk: {names:?}");
    assert_eq!(join(&ada, json!({})).await, names, "who has one keeps it");
    assert!(join(&bob, json!({ "name": "Bob" })).await.contains(&"guest-Bob".to_owned()));
    let all = ask(&site, Method::PUT, &format!("{path}/names"), &teacher, json!({ "drawn": true })).await;
    assert_eq!(all.status, StatusCode::NO_CONTENT);
    let names = join(&cleo, json!({ "name": "Cleopatra" })).await;
    assert_eq!(names.iter().filter(|name| is_german(name)).count(), 2, "{names:?}");
    assert!(join(&bob, json!({ "name": "Robert" })).await.contains(&"guest-Bob".to_owned()));
    ask(&site, Method::PUT, &format!("{path}/names"), &bob, json!({ "drawn": false })).await.check_refused(
        401,
        "unauthorized",
        None,
    );
}
