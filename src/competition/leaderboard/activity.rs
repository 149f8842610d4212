//! What a player did on which day, from the newest games. Pure.

use fourfold_engine::{Side, SideResult, Variant, WinDrawLoss};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::clock::takes_days;
use crate::model::ids::PlayerId;
use crate::model::rating::elo::MilliElo;
use crate::model::time::{Day, UnixMillis};
use crate::storage::games::{GamesWanted, SeenBy};
use crate::storage::record::StoredGame;

/// Days that are looked at, today among them.
pub(crate) const DAYS: i64 = 14;

/// Games that are looked at: more than a person plays in two weeks, and few enough for a page. Of whoever plays more
/// the days before are left out.
pub(crate) const GAMES_MAX: u32 = 200;

/// How games are told apart, in the order in which they are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    /// They moved the rating of games at the board.
    Rated,
    /// They moved none.
    Casual,
    /// With days for each move, rated or not.
    Correspondence,
}

/// Games of one sort on one board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Played {
    pub(crate) sort: Sort,
    pub(crate) variant: Variant,
    /// As the player sees them.
    pub(crate) score: WinDrawLoss,
    /// Before the first of them and after the last, of rated games.
    pub(crate) rating: Option<(MilliElo, MilliElo)>,
}

/// A day on which games of the player ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ActiveDay {
    pub(crate) day: Day,
    pub(crate) played: Vec<Played>,
    /// How many different ones there were.
    pub(crate) opponents: usize,
}

/// The games that are looked at, as somebody may see them.
pub(crate) fn wanted(player: &PlayerId, now: UnixMillis, seen_by: SeenBy) -> GamesWanted {
    let since = Day::of(now).before(DAYS - 1).begin();
    GamesWanted {
        player: Some(player.clone()),
        since: Some(since),
        seen_by,
        limit: GAMES_MAX,
        look_at: GAMES_MAX,
        ..GamesWanted::default()
    }
}

/// The days, the newest first, from games of the player, the newest first. Of games that are not all that were played
/// the last day has but a part, and is left out unless there is no other.
pub(crate) fn active_days(player: &PlayerId, games: &[StoredGame], are_all: bool) -> Vec<ActiveDay> {
    let mut days: Vec<(ActiveDay, Vec<&PlayerId>)> = Vec::new();
    for game in games {
        let (Some(ending), Some(last)) = (game.ending(), game.events.last()) else { continue };
        let side = if game.spec.players.first == *player { Side::First } else { Side::Second };
        let Some(result) = ending.result.seen_by(side) else { continue };
        let day = Day::of(last.at);
        if days.last().is_none_or(|(known, _)| known.day != day) {
            days.push((ActiveDay { day, played: Vec::new(), opponents: 0 }, Vec::new()));
        }
        if let Some((known, opponents)) = days.last_mut() {
            known.count(game, side, result);
            opponents.push(&game.spec.players[side.opponent()]);
        }
    }
    if !are_all && days.len() > 1 {
        days.pop();
    }
    let counted = days.into_iter().map(|(mut day, mut opponents)| {
        opponents.sort_unstable();
        opponents.dedup();
        day.opponents = opponents.len();
        day.played.sort_by_key(|played| (played.sort, played.variant.to_string()));
        day
    });
    counted.collect()
}

