//! The learners' pages and endpoints: curves, versions, patterns, reasons, and keeping one's games out.

use axum::http::header::LOCATION;
use axum::http::{Method, StatusCode};
use fourfold_bots::{GameRecord, learners};
use fourfold_engine::{Game, Side, SideResult, Variant};
use serde_json::{Value, json};

use crate::http::testing::TestSite;
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::model::rating::elo::MilliElo;
use crate::model::result::{EndReason, GameResult as Result_};
use crate::play::house::LearnerKnowledge;
use crate::storage::conformance::{
    FIRST_WINS, NOON, add, add_players, play, player, player_id, spec, whole_game,
};
use crate::storage::lessons::LearnerStore;
use crate::storage::lessons::{CurvePoint, LearnerPlace, LearnerStep, Lesson, StepKind};
use crate::storage::people::PeopleStore;
use crate::storage::record::{EventKind, StoredPlayer};
use crate::storage::store::{Store, Teaching, Write};
use crate::study::learning::Watches;
use crate::study::learning::view::{LearnerVersion, LearnerView};

fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

/// What a learner of this program knows after one game.
fn taught(program: &str) -> LearnerKnowledge {
    let mut learner = learners::fresh(&program.parse().unwrap(), Variant::STANDARD).unwrap();
    let game = Game::from_moves(Variant::STANDARD, FIRST_WINS).unwrap();
    learner.learn(&GameRecord { game, side: Side::First, result: SideResult::Win });
    LearnerKnowledge::new(learner.knowledge())
}

/// A site with a learner of three games, one frozen version and one game, in which the learner said why.
async fn with_learner(program: &str) -> TestSite {
    let site = TestSite::new();
    let house = |id: &str, as_name: &str| {
        add(StoredPlayer { name: name(as_name), house: true, ..player(id, PlayerKind::Bot) })
    };
    let accounts = [house("pupil", "pupil"), house("pupil1", "pupil@1")];
    for answer in site.store.commit(&accounts).await.unwrap() {
        answer.unwrap();
    }
    add_players(&*site.store, &["Ada"]).await;
    let mut events = whole_game(FIRST_WINS, Result_::First, EndReason::Four);
    let info =
        json!({ "note": "why: 1 +105 own a1 a2 a3 a4 (3 2 1); 4 -7 own d1 . . . (0 0 0)" }).to_string();
    for event in events.iter_mut().take(1) {
        let EventKind::Move(played) = &mut event.kind else { panic!("{event:?}") };
        played.info = Some(info.as_str().into());
    }
    let game = spec("g1", "pupil", "Ada");
    let writes = [Write::StartGame(game), Write::Finish { game: "g1".parse().unwrap(), events }];
    for answer in site.store.commit(&writes).await.unwrap() {
        answer.unwrap();
    }
    let point = CurvePoint { games: 2, rating: Some(MilliElo(1_312_000)), decision: None, at: NOON };
    let step = LearnerStep {
        name: name("pupil"),
        spec: program.to_owned(),
        from: LearnerPlace::default(),
        kind: StepKind::Follow(vec![Lesson {
            number: 1,
            changes: "147 changed, 30 new\nown a1 a2 . . | new | 1 1 0\nown b1 . . . | 1 1 0 | 2 2 0\n1 rethought\nmove 3 | 1234567 | 4"
                .to_owned(),
        }]),
        covered: 1,
        games: 3,
        state: Vec::new(),
        versions: Vec::new(),
        point: Some(point),
    };
    let measure = Write::MeasurePoint { learner: name("pupil"), games: 3, decision: 612, at: NOON };
    for answer in site.store.commit(&[Write::StepLearner(Box::new(step)), measure]).await.unwrap() {
        answer.unwrap();
    }
    let version = LearnerVersion {
        mark: 1,
        games: 1,
        name: name("pupil@1"),
        player: player_id("pupil1"),
        decision: Some(412),
        knowledge: taught(program),
    };
    site.state.learning.show(LearnerView {
        name: name("pupil"),
        player: player_id("pupil"),
        about: "learns <here>",
        watches: Watches::All,
        games: 3,
        is_remade: false,
        decision: Some(612),
        covered: 1,
        stored: 1,
        knowledge: taught(program),
        versions: vec![version],
    });
    site
}

