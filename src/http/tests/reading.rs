//! What anybody may read: players, ratings, games, positions, descriptions.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{TestArena, TestSite, house_bot};
use crate::model::player::PlayerKind;
use crate::model::portrait::Picture;
use crate::model::rating::strength::Strength;
use crate::model::result::{EndReason, GameResult};
use crate::storage::Store;
use crate::storage::conformance::{FIRST_WINS, FIRST_WINS_TOO, add, add_players, play, player, spec};
use crate::storage::record::{GameSpec, UnratedReason};
use crate::storage::store::Write;

/// A site on which Ada has beaten Bob twice, and Bob Ada once.
async fn with_games() -> TestSite {
    let site = TestSite::new();
    add_players(&*site.store, &["Ada", "Bob"]).await;
    for (spec, moves) in [
        (spec("one", "Ada", "Bob"), FIRST_WINS),
        (spec("two", "Bob", "Ada"), FIRST_WINS_TOO),
        (spec("three", "Ada", "Bob"), FIRST_WINS_TOO),
    ] {
        play(&*site.store, spec, moves, GameResult::First, EndReason::Four).await;
    }
    site
}

fn ids(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// A field of all items of a list that is read part by part, and the cursors of the parts.
async fn pages(site: &TestSite, path: &str, field: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut items, mut cursors) = (Vec::new(), vec![json!("")]);
    while let Some(cursor) = cursors.last().and_then(Value::as_str) {
        let list = site.get(&format!("{path}&cursor={cursor}")).await.json();
        items.extend(list["items"].as_array().unwrap().iter().map(|item| item[field].clone()));
        cursors.push(list["cursor"].clone());
    }
    (items, cursors.split_off(1))
}

#[tokio::test]
async fn the_leaderboard_has_its_rows() {
    let site = with_games().await;
    let bots = site.get("/api/v1/leaderboard?list=bots&variant=7x6&limit=200").await.json();
    assert_eq!(bots, json!({ "items": [], "cursor": null, "fit": null }));
    site.fit().await;
    let list = site.get("/api/v1/leaderboard?list=people").await.json();
    assert_eq!(list["cursor"], Value::Null);
    let row = &list["items"][0];
    assert_eq!((&row["rank"], &row["name"], &row["kind"]), (&json!(1), &json!("Ada"), &json!("human")));
    assert_eq!(
        (&row["games"], &row["wins"], &row["draws"], &row["losses"]),
        (&json!(3), &json!(2), &json!(0), &json!(1))
    );
    assert_eq!((&row["provisional"], &row["exact"]), (&json!(true), &Value::Null));
    // Nobody has met the bot that fixes the scale: live ratings stand on it where newcomers do.
    assert!(row["elo"].as_i64() > Some(750), "{row}");
    assert_eq!(row["elo"].as_i64(), row["live_elo"].as_i64());
    assert!(row["pm95"].is_u64(), "{row}");
    assert!(row["los_next"].as_f64().is_some_and(|los| (0.5..1.0).contains(&los)), "{row}");
    assert_eq!(list["items"][1]["los_next"], Value::Null);
    let (ranks, cursors) = pages(&site, "/api/v1/leaderboard?limit=1", "rank").await;
    assert_eq!((ranks, cursors), (vec![json!(1), json!(2)], vec![json!("1"), Value::Null]));
    for beyond in ["2", "4294967295", "9007199254740991"] {
        let list = site.get(&format!("/api/v1/leaderboard?cursor={beyond}")).await.json();
        assert_eq!((&list["items"], &list["cursor"]), (&json!([]), &Value::Null), "{beyond}");
    }
}

