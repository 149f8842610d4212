//! What owners see of their bots, and nobody else does.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use fourfold_engine::notation::parse_moves;
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::state::{BotPresence, TroubleView};
use crate::http::testing::{Answer, TestArena, TestSite};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};
use crate::storage::bot_versions::{BotFault, FaultKind, StoredTest};
use crate::storage::conformance::{add, after_noon, event, player, spec, whole_game};
use crate::storage::people::PeopleStore;
use crate::storage::record::{EventKind, GamePair, StoredMove, StoredPlayer};
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

    async fn robo(&self) -> StoredPlayer {
        self.site.store.player_by_name(&"Robo".parse().unwrap()).await.unwrap().unwrap()
    }

    async fn write(&self, write: Write) {
        self.site.store.commit(&[write]).await.unwrap().pop().unwrap().unwrap();
    }
}

fn house(name: &str) -> StoredPlayer {
    StoredPlayer { house: true, ..player(name, PlayerKind::Bot) }
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
    for id in ["start-Python", "start-C", "start-CCJavaabridge"] {
        assert!(page.body.contains(&format!("<code id=\"{id}\"")), "{id}: {}", page.body);
    }
}

#[tokio::test]
async fn an_owner_sees_until_when_a_bot_is_paused() {
    let until = "2026-01-31T18:54:07Z".to_owned();
    let trouble = TroubleView { fault: "illegal", probing: false, until: Some(until.clone()) };
    let corner = Corner::new(Some(BotPresence { trouble: Some(trouble), ..connected() })).await;
    let seen = corner.get_as(&corner.ada, "/api/v1/bots/Robo").await.json();
    assert_eq!(seen["trouble"], json!({"fault": "illegal", "probing": false, "until": until}));
    let page = corner.get_as(&corner.ada, "/bot/Robo").await.body;
    assert!(page.contains("2026-01-31 18:54"), "{page}");
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
async fn a_token_may_end_by_itself() {
    let corner = Corner::new(None).await;
    let make = |lasts: &str| {
        let path = format!("/api/v1/bots/Robo/tokens?lasts_s={lasts}");
        let (site, ada) = (&corner.site, corner.ada.clone());
        async move { site.as_page(Method::POST, &path, &ada, &Value::Null).await }
    };
    assert_eq!(make("60").await.status, StatusCode::CREATED);
    for lasts in ["59", "31536001", "-1", "x"] {
        make(lasts).await.check_refused(400, "bad_parameter", Some("lasts_s"));
    }
    let tokens = corner.get_as(&corner.ada, "/api/v1/bots/Robo/tokens").await.json();
    let until: Vec<_> =
        tokens["items"].as_array().unwrap().iter().map(|token| &token["expires_at"]).collect();
    assert_eq!(until.iter().filter(|until| until.is_string()).count(), 1, "{tokens}");
    assert_eq!(until.iter().filter(|until| until.is_null()).count(), 1, "{tokens}");
    let page = corner.get_as(&corner.ada, "/bot/Robo").await.body;
    assert!(page.contains(", ends "), "{page}");
}

#[tokio::test]
async fn the_worker_of_the_editor_reaches_nothing_and_its_page_may_not_evaluate() {
    let site = TestSite::new();
    let worker = site.get("/bots/editor/worker.js").await;
    assert_eq!(
        worker.header(header::CONTENT_SECURITY_POLICY),
        "default-src 'none'; script-src 'unsafe-eval'"
    );
    assert_eq!(worker.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    let page = site.get("/bots/editor").await;
    assert!(!page.header(header::CONTENT_SECURITY_POLICY).contains("unsafe-eval"));
    let kit = site.get("/kits/fourfold_bot.js").await;
    assert_eq!((kit.status, kit.header(header::CONTENT_TYPE)), (StatusCode::OK, "text/javascript"));
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

/// Stores a finished game of Robo, as first, against Bob.
async fn finished(corner: &Corner, id: &str, moves: &str, thought: Option<&str>) {
    let robo = corner.robo().await.id;
    let bob = corner.site.store.player_by_name(&"Bob".parse().unwrap()).await.unwrap().unwrap().id;
    let mut game = spec(id, "Ada", "Bob");
    game.players = fourfold_engine::BySide { first: robo, second: bob };
    corner.write(Write::StartGame(game.clone())).await;
    let mut events = whole_game(moves, GameResult::Second, EndReason::Resign);
    if let EventKind::Move(played) = &mut events[2].kind {
        played.info = thought.map(Into::into);
    }
    corner.write(Write::Finish { game: game.id, events }).await;
}

#[tokio::test]
async fn a_bots_costliest_mistakes_are_listed() {
    let corner = Corner::new(None).await;
    // After 4 and 1, column 4 wins soonest and 1 only draws; it is the same mistake both times.
    finished(&corner, "g1", "4111", Some(r#"{"score":0.8}"#)).await;
    finished(&corner, "g2", "4111", None).await;
    finished(&corner, "g3", "444", None).await;
    let path = "/api/v1/bots/robo/mistakes";
    let listed = corner.get_as("", path).await;
    assert_eq!(listed.status, StatusCode::OK, "{}", listed.body);
    let expected = json!({"items": [{"game": "g2", "opponent": "Bob", "variant": "7x6", "ply": 3, "side": "first",
        "moves": "41", "chosen": 1, "best": [4], "values": [0, -2, 2, 4, 3, 3, 2], "before": 4, "after": 0,
        "mistake": "win_to_draw", "times": 2, "info": null}], "games": 3, "cursor": null});
    assert_eq!(listed.json(), expected);

    // A part at a time, the newest first; the owner sees what it thought.
    let newest = corner.get_as("", &format!("{path}?games=2")).await.json();
    assert_eq!((&newest["games"], &newest["items"][0]["times"]), (&json!(2), &json!(1)), "{newest}");
    let cursor = newest["cursor"].as_str().unwrap();
    let rest = format!("{path}?games=2&cursor={cursor}");
    for (seen, thought) in [
        (corner.get_as(&corner.ada, &rest).await.json(), json!({"score": 0.8})),
        (corner.as_bot(Method::GET, &rest.replace("robo", "@me")).await.json(), json!({"score": 0.8})),
        (corner.get_as(&corner.bob, &rest).await.json(), Value::Null),
    ] {
        assert_eq!((&seen["games"], &seen["cursor"]), (&json!(1), &Value::Null), "{seen}");
        assert_eq!(
            (&seen["items"][0]["game"], &seen["items"][0]["info"]),
            (&json!("g1"), &thought),
            "{seen}"
        );
    }

    let file = corner.get_as("", "/api/v1/bots/Robo/mistakes.tsv?games=2").await;
    assert_eq!(file.header(header::CONTENT_TYPE), "text/tab-separated-values; charset=utf-8");
    let lines: Vec<&str> = file.body.lines().collect();
    assert!(lines[0].starts_with("moves\tchosen\tbest\tvalues\tplayer\t"), "{}", file.body);
    assert!(lines[1].starts_with("41\t1\t4\t0,-2,2,4,3,3,2\tRobo\twin_to_draw\t1\tg2"), "{}", file.body);
    assert_eq!(lines[2], format!("# 2 games; those before: cursor={cursor}"));

    for (path, field) in
        [("mistakes?games=0", "games"), ("mistakes?games=201", "games"), ("mistakes.tsv?cursor=x", "cursor")]
    {
        let refused = corner.get_as("", &format!("/api/v1/bots/Robo/{path}")).await;
        refused.check_refused(400, "bad_parameter", Some(field));
    }
    corner.get_as("", "/api/v1/bots/Ada/mistakes").await.check_refused(404, "not_found", None);
    corner.get_as(&corner.ada, "/api/v1/bots/@me/mistakes").await.check_refused(404, "not_found", None);

    let page = corner.get_as(&corner.ada, "/bot/Robo").await.body;
    assert!(page.contains("id=\"find-mistakes\"") && !page.contains("/analysis/41"), "{page}");
    let page = corner.get_as(&corner.ada, "/bot/Robo?games=20").await.body;
    for shown in ["href=\"/analysis/41\"", "href=\"/game/g2\"", "×2", "Looked at 3 games"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let page = corner.get_as(&corner.ada, &format!("/bot/Robo?games=20&cursor={cursor}")).await.body;
    assert!(page.contains("It thought +0.8; the truth: "), "{page}");
}

#[tokio::test]
async fn an_owner_chooses_among_the_games_of_a_bot() {
    let corner = Corner::new(None).await;
    finished(&corner, "g1", "4171", None).await;
    finished(&corner, "g2", "444", None).await;
    let bot = corner.robo().await.id;
    let fault = BotFault {
        bot,
        game: Some("g1".parse().unwrap()),
        kind: FaultKind::Left,
        note: "exited".into(),
        at: after_noon(9),
    };
    corner.write(Write::AddFault(fault)).await;
    let path = "/api/v1/bots/Robo/games";
    let all = corner.get_as(&corner.ada, path).await;
    assert_eq!((all.status, all.header(header::CACHE_CONTROL)), (StatusCode::OK, "no-store"), "{}", all.body);
    let all = all.json();
    assert_eq!(
        (&all["games"], &all["cursor"], &all["latency_ms"]["count"]),
        (&json!(2), &Value::Null, &json!(4))
    );
    let first = &all["items"][0];
    assert_eq!(
        (&first["game"], &first["opponent"], &first["side"]),
        (&json!("g2"), &json!("Bob"), &json!("first"))
    );
    assert_eq!(
        (&first["outcome"], &first["reason"], &first["fault"]),
        (&json!("lost"), &json!("resign"), &json!(false))
    );
    assert_eq!((&first["moves"], &first["slowest_ms"]), (&json!("444"), &json!(7)));
    let chosen = |query: &str| {
        let path = format!("{path}?{query}");
        let corner = &corner;
        async move {
            let answer = corner.as_bot(Method::GET, &path).await.json();
            let games = answer["items"].as_array().unwrap().iter().map(|game| game["game"].to_string());
            games.collect::<Vec<_>>().join(" ")
        }
    };
    for (query, expected) in [
        ("outcome=lost", r#""g2" "g1""#),
        ("outcome=won", ""),
        ("fault=true", r#""g1""#),
        ("fault=false", r#""g2""#),
        ("slower_than_ms=6", r#""g2" "g1""#),
        ("slower_than_ms=7", ""),
        ("opponent=bob", r#""g2" "g1""#),
        ("opponent=ada", ""),
        ("games=1", r#""g2""#),
    ] {
        assert_eq!(chosen(query).await, expected, "{query}");
    }
    for (query, field) in
        [("outcome=best", "outcome"), ("fault=1", "fault"), ("slower_than_ms=-1", "slower_than_ms")]
    {
        let refused = corner.get_as(&corner.ada, &format!("{path}?{query}")).await;
        refused.check_refused(400, "bad_parameter", Some(field));
    }
    corner.get_as(&corner.bob, path).await.check_refused(403, "forbidden", None);
    corner.get_as("", path).await.check_refused(401, "unauthorized", None);

    for (query, shown, hidden) in
        [("?show=faults", "g1", "g2"), ("", "g2", "/none"), ("?show=x", "g2", "/none")]
    {
        let page = corner.get_as(&corner.ada, &format!("/bot/Robo{query}")).await.body;
        let games = page.split_once("id=\"games\"").unwrap().1.split_once("id=\"mistakes\"").unwrap().0;
        assert!(games.contains(&format!("href=\"/game/{shown}\"")), "{query}: {games}");
        assert!(!games.contains(&format!("href=\"/game/{hidden}\"")), "{query}: {games}");
    }
    let page = corner.get_as(&corner.ada, "/bot/Robo?show=slow").await.body;
    assert!(page.contains("None of its last 100 games."), "{page}");
}

/// Stores a rated game of a version of Robo's, as first, against Bob.
async fn played(corner: &Corner, id: &str, version: Option<&str>, moves: &str, result: GameResult) {
    let robo = corner.robo().await.id;
    let bob = corner.site.store.player_by_name(&"Bob".parse().unwrap()).await.unwrap().unwrap().id;
    let mut game = spec(id, "Ada", "Bob");
    game.players = fourfold_engine::BySide { first: robo, second: bob };
    game.versions.first = version.map(Into::into);
    corner.write(Write::StartGame(game.clone())).await;
    let events = whole_game(moves, result, EndReason::Resign);
    corner.write(Write::Finish { game: game.id, events }).await;
}

#[tokio::test]
async fn an_owner_compares_versions_and_opponents() {
    let corner = Corner::new(None).await;
    let robo = corner.robo().await.id;
    for (version, ms) in [("1", 1), ("2 <b>", 2)] {
        let (bot, version) = (robo.clone(), version.to_owned());
        corner.write(Write::SeeVersion { bot, version, at: after_noon(ms) }).await;
    }
    played(&corner, "g1", None, "44444412", GameResult::Second).await;
    played(&corner, "g2", Some("1"), "44444413", GameResult::Second).await;
    played(&corner, "g3", Some("2 <b>"), "44444414", GameResult::First).await;
    played(&corner, "g4", Some("2 <b>"), "44444415", GameResult::Void).await;
    played(&corner, "g5", Some("2 <b>"), "44444416", GameResult::First).await;
    let record = corner.get_as(&corner.ada, "/api/v1/bots/Robo/record").await.json();
    let of = |index: usize| {
        let sum = &record["versions"][index];
        (sum["version"].clone(), sum["wins"].clone(), sum["losses"].clone(), sum["rated"]["games"].clone())
    };
    assert_eq!(of(0), (json!("2 <b>"), json!(2), json!(0), json!(2)), "{record}");
    assert_eq!(of(1), (json!("1"), json!(0), json!(1), json!(1)), "{record}");
    assert_eq!(of(2), (Value::Null, json!(0), json!(1), json!(1)), "{record}");
    assert_eq!(record["versions"].as_array().unwrap().len(), 3);
    let met = &record["opponents"][0];
    assert_eq!((&met["opponent"], &met["games"], &record["games"]), (&json!("Bob"), &json!(4), &json!(5)));
    let rated = &met["rated"];
    assert_eq!(rated["points"], json!(2.0));
    assert!(rated["expected"].as_f64().unwrap() < 2.0, "it had lost before it won: {rated}");
    let better = &record["versions"][0]["rated"]["elo"];
    assert!(better.as_i64() > record["versions"][1]["rated"]["elo"].as_i64(), "{record}");
    let last = corner.get_as(&corner.ada, "/api/v1/bots/Robo/record?games=1").await.json();
    assert_eq!(last["versions"].as_array().unwrap().len(), 1);
    let refused = corner.get_as(&corner.ada, "/api/v1/bots/Robo/record?games=1001").await;
    refused.check_refused(400, "bad_parameter", Some("games"));
    corner.get_as(&corner.bob, "/api/v1/bots/Robo/record").await.check_refused(403, "forbidden", None);

    let page = corner.get_as(&corner.ada, "/bot/Robo").await.body;
    for shown in [
        "?version=2%20%3Cb%3E#games",
        "class=\"chart-mark\"",
        "2 &#60;b&#62;",
        "2.0 / 4",
        "Win rate: 50.0 %",
        "/player/Bob",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let of_version = corner.get_as(&corner.ada, "/api/v1/bots/Robo/games?version=1").await.json();
    assert_eq!(
        (of_version["items"].as_array().unwrap().len(), &of_version["items"][0]["game"]),
        (1, &json!("g2"))
    );
    let page = corner.get_as(&corner.ada, "/bot/Robo?version=1").await.body;
    // Beside the list of games, the curve has all of them.
    let (_, games) = page.split_once("id=\"games\"").unwrap();
    let (games, _) = games.split_once("id=\"mistakes\"").unwrap();
    assert!(games.contains(">g2</a>") && !games.contains(">g3</a>"), "{games}");
}

#[tokio::test]
async fn a_duel_is_refused_with_what_is_wrong() {
    let path = "/api/v1/bots/Robo/duels";
    let ask = async |corner: &Corner, body: Value| {
        corner.site.as_page(Method::POST, path, &corner.ada, &body).await
    };
    let away = Corner::new(None).await;
    away.site.store.commit(&[add(house("greedy"))]).await.unwrap().pop().unwrap().unwrap();
    ask(&away, json!({"opponent": "greedy", "pairs": 5})).await.check_refused(409, "conflict", None);
    let corner = Corner::new(Some(connected())).await;
    corner.write(add(house("greedy"))).await;
    for (body, field) in [
        (json!({"opponent": "nobody", "pairs": 5}), "opponent"),
        (json!({"opponent": "Robo", "pairs": 5}), "opponent"),
        (json!({"opponent": "Bob", "pairs": 5}), "opponent"),
        (json!({"opponent": "greedy", "pairs": 0}), "pairs"),
        (json!({"opponent": "greedy", "pairs": 501}), "pairs"),
        (json!({"opponent": "greedy", "pairs": 5, "test": {"elo0": 30, "elo1": 0}}), "test"),
        (json!({"opponent": "greedy", "pairs": 5, "test": {"elo0": -501, "elo1": 0}}), "test.elo0"),
    ] {
        let refused = ask(&corner, body.clone()).await;
        assert!(refused.status.is_client_error(), "{body}: {}", refused.body);
        assert_eq!(refused.json()["field"], field, "{body}: {}", refused.body);
    }
    let asked =
        ask(&corner, json!({"opponent": "Greedy", "pairs": 500, "test": {"elo0": 0, "elo1": 30}})).await;
    assert_eq!(asked.status, StatusCode::CREATED, "{}", asked.body);
    let other = corner
        .site
        .as_page(Method::POST, path, &corner.bob, &json!({"opponent": "greedy", "pairs": 5}))
        .await;
    other.check_refused(403, "forbidden", None);
}

#[tokio::test]
async fn a_duel_is_shown_with_its_verdict() {
    let corner = Corner::new(None).await;
    let robo = corner.robo().await.id;
    let bob = corner.site.store.player_by_name(&"Bob".parse().unwrap()).await.unwrap().unwrap().id;
    for leg in 1..=12_u32 {
        let mut game = spec(&format!("d{leg}"), "Ada", "Bob");
        let is_first = leg % 2 == 1;
        let (first, second) = if is_first { (&robo, &bob) } else { (&bob, &robo) };
        game.players = fourfold_engine::BySide { first: first.clone(), second: second.clone() };
        game.rated = false;
        game.pair = Some(GamePair { id: "Ab3-d".parse().unwrap(), leg, of: 12 });
        corner.write(Write::StartGame(game.clone())).await;
        let result = if is_first { GameResult::First } else { GameResult::Second };
        let moves = "1234567".repeat(2)[..leg as usize].to_owned();
        corner
            .write(Write::Finish { game: game.id, events: whole_game(&moves, result, EndReason::Resign) })
            .await;
    }
    let duel = corner.get_as("", "/api/v1/duels/Ab3-d").await.json();
    assert_eq!((&duel["bot"], &duel["opponent"], &duel["pairs"]), (&json!("Robo"), &json!("Bob"), &json!(6)));
    assert_eq!((&duel["wins"], &duel["over"], &duel["running"]), (&json!(12), &json!(true), &json!(false)));
    assert_eq!((&duel["pentanomial"], &duel["verdict"]), (&json!([0, 0, 0, 0, 6]), &json!("stronger")));
    let page = corner.get_as("", "/duel/Ab3-d").await.body;
    for shown in
        ["Robo is stronger than Bob (95 %).", "12 of 12 games", "data-over=\"true\"", "href=\"/game/d12\""]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let listed = corner.get_as(&corner.ada, "/api/v1/bots/Robo/duels").await.json();
    assert_eq!(listed["items"][0]["id"], "Ab3-d");
    assert!(corner.get_as(&corner.ada, "/bot/Robo").await.body.contains("href=\"/duel/Ab3-d\""));
    for id in ["Ab3", "Ab4-d", "Ab3-d1", "x"] {
        assert_eq!(
            corner.get_as("", &format!("/api/v1/duels/{id}")).await.status,
            StatusCode::NOT_FOUND,
            "{id}"
        );
    }
}

#[tokio::test]
async fn an_owner_lets_a_rating_begin_anew_once_a_day() {
    let corner = Corner::new(Some(connected())).await;
    let path = "/api/v1/bots/Robo/rating-resets";
    let ask = async |cookie: &str, body: Value| corner.site.as_page(Method::POST, path, cookie, &body).await;
    let wanted = json!({ "reason": "a tree search instead of rules" });
    assert_eq!(ask(&corner.bob, wanted.clone()).await.status, StatusCode::FORBIDDEN);
    for reason in ["", "  ", &"x".repeat(201), "two\nlines"] {
        let answer = ask(&corner.ada, json!({ "reason": reason })).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!("reason"))
        );
    }
    assert_eq!(corner.as_bot(Method::POST, path).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(ask(&corner.ada, wanted.clone()).await.status, StatusCode::NO_CONTENT);
    let again = ask(&corner.ada, wanted).await;
    assert_eq!(again.status, StatusCode::TOO_MANY_REQUESTS);
    let wait = again.json()["retry_ms"].as_u64().unwrap();
    assert!((86_000_000..=86_400_000).contains(&wait), "{wait}");
    let eras = corner.as_bot(Method::GET, path).await.json();
    let items = eras["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(items[0]["version"], "2");
    assert_eq!(items[0]["reason"], "a tree search instead of rules");
    assert_eq!((&items[1]["since"], &items[1]["ratings"]), (&Value::Null, &json!([])));
    let page = corner.get_as(&corner.ada, "/bot/Robo").await;
    assert!(page.body.contains("a tree search instead of rules"));
    assert_eq!(corner.get_as(&corner.bob, path).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_duel_waits_for_its_turn_and_is_taken_back() {
    let corner = Corner::new(Some(connected())).await;
    corner.write(add(house("greedy"))).await;
    let ask = || async {
        let wanted = json!({ "opponent": "greedy", "pairs": 5, "test": { "elo0": 0, "elo1": 30 } });
        corner.site.as_page(Method::POST, "/api/v1/bots/Robo/duels", &corner.ada, &wanted).await
    };
    let (one, two, three) = (ask().await, ask().await, ask().await);
    assert_eq!((one.status, &one.json()["position"]), (StatusCode::CREATED, &json!(1)));
    assert_eq!(two.json()["position"], 2);
    three.check_refused(429, "rate_limited", None);
    let id = two.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/duels/{id}");
    let shown = corner.get_as(&corner.bob, &path).await.json();
    assert_eq!((&shown["position"], &shown["pairs"], &shown["over"]), (&json!(2), &json!(5), &json!(false)));
    assert_eq!(
        (&shown["bot"], &shown["opponent"], &shown["games"]),
        (&json!("Robo"), &json!("greedy"), &json!(0))
    );
    let listed = corner.as_bot(Method::GET, "/api/v1/bots/Robo/duels").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    let page = format!("/duel/{id}");
    assert!(corner.get_as(&corner.ada, &page).await.body.contains("id=\"withdraw\""));
    assert!(!corner.get_as(&corner.bob, &page).await.body.contains("id=\"withdraw\""));
    assert!(corner.get_as(&corner.ada, "/bot/Robo").await.body.contains("waiting for its turn, number 2"));
    let withdraw =
        async |cookie: &str| corner.site.as_page(Method::DELETE, &path, cookie, &Value::Null).await;
    withdraw(&corner.bob).await.check_refused(404, "not_found", None);
    assert_eq!(withdraw(&corner.ada).await.status, StatusCode::NO_CONTENT);
    assert_eq!(corner.get_as(&corner.ada, &path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_token_may_do_what_its_scope_says() {
    let corner = Corner::new(Some(connected())).await;
    let make = async |query: &str| {
        let path = format!("/api/v1/bots/Robo/tokens{query}");
        corner.site.as_page(Method::POST, &path, &corner.ada, &Value::Null).await
    };
    make("?scope=all").await.check_refused(400, "bad_parameter", Some("scope"));
    let ask = async |token: &str, method: Method, path: &str| {
        let bearer = format!("Bearer {token}");
        let request = Request::builder().method(method).uri(path).header(header::AUTHORIZATION, bearer);
        corner.site.send(request.body(Body::empty()).unwrap()).await
    };
    let test = "/api/v1/bots/@me/self-test";
    for (query, may) in [("", true), ("?scope=manage", true), ("?scope=play", false), ("?scope=read", false)]
    {
        let issued = make(query).await.json();
        let (id, token) = (issued["id"].as_str().unwrap(), issued["token"].as_str().unwrap());
        assert_eq!(ask(token, Method::GET, test).await.status, StatusCode::OK, "{query}");
        let begun = ask(token, Method::POST, test).await;
        let expected = if may { StatusCode::ACCEPTED } else { StatusCode::FORBIDDEN };
        assert_eq!(begun.status, expected, "{query}: {}", begun.body);
        let rotate = format!("/api/v1/bots/Robo/tokens/{id}/rotate");
        let rotated = corner.site.as_page(Method::POST, &rotate, &corner.ada, &Value::Null).await.json();
        let begun = ask(rotated["token"].as_str().unwrap(), Method::POST, test).await;
        assert_eq!(begun.status, expected, "it keeps its scope: {query}");
    }
    let listed = corner.get_as(&corner.ada, "/api/v1/bots/Robo/tokens").await.json();
    let scopes: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|token| token["scope"].clone()).collect();
    assert!(["manage", "play", "read"].iter().all(|scope| scopes.contains(&json!(scope))), "{scopes:?}");
    assert!(corner.get_as(&corner.ada, "/bot/Robo").await.body.contains("only read"));
}
