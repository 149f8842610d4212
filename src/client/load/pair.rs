//! Two players who play each other again and again: one challenges, the other accepts.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::player::{Habits, Happening, LoadPlayer, Role, Witness};
use crate::client::{Client, ClientError, Introduction, game_time};
use crate::model::clock::{GameTime, TimeControl};
use crate::model::ids::PlayerName;
use crate::model::opening::SideChoice;
use crate::protocol::ClientMessage;
use crate::protocol::client::Challenge;

use crate::protocol::terms::{SERIES_MAX, SeriesLength, Terms, WireVariant};

/// How long to wait for a game that was agreed on before challenging again: the server may have been restarted in
/// between, and offers do not outlive it.
const PATIENCE: Duration = Duration::from_secs(3);

/// The same after the connection was made again: long enough for the opponent to be back too.
const AFTER_RETURN: Duration = Duration::from_millis(500);

/// What two players do.
#[derive(Clone, Debug)]
pub struct PairPlan {
    pub challenger: Introduction,
    pub challenged: Introduction,
    /// Time of their games.
    pub time: TimeControl,
    pub rated: bool,
    /// Whether nothing is to be learnt and counted from their games.
    pub load: bool,
    /// How many games; without end if left out.
    pub games: Option<u32>,
    /// How long each waits before it answers a turn.
    pub think: Duration,
    /// How long they try to come back to a server that has gone; without end if left out.
    pub patience: Option<Duration>,
    pub seed: u64,
}

/// Plays until the games are played or `stop` is set.
///
/// # Errors
///
/// One of them cannot connect, or is refused for good.
pub async fn play_pair(
    plan: PairPlan,
    witness: Arc<dyn Witness>,
    stop: CancellationToken,
) -> Result<(), ClientError> {
    let (first, second) =
        tokio::try_join!(Client::connect(plan.challenger.clone()), Client::connect(plan.challenged.clone()))?;
    let opponent = second.welcome().you.name.clone();
    let done = stop.child_token();
    let rng = |stream| {
        let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
        rng.set_stream(stream);
        rng
    };
    let habits = Habits { think: plan.think, patience: plan.patience };
    let offerer = LoadPlayer::new(first, Role::Challenger, Arc::clone(&witness), habits, rng(0));
    let taker = LoadPlayer::new(second, Role::Challenged, witness, habits, rng(1));
    let offering = async {
        let result = offer_games(offerer, &opponent, &plan, &done).await;
        done.cancel();
        result
    };
    tokio::try_join!(offering, accept_games(taker, &done))?;
    Ok(())
}

async fn offer_games(
    mut player: LoadPlayer,
    opponent: &PlayerName,
    plan: &PairPlan,
    stop: &CancellationToken,
) -> Result<(), ClientError> {
    let time = game_time(plan.time)?;
    let mut left = plan.games;
    // Games that the server still owes from the last challenge.
    let mut owed = 0;
    let mut challenge_at = Instant::now();
    while left != Some(0) {
        if !player.is_playing() && Instant::now() >= challenge_at {
            owed = series(left);
            player.send(&challenge(opponent, plan, time, owed)).await?;
            challenge_at = Instant::now() + PATIENCE;
        }
        let idle = !player.is_playing();
        let happening = tokio::select! {
            () = sleep_until(challenge_at), if idle => continue,
            happening = player.next(stop) => happening?,
        };
        match happening {
            None => break,
            Some(Happening::Ended) => {
                left = left.map(|left| left - 1);
                owed = u32::saturating_sub(owed, 1);
                challenge_at = Instant::now() + if owed == 0 { Duration::ZERO } else { PATIENCE };
            }
            Some(Happening::Refused(error)) => {
                challenge_at = Instant::now() + error.retry_ms.map_or(PATIENCE, Duration::from_millis);
            }
            Some(Happening::Back) => challenge_at = challenge_at.min(Instant::now() + AFTER_RETURN),
            Some(Happening::Offered(_) | Happening::OfferEnded) => {}
        }
    }
    player.leave().await;
    Ok(())
}

async fn accept_games(mut player: LoadPlayer, stop: &CancellationToken) -> Result<(), ClientError> {
    while let Some(happening) = player.next(stop).await? {
        if let Happening::Offered(challenge) = happening {
            player.accept(challenge).await?;
        }
    }
    player.leave().await;
    Ok(())
}

/// How many games to ask for at once: one or an even number, as the protocol has it.
fn series(left: Option<u32>) -> u32 {
    let wanted = left.unwrap_or(SERIES_MAX).min(SERIES_MAX);
    if wanted > 1 { wanted - wanted % 2 } else { 1 }
}

fn challenge(opponent: &PlayerName, plan: &PairPlan, time: GameTime, games: u32) -> ClientMessage {
    ClientMessage::Challenge(Challenge {
        to: opponent.to_string(),
        terms: Terms {
            time,
            rated: plan.rated,
            variant: WireVariant::default(),
            opening: None,
            games: SeriesLength::checked(games).unwrap_or_default(),
            side: SideChoice::Random,
            load: plan.load,
        },
        key: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_single_games_or_even() {
        assert_eq!([1, 2, 3, 7, 100, 101].map(|left| series(Some(left))), [1, 2, 2, 6, 100, 100]);
        assert_eq!(series(None), 100);
    }
}
