//! The part of the suite for all back ends that is about published ratings and games that are taken out.

use fourfold_engine::review::Skill;
use fourfold_engine::{BySide, Side, Variant, WinDrawLoss};

use super::conformance::{
    FIRST_WINS, FIRST_WINS_TOO, Fixture, add, add_players, after_noon, because, play, player, player_id,
    spec, whole_game,
};
use super::judgements::{Judgement, JudgingStep, PlayerSkill};
use super::moderation::Because;
use super::published::{Against, Publication, PublishedRating, RatedGame, VoidedGame};
use super::puzzles::Harvest;
use super::record::{EventKind, GamePair, GameSpec, OpeningSource, StoredPlayer, UnratedReason};
use super::refit::Refitting;
use super::resets::{NewReset, RatingReset, Resets};
use super::starts::Starts;
use super::store::{GameQuery, Refused, Store, Write, Written};
use crate::model::ids::GameId;
use crate::model::opening::OpeningKind;
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::rating::elo::MilliElo;
use crate::model::rating::newcomers::{DAY_MS, Footing};
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::operations::verify::verify;

/// Makes a test of each check.
macro_rules! conformance_of_ratings {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_ratings:
            rated_games_are_read_without_their_events,
            rated_games_of_people_leave_bots_and_others_out,
            results_by_correspondence_are_read_in_order,
            a_crosstable_counts_by_opponent_and_side,
            players_are_read_together,
            ratings_are_read_together,
            what_is_published_is_read_back_until_it_is_outdated,
            a_voided_game_is_as_if_never_rated,
            only_a_finished_game_is_voided_and_once,
            a_voided_game_says_nothing_about_skill,
            whoever_leaves_is_fitted_no_more,
            voids_survive_reopening,
            newcomers_are_worth_little,
            bots_of_the_house_begin_with_what_was_measured,
            games_taken_out_in_portions_leave_what_they_would_one_by_one,
            ratings_that_are_owed_rest_on_the_records_as_they_are,
            a_rating_that_begins_anew_is_that_of_a_newcomer,
            what_was_before_a_reset_is_settled_as_it_was,
        );
    };
}
pub(crate) use conformance_of_ratings;

const OTHERS: [&str; 4] = ["3343434", "5545454", "2232323", "6656565"];

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().pop().unwrap()
}

async fn first_wins(store: &dyn Store, spec: GameSpec, moves: &str) {
    play(store, spec, moves, GameResult::First, EndReason::Four).await;
}

fn void(game: &str) -> Write {
    let because = Because { at: after_noon(5), ..because("started twice") };
    Write::VoidGame { game: game.parse().unwrap(), because }
}

/// Four games: three rated, the second one casual.
async fn fill(store: &dyn Store) {
    add_players(store, &["Ada", "Bob", "Eve"]).await;
    let pair = Some(GamePair { id: "p".parse().unwrap(), leg: 1, of: 2 });
    let opening = OpeningSource { kind: OpeningKind::Balanced, moves: "44".into() };
    let in_pair = GameSpec { opening, pair, ..spec("g1", "Ada", "Bob") };
    first_wins(store, in_pair, FIRST_WINS).await;
    first_wins(store, GameSpec { rated: false, ..spec("g2", "Ada", "Bob") }, FIRST_WINS).await;
    first_wins(store, spec("g3", "Bob", "Ada"), FIRST_WINS).await;
    play(store, spec("g4", "Ada", "Eve"), "1234567", GameResult::Draw, EndReason::Full).await;
}

