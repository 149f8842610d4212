//! Tournaments in the interface and on their pages.

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use fourfold_arena::format::Format;
use fourfold_engine::Side;
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{TestArena, TestSite, get};
use crate::model::ids::PairId;
use crate::storage::conformance::{FIRST_WINS, NOON, add, first_wins, player_id, spec, write};
use crate::storage::conformance_of_tournaments::tournament;
use crate::storage::moderation::Because;
use crate::storage::people::PeopleStore as _;
use crate::storage::record::{GamePair, GameSpec};
use crate::storage::store::Write;
use crate::storage::tournaments::{EndedBecause, StoredTournament, TournamentEnd, Walkover};
use crate::system::config::AccessConfig;

const LIST: &str = "/api/v1/tournaments";

/// A site with a tournament of two: Ada has won the first game, and Bob was not there for the second.
async fn site() -> TestSite {
    site_of(Format::RoundRobin).await
}

async fn site_of(format: Format) -> TestSite {
    let site = TestSite::new();
    for name in ["Ada", "Bob"] {
        let bot = crate::storage::conformance::player(name, crate::model::player::PlayerKind::Bot);
        write(&*site.store, add(bot)).await.unwrap();
    }
    let cup = StoredTournament {
        name: "Cup <1>".into(),
        format: format.into(),
        entrants: vec![player_id("Ada"), player_id("Bob")],
        pairs: 1,
        seed: 7,
        ..tournament("T1", 0)
    };
    let id = cup.id.clone();
    write(&*site.store, Write::AddTournament(cup)).await.unwrap();
    let pair = GamePair { id: PairId::in_tournament(&id, 0), leg: 1, of: 2 };
    let game = GameSpec { pair: Some(pair), ..spec("g1", "Ada", "Bob") };
    first_wins(&*site.store, game, FIRST_WINS).await;
    site
}

async fn end(site: &TestSite) {
    let tournament = "T1".parse().unwrap();
    let walkover = Walkover { number: 1, absent: Side::First };
    write(&*site.store, Write::WalkOver { tournament, walkover }).await.unwrap();
    let winner = Some(player_id("Ada"));
    let end = TournamentEnd { reason: EndedBecause::Complete, at: NOON, winner, games: 2, because: None };
    let tournament = "T1".parse().unwrap();
    write(&*site.store, Write::EndTournament { tournament, end }).await.unwrap();
}

#[tokio::test]
async fn tournaments_are_listed_the_newest_first() {
    let site = site().await;
    let second = StoredTournament { end: None, ..tournament("T2", 5) };
    write(&*site.store, Write::AddTournament(second)).await.unwrap();
    let list = site.get(LIST).await.json();
    assert_eq!(list["cursor"], json!(null));
    assert_eq!(list["items"][1]["id"], "T1");
    assert_eq!(list["items"][0]["format"], json!({ "name": "swiss", "rounds": 3 }));
    let page = site.get(&format!("{LIST}?limit=1")).await.json();
    assert_eq!((&page["items"][0]["id"], &page["cursor"]), (&json!("T2"), &json!("2")));
    let next = site.get(&format!("{LIST}?limit=1&cursor=2")).await.json();
    assert_eq!(next["items"][0]["id"], "T1");
    site.get(&format!("{LIST}?cursor=x")).await.check_refused(400, "bad_parameter", Some("cursor"));
}

