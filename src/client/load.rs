//! Load over the protocol: clients that play whole legal games at random columns, in pairs or against a bot of the
//! house, and clients that watch.
//!
//! Everything goes through the socket, as any other client's would. What happens is told to a [`Witness`]: the load
//! generator counts, the kill test keeps a history.

mod pair;
mod player;
mod report;
mod spectator;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::{ClientError, Introduction};
use crate::model::clock::TimeControl;
use crate::model::ids::PlayerName;
use pair::play_house;
pub use pair::{GamesPlan, PairPlan, play_pair};
pub use player::{Ack, HeardEnd, LoadTrouble, Role, Witness};
pub(crate) use report::LoadReport;
use report::LoadTally;

/// Time of the games: nobody thinks, so it only has to outlast a stalled server.
const TIME: TimeControl = TimeControl { bank_ms: Some(600_000), increment_ms: 0, move_ms: None };

/// How long a server may be gone: one that is started again is back in a second, and there is nothing to measure of one
/// that has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// What load to make.
#[derive(Clone, Debug)]
pub(crate) struct LoadPlan {
    /// `ws://HOST:PORT` of one or several nodes of an arena, with or without the path of the socket. The players of a
    /// pair connect to different ones.
    pub(crate) urls: Vec<String>,
    /// Games to play in all.
    pub(crate) games: u32,
    /// Players connected at the same time; they play in pairs, unless it is against a bot.
    pub(crate) connections: u32,
    /// The bot of the house that each of them plays.
    pub(crate) against: Option<PlayerName>,
    /// Clients that watch one game after the other.
    pub(crate) spectators: u32,
    /// How long each player waits before it answers a turn.
    pub(crate) think: Duration,
    pub(crate) seed: u64,
}

/// Makes the load until all games are played or `stop` is set, and says how it went. What ends it before comes with
/// what was played until then.
///
/// `progress` hears of every finished game.
///
/// # Errors
///
/// Nothing was played: no connection can be made, or the server refuses a player for good.
pub(crate) async fn run(
    plan: &LoadPlan,
    progress: impl Fn() + Send + Sync + 'static,
    stop: &CancellationToken,
) -> Result<(LoadReport, Option<ClientError>), ClientError> {
    let began = Instant::now();
    let tally = Arc::new(LoadTally::new(Box::new(progress)));
    let finished = stop.child_token();
    let mut watchers = JoinSet::new();
    for spectator in 0..plan.spectators {
        let introduction = introduction(plan, spectator);
        watchers.spawn(spectator::watch(introduction, tally.newest_game(), finished.clone()));
    }
    let played = play(plan, &tally, &finished).await;
    finished.cancel();
    let (mut seen, mut trouble) = (0, played.err());
    while let Some(watched) = watchers.join_next().await {
        match watched.unwrap_or(Ok(0)) {
            Ok(messages) => seen += messages,
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    let report = tally.report(began.elapsed(), plan.spectators, seen);
    match trouble {
        Some(error) if report.moves == 0 => Err(error),
        trouble => Ok((report, trouble)),
    }
}

/// Of the client with this number: they go to one address after the other.
fn introduction(plan: &LoadPlan, client: u32) -> Introduction {
    let turn = usize::try_from(client).unwrap_or(0) % plan.urls.len().max(1);
    Introduction { url: plan.urls.get(turn).cloned().unwrap_or_default(), ..Introduction::default() }
}

/// Plays all games, shared out among the pairs, or among those who play a bot.
async fn play(plan: &LoadPlan, tally: &Arc<LoadTally>, stop: &CancellationToken) -> Result<(), ClientError> {
    let at_a_board = if plan.against.is_some() { 1 } else { 2 };
    let boards = (plan.connections / at_a_board).clamp(1, plan.games.max(1));
    let mut running = JoinSet::new();
    for board in 0..boards {
        let games = GamesPlan {
            load: true,
            games: Some(share(plan.games, boards, board)),
            think: plan.think,
            patience: Some(PATIENCE),
            ..GamesPlan::casual(TIME, plan.seed.wrapping_add(u64::from(board)))
        };
        let (witness, stop) = (Arc::<LoadTally>::clone(tally) as Arc<dyn Witness>, stop.clone());
        let player = introduction(plan, board);
        if let Some(bot) = plan.against.clone() {
            running.spawn(async move { play_house(player, &bot, &games, witness, &stop).await });
        } else {
            // Both of a pair move on, so that with two addresses not all challengers are at the first.
            let pair = PairPlan { challenger: player, challenged: introduction(plan, board + 1), games };
            running.spawn(play_pair(pair, witness, stop));
        }
    }
    while let Some(played) = running.join_next().await {
        played.map_err(|failure| ClientError::Lost(failure.to_string()))??;
    }
    Ok(())
}

/// The part of `total` that falls to one of `parts`, so that all parts together are the total.
fn share(total: u32, parts: u32, index: u32) -> u32 {
    total / parts + u32::from(index < total % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_players_of_a_pair_are_at_different_nodes() {
        let urls = ["a", "b", "c"].map(str::to_owned).to_vec();
        let (against, think) = (None, Duration::ZERO);
        let plan = LoadPlan { urls, games: 9, connections: 6, against, spectators: 0, think, seed: 1 };
        let url = |client| introduction(&plan, client).url;
        for pair in 0..7 {
            assert_ne!(url(pair), url(pair + 1), "{pair}");
        }
        assert_eq!([0, 1, 2, 3].map(url), ["a", "b", "c", "a"]);
    }

    #[test]
    fn shares_add_up() {
        for (total, parts) in [(10, 3), (3, 3), (100, 7), (1, 1)] {
            assert_eq!((0..parts).map(|index| share(total, parts, index)).sum::<u32>(), total);
        }
    }
}
