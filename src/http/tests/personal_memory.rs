//! A pattern memory that one person teaches, over HTTP.

use axum::http::Method;
use serde_json::{Value, json};

use crate::http::testing::{Answer, TestSite};

async fn ask(site: &TestSite, what: &str, body: Value) -> Answer {
    site.as_page(Method::POST, &format!("/api/v1/memory/{what}"), "", &body).await
}

/// What it knows after two games that were lost to four stones on each other.
async fn taught_twice(site: &TestSite) -> Value {
    let lesson = |memory: Value| json!({ "memory": memory, "moves": "4142434", "side": "second" });
    let once = ask(site, "game", lesson(Value::Null)).await.json();
    assert_eq!(once["patterns"].as_array().unwrap().len(), 3, "{once}");
    assert!(once["new"].as_array().unwrap().contains(&json!("enemy d1 d2 d3 .")), "{once}");
    let twice = ask(site, "game", lesson(once["memory"].clone())).await.json();
    assert_eq!((twice["new"].as_array().unwrap().len(), twice["changed"].as_array().unwrap().len()), (0, 3));
    twice["memory"].clone()
}

#[tokio::test]
async fn a_trick_that_worked_twice_is_parried_with_the_reason() {
    let site = TestSite::new();
    let drawn = ask(&site, "move", json!({ "moves": "41424", "seed": 7 })).await.json();
    assert_eq!((&drawn["ground"], &drawn["pattern"]), (&json!("random"), &Value::Null));
    let memory = taught_twice(&site).await;
    let parried = ask(&site, "move", json!({ "memory": memory, "moves": "41424", "seed": 7 })).await.json();
    let pattern = json!({ "pattern": "enemy d1 d2 d3 .", "seen": 2, "won": 0, "lost": 2 });
    assert_eq!(parried, json!({ "column": 4, "ground": "ending", "pattern": pattern }));
}

#[tokio::test]
async fn a_memory_goes_into_a_file_and_back() {
    let site = TestSite::new();
    let memory = taught_twice(&site).await;
    let file = ask(&site, "file", json!({ "memory": memory })).await.json();
    assert!(file["xml"].as_str().unwrap().contains("<NumberOfTimesSeen>2</NumberOfTimesSeen>"), "{file}");
    let read = ask(&site, "load", file).await.json();
    assert_eq!((&read["memory"], &read["changed"]), (&memory, &json!([])));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_by_its_field() {
    let site = TestSite::new();
    let memory = taught_twice(&site).await;
    let mut torn = memory.as_str().unwrap().to_owned();
    torn.truncate(40);
    for (what, body, field) in [
        ("move", json!({ "moves": "8" }), "moves"),
        ("move", json!({ "moves": "4142434" }), "moves"),
        ("move", json!({}), "moves"),
        ("move", json!({ "moves": "", "seed": -1 }), "seed"),
        ("move", json!({ "moves": "", "seed": 4_294_967_296_u64 }), "seed"),
        ("move", json!({ "moves": "", "memory": torn }), "memory"),
        ("move", json!({ "moves": "", "memory": "" }), "memory"),
        ("move", json!({ "moves": "", "memory": "ä" }), "memory"),
        ("move", json!({ "moves": "", "memory": 7 }), "memory"),
        ("move", json!({ "moves": "", "more": 7 }), "more"),
        ("game", json!({ "moves": "44", "side": "first" }), "moves"),
        ("game", json!({ "moves": "4142434", "side": "third" }), "side"),
        ("game", json!({ "moves": "4142434" }), "side"),
        ("file", json!({}), "memory"),
        ("file", json!({ "memory": null }), "memory"),
        ("load", json!({ "xml": "" }), "xml"),
        ("load", json!({ "xml": "<a>".repeat(100_000) }), "xml"),
        ("load", json!({ "xml": "<ConnectFourPattern><BasicGamePatternSet/></ConnectFourPattern>" }), "xml"),
    ] {
        ask(&site, what, body).await.check_refused(422, "bad_field", Some(field));
    }
    let long = "a".repeat(32 * 1_024);
    ask(&site, "move", json!({ "moves": "", "memory": long })).await.check_refused(413, "too_large", None);
    let long = "a".repeat(1_024 * 1_024);
    ask(&site, "load", json!({ "xml": long })).await.check_refused(413, "too_large", None);
}

#[tokio::test]
async fn a_memory_that_knows_all_there_is_fits() {
    use fourfold_bots::memory::PersonalMemory;
    use fourfold_bots::{GameRecord, MoveBudget, registry};
    use fourfold_engine::{Game, Outcome, Side, SideResult, Variant};

    let mut memory = PersonalMemory::blank();
    for seed in 0..3_000 {
        let random = format!("random:seed={seed}").parse().unwrap();
        let mut random = registry::build(&random, Variant::STANDARD).unwrap();
        let mut game = Game::new(Variant::STANDARD);
        while game.outcome().is_none() {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let choice = random.choose(game.position(), MoveBudget::default(), &stop).unwrap();
            game.play(choice.column).unwrap();
        }
        for side in [Side::First, Side::Second] {
            let result = SideResult::of(side, game.outcome().and_then(Outcome::winner));
            memory.learn(&GameRecord { game: game.clone(), side, result });
        }
    }
    assert!(memory.patterns().len() > 500, "{} patterns", memory.patterns().len());
    let site = TestSite::new();
    let read = ask(&site, "load", json!({ "xml": memory.xml() })).await.json();
    let answer = ask(&site, "move", json!({ "memory": read["memory"], "moves": "4", "seed": 1 })).await;
    assert!(answer.status.is_success(), "{}", answer.body);
}
