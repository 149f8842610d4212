//! Seasons, as the interface and the pages show them.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::competition::leaderboard::seasons::{self, Season};
use crate::competition::leaderboard::service::Follower;
use crate::http::testing::TestSite;
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::{Day, UnixMillis};
use crate::storage::Store;
use crate::storage::conformance::{add, after_noon, player, spec, whole_game};
use crate::storage::record::GameSpec;
use crate::storage::resets::NewReset;
use crate::storage::store::Write;

/// Games of the tests are played on 15 June 2025.
const DAY: Duration = Duration::from_hours(24);

fn season(name: &str, start: &str, end: &str) -> Season {
    let [start, end] = [start, end].map(|day| day.parse::<Day>().unwrap());
    Season { name: name.to_owned(), start, end, variant: fourfold_engine::Variant::STANDARD }
}

/// A game that ended so many days later.
async fn play_on(store: &dyn Store, day: u32, game: GameSpec, moves: &str, result: GameResult) {
    let mut events = whole_game(moves, result, EndReason::Resign);
    for event in &mut events {
        event.at = event.at.later(DAY * day);
    }
    let finish = Write::Finish { game: game.id.clone(), events };
    for answer in store.commit(&[Write::StartGame(game), finish]).await.unwrap() {
        answer.unwrap();
    }
}

/// `hal` beats Ada on the first day, Ada beats `hal` on the third, and `six` beats `hal` on the fourth.
async fn site() -> TestSite {
    let site = TestSite::new();
    let players =
        [player("hal", PlayerKind::Bot), player("six", PlayerKind::Bot), player("Ada", PlayerKind::Human)];
    site.store.commit(&players.map(add)).await.unwrap();
    let store = &*site.store;
    play_on(store, 0, spec("g1", "hal", "Ada"), "4453627", GameResult::First).await;
    play_on(store, 2, spec("g2", "Ada", "hal"), "4453621", GameResult::First).await;
    play_on(store, 3, spec("g3", "hal", "six"), "4453622", GameResult::Second).await;
    fit(&site).await;
    site
}

async fn fit(site: &TestSite) {
    let seasons = seasons::sorted(vec![
        season("One day", "2025-06-15", "2025-06-15"),
        season("Week / 25", "2025-06-16", "2025-06-20"),
        season("Far away", "2999-01-01", "2999-12-31"),
    ]);
    let snapshot = Follower::of(&seasons).catch_up(&*site.store).await.unwrap().unwrap();
    site.state.leaderboard.show(snapshot);
}

/// Rank, name, wins and losses.
fn rows(table: &Value) -> Vec<(u64, &str, u64, u64)> {
    let row = |row: &'static str, of: &Value| of[row].as_u64().unwrap();
    let items = table["items"].as_array().unwrap().iter();
    items
        .map(|it| (row("rank", it), it["name"].as_str().unwrap(), row("wins", it), row("losses", it)))
        .collect()
}

#[tokio::test]
async fn a_season_ranks_the_games_that_ended_on_its_days_alone() {
    let site = site().await;
    let list = site.get("/api/v1/seasons").await.json();
    let states: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| [&it["name"], &it["state"], &it["games"]])
        .collect();
    assert_eq!(
        json!(states),
        json!([["Far away", "coming", 0], ["Week / 25", "over", 2], ["One day", "over", 1]])
    );
    let day = site.get("/api/v1/seasons/one%20day").await.json();
    assert_eq!(rows(&day), [(1, "hal", 1, 0), (2, "Ada", 0, 1)], "{day}");
    let week = site.get("/api/v1/seasons/Week%20%2F%2025").await.json();
    assert_eq!(rows(&week).last(), Some(&(3, "hal", 0, 2)), "{week}");
    assert_eq!((&week["start"], &week["end"]), (&json!("2025-06-16"), &json!("2025-06-20")));
    let bots = site.get("/api/v1/seasons/Week%20%2F%2025?list=bots").await.json();
    assert_eq!(rows(&bots), [(1, "six", 1, 0), (2, "hal", 0, 2)], "{bots}");
    assert_eq!(site.get("/api/v1/seasons/none").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_final_table_outlasts_a_rating_that_begins_anew() {
    let site = site().await;
    let reset = NewReset {
        player: player("hal", PlayerKind::Bot).id,
        at: after_noon(0).later(DAY * 30),
        version: "2".to_owned(),
        reason: "another search".to_owned(),
        not_since: UnixMillis::default(),
    };
    site.store.commit(&[Write::ResetRating(reset)]).await.unwrap().pop().unwrap().unwrap();
    fit(&site).await;
    let day = site.get("/api/v1/seasons/One%20day").await.json();
    assert_eq!(rows(&day), [(1, "hal", 1, 0), (2, "Ada", 0, 1)], "{day}");
}

#[tokio::test]
async fn pages_show_seasons_and_profiles_say_who_was_first() {
    let site = site().await;
    let list = site.get("/seasons").await.body;
    assert!(list.contains("/season/Week%20%2F%2025") && list.contains("15 Jun 2025"), "{list}");
    let page = site.get("/season/Week%20%2F%2025").await.body;
    for shown in ["final table", "/player/six", "16 Jun 2025 to 20 Jun 2025", "±"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!site.get("/season/Week%20%2F%2025?list=people").await.body.contains("/player/six"));
    let coming = site.get("/season/Far%20away").await.body;
    assert!(coming.contains("No rated game has counted for it yet."), "{coming}");
    let profile = site.get("/player/hal").await.body;
    assert!(profile.contains("<span class=\"badge\">place 1 of 2</span>"), "{profile}");
    assert!(site.get("/leaderboard").await.body.contains("href=\"/seasons\""));
    assert_eq!(site.get("/season/none").await.status, StatusCode::NOT_FOUND);
    let none = TestSite::new();
    assert!(!none.get("/leaderboard").await.body.contains("href=\"/seasons\""));
    assert!(none.get("/seasons").await.body.contains("/docs/operating#seasons"));
}