pub(crate) async fn rated_games_are_read_without_their_events<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    let games = store.rated_games(0, 10).await.unwrap();
    assert_eq!(games.iter().map(|game| game.number).collect::<Vec<_>>(), [1, 3, 4]);
    for game in &games {
        let whole = store.game(&game.id).await.unwrap().unwrap();
        assert_eq!(RatedGame::of(&whole).as_ref(), Some(game));
    }
    assert_eq!((games[0].opening_plies, games[0].moves.as_str()), (2, "441212121"));
    assert_eq!(store.rated_games(1, 1).await.unwrap(), [games[1].clone()]);
    assert!(store.rated_games(4, 10).await.unwrap().is_empty());
    let last = store.last_rated_games(&player_id("Ada"), Variant::STANDARD, 2).await.unwrap();
    assert_eq!(last, [games[2].clone(), games[1].clone()]);
    assert!(store.last_rated_games(&player_id("Ada"), "9x6".parse().unwrap(), 2).await.unwrap().is_empty());
    assert!(store.last_rated_games(&player_id("Zoe"), Variant::STANDARD, 2).await.unwrap().is_empty());
}

pub(crate) async fn rated_games_of_people_leave_bots_and_others_out<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    let bot = StoredPlayer { owner: Some(player_id("Ada")), ..player("robo", PlayerKind::Bot) };
    write(&*store, add(bot)).await.unwrap();
    first_wins(&*store, spec("g5", "robo", "Ada"), OTHERS[0]).await;
    first_wins(&*store, spec("g6", "Bob", "robo"), OTHERS[1]).await;
    let wide: Variant = "9x6".parse().unwrap();
    first_wins(&*store, GameSpec { variant: wide, ..spec("g7", "Ada", "Bob") }, FIRST_WINS).await;
    first_wins(&*store, spec("g8", "Bob", "Eve"), OTHERS[0]).await;
    let read = |variant, since, limit| {
        let store = store.clone();
        async move { store.rated_games_of_people(variant, since, limit).await.unwrap() }
    };
    let ever = UnixMillis(0);
    assert_eq!(read(Variant::STANDARD, ever, 10).await, [1, 3, 4, 8]);
    assert_eq!(read(Variant::STANDARD, ever, 2).await, [4, 8], "the last ones");
    assert_eq!(read(wide, ever, 10).await, [7]);
    let end = store.game(&"g8".parse().unwrap()).await.unwrap().unwrap().last_change();
    assert_eq!(read(Variant::STANDARD, UnixMillis(end.0 + 1), 10).await, [0_u64; 0]);
    assert_eq!(read(Variant::STANDARD, UnixMillis(i64::MAX), u32::MAX).await, [0_u64; 0]);
    write(&*store, void("g3")).await.unwrap();
    assert_eq!(read(Variant::STANDARD, ever, 10).await, [1, 4, 8], "what was taken out is none of them");
}

pub(crate) async fn results_by_correspondence_are_read_in_order<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for (number, moves) in (1..).zip([FIRST_WINS, FIRST_WINS_TOO, OTHERS[0], OTHERS[1]]) {
        let unrated_because = (number != 2).then_some(UnratedReason::Correspondence);
        let spec = GameSpec { unrated_because, ..spec(&format!("g{number}"), "Ada", "Bob") };
        first_wins(&*store, spec, moves).await;
    }
    let read = |after, limit| {
        let store = store.clone();
        async move {
            let results = store.correspondence_results(after, limit).await.unwrap();
            results.into_iter().map(|result| (result.number, result.moves)).collect::<Vec<_>>()
        }
    };
    let [one, three, four] =
        [(1, FIRST_WINS), (3, OTHERS[0]), (4, OTHERS[1])].map(|(n, moves)| (n, moves.to_owned()));
    assert_eq!(read(0, 10).await, [one.clone(), three.clone(), four.clone()]);
    assert_eq!(read(1, 1).await, [three]);
    assert_eq!(read(4, 10).await, []);
    assert_eq!(store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap().unwrap().standing.games, 1);
    write(&*store, void("g3")).await.unwrap();
    assert_eq!(read(0, 10).await, [one, four], "what was taken out is none of them");
}

