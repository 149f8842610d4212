//! The address of the lobby.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};

use super::challenge::{Party, check_key};
use super::lookup::{PlayerLookup, Ratings};
use super::pairing::Waiting;
use crate::model::ids::{ChallengeId, PlayerId, PlayerName};
use crate::play::host::StartError;
use crate::play::presence::Session;
use crate::play::room::MemberId;
use crate::play::room::handle::ReplyTo;
use crate::protocol::client::{Accept, Challenge, Decline, OpenChallenge, PlayBot, Seek};
use crate::protocol::server::Offer;
use crate::protocol::terms::{Terms, WireSide};
use crate::protocol::{ErrorCode, WireError};
use crate::storage::writer::WriteError;
use crate::system::ask::ask;

/// Requests that wait for the lobby; whoever finds it full waits in the own socket's task.
pub(super) const INBOX_MAX: usize = 1_024;

/// When a daemon that is stopping may be back.
const RETRY: Duration = Duration::from_secs(5);

/// Challenges to somebody who is away that wait to be told elsewhere. Most stand for seconds; what is more is not
/// told.
const AWAY_MAX: usize = 64;

/// Somebody is challenged who has no connection at the moment: a telephone in a pocket, of which the session lives on
/// for a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChallengedAway {
    pub(crate) to: PlayerId,
    pub(crate) from: PlayerName,
    pub(crate) challenge: ChallengeId,
    /// How long it stands.
    pub(crate) lasts: Duration,
}

/// What a client may want of the lobby.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LobbyRequest {
    /// Joins the pool.
    Seek(Seek),
    /// Leaves the pool.
    Unseek,
    /// Offers a game to one player.
    Challenge(Challenge),
    /// Offers a game to whoever opens the link.
    OpenChallenge(OpenChallenge),
    /// Takes an offer.
    Accept(Accept),
    /// Refuses an offer.
    Decline(Decline),
    /// Withdraws an offer.
    Cancel(ChallengeId),
    /// Starts a game against a house bot.
    PlayBot(PlayBot),
}

impl LobbyRequest {
    /// Whether the one who asks wants its rating to change. Whoever accepts takes what was offered.
    pub(crate) fn is_rated(&self) -> bool {
        match self {
            Self::Seek(seek) => seek.rated,
            Self::Challenge(challenge) => challenge.terms.rated,
            Self::OpenChallenge(challenge) => challenge.terms.rated,
            Self::PlayBot(play) => play.rated,
            Self::Unseek | Self::Accept(_) | Self::Decline(_) | Self::Cancel(_) => false,
        }
    }
}

/// A request with what the store knows about it.
pub(super) enum Prepared {
    Seek { seek: Seek, elo: Option<i32> },
    Unseek,
    Challenge(Box<Wish>),
    Accept { id: ChallengeId, side: Option<WireSide>, ratings: Ratings },
    Decline(Decline),
    Cancel(ChallengeId),
    PlayBot(PlayBot),
}

/// An offer that somebody wants to make, to nobody in particular if `to` is missing.
pub(super) struct Wish {
    pub(super) from: Party,
    pub(super) to: Option<Party>,
    pub(super) terms: Terms,
    /// Whether it is to stand in the list of open offers.
    pub(super) is_listed: bool,
    pub(super) key: Option<String>,
}

/// Two seeks that became no game.
pub(super) struct Unpaired {
    pub(super) seeks: [(Arc<Session>, Waiting); 2],
    pub(super) error: StartError,
}

/// What came of the storing of a link.
pub(super) struct LinkStored {
    pub(super) id: ChallengeId,
    /// Who has made it, and by which key of its own.
    pub(super) from: PlayerId,
    pub(super) key: Option<String>,
    pub(super) reply: ReplyTo,
    pub(super) result: Result<(), WriteError>,
}

/// Which offers are withdrawn with a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    /// Those that it has made.
    Own,
    /// Those that others have made to it, too.
    OwnAndOthers,
}

pub(super) enum LobbyCommand {
    Ask {
        session: Arc<Session>,
        request: Prepared,
        reply: ReplyTo,
    },
    Disconnected {
        member: MemberId,
    },
    Unpaired(Box<Unpaired>),
    LinkStored(Box<LinkStored>),
    Left {
        player: PlayerId,
    },
    /// Takes back all that a player offers, and what others offer to it if nobody may ask it any more.
    Withdraw {
        player: PlayerId,
        whose: Whose,
    },
    TellOpen {
        session: Arc<Session>,
        told: oneshot::Sender<()>,
    },
    Look {
        challenge: ChallengeId,
        answer: oneshot::Sender<Option<Offer>>,
    },
    /// Asks for the offers that anyone may take.
    Listed {
        answer: oneshot::Sender<Vec<Offer>>,
    },
    /// Asks for the offers by correspondence that one player makes to another, of either.
    Asked {
        player: PlayerId,
        answer: oneshot::Sender<Vec<Offer>>,
    },
    HasOffers {
        player: PlayerId,
        answer: oneshot::Sender<bool>,
    },
    /// A request that makes the lobby panic.
    #[cfg(test)]
    Fail {
        answer: ReplyTo,
    },
}

/// A cheap, cloneable address of the lobby.
#[derive(Clone)]
pub(crate) struct LobbyHandle {
    commands: mpsc::Sender<LobbyCommand>,
    lookup: PlayerLookup,
    away: broadcast::Sender<ChallengedAway>,
}