#[tokio::test]
async fn learners_are_listed_with_their_versions() {
    let site = with_learner("memory").await;
    let list = site.get("/api/v1/learners").await.json();
    let learner = &list["items"][0];
    assert_eq!(
        (&learner["name"], &learner["games"], &learner["decision"]),
        (&json!("pupil"), &json!(3), &json!(0.612))
    );
    assert!(learner["patterns"].as_u64() > Some(0), "{learner}");
    assert_eq!(learner["covered"], json!(1));
    let version = &learner["versions"][0];
    assert_eq!(
        (&version["name"], &version["games"], &version["decision"]),
        (&json!("pupil@1"), &json!(1), &json!(0.412))
    );
    assert_eq!(version["live_elo"], Value::Null, "it has not played");
    let nobody = TestSite::new().get("/api/v1/learners").await.json();
    assert_eq!(nobody, json!({ "items": [], "cursor": null }));
}

#[tokio::test]
async fn learners_are_shown_with_their_published_ratings() {
    let site = with_learner("memory").await;
    let unknown = site.get("/api/v1/learners").await.json();
    assert_eq!(unknown["items"][0]["published"]["provisional"], true, "no fit has been made yet");
    for (index, first, second) in [(2, "pupil", "pupil1"), (3, "pupil1", "pupil")] {
        let game = spec(&format!("g{index}"), first, second);
        play(&*site.store, game, FIRST_WINS, Result_::First, EndReason::Four).await;
    }
    site.fit().await;
    let list = site.get("/api/v1/learners").await.json();
    let ranking = site.get("/api/v1/leaderboard?list=bots").await.json();
    let version = &list["items"][0]["versions"][0];
    let row = ranking["items"].as_array().unwrap().iter().find(|row| row["name"] == "pupil@1").unwrap();
    assert_eq!(
        (&version["published"]["elo"], &version["published"]["pm95"]),
        (&row["elo"], &row["pm95"]),
        "the number of the leaderboard"
    );
    assert_eq!(version["live_elo"], row["live_elo"], "the live one as ever");
    let apart = row["elo"].as_i64().unwrap() - row["live_elo"].as_i64().unwrap();
    assert!(apart.abs() < 50, "both have one scale: {row}");
    let page = site.get("/learning/pupil").await;
    let shown = format!("<strong>{}</strong>? <span class=\"soft small\">±{}<", row["elo"], row["pm95"]);
    assert!(page.body.contains(&shown), "{shown} in {}", page.body);
    assert_eq!(
        list["items"][0]["curve"][0],
        json!({ "games": 2, "live_elo": 1312, "decision": null, "at": NOON.to_string() })
    );

    let board = site.get("/leaderboard?list=bots&by=learners").await;
    for part in ["/player/pupil%401", ">Games learnt<", "aria-current=\"page\">Learners<"] {
        assert!(board.body.contains(part), "{part} in {}", board.body);
    }
    assert!(!site.get("/leaderboard?list=bots").await.body.contains(">Games learnt<"));
    let nobody = TestSite::new().get("/leaderboard?list=bots&by=learners").await;
    assert_eq!(nobody.status, StatusCode::OK);
}

#[tokio::test]
async fn the_page_of_all_learners_has_curves_and_versions() {
    let site = with_learner("memory").await;
    let page = site.get("/learning").await;
    assert_eq!(page.status, StatusCode::OK);
    for part in [
        "href=\"/learning/pupil\"",
        "learns &#60;here&#62;",
        "href=\"/player/pupil%401\"",
        "41.2 %",
        "61.2 %",
        "<title>1: 41 ± 3</title>",
        "class=\"chart-live\"",
        "<dd class=\"number\">41.2 % → 61.2 %</dd>",
        "pupil 1–0 Ada</span>: new patterns: 30, strengthened: 117; it would now play 1 move differently</p>",
    ] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    let german = site.get("/learning?lang=de").await;
    for part in
        ["<h1>Lernen</h1>", "<dd class=\"number\">41,2 % → 61,2 %</dd>", "<td class=\"right\">41,2 %</td>"]
    {
        assert!(german.body.contains(part), "{part} in {}", german.body);
    }
    let empty = TestSite::new().get("/learning").await;
    assert!(empty.body.contains("There are no learning bots here."), "{}", empty.body);
}