pub(crate) async fn a_crosstable_counts_by_opponent_and_side<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    let rows = store.crosstable(&player_id("Ada"), Variant::STANDARD, 10).await.unwrap();
    let ended = |wins, draws, losses| WinDrawLoss { wins, draws, losses };
    let bob = Against {
        opponent: player_id("Bob"),
        score: BySide { first: ended(1, 0, 0), second: ended(0, 0, 1) },
    };
    let eve = Against {
        opponent: player_id("Eve"),
        score: BySide { first: ended(0, 1, 0), second: ended(0, 0, 0) },
    };
    assert_eq!(rows, [bob.clone(), eve]);
    assert_eq!(store.crosstable(&player_id("Ada"), Variant::STANDARD, 1).await.unwrap(), [bob]);
    assert!(store.crosstable(&player_id("Zoe"), Variant::STANDARD, 9).await.unwrap().is_empty());
}

pub(crate) async fn players_are_read_together<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    let ids = ["Eve", "Zoe", "Ada"].map(player_id);
    let mut found = store.players(&ids).await.unwrap();
    found.sort_by_key(|player| player.name.key());
    assert_eq!(found.iter().map(|player| player.name.as_str()).collect::<Vec<_>>(), ["Ada", "Eve"]);
    assert!(store.players(&[]).await.unwrap().is_empty());
}

pub(crate) async fn ratings_are_read_together<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    add_players(&*store, &["Fay"]).await;
    let ids = ["Eve", "Zoe", "Fay", "Ada"].map(player_id);
    let mut found = store.ratings_of_players(&ids, Variant::STANDARD).await.unwrap();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut expected = Vec::new();
    for id in ["Ada", "Eve"].map(player_id) {
        let row = store.rating(&id, Variant::STANDARD).await.unwrap().unwrap();
        expected.push((id, row));
    }
    assert_eq!(found, expected, "neither a stranger nor who has not played");
    assert!(store.ratings_of_players(&[], Variant::STANDARD).await.unwrap().is_empty());
    assert!(store.ratings_of_players(&ids, "9x6".parse().unwrap()).await.unwrap().is_empty());
}

fn publication(revision: u64) -> Publication {
    let rating = |population, name, elo| PublishedRating {
        variant: Variant::STANDARD,
        population,
        player: player_id(name),
        elo: MilliElo(elo),
        error: 31_415,
        games: 2,
    };
    Publication {
        revision,
        up_to: Some(4),
        ratings: vec![
            rating(Population::All, "Ada", -12_345),
            rating(Population::All, "Bob", 12_345),
            rating(Population::Bots, "Bob", 0),
        ],
    }
}

pub(crate) async fn what_is_published_is_read_back_until_it_is_outdated<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    assert_eq!(store.publication().await.unwrap(), Publication::default());
    for _ in 0..2 {
        write(&*store, Write::Publish(Box::new(publication(0)))).await.unwrap();
        assert_eq!(store.publication().await.unwrap(), publication(0));
    }
    let early = Write::Publish(Box::new(publication(1)));
    assert_eq!(write(&*store, early.clone()).await, Err(Refused::Outdated));
    write(&*store, void("g1")).await.unwrap();
    assert_eq!(store.publication().await.unwrap(), Publication { revision: 1, ..Publication::default() });
    assert_eq!(store.revision().await.unwrap(), 1);
    let late = Write::Publish(Box::new(publication(0)));
    assert_eq!(write(&*store, late).await, Err(Refused::Outdated));
    write(&*store, early).await.unwrap();
}