impl ActiveDay {
    /// One more game, that ended before those that were counted.
    fn count(&mut self, game: &StoredGame, side: Side, result: SideResult) {
        let entry = game.settlement.as_ref().and_then(|settled| settled.ratings).map(|ratings| ratings[side]);
        let sort = match entry {
            _ if takes_days(game.spec.time) => Sort::Correspondence,
            Some(_) => Sort::Rated,
            None => Sort::Casual,
        };
        let variant = game.spec.variant;
        let same = |played: &&mut Played| (played.sort, played.variant) == (sort, variant);
        let Some(played) = self.played.iter_mut().find(same) else {
            let mut score = WinDrawLoss::default();
            score.count(result);
            let rating = entry.filter(|_| sort == Sort::Rated).map(|entry| (entry.before, entry.after));
            self.played.push(Played { sort, variant, score, rating });
            return;
        };
        played.score.count(result);
        if let (Some((before, _)), Some(entry)) = (&mut played.rating, entry) {
            *before = entry.before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::TimeControl;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, player_id, spec};
    use crate::storage::games::GameStore as _;
    use crate::storage::ratings::RatingStore as _;
    use crate::storage::record::GameSpec;

    #[tokio::test]
    async fn a_day_has_games_by_sort_and_board_and_the_way_of_the_rating() {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob", "Eve"]).await;
        let ada = player_id("Ada");
        let days = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(3 * 86_400_000) };
        let casual = |spec: GameSpec| GameSpec { rated: false, ..spec };
        let win = (GameResult::First, EndReason::Four);
        for (spec, (result, reason)) in [
            (spec("a", "Ada", "Bob"), win),
            (spec("b", "Bob", "Ada"), win),
            (casual(spec("c", "Ada", "Eve")), win),
            (GameSpec { time: days, ..casual(spec("d", "Ada", "Eve")) }, win),
            (casual(spec("e", "Ada", "Eve")), (GameResult::Void, EndReason::Aborted)),
        ] {
            let moves = if result == GameResult::Void { "" } else { FIRST_WINS };
            play(&store, spec, moves, result, reason).await;
        }
        let games = store.chosen_games(&wanted(&ada, UnixMillis(0), SeenBy::Everybody)).await.unwrap().games;
        assert_eq!(games.len(), 5);
        let [day] = active_days(&ada, &games, true).try_into().unwrap();
        assert_eq!(day.opponents, 2);
        let of = |played: &Played| (played.sort, played.score.wins, played.score.losses, played.score.draws);
        let expected = [(Sort::Rated, 1, 1, 0), (Sort::Casual, 1, 0, 0), (Sort::Correspondence, 1, 0, 0)];
        assert_eq!(day.played.iter().map(of).collect::<Vec<_>>(), expected);
        let entries: Vec<_> = store.rating_history(&ada, Variant::STANDARD, None, 9).await.unwrap();
        let way = (entries[0].before, entries[1].after);
        assert_eq!(day.played[0].rating, Some(way));
        assert!(day.played[1..].iter().all(|played| played.rating.is_none()));
        assert_eq!(active_days(&ada, &games, false).len(), 1, "a part is better than nothing");
    }

    #[tokio::test]
    async fn days_begin_at_midnight_and_one_that_is_cut_is_left_out() {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        let ada = player_id("Ada");
        play(&store, spec("a", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        let game = store.chosen_games(&wanted(&ada, UnixMillis(0), SeenBy::Everybody)).await.unwrap().games;
        let at = |at: UnixMillis| {
            let mut game = game[0].clone();
            game.events.last_mut().unwrap().at = at;
            game
        };
        let midnight = "2026-03-01".parse::<Day>().unwrap().begin();
        let games = [at(midnight), at(UnixMillis(midnight.0 - 1)), at(UnixMillis(midnight.0 - 2))];
        let days = active_days(&ada, &games, true);
        let shown: Vec<_> = days.iter().map(|day| (day.day.to_string(), day.played[0].score.wins)).collect();
        assert_eq!(shown, [("2026-03-01".to_owned(), 1), ("2026-02-28".to_owned(), 2)]);
        assert_eq!(active_days(&ada, &games, false), days[..1]);
        assert_eq!(active_days(&ada, &[], false), []);
        for extreme in [i64::MIN, i64::MAX] {
            assert_eq!(active_days(&ada, &[at(UnixMillis(extreme))], true).len(), 1);
            wanted(&ada, UnixMillis(extreme), SeenBy::Everybody);
        }
    }
}
