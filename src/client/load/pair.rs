//! Players who play again and again: two each other, of whom one challenges and the other accepts, or one a bot of the
//! house.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::player::{Habits, Happening, LoadPlayer, LoadTrouble, Role, Witness};
use crate::client::{Client, ClientError, Introduction, game_time};
use crate::model::clock::{GameTime, TimeControl};
use crate::model::ids::PlayerName;
use crate::model::opening::SideChoice;
use crate::protocol::client::Challenge;
use crate::protocol::{ClientMessage, ErrorCode, WireError};

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
    pub games: GamesPlan,
}

/// Games that are played one after the other.
#[derive(Clone, Debug)]
pub struct GamesPlan {
    pub time: TimeControl,
    pub rated: bool,
    /// Whether nothing is to be learnt and counted from them.
    pub load: bool,
    /// How many; without end if left out.
    pub games: Option<u32>,
    /// How long a player waits before it answers a turn.
    pub think: Duration,
    /// How long a player tries to come back to a server that has gone; without end if left out.
    pub patience: Option<Duration>,
    pub seed: u64,
}

impl GamesPlan {
    /// Casual games without end, of players who answer at once and never give up.
    pub fn casual(time: TimeControl, seed: u64) -> Self {
        Self { time, rated: false, load: false, games: None, think: Duration::ZERO, patience: None, seed }
    }

    fn habits(&self) -> Habits {
        Habits { think: self.think, patience: self.patience }
    }

    /// Chance of one of the players.
    fn rng(&self, player: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(player);
        rng
    }
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
    witness.connected();
    let opponent = second.welcome().you.name.clone();
    let done = stop.child_token();
    let plan = plan.games;
    let offerer = LoadPlayer::new(first, Role::Challenger, Arc::clone(&witness), plan.habits(), plan.rng(0));
    let taker = LoadPlayer::new(second, Role::Challenged, Arc::clone(&witness), plan.habits(), plan.rng(1));
    let offering = async {
        let result = offer_games(offerer, Opponent::Partner(&opponent), &plan, &*witness, &done).await;
        done.cancel();
        result
    };
    tokio::try_join!(offering, accept_games(taker, &*witness, &done))?;
    Ok(())
}

/// Plays a bot of the house until the games are played or `stop` is set.
///
/// # Errors
///
/// The player cannot connect, or is refused for good.
pub(super) async fn play_house(
    player: Introduction,
    bot: &PlayerName,
    plan: &GamesPlan,
    witness: Arc<dyn Witness>,
    stop: &CancellationToken,
) -> Result<(), ClientError> {
    let client = Client::connect(player).await?;
    let offerer = LoadPlayer::new(client, Role::Challenger, Arc::clone(&witness), plan.habits(), plan.rng(0));
    offer_games(offerer, Opponent::House(bot), plan, &*witness, stop).await
}

/// Whom games are offered to.
#[derive(Clone, Copy, Debug)]
enum Opponent<'a> {
    /// The other of a pair, who may be away while the server starts again.
    Partner(&'a PlayerName),
    /// A bot of the house: who is not known now never will be.
    House(&'a PlayerName),
}

impl Opponent<'_> {
    fn name(&self) -> &PlayerName {
        match self {
            Self::Partner(name) | Self::House(name) => name,
        }
    }

    /// The refusal, unless it is for good.
    fn may_come(&self, error: Box<WireError>) -> Result<Box<WireError>, ClientError> {
        match self {
            Self::House(_) if error.code == ErrorCode::NoSuchPlayer => Err(ClientError::Refused(error)),
            Self::House(_) | Self::Partner(_) => Ok(error),
        }
    }
}

/// Games that two players agreed on and that have not ended.
#[derive(Clone, Copy, Default, Debug)]
struct Agreed {
    /// Of what was agreed on last.
    games: u32,
    /// Of what was agreed on before that, and may still come: an agreement that is made once more is refused where the
    /// games of the first one come after all, and these may be more by one, for a series is of an even number.
    earlier: u32,
}

impl Agreed {
    fn agree(&mut self, games: u32) {
        *self = Self { games, earlier: self.games.max(self.earlier) };
    }