pub(crate) async fn a_voided_game_is_as_if_never_rated<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    // The sixth repeats the first, the seventh the second: among the last three there is neither.
    let played = [FIRST_WINS, FIRST_WINS_TOO, OTHERS[0], OTHERS[1], OTHERS[1], FIRST_WINS, FIRST_WINS_TOO];
    for (number, moves) in (1..).zip(played) {
        let spec = spec(&format!("g{number}"), "Ada", "Bob");
        play(&*store, spec, moves, GameResult::First, EndReason::Resign).await;
    }
    let repeated = store.game(&"g5".parse().unwrap()).await.unwrap().unwrap().settlement.unwrap();
    assert_eq!(repeated.unrated_because, Some(UnratedReason::Repeated));
    write(&*store, void("g4")).await.unwrap();

    let other = F::create().await;
    let without = other.store();
    add_players(&*without, &["Ada", "Bob"]).await;
    for (number, moves) in (1..).zip(played).filter(|(number, _)| *number != 4) {
        let spec = spec(&format!("g{number}"), "Ada", "Bob");
        play(&*without, spec, moves, GameResult::First, EndReason::Resign).await;
    }
    for name in ["Ada", "Bob"] {
        let rating = |store: std::sync::Arc<dyn Store>| async move {
            store.rating(&player_id(name), Variant::STANDARD).await.unwrap()
        };
        assert_eq!(rating(store.clone()).await, rating(without.clone()).await);
    }
    let settlement = |store: std::sync::Arc<dyn Store>, id: &'static str| async move {
        let settlement = store.game(&id.parse().unwrap()).await.unwrap().unwrap().settlement.unwrap();
        (settlement.ratings, settlement.unrated_because)
    };
    assert_eq!(settlement(store.clone(), "g4").await, (None, Some(UnratedReason::Voided)));
    for id in ["g3", "g5", "g6", "g7"] {
        assert_eq!(settlement(store.clone(), id).await, settlement(without.clone(), id).await, "{id}");
    }
    assert!(settlement(store.clone(), "g5").await.0.is_some(), "it repeats nothing any more");
}

pub(crate) async fn only_a_finished_game_is_voided_and_once<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    write(&*store, Write::StartGame(spec("live", "Ada", "Bob"))).await.unwrap();
    assert_eq!(write(&*store, void("live")).await, Err(Refused::NoSuchGame));
    assert_eq!(write(&*store, void("none")).await, Err(Refused::NoSuchGame));
    write(&*store, void("g3")).await.unwrap();
    assert_eq!(write(&*store, void("g3")).await, Err(Refused::AlreadyVoided));
    // A casual one moves nothing, and yet teaches nobody any more.
    let before = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap();
    write(&*store, void("g2")).await.unwrap();
    assert_eq!(store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap(), before);
    let game = store.game(&"g2".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(game.settlement.unwrap().unrated_because, Some(UnratedReason::Voided));
}

pub(crate) async fn a_voided_game_says_nothing_about_skill<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    let skill = |good| Skill { moves: 4, good, optimal: 1, decisions: 2, good_decisions: 1, loss: 3 };
    let judged = |first, second| Judgement::Judged(BySide { first: skill(first), second: skill(second) });
    let games = vec![(1, judged(4, 3)), (3, judged(2, 1))];
    let step = JudgingStep::in_order(0, games);
    write(&*store, Write::StepJudging(Box::new(step))).await.unwrap();
    let of_ada = |games, skill| vec![(Variant::STANDARD, PlayerSkill { games, skill })];
    let both = Skill { moves: 8, good: 5, optimal: 2, decisions: 4, good_decisions: 2, loss: 6 };
    assert_eq!(store.skills_of(&player_id("Ada")).await.unwrap(), of_ada(2, both));
    write(&*store, void("g1")).await.unwrap();
    assert_eq!(store.skills_of(&player_id("Ada")).await.unwrap(), of_ada(1, skill(1)));
    write(&*store, void("g3")).await.unwrap();
    assert!(store.skills_of(&player_id("Ada")).await.unwrap().is_empty());
}

pub(crate) async fn whoever_leaves_is_fitted_no_more<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    write(&*store, Write::Publish(Box::new(publication(0)))).await.unwrap();
    let retire = Write::Retire { player: player_id("Bob"), name: "gone-1".parse().unwrap() };
    write(&*store, retire).await.unwrap();
    assert_eq!(store.publication().await.unwrap(), Publication { revision: 1, ..Publication::default() });
    let nobody = Write::Retire { player: player_id("Zoe"), name: "gone-2".parse().unwrap() };
    assert_eq!(write(&*store, nobody).await, Err(Refused::NoSuchPlayer));
    assert_eq!(store.revision().await.unwrap(), 1);
}

pub(crate) async fn voids_survive_reopening<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill(&*store).await;
    write(&*store, void("g1")).await.unwrap();
    let rating = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap(), rating);
    let voided =
        VoidedGame { game: "g1".parse().unwrap(), reason: "started twice".into(), at: after_noon(5) };
    assert_eq!(store.voided_games().await.unwrap(), [voided]);
    assert_eq!(store.rated_games(0, 10).await.unwrap().len(), 2);
}

