//! What owners see of their bots, and nobody else does.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use fourfold_engine::notation::parse_moves;
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::state::BotPresence;
use crate::http::testing::{Answer, TestArena, TestSite};
use crate::storage::bot_versions::{BotFault, FaultKind, StoredTest};
use crate::storage::conformance::{after_noon, event, spec};
use crate::storage::people::PeopleStore;
use crate::storage::record::{EventKind, StoredMove};
use crate::storage::store::{Store, TestOutcome, Write};

/// A site where Ada owns Robo, and Bob owns nothing.
struct Corner {
    site: TestSite,
    ada: String,
    bob: String,
    token: String,
}

impl Corner {
    async fn new(presence: Option<BotPresence>) -> Self {
        let site = TestSite::with(Site::default(), TestArena { presence, ..TestArena::default() });
        let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
        let made = site.as_page(Method::POST, "/api/v1/bots", &ada, &json!({ "name": "Robo" })).await;
        let token = made.json()["token"].as_str().unwrap().to_owned();
        Self { site, ada, bob, token }
    }

    async fn get_as(&self, cookie: &str, path: &str) -> Answer {
        self.site.as_page(Method::GET, path, cookie, &Value::Null).await
    }

    async fn as_bot(&self, method: Method, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let request = Request::builder().method(method).uri(path).header(header::AUTHORIZATION, bearer);
        self.site.send(request.body(Body::empty()).unwrap()).await
    }

    async fn robo(&self) -> crate::storage::StoredPlayer {
        self.site.store.player_by_name(&"Robo".parse().unwrap()).await.unwrap().unwrap()
    }

    async fn write(&self, write: Write) {
        self.site.store.commit(&[write]).await.unwrap().pop().unwrap().unwrap();
    }
}

fn connected() -> BotPresence {
    let games = vec!["g1".parse().unwrap()];
    BotPresence {
        open: true,
        draining: false,
        version: "2".into(),
        games,
        may_play_rated: false,
        trouble: None,
    }
}

#[tokio::test]
async fn an_owner_sees_how_a_bot_stands() {
    let corner = Corner::new(Some(connected())).await;
    let bot = corner.robo().await.id;
    for (version, ms) in [("1", 1), ("2", 2)] {
        corner
            .write(Write::SeeVersion { bot: bot.clone(), version: version.into(), at: after_noon(ms) })
            .await;
    }
    let report = json!({"bot": "Robo", "passed": false, "games": ["g7"], "move_limit_ms": 10_000,
        "checks": [{"name": "turn", "verdict": "failed", "note": "<script>no</script>"}],
        "latency_ms": {"count": 1, "p50": 1.0, "p90": 1.0, "p99": 1.0, "max": 1.0}});
    let test = StoredTest { at: after_noon(3), report: report.to_string() };
    let outcome = TestOutcome::Failed;
    corner.write(Write::SaveTest { bot, version: "2".into(), test, outcome }).await;

    let seen = corner.get_as(&corner.ada, "/api/v1/bots/robo").await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.body);
    assert_eq!(seen.header(header::CACHE_CONTROL), "no-store");
    let seen = seen.json();
    assert_eq!(
        (&seen["connected"], &seen["open"], &seen["version"], &seen["may_play_rated"], &seen["games"]),
        (&json!(true), &json!(true), &json!("2"), &json!(false), &json!(["g1"]))
    );
    let versions: Vec<_> = seen["versions"].as_array().unwrap().iter().map(|v| &v["version"]).collect();
    assert_eq!(versions, ["2", "1"]);
    assert_eq!(seen["versions"][0]["report"], report);
    let state = corner.as_bot(Method::GET, "/api/v1/bots/@me/self-test").await.json();
    assert_eq!((&state["running"], &state["version"]), (&json!(false), &json!("2")));
    assert_eq!((&state["report"], &state["passed_at"]), (&report, &Value::Null));

    let page = corner.get_as(&corner.ada, "/bot/robo").await;
    assert_eq!(page.status, StatusCode::OK);
    for shown in ["href=\"/game/g1\"", ">failed<", "must pass the self-test", "&#60;script&#62;no"] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    assert!(!page.body.contains(&corner.token), "tokens are in no page");
    assert!(page.body.contains("curl -s http://localhost:4444/kits/rust.tar"), "{}", page.body);
}

