//! Puzzles: what is shown before they are solved, what attempts come to, and what is refused.

use axum::http::{Method, StatusCode, header};
use fourfold_engine::{Column, Game, Variant};
use serde_json::{Value, json};

use crate::http::testing::{Answer, TestSite};
use crate::storage::Store as _;
use crate::storage::puzzles::Harvest;
use crate::storage::store::Write;
use crate::study::puzzles::shipped;
use crate::system::shares::Share;

async fn with_puzzles() -> TestSite {
    let site = TestSite::new();
    let harvest = Harvest { puzzles: shipped::puzzles(), keep: 0 };
    site.store.commit(&[Write::AddPuzzles(harvest)]).await.unwrap();
    site
}

/// The daily puzzle's address and the moves that solve it, which only a test can look up.
async fn daily(site: &TestSite) -> (String, String) {
    let id = site.get("/api/v1/puzzles/daily").await.json()["puzzle"]["id"].as_str().unwrap().to_owned();
    let line = shipped::puzzles().into_iter().find(|puzzle| puzzle.id.as_str() == id).unwrap().line;
    (format!("/api/v1/puzzles/{id}"), line.chars().step_by(2).collect())
}

#[tokio::test]
async fn a_puzzle_is_shown_without_its_solution() {
    let site = with_puzzles().await;
    let answer = site.get("/api/v1/puzzles/daily").await;
    let body = answer.json();
    let puzzle = &body["puzzle"];
    assert_eq!(
        (&puzzle["variant"], &puzzle["tries"], &puzzle["game"]),
        (&json!("7x6"), &json!(0), &Value::Null)
    );
    assert!(puzzle["goal"] == "win" || puzzle["goal"] == "draw", "{puzzle}");
    assert!(puzzle["own_moves"].as_u64() > Some(0) && puzzle["grade"].as_u64() > Some(600), "{puzzle}");
    assert!(puzzle.get("line").is_none() && puzzle.get("solution").is_none());
    assert_eq!(body["you"], Value::Null);
    let same = site.get("/api/v1/puzzles/daily").await.json();
    assert_eq!(same["puzzle"]["id"], puzzle["id"]);
    let id = puzzle["id"].as_str().unwrap();
    let other = site.get(&format!("/api/v1/puzzles/next?after={id}")).await.json();
    assert_ne!(other["puzzle"]["id"], puzzle["id"]);
}