/// A game that its first player wins, ended so long after noon; the opponent is somebody of this footing.
pub(crate) async fn wins_over(store: &dyn Store, number: u32, opponent: (&str, Footing), ended_ms: i64) {
    let (name, second) = opponent;
    // Seven courses, so that no game repeats one of the last three of the same two.
    let moves: String =
        (0..8).map(|ply| char::from(b'1' + u8::try_from((number / 2 + ply) % 7).unwrap())).collect();
    let footing = Some(BySide { first: Footing::Settled, second });
    let spec = GameSpec { footing, ..spec(&format!("n{number}"), "Ada", name) };
    let mut events = whole_game(&moves, GameResult::First, EndReason::Resign);
    for event in &mut events {
        event.at = after_noon(ended_ms);
        if let EventKind::Finished(ending) = &mut event.kind {
            ending.by = Some(Side::Second);
        }
    }
    let finish = Write::Finish { game: spec.id.clone(), events };
    for answer in store.commit(&[Write::StartGame(spec), finish]).await.unwrap() {
        answer.unwrap();
    }
}

/// What so many games won did to the winner's and to the last loser's rating, in thousandths.
async fn changes_by(store: &dyn Store, number: u32) -> (i64, i64) {
    let game = store.game(&format!("n{number}").parse().unwrap()).await.unwrap().unwrap();
    let ratings = game.settlement.unwrap().ratings.unwrap();
    (ratings.first.delta, ratings.second.delta)
}

pub(crate) async fn newcomers_are_worth_little<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Cid", "deep"]).await;
    for number in 0..22 {
        // Two newcomers, so that it is the sum of all that counts.
        let name = if number % 2 == 0 { "Bob" } else { "Cid" };
        wins_over(&*store, number, (name, Footing::Young), i64::from(number)).await;
    }
    assert_eq!(changes_by(&*store, 0).await, (2_000, -2_000), "both are newcomers");
    assert_eq!(changes_by(&*store, 19).await, (2_000, -2_000));
    assert_eq!(changes_by(&*store, 20).await.0, 0, "the day's forty points are won");
    let ada = async || {
        let row = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap().unwrap();
        row.standing.rating.0 - MilliElo::START.0
    };
    assert_eq!(ada().await, 40_000);
    // The opponents of somebody with twenty games lose what they always lose; bots of the house are worth the same.
    assert!(changes_by(&*store, 21).await.1 < -2_000);
    wins_over(&*store, 30, ("deep", Footing::House), 100).await;
    assert!(changes_by(&*store, 30).await.0 > 2_000);
    // The first of the gains is a day old, then the second too.
    wins_over(&*store, 38, ("Bob", Footing::Young), DAY_MS).await;
    assert_eq!(changes_by(&*store, 38).await.0, 2_000);
    wins_over(&*store, 39, ("Cid", Footing::Young), DAY_MS).await;
    assert_eq!(changes_by(&*store, 39).await.0, 0);
    // Without one of them, a later one counts in its place.
    write(&*store, void("n3")).await.unwrap();
    assert_eq!(changes_by(&*store, 20).await.0, 2_000);
    assert_eq!(changes_by(&*store, 21).await.0, 0);
    let game = store.game(&"n20".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(game.spec.footing, Some(BySide { first: Footing::Settled, second: Footing::Young }));
}

