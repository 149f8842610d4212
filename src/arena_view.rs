//! What the HTTP side sees of games, lobby and sessions.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::host::Host;
use crate::http::ArenaView;
use crate::http::state::{FeedOf, NoFeed, OpenBot, Trouble};
use crate::ids::{ChallengeId, GameId, PlayerId};
use crate::ladder::Troubles;
use crate::line_feed::{LineFeed, LineWriter};
use crate::lobby::LobbyHandle;
use crate::lobby::feeds::Feeds;
use crate::protocol::client::Feed;
use crate::protocol::server::{LiveGame, LobbyFeed, Offer, Snapshot};
use crate::room::handle::ReplyTo;
use crate::room::{Directory, MemberId, Recipient};
use crate::session::Sessions;

/// The live parts, for reading.
#[derive(Clone, Debug)]
pub struct LiveArena {
    /// Starts games; says whether it does.
    pub host: Host,
    /// Lists rooms.
    pub directory: Directory,
    /// Lists sessions.
    pub sessions: Sessions,
    /// Has the lobby and the game to show.
    pub feeds: Feeds,
    /// Has the open offers.
    pub lobby: LobbyHandle,
    /// Places for feeds over HTTP.
    pub places: Arc<Semaphore>,
    /// Ends the feeds.
    pub stop: CancellationToken,
    /// Has the bots that the ladder leaves out.
    pub troubles: Troubles,
}

impl LiveArena {
    fn trouble(&self, bot: &PlayerId) -> Option<Trouble> {
        self.troubles.of(bot).map(|trouble| Trouble { fault: trouble.fault, probing: trouble.probing })
    }
}

/// Feeds over HTTP at a time. Each holds a connection for as long as somebody listens; one more is turned away.
pub const LINE_FEEDS_MAX: usize = 256;

#[async_trait]
impl ArenaView for LiveArena {
    fn live_games(&self) -> Vec<LiveGame> {
        let mut live = self.directory.live();
        live.sort_by_key(|game| (game.is_brisk(), std::cmp::Reverse(game.strength()), game.spec.started_at));
        live.iter().map(|game| game.to_wire()).collect()
    }

    fn lobby(&self) -> LobbyFeed {
        self.feeds.lobby()
    }

    fn tv(&self) -> Option<LiveGame> {
        self.feeds.tv()
    }

    fn open_bots(&self) -> Vec<OpenBot> {
        let playing = |id: &PlayerId| u32::try_from(self.directory.games_of(id)).unwrap_or(u32::MAX);
        let house = self.host.house().all();
        let house = house.iter().map(|bot| OpenBot {
            player: bot.identity.to_wire(None, Some(crate::fourfold_version().to_owned())),
            strength: bot.strength,
            style: Some(bot.style.to_owned()),
            about: Some(bot.about.clone()),
            url: None,
            house: true,
            playing: playing(&bot.identity.id),
            trouble: self.trouble(&bot.identity.id),
        });
        let remote = self.sessions.open_bots().into_iter().map(|bot| OpenBot {
            playing: playing(&bot.identity.id),
            trouble: self.trouble(&bot.identity.id),
            player: bot.identity.to_wire(None, bot.profile.version),
            strength: None,
            style: None,
            about: bot.profile.about,
            url: bot.profile.url,
            house: false,
        });
        house.chain(remote).collect()
    }

    async fn snapshot(&self, game: &GameId) -> Option<Snapshot> {
        match self.host.snapshot(game).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::error!(game = %game, error = %error, "a game could not be read");
                None
            }
        }
    }

    async fn challenge(&self, challenge: &ChallengeId) -> Option<Offer> {
        self.lobby.offer(challenge.clone()).await
    }

    fn follow(&self, what: &FeedOf) -> Result<LineFeed, NoFeed> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| NoFeed::TooMany)?;
        let (writer, feed) = LineWriter::pair(place);
        let (member, recipient) = (MemberId::next(), Arc::clone(&writer) as Arc<dyn Recipient>);
        let room = match what {
            FeedOf::Game(game) => {
                let is_live = self.directory.public(game).is_some_and(|public| !public.is_over());
                let room = self.directory.room(game).filter(|_| is_live).ok_or(NoFeed::NotLive)?;
                // Whoever asks watches as nobody: also a player sees what all see.
                let nobody = PlayerId::random(&mut rand::rng());
                room.watch(nobody, ReplyTo { member, recipient, re: None });
                Some(room)
            }
            FeedOf::Results => {
                self.feeds.subscribe(Feed::Results, member, recipient);
                None
            }
        };
        let (feeds, stop) = (self.feeds.clone(), self.stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = writer.ended() => {}
            }
            match room {
                Some(room) => room.unwatch(member).await,
                None => feeds.unsubscribe(Feed::Results, member),
            }
            writer.end();
        });
        Ok(feed)
    }

    fn is_ready(&self) -> bool {
        !self.host.is_paused()
    }

    fn is_online(&self, player: &PlayerId) -> bool {
        self.sessions.is_online(player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ServerMessage;
    use crate::testing::{Arena, kind};

    fn view(arena: &Arena, places: usize) -> LiveArena {
        let services = &arena.services;
        LiveArena {
            host: services.host.clone(),
            directory: services.directory.clone(),
            sessions: services.sessions.clone(),
            feeds: services.feeds.clone(),
            lobby: services.lobby.clone(),
            troubles: Troubles::default(),
            places: Arc::new(Semaphore::new(places)),
            stop: CancellationToken::new(),
        }
    }

    async fn until(feed: &mut LineFeed, wanted: &str) -> ServerMessage {
        loop {
            let frame = feed.next().await.expect("it goes on");
            if kind(frame.message()) == wanted {
                return frame.message().clone();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_follows_a_game_and_another_the_results() {
        let arena = Arena::new().await;
        let (ann, bob) = (arena.person("ann").await, arena.person("bob").await);
        let (first, _second) = (arena.join(&ann).await, arena.join(&bob).await);
        let game = arena.start(&ann.identity, &bob.identity).await;
        arena.settle().await;
        let view = view(&arena, 2);
        let mut one = view.follow(&FeedOf::Game(game.clone())).unwrap();
        let mut all = view.follow(&FeedOf::Results).unwrap();
        assert_eq!(view.follow(&FeedOf::Results).unwrap_err(), NoFeed::TooMany);
        let ServerMessage::Game(snapshot) = until(&mut one, "game").await else { panic!("a snapshot") };
        assert_eq!((snapshot.game, snapshot.moves.as_str()), (game.clone(), ""));
        first.play(&game, 0, 4).await;
        until(&mut one, "moved").await;
        first.resign(&game).await;
        until(&mut one, "game_end").await;
        until(&mut all, "result").await;
        drop((one, all));
        let over = view.follow(&FeedOf::Game(game)).unwrap_err();
        assert_eq!(over, NoFeed::NotLive, "and there is a place again");
    }

    #[tokio::test(start_paused = true)]
    async fn feeds_end_with_the_daemon() {
        let arena = Arena::new().await;
        let view = view(&arena, 1);
        let mut all = view.follow(&FeedOf::Results).unwrap();
        view.stop.cancel();
        assert!(all.next().await.is_none());
    }
}