#[tokio::test]
async fn a_tournament_has_standings_a_crosstable_and_its_schedule() {
    let site = site().await;
    let live = site.get(&format!("{LIST}/T1")).await.json();
    assert_eq!((&live["status"], &live["winner"]), (&json!("running"), &json!(null)));
    assert_eq!((&live["games"], &live["games_known"]), (&json!(1), &json!(2)));
    end(&site).await;
    let answer = site.get(&format!("{LIST}/T1")).await;
    let over = answer.json();
    assert_eq!((&over["status"], &over["winner"]), (&json!("complete"), &json!("Ada")));
    let first = &over["standings"][0];
    assert_eq!(first["name"], "Ada");
    for (field, value) in [("rank", 1), ("score", 6), ("wins", 2), ("wins_first", 1), ("wins_second", 1)] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(over["crosstable"], json!([[null, [4, 2]], [[0, 2], null]]));
    assert_eq!(over["schedule"][0]["game"], "g1");
    let second = json!({
        "number": 1, "first": "Bob", "second": "Ada", "game": null, "result": "second", "fault": true
    });
    assert_eq!(over["schedule"][1], second);

    let request = get(&format!("{LIST}/T1")).header(header::IF_NONE_MATCH, answer.header(header::ETAG));
    let again = site.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    site.get(&format!("{LIST}/T9")).await.check_refused(404, "not_found", None);
    site.get(&format!("{LIST}/a%20b")).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn pages_show_tournaments_without_script() {
    let empty = TestSite::new().get("/tournaments").await;
    assert!(empty.body.contains("No tournament has been held"), "{}", empty.body);
    let site = site().await;
    let list = site.get("/tournaments?lang=de").await;
    assert!(list.body.contains("Turniere") && list.body.contains("/tournament/T1"), "{}", list.body);
    let one = site.get("/tournament/T1").await;
    for part in [
        "Cup &#60;1&#62;",
        "Wins as the first side",
        "tournament-page",
        "/game/g1",
        "1 of 2 games",
        "round robin",
    ] {
        assert!(one.body.contains(part), "{part}: {}", one.body);
    }
    assert_eq!(site.get("/tournament/T9").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/tournament/T9/table").await.status, StatusCode::NOT_FOUND);

    let table = site.get("/tournament/T1/table").await;
    assert!(!table.body.contains("<html") && table.body.contains("data-live"), "{}", table.body);
    let request = get("/tournament/T1/table").header(header::IF_NONE_MATCH, table.header(header::ETAG));
    assert_eq!(site.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::NOT_MODIFIED);
    let is_in_lobby = async || site.get("/").await.body.contains("href=\"/tournament/T1\"");
    assert!(is_in_lobby().await, "the front page names what goes on");
    end(&site).await;
    assert!(!is_in_lobby().await);
    let over = site.get("/tournament/T1").await;
    // One way to count: the standings have points, the crosstable what came of the games.
    assert!(over.body.contains("+2 =0 −0") && over.body.contains("+0 =0 −2"), "{}", over.body);
    assert!(!over.body.contains("tournament-page") && over.body.contains("absent"), "{}", over.body);
}

#[tokio::test]
async fn a_knockout_has_its_bracket() {
    let site = site_of(Format::Knockout).await;
    let page = site.get("/tournament/T1").await.body;
    assert!(
        page.contains(">Final<") && page.contains("bracket-seat") && !page.contains("bracket-seat won"),
        "{page}"
    );
    end(&site).await;
    let page = site.get("/tournament/T1").await.body;
    let won = "<span class=\"bracket-seat won\"><bdi>Ada</bdi>";
    assert!(page.contains(won) && page.contains("<span class=\"number\">2</span>"), "{page}");
    let others = self::site().await.get("/tournament/T1").await.body;
    assert!(!others.contains("bracket"), "all met all");
}

#[tokio::test]
async fn a_tournament_that_is_made_is_refused_with_what_is_wrong() {
    let access = AccessConfig { forbidden_names: vec!["idiot".parse().unwrap()], ..AccessConfig::default() };
    let site = TestSite::admitting(access, Site::default(), TestArena::default());
    let ada = site.register("Ada").await;
    let good = json!({ "name": "Friday Cup", "format": "swiss", "begins_in_s": 600 });
    let with = |key: &str, value: Value| {
        let mut body = good.clone();
        body[key] = value;
        body
    };
    let make = async |cookie: &str, body: Value| site.as_page(Method::POST, LIST, cookie, &body).await;
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("x".repeat(61))),
        ("name", json!("two\nlines")),
        ("name", json!("an ID1OT's cup")),
        ("format", json!("ladder")),
        ("rounds", json!(0)),
        ("games", json!(3)),
        ("games", json!(8)),
        ("time", json!({ "bank_ms": 9_999 })),
        ("time", json!({ "bank_ms": 60_000, "increment_ms": 60_001 })),
        ("begins_in_s", json!(29)),
        ("begins_in_s", json!(1_209_601)),
        ("begins_in_s", json!(-1)),
    ] {
        let answer = make(&ada, with(field, value.clone())).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{field} {value}");
        let named = answer.json()["field"].as_str().unwrap().to_owned();
        assert!(named.starts_with(field), "{named} for {field}");
    }
    let rounds = json!({ "name": "Cup", "format": "knockout", "rounds": 3, "begins_in_s": 600 });
    make(&ada, rounds).await.check_refused(422, "bad_field", Some("rounds"));
    make("", good.clone()).await.check_refused(401, "unauthorized", None);
    // Nobody runs tournaments here: whoever has come so far may make one.
    make(&ada, good.clone()).await.check_refused(503, "busy", None);
    for (method, path) in [(Method::DELETE, "plan"), (Method::POST, "start")] {
        let path = format!("{LIST}/nonsense!/{path}");
        site.as_page(method, &path, &ada, &Value::Null).await.check_refused(404, "not_found", None);
    }
    let because = Because { reason: "rude".into(), by: "root".into(), at: NOON };
    let id = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    site.state.accounts.mute(&id, None, because).await.unwrap();
    make(&ada, good.clone()).await.check_refused(403, "forbidden", None);
    let closed = AccessConfig { tournaments: false, ..AccessConfig::default() };
    let site = TestSite::admitting(closed, Site::default(), TestArena::default());
    let bob = site.register("Bob").await;
    site.as_page(Method::POST, LIST, &bob, &good).await.check_refused(403, "forbidden", None);
    assert!(!site.get("/tournaments/new").await.body.contains("new-tournament-page"));
}