impl std::fmt::Debug for LobbyHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LobbyHandle").finish_non_exhaustive()
    }
}

impl LobbyHandle {
    pub(super) fn new(commands: mpsc::Sender<LobbyCommand>, lookup: PlayerLookup) -> Self {
        Self { commands, lookup, away: broadcast::Sender::new(AWAY_MAX) }
    }

    /// Asks for something, having read what the lobby must know. The lobby answers itself.
    ///
    /// # Errors
    ///
    /// The request names somebody who is not there, the store cannot be read, or the daemon is stopping.
    pub(crate) async fn ask(
        &self,
        session: Arc<Session>,
        request: LobbyRequest,
        reply: ReplyTo,
    ) -> Result<(), WireError> {
        let request = self.prepare(&session, request).await?;
        let command = LobbyCommand::Ask { session, request, reply };
        let closed = |_| WireError::new(ErrorCode::Paused, "the daemon is stopping").retry_in(RETRY);
        self.commands.send(command).await.map_err(closed)
    }

    async fn prepare(&self, session: &Session, request: LobbyRequest) -> Result<Prepared, WireError> {
        Ok(match request {
            LobbyRequest::Seek(seek) => {
                let elo = self.lookup.elo(session.identity(), seek.variant.0).await?;
                Prepared::Seek { seek, elo }
            }
            LobbyRequest::Unseek => Prepared::Unseek,
            LobbyRequest::Challenge(Challenge { to, terms, key }) => {
                let variant = terms.variant.0;
                let to = self.lookup.party(self.lookup.player(&to).await?, variant).await?;
                self.wish(session, Some(to), OpenChallenge { terms, listed: false, key }).await?
            }
            LobbyRequest::OpenChallenge(open) => self.wish(session, None, open).await?,
            LobbyRequest::Accept(Accept { challenge: id, side }) => {
                Prepared::Accept { id, side, ratings: self.lookup.ratings(session.identity()).await? }
            }
            LobbyRequest::Decline(decline) => Prepared::Decline(decline),
            LobbyRequest::Cancel(id) => Prepared::Cancel(id),
            LobbyRequest::PlayBot(play) => Prepared::PlayBot(play),
        })
    }

    async fn wish(
        &self,
        session: &Session,
        to: Option<Party>,
        OpenChallenge { terms, listed, key }: OpenChallenge,
    ) -> Result<Prepared, WireError> {
        check_key(key.as_deref())?;
        let from = self.lookup.party(session.identity().clone(), terms.variant.0).await?;
        Ok(Prepared::Challenge(Box::new(Wish { from, to, terms, is_listed: listed, key })))
    }

    /// A connection is gone: its seek goes too.
    pub(crate) async fn disconnected(&self, member: MemberId) {
        // A lobby that has stopped has no seeks.
        let _ = self.commands.send(LobbyCommand::Disconnected { member }).await;
    }

    /// A player is gone for good: the offers to others go too.
    pub(crate) async fn left(&self, player: PlayerId) {
        // A lobby that has stopped has no offers.
        let _ = self.commands.send(LobbyCommand::Left { player }).await;
    }

    /// An operator has sent a player away, or keeps it from asking others, or it is somebody else by now: its offers
    /// go, those that stand for long too.
    pub(crate) async fn withdraw(&self, player: PlayerId, whose: Whose) {
        // A lobby that has stopped has no offers.
        let _ = self.commands.send(LobbyCommand::Withdraw { player, whose }).await;
    }

    /// Tells a session the offers that its player made or is asked by, and returns when that is done.
    pub(crate) async fn tell_open(&self, session: &Arc<Session>) {
        // A lobby that stops tells nothing more.
        let _ =
            ask(&self.commands, |told| LobbyCommand::TellOpen { session: Arc::clone(session), told }).await;
    }

    /// Whether a player has offered a game to somebody, or is asked for one.
    pub(crate) async fn has_offers(&self, player: PlayerId) -> bool {
        ask(&self.commands, |answer| LobbyCommand::HasOffers { player, answer }).await.unwrap_or(false)
    }

    /// Makes the lobby panic while it answers.
    #[cfg(test)]
    pub(crate) async fn fail(&self, answer: ReplyTo) {
        let _ = self.commands.send(LobbyCommand::Fail { answer }).await;
    }

    /// The offers by correspondence that anyone may take, the newest first.
    pub(crate) async fn listed(&self) -> Vec<Offer> {
        ask(&self.commands, |answer| LobbyCommand::Listed { answer }).await.unwrap_or_default()
    }

    /// The offers by correspondence that a player made to somebody, or is asked by.
    pub(crate) async fn asked(&self, player: PlayerId) -> Vec<Offer> {
        ask(&self.commands, |answer| LobbyCommand::Asked { player, answer }).await.unwrap_or_default()
    }

    /// Whoever is challenged while away from now on.
    pub(crate) fn challenged_away(&self) -> broadcast::Receiver<ChallengedAway> {
        self.away.subscribe()
    }

    /// Where the lobby says so.
    pub(super) fn away(&self) -> broadcast::Sender<ChallengedAway> {
        self.away.clone()
    }

    /// An open offer, for the page behind its link.
    pub(crate) async fn offer(&self, challenge: ChallengeId) -> Option<Offer> {
        ask(&self.commands, |answer| LobbyCommand::Look { challenge, answer }).await.flatten()
    }
}