pub(crate) async fn bots_of_the_house_begin_with_what_was_measured<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let start = MilliElo(1_756_000);
    let perfect = StoredPlayer { house: true, start: Some(start), ..player("perfect", PlayerKind::Bot) };
    write(&*store, add(perfect.clone())).await.unwrap();
    add_players(&*store, &["Ada"]).await;
    assert_eq!(store.player(&perfect.id).await.unwrap(), Some(perfect));
    let larger = GameSpec { variant: "8x7".parse().unwrap(), ..spec("g2", "Ada", "perfect") };
    first_wins(&*store, spec("g1", "Ada", "perfect"), FIRST_WINS).await;
    first_wins(&*store, larger, FIRST_WINS).await;
    first_wins(&*store, spec("g3", "Ada", "perfect"), FIRST_WINS_TOO).await;
    let before = async |id: &str| {
        let settlement = store.game(&id.parse().unwrap()).await.unwrap().unwrap().settlement.unwrap();
        settlement.ratings.unwrap().map(|entry| entry.before)
    };
    assert_eq!(before("g1").await, BySide { first: MilliElo::START, second: start });
    assert_eq!(
        before("g2").await,
        BySide { first: MilliElo::START, second: MilliElo::START },
        "another board"
    );
    assert!(before("g3").await.second < start, "it goes on from there");
    // The same where all is settled again.
    write(&*store, void("g1")).await.unwrap();
    assert_eq!(before("g3").await, BySide { first: MilliElo::START, second: start });
    assert_eq!(verify(&*store).await.unwrap().findings, Vec::<String>::new());
}

/// Thirty rated games of three players, and what the judge says of some of them.
async fn fill_more(store: &dyn Store) {
    add_players(store, &["Ada", "Bob", "Eve"]).await;
    for n in 0..30 {
        let (first, second) = [("Ada", "Bob"), ("Bob", "Eve"), ("Eve", "Ada")][n % 3];
        let id = format!("m{n}");
        let moves = format!("1357246{}{}", 1 + n % 7, 1 + n / 7);
        let footing = Some(BySide { first: Footing::Young, second: Footing::Settled });
        let game = GameSpec { footing, ..spec(&id, first, second) };
        play(store, game, &moves, GameResult::First, EndReason::Resign).await;
    }
    let skill =
        |n: u64| Skill { moves: 4 + n, good: 3, optimal: 2, decisions: 2, good_decisions: 1, loss: n };
    let games = (1..=20).map(|n| (n, Judgement::Judged(BySide { first: skill(n), second: skill(2 * n) })));
    let harvest = Harvest { puzzles: vec![], keep: 0 };
    let step = JudgingStep { from: 0, games: games.collect(), ahead: vec![], harvest };
    write(store, Write::StepJudging(Box::new(step))).await.unwrap();
}

/// All games of Ada, a few at a time.
fn games_of_ada() -> Vec<GameId> {
    (0..30).filter(|n| n % 3 != 1).map(|n| format!("m{n}").parse().unwrap()).collect()
}

/// Writes what is owed, `portion` games at a time; as many portions as there are, or as asked for.
async fn refit(store: &dyn Store, portion: u32, portions: usize) -> bool {
    let (_, after) = store.owed_ratings().await.unwrap()[0];
    let revision = store.revision().await.unwrap();
    let mut refitting =
        Refitting::new(Variant::STANDARD, Starts::default(), &Resets::default(), revision, after);
    let (mut last, mut written) = (0, 0);
    while written < portions {
        let games = store.refit_games(Variant::STANDARD, last, portion).await.unwrap();
        let Some(game) = games.last() else {
            let step = Write::Refit(Box::new(refitting.ratings()));
            return write(store, step).await.is_ok();
        };
        last = game.number;
        if let Some(step) = refitting.settle(games) {
            write(store, Write::Refit(Box::new(step))).await.unwrap();
            written += 1;
        }
    }
    false
}

/// All that ratings are.
async fn all_of(store: &dyn Store) -> String {
    let mut ratings = store.audit_ratings().await.unwrap();
    ratings.sort_by_key(|(player, ..)| player.clone());
    let mut skills = store.skills(Variant::STANDARD).await.unwrap();
    skills.sort_by_key(|(player, _)| player.clone());
    let games = store.finished_games(&GameQuery { limit: 100, ..GameQuery::default() }).await.unwrap();
    let settled: Vec<_> = games.into_iter().map(|game| game.settlement).collect();
    format!("{ratings:#?}{skills:#?}{settled:#?}")
}