#[tokio::test]
async fn standings_are_a_file_for_spreadsheets() {
    let site = site().await;
    let file = site.get("/api/v1/tournaments/T1/standings.csv").await;
    assert_eq!(file.header(header::CONTENT_TYPE), "text/csv; charset=utf-8");
    let lines: Vec<&str> = file.body.lines().collect();
    assert!(lines[0].starts_with("rank,name,score,"), "{}", lines[0]);
    assert!(lines[1].starts_with("1,Ada,3,1,1,0,0,0,1,"), "{}", lines[1]);
    assert_eq!(lines.len(), 3);
    assert!(site.get("/tournament/T1").await.body.contains("/api/v1/tournaments/T1/standings.csv"));
    assert_eq!(site.get("/api/v1/tournaments/T9/standings.csv").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_wall_shows_pairings_standings_and_how_to_join_in_every_format() {
    for (format, has_tree) in
        [(Format::RoundRobin, false), (Format::Swiss { rounds: 3 }, false), (Format::Knockout, true)]
    {
        let site = site_of(format).await;
        let request = get("/tournament/T1/wall").header(header::HOST, "192.168.7.20:4444");
        let wall = site.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(wall.status, StatusCode::OK);
        for said in [
            "192.168.7.20:4444/tournament/T1",
            "/tournament/T1/qr.svg",
            "<bdi>Ada</bdi> <strong class=\"number\">1 : 0</strong> <bdi>Bob</bdi>",
            "<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>",
            "Cup &#60;1&#62;",
            "wall-standings",
        ] {
            assert!(wall.body.contains(said), "{format:?} lacks {said}: {}", wall.body);
        }
        assert_eq!(wall.body.contains("class=\"bracket\""), has_tree, "{format:?}");
        assert!(site.get("/tournament/T1").await.body.contains("/tournament/T1/wall"));
    }
    let site = site().await;
    assert_eq!(site.get("/tournament/none/wall").await.status, StatusCode::NOT_FOUND);
    end(&site).await;
    assert!(!site.get("/tournament/T1/wall").await.body.contains("data-until"), "nothing is counted down");
}
