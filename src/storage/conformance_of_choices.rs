//! What every back end must choose alike: finished games by opponent, outcome, length and the rest.

use std::collections::BTreeSet;

use super::conformance::{Fixture, add, add_players, after_noon, play, player, player_id, spec, void, write};
use super::filter::{Meeting, OutcomeOf, RecordFilter};
use super::record::GameSpec;
use super::store::{GamesWanted, Store};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameOutcome, GameResult};

/// Makes a test of each check.
macro_rules! conformance_of_choices {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_choices:
            games_are_chosen_by_what_they_were,
            a_choice_looks_at_so_many_games_and_goes_on_behind_them,
        );
    };
}
pub(crate) use conformance_of_choices;

/// Six games, of which Ada plays five: won, lost, drawn, void, won on a small board; deep is a bot.
async fn filled<F: Fixture>() -> F {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    write(&*store, add(player("deep", PlayerKind::Bot))).await.unwrap();
    let casual = |spec| GameSpec { rated: false, ..spec };
    let small = GameSpec { variant: "5x4".parse().unwrap(), ..casual(spec("g5", "Ada", "Eve")) };
    for (spec, moves, result) in [
        (spec("g1", "Ada", "Bob"), "1212121", GameResult::First),
        (casual(spec("g2", "Eve", "Ada")), "76767671", GameResult::First),
        (spec("g3", "Bob", "Ada"), "44", GameResult::Draw),
        (spec("g4", "Ada", "deep"), "4453", GameResult::Void),
        (small, "1212121", GameResult::First),
        (spec("g6", "deep", "Bob"), "445", GameResult::Second),
    ] {
        play(&*store, spec, moves, result, EndReason::Resign).await;
    }
    fixture
}

async fn ids(store: &dyn Store, wanted: GamesWanted) -> (Vec<String>, Option<u64>) {
    let chosen = store.chosen_games(&wanted).await.unwrap();
    (chosen.games.iter().map(|game| game.spec.id.to_string()).collect(), chosen.goes_on_before)
}

fn wanted(player: Option<&str>, filter: RecordFilter) -> GamesWanted {
    GamesWanted { player: player.map(player_id), filter, limit: 9, look_at: 99, ..GamesWanted::default() }
}

pub(crate) async fn games_are_chosen_by_what_they_were<F: Fixture>() {
    let fixture = filled::<F>().await;
    let store = fixture.store();
    let any = RecordFilter::default;
    let outcome =
        |outcome| RecordFilter { outcome: Some(OutcomeOf { player: player_id("Ada"), outcome }), ..any() };
    for (filter, of_ada, of_all) in [
        (any(), "g5 g4 g3 g2 g1", "g6 g5 g4 g3 g2 g1"),
        (RecordFilter { opponent: Some(player_id("Bob")), ..any() }, "g3 g1", "g6 g3 g1"),
        (RecordFilter { opponent: Some(player_id("nobody")), ..any() }, "", ""),
        (RecordFilter { meeting: Some(Meeting::People), ..any() }, "g5 g3 g2 g1", "g5 g3 g2 g1"),
        (RecordFilter { meeting: Some(Meeting::Mixed), ..any() }, "g4", "g6 g4"),
        (RecordFilter { meeting: Some(Meeting::Bots), ..any() }, "", ""),
        (RecordFilter { variant: "5x4".parse().ok(), ..any() }, "g5", "g5"),
        (RecordFilter { rated: Some(false), ..any() }, "g5 g4 g3 g2", "g6 g5 g4 g3 g2"),
        (RecordFilter { result: Some(GameResult::First), ..any() }, "g5 g2 g1", "g5 g2 g1"),
        (outcome(GameOutcome::Won), "g5 g1", "g5 g1"),
        (outcome(GameOutcome::Lost), "g2", "g2"),
        (outcome(GameOutcome::Drawn), "g3", "g3"),
        (outcome(GameOutcome::Void), "g4", "g4"),
        (RecordFilter { plies_min: Some(7), ..any() }, "g5 g2 g1", "g5 g2 g1"),
        (RecordFilter { plies_max: Some(3), ..any() }, "g3", "g6 g3"),
        (RecordFilter { plies_min: Some(3), plies_max: Some(7), ..any() }, "g5 g4 g1", "g6 g5 g4 g1"),
        (RecordFilter { opening: "44".parse().ok(), ..any() }, "g4 g3", "g6 g4 g3"),
        (RecordFilter { opening: "4453".parse().ok(), ..any() }, "g4", "g4"),
        (RecordFilter { until: Some(after_noon(3_500)), ..any() }, "g3", "g3"),
    ] {
        for (player, expected) in [(Some("Ada"), of_ada), (None, of_all)] {
            let (found, goes_on) = ids(&*store, wanted(player, filter.clone())).await;
            assert_eq!((found.join(" "), goes_on), (expected.to_owned(), None), "{player:?} {filter:?}");
        }
    }
    let since = GamesWanted { since: Some(after_noon(8_500)), ..wanted(Some("Ada"), any()) };
    assert_eq!(ids(&*store, since).await.0, ["g2"]);
    // One that was taken out counts no more.
    write(&*store, void("g1")).await.unwrap();
    let rated = wanted(Some("Ada"), RecordFilter { rated: Some(true), ..any() });
    let stored: BTreeSet<String> = ids(&*store, rated).await.0.into_iter().collect();
    let game = store.game(&"g1".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.contains("g1"), game.is_rated());
}

pub(crate) async fn a_choice_looks_at_so_many_games_and_goes_on_behind_them<F: Fixture>() {
    let fixture = filled::<F>().await;
    let store = fixture.store();
    for id in ["h1", "h2", "h3"] {
        play(&*store, spec(id, "Bob", "Eve"), "11", GameResult::Draw, EndReason::Full).await;
    }
    let won = RecordFilter { result: Some(GameResult::First), ..RecordFilter::default() };
    let page = |player, before, limit, look_at| {
        let filter = won.clone();
        ids(&*store, GamesWanted { before, limit, look_at, ..wanted(player, filter) })
    };
    let found = |ids: &[&str], goes_on| (ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), goes_on);
    // Numbers are 1 to 6 for g1 to g6, then 7 to 9.
    assert_eq!(page(Some("Ada"), None, 2, 99).await, found(&["g5", "g2"], Some(2)));
    assert_eq!(page(Some("Ada"), Some(2), 2, 99).await, found(&["g1"], None));
    assert_eq!(page(Some("Ada"), None, 3, 99).await, found(&["g5", "g2", "g1"], None));
    assert_eq!(page(Some("Ada"), None, 9, 3).await, found(&["g5"], Some(3)));
    assert_eq!(page(None, None, 9, 2).await, found(&[], Some(8)), "none of these is, and it goes on");
    assert_eq!(page(None, Some(8), 9, 3).await, found(&["g5"], Some(5)));
    assert_eq!(page(None, Some(1), 9, 3).await, found(&[], None));
    assert_eq!(page(Some("nobody"), None, 9, 3).await, found(&[], None));
}