    fn end_game(&mut self) {
        self.games = self.games.saturating_sub(1);
        self.earlier = self.earlier.saturating_sub(1);
    }

    /// Whether a refusal is no trouble. A server that stores nothing for a while is silent; the game that it owes and
    /// what is agreed on once more then cross, and with that game both players are at their limit.
    fn explains(self, error: &WireError) -> bool {
        self.earlier > 0 && error.code == ErrorCode::Busy
    }
}

async fn offer_games(
    mut player: LoadPlayer,
    opponent: Opponent<'_>,
    plan: &GamesPlan,
    witness: &dyn Witness,
    stop: &CancellationToken,
) -> Result<(), ClientError> {
    let time = game_time(plan.time)?;
    let mut left = plan.games;
    let mut agreed = Agreed::default();
    let mut challenge_at = Instant::now();
    while left != Some(0) {
        if !player.is_playing() && Instant::now() >= challenge_at {
            agreed.agree(series(left));
            player.send(&challenge(opponent.name(), plan, time, agreed.games)).await?;
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
                agreed.end_game();
                challenge_at = Instant::now() + if agreed.games == 0 { Duration::ZERO } else { PATIENCE };
            }
            Some(Happening::Refused(error)) => {
                let error = opponent.may_come(error)?;
                challenge_at = Instant::now() + error.retry_ms.map_or(PATIENCE, Duration::from_millis);
                if !agreed.explains(&error) {
                    agreed = Agreed::default();
                    witness.trouble(LoadTrouble::Refused(error));
                }
            }
            Some(Happening::Back) => challenge_at = challenge_at.min(Instant::now() + AFTER_RETURN),
            Some(Happening::Offered(_) | Happening::OfferEnded) => {}
        }
    }
    player.leave().await;
    Ok(())
}

async fn accept_games(
    mut player: LoadPlayer,
    witness: &dyn Witness,
    stop: &CancellationToken,
) -> Result<(), ClientError> {
    let mut agreed = Agreed::default();
    while let Some(happening) = player.next(stop).await? {
        match happening {
            Happening::Offered(offer) => {
                agreed.agree(offer.terms.games.number());
                player.accept(offer.challenge).await?;
            }
            Happening::Ended => agreed.end_game(),
            Happening::Refused(error) if agreed.explains(&error) => {}
            Happening::Refused(error) => witness.trouble(LoadTrouble::Refused(error)),
            Happening::Back | Happening::OfferEnded => {}
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

fn challenge(opponent: &PlayerName, plan: &GamesPlan, time: GameTime, games: u32) -> ClientMessage {
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
            private: false,
        },
        key: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_agreed_on_twice_may_be_refused() {
        let (busy, unknown) =
            (WireError::new(ErrorCode::Busy, ""), WireError::new(ErrorCode::NoSuchGame, ""));
        let mut agreed = Agreed::default();
        agreed.agree(2);
        assert!(!agreed.explains(&busy), "nothing is owed yet");
        agreed.end_game();
        agreed.agree(2);
        assert!(agreed.explains(&busy) && !agreed.explains(&unknown), "the second of the first two may come");
        agreed.end_game();
        agreed.end_game();
        agreed.end_game();
        agreed.agree(1);
        assert!(!agreed.explains(&busy), "all have ended");
    }

    #[test]
    fn the_last_game_of_a_series_may_come_after_a_shorter_one_was_agreed_on() {
        let busy = WireError::new(ErrorCode::Busy, "");
        let mut agreed = Agreed::default();
        agreed.agree(10);
        agreed.end_game();
        // Nine are owed, and the server is silent: eight are asked for, and the nine come.
        agreed.agree(8);
        for _ in 0..8 {
            agreed.end_game();
        }
        agreed.agree(1);
        assert!(agreed.explains(&busy), "the tenth of the first ten may come");
        agreed.end_game();
        agreed.agree(2);
        assert!(!agreed.explains(&busy), "all have ended");
    }

    #[test]
    fn series_are_single_games_or_even() {
        assert_eq!([1, 2, 3, 7, 100, 101].map(|left| series(Some(left))), [1, 2, 2, 6, 100, 100]);
        assert_eq!(series(None), 100);
    }
}