#[tokio::test]
async fn the_page_of_a_learner_shows_what_it_knows_and_what_the_last_games_changed() {
    let site = with_learner("memory").await;
    let page = site.get("/learning/PUPIL").await;
    assert_eq!(page.status, StatusCode::OK, "in any case");
    for part in
        ["href=\"/game/g1\"", "aria-label=\"own a1 a2\"", "class=\"pattern-own\"", "pupil 1–0 Ada", ">+29<"]
    {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    assert!(!page.body.contains("fourfold memory show"), "all that it knows is drawn");
    let version = site.get("/learning/PUPIL@1").await;
    assert_eq!((version.status, version.header(LOCATION)), (StatusCode::SEE_OTHER, "/player/PUPIL@1"));
    for path in ["/learning/nobody", "/learning/Ada", "/learning/pupil@7", "/learning/%3Cb%3E"] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_learner_that_is_made_again_says_so() {
    let site = with_learner("memory").await;
    let view = site.state.learning.learner(&name("pupil")).unwrap();
    assert!(!site.get("/learning/pupil").await.body.contains("made again"));
    site.state.learning.show(LearnerView { is_remade: true, ..(*view).clone() });
    for path in ["/learning", "/learning/pupil"] {
        assert!(site.get(path).await.body.contains("is being made again"), "{path}");
    }
}

#[tokio::test]
async fn a_learner_that_keeps_weights_shows_those() {
    let site = with_learner("ntuple:plies=0").await;
    let page = site.get("/learning/pupil").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("aria-label=\"own ") && !page.body.contains("seen"), "{}", page.body);
    let weight =
        page.body.split("<div class=\"small number\">").nth(1).and_then(|rest| rest.split('<').next());
    let weight = weight.unwrap().trim_start_matches(['+', '−']);
    assert!(weight.parse::<u16>().is_ok(), "a whole number, as in reasons: {weight}");
    let more = "The first 60 of them; more are listed by <code>fourfold memory show --bot pupil</code>";
    assert!(page.body.contains(more), "{}", page.body);
}

#[tokio::test]
async fn a_memory_that_knows_nothing_yet_is_no_network() {
    let site = with_learner("memory").await;
    let empty = learners::fresh(&"memory".parse().unwrap(), Variant::STANDARD).unwrap().knowledge();
    assert!(empty.patterns().is_empty());
    let view = site.state.learning.learner(&name("pupil")).unwrap();
    site.state.learning.show(LearnerView { knowledge: LearnerKnowledge::new(empty), ..(*view).clone() });
    let page = site.get("/learning/pupil").await;
    assert!(page.body.contains("The most often seen first"), "{}", page.body);
}

#[tokio::test]
async fn the_game_of_a_learner_says_why() {
    let site = with_learner("memory").await;
    let list = site.get("/api/v1/games/g1/reasons").await.json();
    let said = &list["items"][0];
    assert_eq!((&said["ply"], &said["column"]), (&json!(1), &json!(1)));
    assert_eq!(
        said["reasons"][0],
        json!({ "column": 1, "weight": 105, "pattern": "own a1 a2 a3 a4", "seen": 3, "won": 2, "lost": 1 })
    );
    let plies = |list: &Value| -> Vec<(u64, usize)> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|it| (it["ply"].as_u64().unwrap(), it["reasons"].as_array().unwrap().len())).collect()
    };
    assert_eq!(plies(&list), [(1, 2), (3, 0), (5, 0), (7, 0)], "the moves of the learner, also silent ones");
    let page = site.get("/game/g1").await;
    for part in ["aria-label=\"own a1 a2 a3 a4\"", ">+105</strong> column 1<div class=\"soft small\">seen"] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    assert!(page.body.contains(">−7</strong> column 4</div>"), "no counts where there are none");
    assert_eq!(page.body.matches("No pattern decided: ").count(), 3, "{}", page.body);
    assert_eq!(page.body.matches("<ul class=\"voices\">").count(), 1, "no empty lists");
    for path in ["/api/v1/games/nothing/reasons", "/api/v1/games/%20/reasons"] {
        site.get(path).await.check_refused(404, "not_found", None);
    }
    let other = add(StoredPlayer { house: true, ..player("other", PlayerKind::Bot) });
    site.store.commit(&[other]).await.unwrap().remove(0).unwrap();
    play(&*site.store, spec("g2", "other", "pupil"), FIRST_WINS, Result_::First, EndReason::Four).await;
    let silent = site.get("/api/v1/games/g2/reasons").await.json();
    assert_eq!(plies(&silent), [(2, 0), (4, 0), (6, 0)], "who does not learn has nothing to say");
}