#[tokio::test]
async fn a_player_has_profile_games_and_ratings() {
    let site = with_games().await;
    let profile = site.get("/api/v1/players/ADA").await.json();
    assert_eq!((&profile["name"], &profile["online"]), (&json!("Ada"), &json!(false)));
    assert_eq!(profile["ratings"][0]["variant"], "7x6");
    assert_eq!(profile["ratings"][0]["wins"], 2);
    assert_eq!(profile["created_at"], "2025-06-15T15:06:40.000Z");
    let games = site.get("/api/v1/players/ada/games?limit=2").await.json();
    assert_eq!(ids(&games), ["three", "two"]);
    let ratings = site.get("/api/v1/players/ada/ratings").await.json();
    let points = ratings["items"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    assert_eq!((&points[0]["game"], &points[0]["before"]), (&json!("one"), &json!(750)));
    assert_eq!(points[0]["after"], points[1]["before"]);
    let (games, cursors) = pages(&site, "/api/v1/players/ada/ratings?limit=2", "game").await;
    assert_eq!(games, [json!("two"), json!("three"), json!("one")], "the newest part comes first");
    assert_eq!(cursors, [json!("2"), Value::Null]);
    let (opponents, cursors) = pages(&site, "/api/v1/players/ada/crosstable?limit=1", "opponent").await;
    assert_eq!((opponents.len(), cursors), (1, vec![Value::Null]));
}

#[tokio::test]
async fn games_of_one_day_are_told_apart_by_the_time_of_day() {
    let site = with_games().await;
    let page = site.get("/player/ada").await.body;
    let table = page.split_once("games-table").unwrap().1.split_once("</table>").unwrap().0;
    let whens: Vec<&str> = table.split("<td class=\"right wide soft small\">").skip(1).collect();
    assert_eq!(whens.len(), 3, "{table}");
    for when in whens {
        let told = when.split_once("</time>").unwrap().0;
        let (_, words) = told.split_once("\">").unwrap();
        let (day, time) = words.split_once(", ").unwrap();
        assert!(
            day.ends_with("2025") && time.len() == "18:54 UTC".len() && time.ends_with(" UTC"),
            "{day}, {time}"
        );
    }
}

#[tokio::test]
async fn games_are_read_page_by_page() {
    let site = with_games().await;
    let first = site.get("/api/v1/games?limit=2").await.json();
    assert_eq!(ids(&first), ["three", "two"]);
    let cursor = first["cursor"].as_str().unwrap();
    let second = site.get(&format!("/api/v1/games?limit=2&cursor={cursor}")).await.json();
    assert_eq!((ids(&second), &second["cursor"]), (vec!["one"], &Value::Null));
    let exact = site.get("/api/v1/games?limit=3").await.json();
    assert_eq!((ids(&exact).len(), &exact["cursor"]), (3, &Value::Null));
    let late = site.get("/api/v1/games?since=2100-01-01T00:00:00Z").await.json();
    assert_eq!(late, json!({ "items": [], "cursor": null }));
    let all = site.get("/api/v1/games?since=2000-01-01T00:00:00Z&player=bob").await.json();
    assert_eq!(ids(&all).len(), 3);
}

#[tokio::test]
async fn lists_of_games_are_chosen_by_the_same_words_and_keep_them_from_page_to_page() {
    let site = with_games().await;
    let short = GameSpec { rated: false, ..spec("short", "Bob", "Ada") };
    play(&*site.store, short, "44", GameResult::Second, EndReason::Resign).await;
    let found = async |path: &str| {
        let list = site.get(&format!("/api/v1/{path}")).await.json();
        (ids(&list).join(" "), list["cursor"].as_str().map(str::to_owned))
    };
    let whole = |ids: &str| (ids.to_owned(), None);
    assert_eq!(found("players/ada/games?outcome=won").await, whole("short three one"));
    assert_eq!(found("games?player=ada&outcome=lost").await, whole("two"));
    assert_eq!(found("games?player=bob&outcome=lost&rated=true").await, whole("three one"));
    assert_eq!(found("games?plies_max=2").await, whole("short"));
    assert_eq!(found("players/bob/games?opponent=ADA&opening=767").await, whole("three two"));
    let (first, cursor) = found("players/ada/games?outcome=won&limit=2").await;
    assert_eq!(first, "short three");
    let next = format!("players/ada/games?outcome=won&limit=2&cursor={}", cursor.unwrap());
    assert_eq!(found(&next).await, whole("one"));
    for (query, field) in [
        ("outcome=won", "outcome"),
        ("player=ada&outcome=beaten", "outcome"),
        ("plies_min=65", "plies_min"),
        ("plies_min=9&plies_max=8", "plies_max"),
        ("opening=d4", "opening"),
    ] {
        site.get(&format!("/api/v1/games?{query}")).await.check_refused(400, "bad_parameter", Some(field));
    }
    site.get("/api/v1/players/ada/games?opponent=nobody").await.check_refused(
        404,
        "not_found",
        Some("opponent"),
    );
}

#[tokio::test]
async fn a_profile_lists_the_games_that_are_chosen_and_says_what_it_cannot_read() {
    let site = with_games().await;
    for number in 0..25 {
        let spec = GameSpec { rated: false, ..spec(&format!("more{number}"), "Ada", "Bob") };
        play(&*site.store, spec, "44", GameResult::First, EndReason::Resign).await;
    }
    let page = async |query: &str| site.get(&format!("/player/ada?{query}")).await.body;
    let games = |page: &str| page.matches("class=\"mini-link\"").count();
    let first = page("plies_max=3&opening=4&outcome=won").await;
    assert_eq!(games(&first), 20);
    let (_, older) = first.split_once("/player/Ada?before=").unwrap();
    let older = older.split_once('"').unwrap().0.replace("&#38;", "&").replace("&amp;", "&");
    assert!(older.contains("&outcome=won&plies_max=3&opening=4#games"), "{older}");
    let query = format!("before={}", older.strip_suffix("#games").unwrap());
    assert_eq!(games(&page(&query).await), 5);
    let none = page("plies_min=60").await;
    assert!(none.contains("No game fits.") && games(&none) == 0);
    for (query, said) in [
        ("opponent=%3Cscript%3E", "There is no player of this name"),
        ("opponent=nobody", "There is no player of this name"),
        ("plies_min=70", "from 0 to 64"),
        ("opening=d4", "one digit each"),
    ] {
        let page = page(query).await;
        assert!(page.contains(said) && page.contains("aria-invalid"), "{query}");
        assert!(!page.contains("<script>"), "{query}");
    }
}

#[tokio::test]
async fn the_stream_has_all_games_in_their_order() {
    let site = with_games().await;
    // More than a page of the store.
    for number in 0..250 {
        let spec = GameSpec { rated: false, ..spec(&format!("more{number}"), "Ada", "Bob") };
        play(&*site.store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let stream = async |query: &str| -> Vec<String> {
        let answer = site.get(&format!("/api/v1/games.ndjson{query}")).await;
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/x-ndjson");
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
        answer.body.lines().map(id).collect()
    };
    let all = stream("").await;
    assert_eq!((all.len(), &all[0], &all[252]), (253, &"one".to_owned(), &"more249".to_owned()));
    assert_eq!(stream("?limit=2").await, ["one", "two"]);
    assert_eq!(stream("?limit=101&player=Bob").await.len(), 101);
    assert_eq!(stream("?cursor=252").await, ["more249"]);
    assert_eq!(stream("?since=2100-01-01T00:00:00Z").await, Vec::<String>::new());
    assert_eq!(stream("?compact=true&limit=2").await, ["one", "two"]);
    let short = site.get("/api/v1/games.ndjson?compact=true&limit=1").await.body;
    assert!(short.starts_with("{\"id\":\"one\",") && !short.contains("clocks"), "{short}");
}

#[tokio::test]
async fn the_stream_has_only_the_games_that_are_wanted() {
    let site = with_games().await;
    site.store.commit(&[add(player("Robo", PlayerKind::Bot))]).await.unwrap().remove(0).unwrap();
    let casual = GameSpec { rated: false, ..spec("casual", "Ada", "Robo") };
    play(&*site.store, casual, "4444442", GameResult::Second, EndReason::Resign).await;
    let wide = GameSpec { variant: "9x6".parse().unwrap(), ..spec("wide", "Robo", "Bob") };
    play(&*site.store, wide, "9", GameResult::Void, EndReason::Aborted).await;
    let ids = async |query: &str| -> String {
        let answer = site.get(&format!("/api/v1/games.ndjson?{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.body);
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
        answer.body.lines().map(id).collect::<Vec<_>>().join(" ")
    };
    let all = ids("").await;
    let people = all.strip_suffix(" casual wide").unwrap();
    assert_eq!(ids("players=people").await, people);
    assert_eq!(ids("players=mixed").await, "casual wide");
    assert_eq!(ids("players=bots").await, "");
    assert_eq!(ids("player=Robo&opponent=ada").await, "casual");
    assert_eq!(ids("variant=9x6").await, "wide");
    assert_eq!(ids("rated=false&variant=7x6").await, "casual");
    assert_eq!(ids("result=void").await, "wide");
    assert_eq!(ids("opening=444&result=second").await, "casual");
    assert_eq!(ids("players=mixed&limit=1").await, "casual");
    assert_eq!(ids("players=mixed&limit=1&cursor=4").await, "wide");
    assert_eq!(ids("since=2025-06-15&until=2025-06-16").await, all);
    assert_eq!(ids("until=2025-06-15").await, "");
    for (query, status, field) in [
        ("players=human", 400, "players"),
        ("variant=99x99", 400, "variant"),
        ("rated=yes", 400, "rated"),
        ("since=yesterday", 400, "since"),
        ("until=2026-02-30", 400, "until"),
        ("result=won", 400, "result"),
        ("opening=4x", 400, "opening"),
        ("opponent=Nobody", 404, "opponent"),
        ("player=%20", 400, "player"),
    ] {
        let refused = site.get(&format!("/api/v1/games.ndjson?{query}")).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["field"]), (status, &json!(field)), "{query}");
    }
}

#[tokio::test]
async fn a_profile_shows_leagues_once_a_bot_of_the_house_was_beaten() {
    let bots = vec![
        house_bot("Stupid", Some(Strength::Beginner), 273),
        house_bot("perfect", Some(Strength::Expert), 1756),
    ];
    let site = TestSite::with(Site::default(), TestArena { bots, ..TestArena::default() });
    add_players(&*site.store, &["Ada", "Stupid", "perfect"]).await;
    let shown = async || site.get("/api/v1/players/Ada/achievements").await.json();
    assert_eq!((&shown().await["league"], &shown().await["house"]), (&json!("beginner"), &json!(2)));
    assert!(!site.get("/player/Ada").await.body.contains("leagues-title"));
    play(&*site.store, spec("w", "Ada", "Stupid"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    play(&*site.store, spec("d", "Ada", "perfect"), FIRST_WINS_TOO, GameResult::Draw, EndReason::Full).await;
    let after = shown().await;
    assert_eq!((&after["house_beaten"], &after["drew_perfect"]), (&json!(1), &json!(true)));
    let lowest = json!({"league": "beginner", "boss": "Stupid", "games": 1, "points": 1.0, "beaten": false});
    assert_eq!(after["leagues"][0], lowest);
    let page = site.get("/player/Ada").await.body;
    for words in ["leagues-title", "1 of 1 points", "1 of 2 house bots beaten", "Did not lose to perfect"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[tokio::test]
async fn a_finished_game_is_sent_once() {
    let site = with_games().await;
    for path in ["/api/v1/games/one", "/api/v1/games/one.svg", "/api/v1/positions/44.svg"] {
        let first = site.get(path).await;
        assert_eq!(first.status, StatusCode::OK);
        assert!(first.header(header::CACHE_CONTROL).starts_with("public"), "{first:?}");
        let etag = first.header(header::ETAG).to_owned();
        let request = Request::get(path).header(header::IF_NONE_MATCH, format!("\"x\", W/{etag}"));
        let second = site.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((second.status, second.body.as_str()), (StatusCode::NOT_MODIFIED, ""));
        assert_eq!(second.header(header::ETAG), etag);
        let request = Request::get(path).header(header::IF_NONE_MATCH, "\"x\"");
        assert_eq!(site.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_live_game_is_read_but_not_kept() {
    let site = with_games().await;
    let start = Write::StartGame(spec("live", "Ada", "Bob"));
    site.store.commit(&[start]).await.unwrap().remove(0).unwrap();
    let answer = site.get("/api/v1/games/live").await;
    assert_eq!(answer.json()["id"], "live");
    assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    assert_eq!(ids(&site.get("/api/v1/games").await.json()).len(), 3);
}

#[tokio::test]
async fn pictures_are_svg() {
    let site = with_games().await;
    for path in ["/api/v1/games/one.svg", "/api/v1/positions/1212121.svg"] {
        let answer = site.get(path).await;
        assert_eq!(answer.header(header::CONTENT_TYPE), "image/svg+xml; charset=utf-8");
        assert!(answer.body.contains("the first side has won"), "{}", answer.body);
    }
}

#[tokio::test]
async fn names_have_pictures() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let path = "/api/v1/players/Ada/picture.svg";
    let drawn = site.get(path).await;
    assert_eq!(drawn.header(header::CONTENT_TYPE), "image/svg+xml; charset=utf-8");
    assert_eq!(drawn.header(header::CACHE_CONTROL), "public, max-age=300");
    let own = format!("\"{}\"", Picture::of_name("Ada"));
    let chosen = if own.contains("owl") { "fox" } else { "owl" };
    let answer =
        site.as_page(Method::PUT, "/api/v1/account/profile", &cookie, &json!({ "picture": chosen })).await;
    assert!(answer.status.is_success(), "{}", answer.body);
    assert_ne!(site.get(path).await.body, drawn.body, "the chosen one");
    // A guest who is forgotten keeps the picture; a name that nobody has shows nothing, and neither does what is none.
    let guest = site.get("/api/v1/players/guest-Bo/picture.svg").await;
    assert_eq!(guest.status, StatusCode::OK);
    for nobody in ["Nobody", "a%20b", "%3Csvg%3E", &"x".repeat(500)] {
        let answer = site.get(&format!("/api/v1/players/{nobody}/picture.svg")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{nobody}");
    }
}

#[tokio::test]
async fn a_position_says_what_may_be_played() {
    let site = TestSite::new();
    let start = site.get("/api/v1/positions/-").await.json();
    assert_eq!((&start["moves"], &start["ply"], &start["to_move"]), (&json!(""), &json!(0), &json!("first")));
    assert_eq!(start["legal"], json!([1, 2, 3, 4, 5, 6, 7]));
    let full = site.get("/api/v1/positions/444444").await.json();
    assert_eq!(full["legal"], json!([1, 2, 3, 5, 6, 7]));
    let won = site.get("/api/v1/positions/1212121").await.json();
    assert_eq!((&won["to_move"], &won["legal"]), (&Value::Null, &json!([])));
    assert_eq!((&won["result"], &won["line"]), (&json!("first"), &json!([[1, 1], [1, 2], [1, 3], [1, 4]])));
    let wide = site.get("/api/v1/positions/c?variant=12x4").await.json();
    assert_eq!((&wide["moves"], &wide["variant"]), (&json!("c"), &json!("12x4")));
    for value in ["score", "columns", "best"] {
        assert!(won.get(value).is_some_and(Value::is_null), "{value} of a finished game");
        assert!(wide.get(value).is_some_and(Value::is_null), "{value} of what nobody can solve");
    }
}

#[tokio::test]
async fn a_position_says_what_it_is_worth() {
    let site = TestSite::new();
    let start = site.get("/api/v1/positions/-").await.json();
    assert_eq!((&start["score"], &start["best"]), (&json!(1), &json!([4])));
    assert_eq!(start["columns"], json!([-2, -1, 0, 1, 0, -1, -2]));
    let late = site.get("/api/v1/positions/557152711624545746362464762234657").await.json();
    assert_eq!(late["score"], 0);
    assert!(late["columns"].as_array().unwrap().iter().any(Value::is_null), "some columns are full");
}

#[tokio::test]
async fn a_finished_game_is_judged() {
    let site = with_games().await;
    let review = site.get("/api/v1/games/one/review").await.json();
    assert_eq!((&review["moves"], &review["from_ply"]), (&json!(FIRST_WINS), &json!(0)));
    let plies = review["plies"].as_array().unwrap();
    assert_eq!(plies.len(), FIRST_WINS.len());
    assert_eq!((&plies[0]["ply"], &plies[0]["side"]), (&json!(1), &json!("first")));
    let last = plies.last().unwrap();
    assert_eq!((&last["before"], &last["after"], &last["mistake"]), (&json!(18), &json!(18), &Value::Null));
    // The second side does not see three on each other.
    assert_eq!((&plies[5]["mistake"], &plies[5]["best"]), (&json!("win_to_loss"), &json!([1])));
    assert_eq!((&review["turning_point"], &review["skill"]["second"]["blunders"]), (&json!(6), &json!(1)));
    site.get("/api/v1/games/none/review").await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn a_position_says_what_was_played() {
    let site = with_games().await;
    let start = site.get("/api/v1/positions/-").await.json();
    let nothing = json!({ "games": 0, "wins": 0, "draws": 0, "losses": 0 });
    assert_eq!(
        start["explored"],
        json!([
            { "column": 1, "people": { "games": 1, "wins": 1, "draws": 0, "losses": 0 }, "bots": nothing },
            { "column": 7, "people": { "games": 2, "wins": 2, "draws": 0, "losses": 0 }, "bots": nothing },
        ])
    );
    let late = site.get("/api/v1/positions/1111112222223333").await.json();
    assert_eq!(late["explored"], Value::Null);
}

#[tokio::test]
async fn lists_of_an_idle_arena_are_empty() {
    let site = TestSite::new();
    for path in ["live", "bots", "tournaments", "games"] {
        let answer = site.get(&format!("/api/v1/{path}")).await;
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, json!({ "items": [], "cursor": null })),
            "{path}"
        );
    }
    assert_eq!(site.get("/api/v1/games.ndjson").await.body, "");
}

/// All `$ref`s of a document.
fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| references(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn the_descriptions_hold_all_that_they_refer_to() {
    let site = TestSite::new();
    for path in ["/api/v1/openapi.json", "/api/v1/protocol.schema.json"] {
        let document = site.get(path).await.json();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 10, "{path}");
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{path}: {reference}");
        }
    }
}

#[tokio::test]
async fn the_openapi_document_describes_bodies_parameters_and_refusals() {
    let site = TestSite::new();
    let document = site.get("/api/v1/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let bots = &document["paths"]["/api/v1/bots"]["post"];
    assert_eq!(
        bots["requestBody"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/NewBot"
    );
    assert_eq!(bots["security"], json!([{ "session": [] }]));
    assert_eq!(bots["responses"]["409"]["description"], "name_taken");
    let games = &document["paths"]["/api/v1/players/{name}/games"]["get"];
    let names: Vec<_> = games["parameters"].as_array().unwrap().iter().map(|p| p["name"].clone()).collect();
    assert_eq!((&names[0], &names[1], names.len()), (&json!("name"), &json!("opponent"), 14));
}

#[tokio::test]
async fn the_protocol_schema_knows_the_messages() {
    let site = TestSite::new();
    let text = site.get("/api/v1/protocol.schema.json").await.body;
    for word in ["\"hello\"", "\"move\"", "\"turn\"", "\"game_end\"", "\"not_your_turn\""] {
        assert!(text.contains(word), "{word}");
    }
}

/// Every address of the interface that reads, with what stands in it named, and pages that list games.
async fn all_that_lists(site: &TestSite) -> Vec<String> {
    let described = site.get("/api/v1/openapi.json").await.json();
    let reads = |(path, operations): (&String, &Value)| operations.get("get").map(|_| path.clone());
    let named =
        |path: String| path.replace("{name}", "Ada").replace("{id}", "one").replace("{moves}", "4453");
    let paths = described["paths"].as_object().unwrap().iter().filter_map(reads).map(named);
    // Pictures name nobody.
    let paths = paths.filter(|path| !matches!(path.rsplit('.').next(), Some("png" | "gif")));
    let pages =
        ["/", "/tv", "/wall", "/player/ada", "/player/bob", "/leaderboard", "/status", "/find?for=Ada"];
    let more = ["/embed/tv", "/friends", "/game/one", "/bots", "/puzzles", "/api/v1/games?player=ada"];
    let streams = ["/api/v1/games.ndjson?compact=true", "/api/v1/games.ndjson?player=bob&opponent=ada"];
    paths.chain(pages.into_iter().chain(more).chain(streams).map(str::to_owned)).collect()
}

#[tokio::test]
async fn nobody_hears_of_a_private_game_but_by_its_address() {
    let site = with_games().await;
    let private = GameSpec {
        rated: false,
        unrated_because: Some(UnratedReason::Private),
        ..spec("hushhush", "Ada", "Bob")
    };
    play(&*site.store, private, FIRST_WINS, GameResult::First, EndReason::Four).await;
    site.fit().await;
    let paths = all_that_lists(&site).await;
    assert!(paths.len() > 60 && paths.contains(&"/api/v1/players/Ada/games".to_owned()), "{paths:?}");
    let mut names_the_public_one = 0;
    for path in &paths {
        let body = site.get(path).await.body;
        assert!(!body.contains("hushhush"), "{path} names it");
        names_the_public_one += usize::from(body.contains("\"two\"") || body.contains("/game/two"));
    }
    assert!(names_the_public_one >= 6, "others are listed: {names_the_public_one}");
    let record = site.get("/api/v1/games/hushhush").await.json();
    assert_eq!(record["unrated_because"], "private");
    let page = site.get("/game/hushhush").await.body;
    assert!(page.contains("name=\"robots\" content=\"noindex\"") && page.contains("Private"), "{page}");
    assert!(!site.get("/game/one").await.body.contains("noindex"));
}