pub(crate) async fn games_taken_out_in_portions_leave_what_they_would_one_by_one<F: Fixture>() {
    let (fixture, other) = (F::create().await, F::create().await);
    let (store, one_by_one) = (fixture.store(), other.store());
    fill_more(&*store).await;
    fill_more(&*one_by_one).await;
    for game in games_of_ada() {
        write(&*one_by_one, void(game.as_str())).await.unwrap();
    }
    let because = because("a program played for her");
    for games in games_of_ada().chunks(7) {
        let games = games.to_vec();
        // The second time as after an answer that was lost.
        for _ in 0..2 {
            let write_some = Write::VoidGames { games: games.clone(), because: because.clone() };
            write(&*store, write_some).await.unwrap();
        }
    }
    assert_eq!(store.games_that_count(&player_id("Ada"), 0, 100).await.unwrap(), []);
    assert_eq!(store.games_that_count(&player_id("Bob"), 5, 2).await.unwrap().len(), 2);
    assert_eq!(store.owed_ratings().await.unwrap(), [(Variant::STANDARD, 0)]);
    assert_eq!(store.voided_games().await.unwrap().len(), 20);
    assert!(!refit(&*store, 4, 3).await);
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let (_, after) = store.owed_ratings().await.unwrap()[0];
    assert_eq!(after, 12);
    assert!(refit(&*store, 5, 100).await);
    assert_eq!(store.owed_ratings().await.unwrap(), []);
    assert_eq!(all_of(&*store).await, all_of(&*one_by_one).await);
}

pub(crate) async fn ratings_that_are_owed_rest_on_the_records_as_they_are<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill_more(&*store).await;
    let games = vec!["m20".parse().unwrap(), "m21".parse().unwrap(), "gone".parse().unwrap()];
    write(&*store, Write::VoidGames { games, because: because("a test") }).await.unwrap();
    assert_eq!(store.owed_ratings().await.unwrap(), [(Variant::STANDARD, 20)]);
    let revision = store.revision().await.unwrap();
    let games = store.refit_games(Variant::STANDARD, 0, 100).await.unwrap();
    let outdated = [(revision - 1, 20), (revision, 19), (revision, 21)];
    for (revision, after) in outdated {
        let step = Refitting::new(Variant::STANDARD, Starts::default(), &Resets::default(), revision, after)
            .settle(games.clone())
            .unwrap();
        assert_eq!(write(&*store, Write::Refit(Box::new(step))).await, Err(Refused::Outdated));
    }
    let mut refitting =
        Refitting::new(Variant::STANDARD, Starts::default(), &Resets::default(), revision, 20);
    let step = refitting.settle(games).unwrap();
    write(&*store, Write::Refit(Box::new(step))).await.unwrap();
    // A game that finishes meanwhile is one more to settle.
    first_wins(&*store, spec("late", "Ada", "Eve"), FIRST_WINS).await;
    let all = Write::Refit(Box::new(refitting.ratings()));
    assert_eq!(write(&*store, all).await, Err(Refused::Outdated));
    assert!(refit(&*store, 100, 100).await);
    assert_eq!(store.revision().await.unwrap(), revision + 1);
}

fn new_reset(at_ms: i64, not_since_ms: i64) -> NewReset {
    NewReset {
        player: player_id("Robo"),
        at: after_noon(at_ms),
        version: "2".into(),
        reason: "a tree search".into(),
        not_since: after_noon(not_since_ms),
    }
}

fn reset(at_ms: i64, not_since_ms: i64) -> Write {
    Write::ResetRating(new_reset(at_ms, not_since_ms))
}

/// Ada's bot has beaten Bob, began anew in the same commit, and beat him once more.
async fn fill_two_eras(store: &dyn Store) {
    add_players(store, &["Ada", "Bob"]).await;
    let robo = StoredPlayer { owner: Some(player_id("Ada")), ..player("Robo", PlayerKind::Bot) };
    write(store, add(robo)).await.unwrap();
    first_wins(store, spec("g1", "Robo", "Bob"), FIRST_WINS).await;
    let game = spec("g2", "Bob", "Robo");
    let events = whole_game(OTHERS[0], GameResult::First, EndReason::Resign);
    let finish = Write::Finish { game: game.id.clone(), events };
    let answers = store.commit(&[Write::StartGame(game), finish, reset(1, 0)]).await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    play(store, spec("g3", "Robo", "Bob"), OTHERS[1], GameResult::First, EndReason::Resign).await;
}