#[tokio::test]
async fn all_puzzles_are_listed_in_parts_without_solutions_and_counted() {
    let site = with_puzzles().await;
    let total = shipped::puzzles().len();
    let first = site.get("/api/v1/puzzles?limit=2").await.json();
    assert_eq!((&first["total"], &first["cursor"]), (&json!(total), &json!("2")), "{first}");
    let items = first["items"].as_array().unwrap();
    assert!(items.len() == 2 && items.iter().all(|item| item.get("line").is_none()), "{first}");
    assert!(items[0]["grade"].as_u64() <= items[1]["grade"].as_u64() && items[0]["themes"].is_array());
    let last = site.get(&format!("/api/v1/puzzles?cursor={}&limit=200", total - 3)).await.json();
    assert_eq!((last["items"].as_array().unwrap().len(), &last["cursor"]), (3, &Value::Null));
    let beyond = site.get("/api/v1/puzzles?cursor=1000000").await.json();
    assert_eq!((&beyond["items"], &beyond["total"]), (&json!([]), &json!(total)));
    for wrong in ["limit=0", "limit=201", "cursor=-1", "cursor=x"] {
        let answer = site.get(&format!("/api/v1/puzzles?{wrong}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(TestSite::new().get("/api/v1/puzzles").await.json()["total"], 0);
}

#[tokio::test]
async fn puzzles_of_a_theme_are_listed_counted_and_follow_each_other() {
    let site = with_puzzles().await;
    let mut parts = Vec::new();
    for theme in ["fork", "only_defence", "odd_threat", "sacrifice", "long_win"] {
        let list = site.get(&format!("/api/v1/puzzles?limit=3&theme={theme}")).await.json();
        let items = list["items"].as_array().unwrap();
        assert!(items.len() == 3 && items.iter().all(|item| is_about(item, theme)), "{list}");
        parts.push(list["total"].as_u64().unwrap());
        let next = site.get(&format!("/api/v1/puzzles/next?theme={theme}")).await.json();
        assert!(is_about(&next["puzzle"], theme), "{next}");
    }
    let total = shipped::puzzles().len() as u64;
    assert!(parts.iter().all(|part| (1..total).contains(part)), "{parts:?}");
    let by_page = site.get("/api/v1/puzzles?theme=defence").await.json();
    assert_eq!(by_page["total"], parts[1], "the words of addresses are taken too");
    for path in ["/api/v1/puzzles", "/api/v1/puzzles/next"] {
        let answer = site.get(&format!("{path}?theme=zugzwang")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        let error = answer.json();
        assert_eq!(error["field"], "theme");
        assert!(error["message"].as_str().unwrap().contains("only_defence"), "{error}");
    }
}

fn is_about(puzzle: &Value, theme: &str) -> bool {
    puzzle["themes"].as_array().unwrap().iter().any(|word| word == theme)
}

#[tokio::test]
async fn pages_keep_to_the_theme_that_was_chosen() {
    let site = with_puzzles().await;
    let all = site.get("/puzzles").await.body;
    assert!(all.contains(r#"href="/puzzles?theme=fork""#) && all.contains(r#"href="/puzzles?theme=long""#));
    let forks = site.get("/puzzles?theme=fork&page=2").await.body;
    for link in
        [r#"href="/puzzles?theme=fork&#38;page=3""#, r#"href="/puzzles?theme=fork""#, "?theme=fork\">"]
    {
        assert!(forks.contains(link), "{link}");
    }
    let next = site.get("/puzzles/next?theme=fork").await;
    assert_eq!(next.status, StatusCode::SEE_OTHER);
    let address = next.header(header::LOCATION);
    assert!(address.starts_with("/puzzle/p") && address.ends_with("?theme=fork"), "{address}");
    let puzzle = site.get(address).await.body;
    assert!(puzzle.contains("&amp;theme=fork\"") && puzzle.contains(r#"href="/puzzles?theme=fork""#));
    for wrong in ["/puzzles?theme=%3Cb%3Ezug", "/puzzles/next?theme=zug"] {
        let answer = site.get(wrong).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        let page = answer.body;
        assert!(page.contains("There are no puzzles about") && page.contains("/puzzles?theme=odd"), "{page}");
        assert!(!page.contains("<b>zug"));
    }
    let far = site.get("/puzzles?theme=fork&page=99").await;
    assert_eq!(far.status, StatusCode::OK, "the last page stands for those beyond");
    assert_eq!(site.get("/puzzles?page=2").await.status, StatusCode::OK, "shelves have no pages");
}

#[tokio::test]
async fn the_daily_puzzle_solved_counts_for_whoever_is_known() {
    let site = with_puzzles().await;
    let cookie = site.register("Ada").await;
    let (path, right) = daily(&site).await;
    let attempts = format!("{path}/attempts");
    for length in 1..right.len() {
        let so_far = json!({ "moves": &right[..length] });
        let answer = site.as_page(Method::POST, &attempts, &cookie, &so_far).await.json();
        assert_eq!((&answer["status"], &answer["you"]), (&json!("goes_on"), &Value::Null));
    }
    let solved = site.as_page(Method::POST, &attempts, &cookie, &json!({ "moves": right })).await.json();
    assert_eq!(solved["status"], "solved", "{solved}");
    let you = &solved["you"];
    assert_eq!(
        (&you["streak"], &you["solved_today"], &you["tried"], &you["solved"]),
        (&json!(1), &json!(true), &json!(1), &json!(1))
    );
    assert_eq!(site.get(&path).await.json()["puzzle"]["solved"], 1);
    let hint = site.as_page(Method::POST, &format!("{path}/hints"), &cookie, &json!({ "moves": "" })).await;
    assert_eq!(hint.json()["columns"].as_array().unwrap().len(), 2);
    assert_eq!(site.get(&path).await.json()["puzzle"]["solved"], 1, "only the first result counts");
}

#[tokio::test]
async fn whoever_is_not_known_may_try_and_leaves_no_trace() {
    let site = with_puzzles().await;
    let (path, right) = daily(&site).await;
    let answer = site.post(&format!("{path}/attempts"), &json!({ "moves": right })).await;
    assert_eq!((answer.status, &answer.json()["you"]), (StatusCode::OK, &Value::Null));
    let solution = site.post(&format!("{path}/solution"), &json!({})).await.json();
    assert!(solution["line"].as_str().unwrap().starts_with(&right[..1]));
    assert_eq!(site.get(&path).await.json()["puzzle"]["tries"], 0);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let site = with_puzzles().await;
    let (path, _) = daily(&site).await;
    let attempts = format!("{path}/attempts");
    for moves in ["", "x", "9", "12345671234567"] {
        let answer = site.post(&attempts, &json!({ "moves": moves })).await;
        answer.check_refused(422, "bad_field", Some("moves"));
    }
    site.post(&attempts, &json!({ "moves": 4 })).await.check_refused(422, "bad_field", Some("moves"));
    site.post(&attempts, &json!({ "moves": "4", "line": "" })).await.check_refused(
        422,
        "bad_field",
        Some("line"),
    );
    for path in ["/api/v1/puzzles/p0", "/api/v1/puzzles/%20"] {
        site.get(path).await.check_refused(404, "not_found", None);
    }
    let nothing = site.post("/api/v1/puzzles/p0/attempts", &json!({ "moves": "4" })).await;
    nothing.check_refused(404, "not_found", None);
    site.get("/api/v1/puzzles/next?after=%21").await.check_refused(400, "bad_parameter", Some("after"));
    let foreign = axum::http::Request::post(attempts)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::HOST, "localhost:4444")
        .header(header::ORIGIN, "https://elsewhere.test");
    let body = axum::body::Body::from(r#"{"moves":"4"}"#);
    site.send(foreign.body(body).unwrap()).await.check_refused(403, "origin_not_allowed", None);
}

#[tokio::test]
async fn pages_read_without_script_and_say_when_there_is_nothing() {
    let empty = TestSite::new();
    for path in ["/puzzles", "/puzzles/daily"] {
        let page = empty.get(path).await;
        assert!(page.status == StatusCode::OK && page.body.contains("There are no puzzles yet"), "{path}");
    }
    assert_eq!(empty.get("/puzzles/next").await.header(header::LOCATION), "/puzzles");
    let site = with_puzzles().await;
    let page = site.get("/puzzles/daily").await;
    assert!(page.body.contains("to move. Which is the only column"), "{}", page.body);
    let list = site.get("/puzzles?lang=de").await;
    assert!(list.body.contains("Rätsel des Tages") && list.body.contains("Schwer"));
    let list = site.get("/puzzles").await.body;
    assert!(list.contains("Start a streak") && !list.contains("0 days in a row"), "{list}");
    let tiles: Vec<&str> = list.split("<a class=\"puzzle-tile\"").skip(1).collect();
    assert!(!tiles.is_empty(), "{list}");
    for tile in tiles {
        assert!(!tile.contains("Which is the only column"), "the question stands once on the page: {tile}");
        assert!(tile.contains(" to win</strong>") || tile.contains(" to draw</strong>"), "{tile}");
        assert!(tile.contains("to find · difficulty "), "{tile}");
    }
    let next = site.get("/puzzles/next?after=nonsense%21").await;
    assert_eq!(next.status, StatusCode::SEE_OTHER);
    let target = next.header(header::LOCATION).to_owned();
    assert_eq!(site.get(&target).await.status, StatusCode::OK);
    assert_eq!(site.get("/puzzle/p0").await.status, StatusCode::NOT_FOUND);
    let lobby = site.get("/").await.body;
    assert!(lobby.contains("/puzzles/daily") && lobby.contains("to begin a streak"), "{lobby}");
}

/// The moves that solve the puzzle of a run, which only a test can look up: it has no id there.
fn own_moves(run: &Value) -> String {
    let moves = run["puzzle"]["moves"].as_str().unwrap();
    let line = shipped::puzzles().into_iter().find(|puzzle| puzzle.moves == moves).unwrap().line;
    line.chars().step_by(2).collect()
}

/// A move that does not.
fn wrong_move(run: &Value) -> String {
    let game = Game::from_moves(Variant::STANDARD, run["puzzle"]["moves"].as_str().unwrap()).unwrap();
    let right = own_moves(run).chars().next().unwrap();
    game.position().legal_columns().map(Column::digit).find(|digit| *digit != right).unwrap().into()
}

async fn begin(site: &TestSite, cookie: &str, kind: &str) -> Value {
    let answer = site.as_page(Method::POST, "/api/v1/puzzles/runs", cookie, &json!({ "kind": kind })).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    answer.json()
}

async fn answer(site: &TestSite, cookie: &str, run: &Value, moves: &str) -> Answer {
    let path = format!("/api/v1/puzzles/runs/{}/moves", run["run"].as_str().unwrap());
    let body = json!({ "number": run["puzzle"]["number"], "moves": moves });
    site.as_page(Method::POST, &path, cookie, &body).await
}

#[tokio::test]
async fn a_run_is_handed_out_puzzle_by_puzzle_judged_and_listed() {
    let site = with_puzzles().await;
    let ada = site.register("Ada").await;
    let mut run = begin(&site, &ada, "lives").await;
    assert_eq!((&run["left_ms"], &run["over"], &run["solved"]), (&Value::Null, &json!(false), &json!(0)));
    assert!(run["puzzle"].get("id").is_none() && run["puzzle"].get("line").is_none(), "{run}");
    for (number, right) in [(1, true), (2, false), (3, true), (4, false), (5, false)] {
        assert_eq!(run["puzzle"]["number"], number);
        let moves = if right { own_moves(&run) } else { wrong_move(&run) };
        run = answer(&site, &ada, &run, &moves).await.json();
        assert_eq!(run["answered"]["status"], if right { "solved" } else { "wrong" }, "{run}");
        assert!(run["answered"]["id"].is_string());
    }
    assert_eq!((&run["solved"], &run["over"], &run["puzzle"]), (&json!(2), &json!(true), &Value::Null));
    assert_eq!((run["missed"].as_array().unwrap().len(), &run["rank_today"]), (3, &json!(1)));
    let list = site.get("/api/v1/puzzles/rush?kind=lives&period=day").await.json();
    assert_eq!((&list["items"][0]["name"], &list["items"][0]["solved"]), (&json!("Ada"), &json!(2)));
    assert_eq!((&list["you"], &list["period"]), (&Value::Null, &json!("day")));
    let own = site.as_page(Method::GET, "/api/v1/puzzles/rush?kind=lives", &ada, &Value::Null).await.json();
    assert_eq!(own["you"]["rank"], 1);
    let other = site.get("/api/v1/puzzles/rush").await.json();
    assert_eq!((&other["items"], &other["kind"]), (&json!([]), &json!("minutes")));
    let page = site.get("/puzzles/rush/board?kind=lives&period=week").await.body;
    assert!(page.contains("/player/Ada") && page.contains("only accounts stand on the boards"), "{page}");
    let empty = site.get("/puzzles/rush/board").await.body;
    assert!(empty.contains("Nobody stands here yet"));
    site.get("/api/v1/puzzles/rush?kind=hours").await.check_refused(400, "bad_parameter", Some("kind"));
    site.get("/api/v1/puzzles/rush?period=year").await.check_refused(400, "bad_parameter", Some("period"));
}

#[tokio::test]
async fn nobody_can_say_what_they_have_not_done_in_a_run() {
    let site = with_puzzles().await;
    let (ada, eve) = (site.register("Ada").await, site.register("Eve").await);
    let run = begin(&site, &ada, "minutes").await;
    assert!(run["left_ms"].as_u64().is_some_and(|left| (170_000..=180_000).contains(&left)), "{run}");
    let early = json!({ "run": run["run"], "puzzle": { "number": 2 } });
    answer(&site, &ada, &early, "4").await.check_refused(409, "conflict", None);
    answer(&site, &eve, &run, &own_moves(&run)).await.check_refused(404, "not_found", None);
    let next = answer(&site, &ada, &run, &own_moves(&run)).await.json();
    assert_eq!((&next["solved"], &next["puzzle"]["number"]), (&json!(1), &json!(2)));
    answer(&site, &ada, &run, &own_moves(&run)).await.check_refused(409, "conflict", None);
    answer(&site, &ada, &next, "x").await.check_refused(422, "bad_field", Some("moves"));
    let far = json!({ "run": run["run"], "puzzle": { "number": 61 } });
    answer(&site, &ada, &far, "4").await.check_refused(422, "bad_field", Some("number"));
    // A second tab begins another one: the first has ended, and what it came to stands.
    let second = begin(&site, &ada, "minutes").await;
    answer(&site, &ada, &next, &own_moves(&next)).await.check_refused(404, "not_found", None);
    let list = site.get("/api/v1/puzzles/rush").await.json();
    assert_eq!((&list["items"][0]["name"], &list["items"][0]["solved"]), (&json!("Ada"), &json!(1)));
    assert_eq!(second["solved"], 0);
    let unknown = site.post("/api/v1/puzzles/runs", &json!({ "kind": "hours" })).await;
    unknown.check_refused(422, "bad_field", Some("kind"));
}

#[tokio::test]
async fn runs_of_strangers_are_so_many_at_a_time_and_never_listed() {
    let site = with_puzzles().await;
    let at_most = Share::PuzzleRun.rule().network.held.unwrap();
    let mut last = Value::Null;
    for _ in 0..at_most {
        last = site.post("/api/v1/puzzles/runs", &json!({ "kind": "lives" })).await.json();
    }
    let more = site.post("/api/v1/puzzles/runs", &json!({ "kind": "lives" })).await;
    more.check_refused(429, "rate_limited", None);
    let path = format!("/api/v1/puzzles/runs/{}/moves", last["run"].as_str().unwrap());
    let mut run = site.post(&path, &json!({ "number": 1, "moves": own_moves(&last) })).await.json();
    while run["over"] == false {
        let number = &run["puzzle"]["number"];
        run = site.post(&path, &json!({ "number": number, "moves": wrong_move(&run) })).await.json();
    }
    assert_eq!((&run["solved"], &run["rank_today"]), (&json!(1), &Value::Null));
    assert_eq!(site.get("/api/v1/puzzles/rush?kind=lives").await.json()["items"], json!([]));
    let again = site.post("/api/v1/puzzles/runs", &json!({ "kind": "lives" })).await;
    assert_eq!(again.status, StatusCode::CREATED, "the one that is over has left its place");
}

#[tokio::test]
async fn the_days_with_the_daily_puzzle_solved_stand_in_a_calendar() {
    let site = with_puzzles().await;
    let ada = site.register("Ada").await;
    let page = site.as_page(Method::GET, "/puzzles", &ada, &Value::Null).await.body;
    assert!(page.contains("id=\"calendar\"") && !page.contains(": solved"), "{page}");
    let (path, right) = daily(&site).await;
    let solved = json!({ "moves": right });
    site.as_page(Method::POST, &format!("{path}/attempts"), &ada, &solved).await;
    for (address, is_shown) in [("/puzzles", true), ("/player/Ada", true), ("/player/Eve", false)] {
        if !is_shown {
            site.register("Eve").await;
        }
        let page = site.as_page(Method::GET, address, &ada, &Value::Null).await.body;
        assert_eq!(page.matches(": solved").count() > 0, is_shown, "{address}");
    }
    assert!(!site.get("/player/Ada").await.body.contains("id=\"calendar\""), "one's own alone");
}