#[tokio::test]
async fn nobody_else_sees_it() {
    let corner = Corner::new(Some(connected())).await;
    for path in ["/api/v1/bots/Robo", "/api/v1/bots/Robo/faults", "/api/v1/bots/Robo/self-test"] {
        corner.get_as(&corner.bob, path).await.check_refused(403, "forbidden", None);
        corner.get_as("", path).await.check_refused(401, "unauthorized", None);
        assert_eq!(
            corner.as_bot(Method::GET, path).await.status,
            StatusCode::OK,
            "{path}: it is the bot itself"
        );
    }
    corner.get_as(&corner.bob, "/api/v1/bots/Robo/tokens").await.check_refused(403, "forbidden", None);
    corner.as_bot(Method::GET, "/api/v1/bots/@me/tokens").await.check_refused(404, "not_found", None);
    corner.get_as(&corner.ada, "/api/v1/bots/@me").await.check_refused(404, "not_found", None);
    corner.get_as(&corner.ada, "/api/v1/bots/nobody").await.check_refused(404, "not_found", None);
    let page = corner.get_as(&corner.bob, "/bot/Robo").await;
    assert_eq!((page.status, page.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/player/Robo"));
    assert_eq!(corner.get_as(&corner.ada, "/bot/nobody").await.status, StatusCode::NOT_FOUND);
    assert_eq!(corner.get_as(&corner.ada, "/bot/Ada").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_self_test_begins_if_the_bot_is_there() {
    let corner = Corner::new(Some(connected())).await;
    let begun = corner.as_bot(Method::POST, "/api/v1/bots/@me/self-test").await;
    assert_eq!((begun.status, &begun.json()["running"]), (StatusCode::ACCEPTED, &json!(true)));
    let path = "/api/v1/bots/Robo/self-test";
    let by_owner = corner.site.as_page(Method::POST, path, &corner.ada, &Value::Null).await;
    assert_eq!(by_owner.status, StatusCode::ACCEPTED);
    corner.site.as_page(Method::POST, path, &corner.bob, &Value::Null).await.check_refused(
        403,
        "forbidden",
        None,
    );

    let corner = Corner::new(None).await;
    let refused = corner.site.as_page(Method::POST, path, &corner.ada, &Value::Null).await;
    refused.check_refused(409, "conflict", None);
    assert!(refused.body.contains("Robo is not connected"), "{}", refused.body);
}

#[tokio::test]
async fn faults_are_listed_with_their_reasons() {
    let corner = Corner::new(None).await;
    let bot = corner.robo().await.id;
    for (ms, kind, game) in [(1, FaultKind::IllegalMove, Some("g1")), (2, FaultKind::Disconnected, None)] {
        let game = game.map(|game| game.parse().unwrap());
        let (bot, note) = (bot.clone(), format!("note {ms}"));
        corner.write(Write::AddFault(BotFault { bot, game, kind, note, at: after_noon(ms) })).await;
    }
    let faults = corner.get_as(&corner.ada, "/api/v1/bots/Robo/faults").await.json();
    let shown: Vec<_> =
        faults["items"].as_array().unwrap().iter().map(|f| (&f["kind"], &f["game"])).collect();
    assert_eq!(shown, [(&json!("disconnected"), &Value::Null), (&json!("illegal_move"), &json!("g1"))]);
    let one = corner.get_as(&corner.ada, "/api/v1/bots/Robo/faults?limit=1").await.json();
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    corner.get_as(&corner.ada, "/api/v1/bots/Robo/faults?limit=0").await.check_refused(
        400,
        "bad_parameter",
        Some("limit"),
    );
    let page = corner.get_as(&corner.ada, "/bot/Robo").await;
    assert!(page.body.contains("lost its connection") && page.body.contains("note 1"), "{}", page.body);
}

#[tokio::test]
async fn tokens_are_ended_and_replaced_one_by_one() {
    let corner = Corner::new(None).await;
    let tokens = || async {
        let listed = corner.get_as(&corner.ada, "/api/v1/bots/Robo/tokens").await.json();
        assert!(!listed.to_string().contains("c4b_"), "{listed}");
        listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|token| token["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let ids: Vec<String> = tokens().await;
    let path = format!("/api/v1/bots/Robo/tokens/{}", ids[0]);
    corner.site.as_page(Method::DELETE, &path, &corner.bob, &Value::Null).await.check_refused(
        403,
        "forbidden",
        None,
    );

    let rotated =
        corner.site.as_page(Method::POST, &format!("{path}/rotate"), &corner.ada, &Value::Null).await;
    assert_eq!(rotated.status, StatusCode::CREATED, "{}", rotated.body);
    let fresh = rotated.json();
    assert_ne!(fresh["token"], corner.token.as_str());
    assert_eq!(tokens().await, [fresh["id"].as_str().unwrap()]);
    corner.as_bot(Method::GET, "/api/v1/bots/@me").await.check_refused(401, "unauthorized", None);
    for (method, path) in [(Method::DELETE, path.clone()), (Method::POST, format!("{path}/rotate"))] {
        corner.site.as_page(method, &path, &corner.ada, &Value::Null).await.check_refused(
            404,
            "not_found",
            None,
        );
    }
    let path = format!("/api/v1/bots/Robo/tokens/{}", fresh["id"].as_str().unwrap());
    let ended = corner.site.as_page(Method::DELETE, &path, &corner.ada, &Value::Null).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(tokens().await, Vec::<String>::new());
}

#[tokio::test]
async fn only_the_owner_reads_what_a_bot_thought() {
    let corner = Corner::new(None).await;
    let robo = corner.robo().await.id;
    let bob = corner.site.store.player_by_name(&"Bob".parse().unwrap()).await.unwrap().unwrap().id;
    let mut game = spec("g1", "Ada", "Bob");
    game.players = fourfold_engine::BySide { first: robo, second: bob };
    corner.write(Write::StartGame(game.clone())).await;
    let info = |text: &str| Some(text.into());
    let moves = parse_moves("445").unwrap();
    let notes = [info(r#"{"depth":7,"note":"<b>mine</b>"}"#), info(r#"{"note":"not yours"}"#), None];
    let events = moves.into_iter().zip(notes).enumerate().map(|(index, (column, info))| {
        let played = StoredMove { column, spent_ms: 12, credited_ms: 0, info };
        event(u32::try_from(index).unwrap() + 1, EventKind::Move(played))
    });
    corner.write(Write::Append { game: game.id, events: events.collect() }).await;

    let expected = json!({"items": [
        {"ply": 1, "column": 4, "by": "first", "spent_ms": 12, "info": {"depth": 7, "note": "<b>mine</b>"}},
        {"ply": 3, "column": 5, "by": "first", "spent_ms": 12, "info": null},
    ], "cursor": null});
    assert_eq!(corner.get_as(&corner.ada, "/api/v1/games/g1/info").await.json(), expected);
    assert_eq!(corner.as_bot(Method::GET, "/api/v1/games/g1/info").await.json(), expected);
    corner.get_as(&corner.bob, "/api/v1/games/g1/info").await.check_refused(403, "forbidden", None);
    corner.get_as("", "/api/v1/games/g1/info").await.check_refused(401, "unauthorized", None);
    corner.get_as(&corner.ada, "/api/v1/games/g2/info").await.check_refused(404, "not_found", None);

    let page = corner.get_as(&corner.ada, "/game/g1").await.body;
    assert!(page.contains("&#60;b&#62;mine&#60;/b&#62;") && !page.contains("not yours"), "{page}");
    for cookie in [corner.bob.as_str(), ""] {
        let page = corner.get_as(cookie, "/game/g1").await.body;
        assert!(!page.contains("mine") && !page.contains("thought-moves"), "{page}");
    }
}

#[tokio::test]
async fn guests_are_told_to_sign_in_before_they_make_a_bot() {
    let corner = Corner::new(None).await;
    let page = corner.get_as("", "/bots/new").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body.contains("href=\"/account\"") && !page.body.contains("id=\"new-bot\""),
        "{}",
        page.body
    );
    let page = corner.get_as(&corner.ada, "/bots/new").await.body;
    assert!(page.contains("id=\"new-bot\"") && page.contains("href=\"/bot/Robo\""), "{page}");
}

#[tokio::test]
async fn kits_are_served_and_nothing_else() {
    let site = TestSite::new();
    for name in ["other.tar", "python", "python.tar.gz", "..%2Fpython.tar"] {
        assert_eq!(site.get(&format!("/kits/{name}")).await.status, StatusCode::NOT_FOUND, "{name}");
    }
    let answer = site.get("/kits/rust.tar").await;
    assert_eq!((answer.status, answer.header(header::CONTENT_TYPE)), (StatusCode::OK, "application/x-tar"));
    assert!(answer.body.starts_with("fourfold-rust/Cargo.toml\0"), "{}", &answer.body[..100]);
}