pub(crate) async fn a_rating_that_begins_anew_is_that_of_a_newcomer<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill_two_eras(&*store).await;
    let row = store.rating(&player_id("Robo"), Variant::STANDARD).await.unwrap().unwrap();
    assert_eq!((row.standing.games, row.score.wins), (1, 1));
    let entry = |id: &str| {
        let id: GameId = id.parse().unwrap();
        let store = &store;
        async move { store.game(&id).await.unwrap().unwrap().settlement.unwrap().ratings.unwrap() }
    };
    let newcomer = entry("g1").await.first.before;
    assert_ne!(entry("g2").await.second.before, newcomer);
    assert_eq!(entry("g3").await.first.before, newcomer);
    assert_eq!(entry("g3").await.second.before, entry("g2").await.first.after, "opponents go on");
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
    let kept = RatingReset {
        player: player_id("Robo"),
        at: after_noon(1),
        after: 2,
        version: "2".into(),
        reason: "a tree search".into(),
    };
    let of_robo = store.rating_resets(Some(&player_id("Robo"))).await.unwrap();
    assert_eq!((store.rating_resets(None).await.unwrap(), of_robo), (vec![kept.clone()], vec![kept]));
    assert_eq!(store.rating_resets(Some(&player_id("Bob"))).await.unwrap(), []);
    let revision = store.revision().await.unwrap();
    assert_eq!(write(&*store, reset(9, 0)).await, Err(Refused::TooMany));
    assert_eq!(write(&*store, reset(1, 9)).await, Err(Refused::TooMany), "twice in one moment");
    let person = NewReset { player: player_id("Ada"), ..new_reset(9, 8) };
    assert_eq!(write(&*store, Write::ResetRating(person)).await, Err(Refused::NoSuchPlayer));
    assert_eq!(store.revision().await.unwrap(), revision);
    write(&*store, reset(9, 8)).await.unwrap();
    assert_eq!(store.rating(&player_id("Robo"), Variant::STANDARD).await.unwrap(), None);
    assert!(store.revision().await.unwrap() > revision);
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Robo"), name }).await.unwrap();
    let words: Vec<_> = store.rating_resets(None).await.unwrap();
    assert!(words.len() == 2 && words.iter().all(|reset| reset.reason.is_empty()), "{words:?}");
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
}

pub(crate) async fn what_was_before_a_reset_is_settled_as_it_was<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    fill_two_eras(&*store).await;
    write(&*store, void("g1")).await.unwrap();
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
    let row = store.rating(&player_id("Robo"), Variant::STANDARD).await.unwrap().unwrap();
    assert_eq!((row.standing.games, row.score.wins), (1, 1), "of the new era alone");
    write(&*store, reset(9, 8)).await.unwrap();
    write(&*store, void("g2")).await.unwrap();
    assert_eq!(store.rating(&player_id("Robo"), Variant::STANDARD).await.unwrap(), None);
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
    let games = vec!["g3".parse().unwrap()];
    write(&*store, Write::VoidGames { games, because: because("all of them") }).await.unwrap();
    let (revision, resets) =
        (store.revision().await.unwrap(), Resets::of(&store.rating_resets(None).await.unwrap()));
    let owed = store.owed_ratings().await.unwrap();
    let (variant, after) = owed[0];
    let mut refitting = Refitting::new(variant, Starts::default(), &resets, revision, after);
    let games = store.refit_games(variant, 0, 100).await.unwrap();
    if let Some(step) = refitting.settle(games) {
        write(&*store, Write::Refit(Box::new(step))).await.unwrap();
    }
    write(&*store, Write::Refit(Box::new(refitting.ratings()))).await.unwrap();
    assert_eq!(verify(&*store).await.unwrap().findings, [""; 0]);
}
