//! What every store must do alike with private games.

use super::conformance::{FIRST_WINS, Fixture, add_players, play, player_id, spec};
use super::games::{GameQuery, SeenBy};
use super::record::{GameSpec, UnratedReason};
use super::store::Store;
use crate::model::result::{EndReason, GameResult};

fn private(id: &str, first: &str, second: &str) -> GameSpec {
    GameSpec { rated: false, unrated_because: Some(UnratedReason::Private), ..spec(id, first, second) }
}

async fn ids(store: &dyn Store, query: GameQuery) -> Vec<String> {
    let games = store.finished_games(&query).await.unwrap();
    games.iter().map(|game| game.spec.id.to_string()).collect()
}

pub(crate) async fn private_games_are_read_for_their_players_and_the_arena_alone<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    let casual = |id, first, second| GameSpec { rated: false, ..spec(id, first, second) };
    for spec in [
        casual("g1", "Ada", "Bob"),
        private("g2", "Ada", "Bob"),
        private("g3", "Eve", "Ada"),
        casual("g4", "Bob", "Eve"),
        private("g5", "Bob", "Ada"),
    ] {
        play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let by = |name: &str| SeenBy::Player(player_id(name));
    for (seen_by, of_all, of_ada) in [
        (SeenBy::Arena, "g1 g2 g3 g4 g5", "g1 g2 g3 g5"),
        (SeenBy::Everybody, "g1 g4", "g1"),
        (by("Ada"), "g1 g2 g3 g4 g5", "g1 g2 g3 g5"),
        (by("Bob"), "g1 g2 g4 g5", "g1 g2 g5"),
        (by("Eve"), "g1 g3 g4", "g1 g3"),
        (by("nobody"), "g1 g4", "g1"),
    ] {
        for (player, expected) in [(None, of_all), (Some(player_id("Ada")), of_ada)] {
            let query = GameQuery { player, seen_by: seen_by.clone(), limit: 9, ..GameQuery::default() };
            assert_eq!(ids(&*store, query.clone()).await.join(" "), expected, "{seen_by:?}");
            let newest = GameQuery { newest_first: true, ..query };
            let mut found = ids(&*store, newest.clone()).await;
            found.reverse();
            assert_eq!(found.join(" "), expected, "{seen_by:?}, the newest first");
            // A page is full although games between were left out.
            let two = ids(&*store, GameQuery { limit: 2, ..newest }).await.len();
            assert_eq!(two, expected.split(' ').count().min(2), "{seen_by:?}");
        }
    }
    let settled = store.game(&"g2".parse().unwrap()).await.unwrap().unwrap();
    assert!(settled.spec.is_private(), "whoever has the address finds it");
    assert_eq!(settled.settlement.unwrap().unrated_because, Some(UnratedReason::Private));
}

/// All of them, one test each.
macro_rules! conformance_of_privacy {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_privacy:
            private_games_are_read_for_their_players_and_the_arena_alone,
        );
    };
}
pub(crate) use conformance_of_privacy;
