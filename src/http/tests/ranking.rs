//! Leaderboards, crosstables and habits, as the interface and the pages show them.

use axum::http::StatusCode;
use fourfold_engine::review::Skill;
use fourfold_engine::{BySide, Side};
use serde_json::{Value, json};

use crate::http::testing::TestSite;
use crate::model::player::PlayerKind;
use crate::model::portrait::Picture;
use crate::model::result::{EndReason, GameResult};
use crate::storage::Store;
use crate::storage::conformance::{add, play, player, spec, void};
use crate::storage::games::GameStore as _;
use crate::storage::judgements::{Judgement, JudgingStep};
use crate::storage::record::{BotProfile, GameSpec, StoredPlayer};
use crate::storage::store::{GameQuery, Write};

/// A site with two bots of the house, a remote one and a person. `six` has beaten `random` three times and lost once;
/// `hal` has drawn with `six`, and Ada has beaten it.
async fn site() -> TestSite {
    let site = TestSite::new();
    let house = |name| StoredPlayer { house: true, ..player(name, PlayerKind::Bot) };
    let profile = BotProfile { version: Some("2.1".into()), ..BotProfile::default() };
    let hal = StoredPlayer { profile, ..player("hal", PlayerKind::Bot) };
    let players = [house("random"), house("six"), hal, player("Ada", PlayerKind::Human)];
    site.store.commit(&players.map(add)).await.unwrap();
    for (id, first, second, moves, result) in [
        ("g1", "six", "random", "4453627", GameResult::First),
        ("g2", "random", "six", "4453621", GameResult::Second),
        ("g3", "six", "random", "4453622", GameResult::First),
        ("g4", "random", "six", "4453623", GameResult::First),
        ("g5", "hal", "six", "1122334", GameResult::Draw),
        ("g6", "Ada", "hal", "7766554", GameResult::First),
    ] {
        play(&*site.store, spec(id, first, second), moves, result, EndReason::Resign).await;
    }
    site.fit().await;
    site
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_word_says_who_is_a_bot_only_where_people_and_bots_mix() {
    let site = site().await;
    let words = async |path: &str| site.get(path).await.body.matches("class=\"badge bot\"").count();
    assert_eq!(words("/leaderboard").await, 3);
    assert_eq!(words("/leaderboard?list=bots").await, 0);
    assert_eq!(words("/leaderboard?list=people").await, 0);
    let people = site.get("/leaderboard?list=people").await.body;
    let picture = format!("#{}\"/>", Picture::of_name("Ada"));
    assert!(people.contains(&picture), "Ada has a round picture: {people}");
}

#[tokio::test]
async fn a_list_without_anybody_says_nothing_of_the_games_of_others() {
    let site = site().await;
    assert!(site.get("/leaderboard?list=bots").await.body.contains("class=\"facts"), "bots have played");
    let empty = site.get("/leaderboard?list=bots&by=learners").await.body;
    assert!(empty.contains("class=\"empty\""), "{empty}");
    assert!(!empty.contains("class=\"facts") && !empty.contains("class=\"doubts"), "{empty}");
}

#[tokio::test]
async fn bots_are_ranked_by_the_joint_fit() {
    let site = site().await;
    let list = site.get("/api/v1/leaderboard?list=bots").await.json();
    assert_eq!(names(&list).len(), 3, "{list}");
    assert_eq!(names(&list)[2], "random");
    let of = |name: &str| -> Value {
        list["items"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let (random, six, hal) = (of("random"), of("six"), of("hal"));
    assert_eq!((&random["elo"], &random["pm95"]), (&json!(0), &json!(1)));
    assert!(six["elo"].as_i64() > Some(100) && six["elo"] != six["live_elo"], "{six}");
    assert_eq!((&six["games"], &six["distinct"], &six["pairs"]), (&json!(5), &json!(5), &json!(0)));
    assert_eq!((&six["opponents"], &six["house"], &six["version"]), (&json!(2), &json!(true), &Value::Null));
    assert_eq!((&hal["house"], &hal["version"]), (&json!(false), &json!("2.1")));
    assert_eq!(
        (&hal["games"], &hal["distinct"]),
        (&json!(2), &json!(1)),
        "the game with Ada is not between bots"
    );
    assert_eq!(list["items"][2]["los_next"], Value::Null);
    assert!(list["items"][1]["los_next"].as_f64().is_some_and(|los| los > 0.5 && los < 1.0), "{list}");
    let fit = &list["fit"];
    assert_eq!((&fit["scale"], &fit["ceiling"], &fit["up_to"]), (&json!("random"), &Value::Null, &json!(6)));
    assert_eq!((&fit["distinct"], &fit["disconnected"]), (&json!(5), &json!([])));
    let house = site.get("/api/v1/leaderboard?list=bots&house=true").await.json();
    assert_eq!(names(&house), ["six", "random"]);
    let remote = site.get("/api/v1/leaderboard?list=bots&house=false").await.json();
    assert_eq!(names(&remote), ["hal"]);
    assert_eq!(remote["items"][0]["rank"], hal["rank"], "the place is that among all");
}

#[tokio::test]
async fn exact_skill_stands_beside_the_rating_once_games_are_judged() {
    let site = site().await;
    let list = site.get("/api/v1/leaderboard?list=bots").await.json();
    assert_eq!(list["items"][0]["exact"], Value::Null);
    assert!(!site.get("/leaderboard").await.body.contains("Exact"));
    let first = Skill { moves: 8, good: 7, optimal: 5, decisions: 4, good_decisions: 3, loss: 9 };
    let skill = BySide { first, second: Skill::default() };
    let step = JudgingStep::in_order(0, vec![(1, Judgement::Judged(skill))]);
    site.store.commit(&[Write::StepJudging(Box::new(step))]).await.unwrap().remove(0).unwrap();
    let list = site.get("/api/v1/leaderboard?list=bots&house=true").await.json();
    let row = &list["items"][0];
    assert_eq!(
        (&row["exact"], &row["decision"], &row["optimal"]),
        (&json!(0.875), &json!(0.75), &json!(0.625))
    );
    assert_eq!(list["items"][1]["exact"], Value::Null, "no move of random was judged");
    assert!(site.get("/leaderboard").await.body.contains("87.5 %"));
    assert!(site.get("/leaderboard?lang=de").await.body.contains("87,5 %"));
    assert!(site.get("/player/six?lang=pl").await.body.contains("62,5 %"));
    let body = site.get("/player/six").await.body;
    assert!(body.contains("87.5 %") && body.contains("75.0 %") && body.contains("62.5 %"), "{body}");
    assert!(
        body.contains(">1.12<") && body.contains("stages=20#skill") && !body.contains("<th scope=\"row\"")
    );
    let skill = site.get("/api/v1/players/six/skill").await.json();
    assert_eq!((&skill["games"], &skill["positions"], &skill["good"]), (&json!(1), &json!(8), &json!(0.875)));
    assert_eq!((&skill["decision"], &skill["mean_loss"]), (&json!(0.75), &json!(1.125)));
}

#[tokio::test]
async fn what_a_player_makes_of_errors_is_told_once_its_opponents_are_known() {
    let site = site().await;
    let skill = async |name: &str| site.get(&format!("/api/v1/players/{name}/skill?games=0")).await.json();
    assert_eq!(skill("six").await["exploitation"], Value::Null);
    assert!(!site.get("/player/six").await.body.contains("opponents that err"));
    // Whoever does not win fails in four of ten decisions: hal did so against six, and as often against Ada.
    let winner = Skill { moves: 40, good: 40, optimal: 40, decisions: 40, good_decisions: 40, loss: 0 };
    let loser = Skill { good: 24, good_decisions: 24, loss: 16, ..winner };
    let games = site.store.finished_games(&GameQuery { limit: 9, ..GameQuery::default() }).await.unwrap();
    let judged = games.iter().map(|game| {
        let won = game.ending().unwrap().result.winner();
        let skill = BySide::from_fn(|side: Side| if won == Some(side) { winner } else { loser });
        (game.settlement.as_ref().unwrap().number, Judgement::Judged(skill))
    });
    let step = Write::StepJudging(Box::new(JudgingStep::in_order(0, judged.collect())));
    site.store.commit(&[step]).await.unwrap().remove(0).unwrap();
    let six = skill("six").await["exploitation"].clone();
    assert_eq!(
        (&six["games"], &six["ratio"], &six["margin"]),
        (&json!(1), &json!(1.0), &json!(0.49)),
        "{six}"
    );
    let (points, stones) = (&six["points_per_mistake"], &six["stones_of_win"]);
    assert_eq!((&six["traps_per_game"], points, stones), (&json!(16.0), &json!(0.0), &Value::Null), "{six}");
    let random = skill("random").await["exploitation"].clone();
    assert_eq!(
        (&random["games"], &random["ratio"]),
        (&json!(4), &json!(0.25)),
        "six errs less against it: {random}"
    );
    let (points, stones) = (&random["points_per_mistake"], &random["stones_of_win"]);
    assert_eq!((points, stones), (&json!(-0.0625), &json!(7.0)), "{random}");
    let body = site.get("/player/six").await.body;
    assert!(body.contains("Against opponents that err") && body.contains("1.00 ± 0.49"), "{body}");
    assert!(!body.contains("Stones at a win"), "it has won no such game: {body}");
    assert!(site.get("/player/six?lang=de").await.body.contains("1,00 ± 0,49"));
    let random = site.get("/player/random").await.body;
    assert!(random.contains("0.25 ± 0.12") && random.contains(">7.0<"), "{random}");
}

#[tokio::test]
async fn exact_skill_is_told_by_stages_of_the_last_games() {
    let site = site().await;
    let skill = site.get("/api/v1/players/six/skill?games=4").await.json();
    assert_eq!(
        (&skill["games"], &skill["by_ply_games"], &skill["good"]),
        (&json!(0), &json!(4), &Value::Null)
    );
    let stages = skill["by_ply"].as_array().unwrap();
    assert_eq!((&stages[0]["from"], &stages[0]["to"], stages.len()), (&json!(0), &json!(6), 1));
    // Of the last four games it moved first in one, which has seven moves: of the others three are its own.
    assert_eq!(stages[0]["positions"], 3 + 4 + 3 + 3);
    let none = site.get("/api/v1/players/six/skill?games=0").await.json();
    assert_eq!((&none["by_ply"], &none["by_ply_games"]), (&json!([]), &json!(0)));
    let body = site.get("/player/six?stages=4").await.body;
    assert!(!body.contains("Stones on the board"), "nothing was judged yet, so there is no section");
    site.get("/api/v1/players/six/skill?games=51").await.check_refused(400, "bad_parameter", Some("games"));
    site.get("/api/v1/players/nobody/skill").await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn people_are_rated_on_the_scale_of_all() {
    let site = site().await;
    let people = site.get("/api/v1/leaderboard?list=people").await.json();
    assert_eq!((names(&people), &people["fit"]["scale"]), (vec!["Ada"], &json!("random")));
    let row = &people["items"][0];
    assert_eq!((&row["live_elo"], &row["distinct"]), (&json!(770), &json!(1)));
    let all = site.get("/api/v1/leaderboard").await.json();
    assert_eq!(names(&all)[0], "Ada", "{all}");
    assert_eq!(all["items"][0]["elo"], row["elo"]);
    assert_eq!(all["fit"]["only_wins"], json!(["Ada"]));
    assert_eq!(site.get("/api/v1/players/ada").await.json()["ratings"][0]["elo"], row["elo"]);
}

/// Issue 17: one bot had two ratings on one page.
#[tokio::test]
async fn every_place_shows_the_same_rating() {
    let site = site().await;
    let list = site.get("/api/v1/leaderboard?list=bots").await.json();
    let of = |list: &Value, name: &str| -> Value {
        list["items"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["elo"].clone()
    };
    let all = site.get("/api/v1/leaderboard").await.json();
    for name in ["hal", "six", "random"] {
        let elo = of(&list, name);
        assert_eq!(of(&all, name), elo, "{name} among all");
        let profile = site.get(&format!("/api/v1/players/{name}")).await.json();
        assert_eq!(profile["ratings"][0]["elo"], elo, "{name}'s profile");
    }
    let elo = of(&list, "hal");
    let crosstable = site.get("/api/v1/players/six/crosstable").await.json();
    assert_eq!(of(&crosstable, "hal"), elo);
    let shown = format!(">{elo}?</span>");
    for path in ["/", "/game/g5", "/game/g6"] {
        assert!(site.get(path).await.body.contains(&shown), "{path}");
    }
    let player = site.get("/player/hal").await.body;
    let provisional = format!("number\">{elo}<a class=\"term\" href=\"/learn/glossary#provisional\"");
    for part in [provisional, format!("now {elo}")] {
        assert!(player.contains(&part), "{part} in {player}");
    }
    assert!(!site.get("/game/g6").await.body.contains(">1500"));
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let site = site().await;
    for (query, field) in
        [("list=cats", "list"), ("house=perhaps", "house"), ("variant=1x1", "variant"), ("limit=0", "limit")]
    {
        let answer = site.get(&format!("/api/v1/leaderboard?{query}")).await;
        answer.check_refused(400, "bad_parameter", Some(field));
    }
    let other = site.get("/api/v1/leaderboard?variant=9x6").await.json();
    assert_eq!(other, json!({ "items": [], "cursor": null, "fit": null }));
    for part in ["crosstable", "habits"] {
        site.get(&format!("/api/v1/players/nobody/{part}")).await.check_refused(404, "not_found", None);
        let wrong = site.get(&format!("/api/v1/players/six/{part}?variant=x")).await;
        wrong.check_refused(400, "bad_parameter", Some("variant"));
    }
}

#[tokio::test]
async fn a_crosstable_compares_with_what_was_expected() {
    let site = site().await;
    let table = site.get("/api/v1/players/six/crosstable").await.json();
    assert_eq!(names(&table), ["random", "hal"]);
    let random = &table["items"][0];
    assert_eq!((&random["games"], &random["score"], &random["elo"]), (&json!(4), &json!(0.75), &json!(0)));
    assert_eq!(random["first"], json!({ "wins": 2, "draws": 0, "losses": 0 }));
    assert_eq!(random["second"], json!({ "wins": 1, "draws": 0, "losses": 1 }));
    assert!(random["expected"].as_f64().is_some_and(|share| (0.6..0.8).contains(&share)), "{random}");
    let ada = site.get("/api/v1/players/ada/crosstable?limit=1").await.json();
    assert!(ada["items"][0]["expected"].as_f64() > Some(0.5), "{ada}");
}

#[tokio::test]
async fn habits_are_those_of_the_player() {
    let site = site().await;
    let habits = site.get("/api/v1/players/hal/habits").await.json();
    assert_eq!(habits["games"], 2);
    assert_eq!(
        habits["form"],
        json!([{ "game": "g6", "result": "lost" }, { "game": "g5", "result": "drawn" }])
    );
    assert_eq!(habits["columns"], json!([1, 1, 1, 1, 1, 1, 1]));
    assert_eq!(habits["openings"][0]["moves"], "1122");
}

#[tokio::test]
async fn the_pages_show_the_same() {
    let site = site().await;
    let body = site.get("/leaderboard?list=bots").await.body;
    for part in ["class=\"interval\"", "href=\"/docs/ratings\"", "by=house", "Zero is a bot", "<bdi", "2.1"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(!site.get("/leaderboard?list=bots&by=others").await.body.contains("/player/six"));
    assert!(!site.get("/leaderboard").await.body.contains("by=house"));
    let body = site.get("/player/six").await.body;
    for part in
        ["Rating over time", "class=\"chart\"", "Show as a table", "Column 4:", "/player/random", "75 %"]
    {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(site.get("/player/six?variant=9x6").await.body.contains("href=\"/player/six?variant=7x6\""));
    assert_eq!(site.get("/player/six?variant=nonsense").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_lobby_ranks_as_the_ranking_does() {
    let site = site().await;
    let all = site.get("/api/v1/leaderboard").await.json();
    let body = site.get("/").await.body;
    let ranks = body.split_once("<ol class=\"ranks\">").unwrap().1.split_once("</ol>").unwrap().0;
    let shown: Vec<&str> = ranks.split("<li>").skip(1).collect();
    assert_eq!(shown.len(), names(&all).len(), "{ranks}");
    for (row, shown) in all["items"].as_array().unwrap().iter().zip(shown) {
        let rating = format!(">{}?</span>", row["elo"]);
        for part in [row["name"].as_str().unwrap(), "\"between ", &rating] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
    assert!(body.contains("Zero is a bot"), "whose scale that is: {body}");
}

#[tokio::test]
async fn records_say_that_a_game_was_voided_and_lists_forget_it() {
    let site = site().await;
    site.store.commit(&[void("g6")]).await.unwrap().remove(0).unwrap();
    site.fit().await;
    let record = site.get("/api/v1/games/g6").await.json();
    assert_eq!((&record["result"], &record["rated"]), (&json!("first"), &json!(false)));
    assert_eq!((&record["ratings"], &record["unrated_because"]), (&Value::Null, &json!("voided")));
    assert!(!names(&site.get("/api/v1/leaderboard").await.json()).contains(&"Ada"));
}

/// What `fourfold rate` reads are the records as they are exported.
#[tokio::test]
async fn saved_games_give_the_published_ratings() {
    use fourfold_arena::rate::{Games, Only, Trust};
    use fourfold_arena::stats::fit::Anchor;
    let site = site().await;
    play(
        &*site.store,
        GameSpec { rated: false, ..spec("casual", "random", "six") },
        "1111112",
        GameResult::First,
        EndReason::Resign,
    )
    .await;
    let lines = site.get("/api/v1/games.ndjson").await.body;
    let only = Only { rated: true, bots: true, variant: Some("7x6".into()), ..Only::default() };
    // A few moves stand for a game.
    let mut games = Games::new(only, Trust::Blind);
    assert!(!games.read(lines.as_bytes()).unwrap());
    let anchor = Anchor { player: games.player("random").unwrap(), elo: 0.0 };
    let table = games.rate(&[anchor]);
    let list = site.get("/api/v1/leaderboard?list=bots").await.json();
    assert_eq!(table.players.len(), 3);
    for (row, published) in table.players.iter().zip(list["items"].as_array().unwrap()) {
        assert_eq!(published["name"], row.name.as_str());
        let close =
            |field: &str, value: f64| (published[field].as_f64().unwrap() - value).abs() <= 0.5 + 1e-6;
        assert!(
            close("elo", row.elo) && (row.name == "random" || close("pm95", row.pm95)),
            "{row:?} {published}"
        );
    }
}
