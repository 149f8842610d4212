//! Pairs whoever is free in an arena.

use fourfold_engine::BySide;

use super::{DirectorDeps, RunningTournament, StartOutcome, begin, may_play, takes_game};
use crate::competition::tournament::contest::Contest;
use crate::competition::tournament::pairing::pairings;
use crate::model::ids::PairId;
use crate::model::player::OpponentKind;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::record::GamePair;

/// Begins games between those who are free, as long as there is time.
pub(super) async fn pair(deps: &DirectorDeps, running: &mut RunningTournament) {
    for seats in due(deps, running) {
        if start(deps, running, seats).await == StartOutcome::Closed {
            return;
        }
    }
}

/// The games that are to begin.
fn due(deps: &DirectorDeps, running: &mut RunningTournament) -> Vec<BySide<usize>> {
    let Contest::Arena(arena) = &running.contest else { return Vec::new() };
    let now = UnixMillis::now();
    if now >= arena.ends_at() {
        return Vec::new();
    }
    let kinds = [OpponentKind::Human, OpponentKind::Bot];
    let is_free = |place: &usize| {
        let entrant = &running.entrants[*place];
        kinds.into_iter().any(|kind| takes_game(deps, entrant, kind))
    };
    let places: Vec<usize> = arena.idle().into_iter().filter(is_free).collect();
    running.free.retain(|place, _| places.contains(place));
    let free: Vec<_> =
        places.into_iter().map(|place| (place, *running.free.entry(place).or_insert(now))).collect();
    let present = free.len() + 2 * arena.live().len();
    pairings(&arena.waiting(&free), present, now, &mut chance())
}

async fn start(deps: &DirectorDeps, running: &mut RunningTournament, seats: BySide<usize>) -> StartOutcome {
    let BySide { first, second } = seats;
    let Contest::Arena(arena) = &running.contest else { return StartOutcome::Closed };
    if !may_play(deps, running, first, second) || !may_play(deps, running, second, first) {
        return StartOutcome::Waits;
    }
    let (number, opening) = arena.next_game();
    let id = PairId::in_tournament(&arena.tournament().id, number);
    let game = match begin(deps, running, seats, GamePair { id, leg: 1, of: 1 }, opening).await {
        Ok(game) => game,
        Err(obstacle) => return obstacle,
    };
    if let Contest::Arena(arena) = &mut running.contest {
        arena.started(number, seats, game);
    }
    running.is_outdated = true;
    for place in [first, second] {
        running.free.remove(&place);
    }
    StartOutcome::Begun
}