#[tokio::test]
async fn whoever_wants_keeps_the_own_games_out() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let ada = site.store.player_by_name(&name("Ada")).await.unwrap().unwrap().id;
    let path = "/api/v1/account/learning";
    let put = async |body: Value| site.as_page(Method::PUT, path, &cookie, &body).await;
    assert_eq!(put(json!({ "allowed": false })).await.status, StatusCode::NO_CONTENT);
    assert_eq!(site.store.teaching(&ada).await.unwrap(), Teaching::KeptOut);
    assert_eq!(put(json!({ "allowed": true })).await.status, StatusCode::NO_CONTENT);
    assert_eq!(site.store.teaching(&ada).await.unwrap(), Teaching::Allowed);
    for body in [json!({}), json!({ "allowed": "no" }), json!({ "allowed": true, "more": 1 })] {
        assert_eq!(put(body.clone()).await.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    }
    let stranger = site.as_page(Method::PUT, path, "", &json!({ "allowed": false })).await;
    stranger.check_refused(401, "unauthorized", None);
}

#[tokio::test]
async fn what_a_game_taught_is_told_by_the_moves_chosen_before_and_since() {
    let site = with_learner("memory").await;
    let lessons = site.get("/api/v1/games/g1/lessons").await.json();
    let rethought = json!([{ "ply": 3, "before": [1, 2, 3, 4, 5, 6, 7], "after": [4] }]);
    let lesson = json!({ "learner": "pupil", "changed": 147, "new": 30, "rethought": rethought });
    assert_eq!(lessons, json!({ "items": [lesson], "pending": [] }));
    for (path, found) in [("/game/g1", true), ("/learning/pupil", true), ("/learning", false)] {
        let page = site.get(path).await.body;
        assert!(page.contains("it would now play 1 move differently"), "{path}");
        assert_eq!(page.contains("any → 4"), found, "{path}");
        assert_eq!(page.matches("turn-before").count(), if found { 7 } else { 0 }, "{path}");
    }
    // Nobody has learnt from this one, and then nobody will.
    play(&*site.store, spec("g2", "pupil", "Ada"), FIRST_WINS, Result_::First, EndReason::Four).await;
    let view = site.state.learning.all().remove(0);
    for (stored, pending) in [(1, json!(["pupil"])), (2, json!([]))] {
        site.state.learning.show(LearnerView { stored, ..(*view).clone() });
        let lessons = site.get("/api/v1/games/g2/lessons").await.json();
        assert_eq!(lessons, json!({ "items": [], "pending": pending }), "stored up to {stored}");
        let page = site.get("/game/g2").await.body;
        assert!(!page.contains("id=\"taught\""));
        assert_eq!(page.contains("taught.js"), stored < 2, "the page looks for what comes");
    }
    assert_eq!(site.get("/api/v1/games/none/lessons").await.status, StatusCode::NOT_FOUND);
}
