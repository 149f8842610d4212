//! Games that follow from games: the next of a series, and rematches.

use std::sync::Arc;

use fourfold_engine::{BySide, Side};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use super::next_game::NextGame;
use super::waiting;
use super::{GameOver, Host, StartError};
use crate::accounts::identity_of;
use crate::model::clock::now;
use crate::model::ids::{GameId, PlayerId};
use crate::model::result::EndReason;
use crate::play::presence::Session;
use crate::play::room::Recipient;
use crate::play::room::actor::RoomNews;
use crate::play::room::directory::PublicGame;

use crate::protocol::server::{Frame, GameEnd, Urgency};

use crate::model::pace::BotPace;
use crate::model::player::{Identity, PlayerKind};
use crate::storage::bot_versions::{BotFault, FaultKind};
use crate::storage::error::StoreError;
use crate::storage::record::GameSpec;

use crate::model::time::UnixMillis;
use crate::storage::store::Write;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Hears of ends and rematches and starts what follows.
#[derive(Debug)]
pub(crate) struct HostActor {
    pub(super) host: Host,
    pub(super) news: mpsc::Receiver<RoomNews>,
    /// The end of a game while not everybody has heard of it.
    pub(super) untold: Option<GameOver>,
}

impl HostActor {
    /// Runs until no room is left that could have news.
    async fn work(&mut self) {
        let host = self.host.clone();
        let mut look = tokio::time::interval(waiting::LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let news = tokio::select! {
                biased;
                news = self.news.recv() => news,
                () = host.inner.waiting.any_then(&mut look) => {
                    host.go_on_waiting();
                    continue;
                }
            };
            let Some(news) = news else { return };
            match news {
                RoomNews::Finished { public, end } => {
                    host.held().remove(&public.spec.id);
                    host.forget_taken_up(&public);
                    host.note_end(&public, &end);
                    let end = Arc::new(end);
                    self.untold = Some(GameOver { public: Arc::clone(&public), end: Arc::clone(&end) });
                    host.inner.deps.metrics.game_finished(end.reason);
                    host.inner.deps.feeds.finished(&public, &end);
                    host.note_fault(&public, &end);
                    match NextGame::leg_after(&public.spec) {
                        Some(next) if next.is_best_of() => host.go_on_after_a_rest(next),
                        Some(next) => host.go_on(next),
                        None => host.forget_tempo(&public.spec),
                    }
                    self.tell();
                }
                RoomNews::RematchAgreed { spec } => {
                    let before = host.inner.deps.directory.public(&spec.id);
                    let pace = before.map_or_else(BotPace::default, |game| game.pace());
                    host.go_on(NextGame::rematch(&spec, pace));
                }
            }
        }
    }
}

impl HostActor {
    /// Tells whoever follows games of the one that has ended.
    fn tell(&mut self) {
        if let Some(over) = self.untold.take() {
            // Nobody need listen.
            let _ = self.host.inner.ends.send(over);
        }
    }
}

/// A panic costs the next game of a series, or a line in a feed. What the ladder and tournaments count on is told all
/// the same; the rooms' other news wait.
impl Kept for HostActor {
    fn part(&self) -> Part {
        Part::Host
    }

    async fn run(&mut self, _stop: &CancellationToken) -> Result<(), BoxedError> {
        self.work().await;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), BoxedError> {
        self.tell();
        Ok(())
    }
}

impl Host {
    fn forget_tempo(&self, spec: &GameSpec) {
        if let Some(pair) = &spec.pair {
            self.brisk().remove(&pair.id);
        }
    }

    /// Starts a following game in a task of its own: the host must go on hearing news. That of a series waits while the
    /// arena itself is in its way; otherwise both players hear of it if it cannot begin.
    fn go_on(&self, next: NextGame) {
        let host = self.clone();
        self.inner.deps.tasks.spawn(async move {
            if host.is_decided(&next).await {
                return;
            }
            let (players, pair) = (next.players.clone(), next.pair.clone());
            if let Err(error) = host.follow(next.clone()).await {
                if pair.is_some() && error.is_passing() {
                    debug!(error = %error, "the next game of a series waits");
                    host.inner.waiting.add_later(next, now() + waiting::AGAIN);
                    return;
                }
                if let Some(pair) = pair {
                    host.brisk().remove(&pair.id);
                }
                info!(error = %error, "a following game did not begin");
                let frame = Frame::from(error.to_wire());
                for session in [players.first, players.second].iter().flat_map(|id| host.sessions_of(id)) {
                    session.deliver(&frame, None, Urgency::Must);
                }
            }
        });
    }

    /// The next game of a series of which the better wins: people want to see how the last one ended first.
    fn go_on_after_a_rest(&self, next: NextGame) {
        let host = self.clone();
        self.inner.deps.tasks.spawn(async move {
            if !host.is_decided(&next).await {
                host.inner.waiting.add_later(next, now() + waiting::REST);
            }
        });
    }

    /// Counts a game against whoever aborted or left it.
    fn note_end(&self, public: &PublicGame, end: &GameEnd) {
        let Some(side) = end.by else { return };
        let player = &public.players[Side::from(side)].identity;
        match end.reason {
            EndReason::Aborted => self.note_abort(player),
            EndReason::Left => self.note_left(player),
            EndReason::Four
            | EndReason::Full
            | EndReason::Resign
            | EndReason::Time
            | EndReason::Illegal
            | EndReason::Stopped
            | EndReason::BotFailed => {}
        }
    }

    /// Books a game that a remote bot lost by its own fault, for its owner.
    fn note_fault(&self, public: &PublicGame, end: &GameEnd) {
        let Some(side) = end.by.map(Side::from) else { return };
        let kind = match end.reason {
            EndReason::Illegal => FaultKind::Illegal,
            EndReason::Time => FaultKind::Time,
            EndReason::Left => FaultKind::Left,
            EndReason::Four
            | EndReason::Full
            | EndReason::Resign
            | EndReason::Aborted
            | EndReason::Stopped
            | EndReason::BotFailed => return,
        };
        let player = &public.players[side].identity;
        if player.kind != PlayerKind::Bot || self.house().get(&player.id).is_some() {
            return;
        }
        let fault = BotFault {
            bot: player.id.clone(),
            game: Some(end.game.clone()),
            kind,
            note: format!("lost after {} moves", end.moves.len()),
            at: UnixMillis::now(),
        };
        self.inner.deps.writer.submit(Write::AddFault(fault), |_| {});
    }

    fn sessions_of(&self, player: &PlayerId) -> Vec<Arc<Session>> {
        self.inner.deps.sessions.of(player)
    }

    async fn stored_identity(&self, id: &PlayerId) -> Result<Identity, StartError> {
        let player = self.inner.deps.store.player(id).await?;
        let player = player.ok_or_else(|| StartError::Unreadable(format!("there is no player {id}")))?;
        Ok(identity_of(&player))
    }

    /// Begins the games that waited, if games begin again and their players are there.
    fn go_on_waiting(&self) {
        if self.is_paused() || self.obstacle().is_some() {
            return;
        }
        let deps = &self.inner.deps;
        let is_here = |player: &PlayerId| deps.house.get(player).is_some() || deps.sessions.is_online(player);
        for next in self.inner.waiting.ready(is_here, now()) {
            self.go_on(next);
        }
    }

    /// Series between two games when the daemon stopped: the next begins when both players are back.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn take_up_series(&self) -> Result<(), StoreError> {
        let since = UnixMillis(UnixMillis::now().0 - waiting::KEPT_MS);
        let games = self.inner.deps.store.open_series(since).await?;
        let legs: Vec<_> = games.iter().filter_map(|game| NextGame::leg_after(&game.spec)).collect();
        if !legs.is_empty() {
            info!(series = legs.len(), "series go on once their players are back");
        }
        self.inner.waiting.add(legs);
        Ok(())
    }

    async fn follow(&self, next: NextGame) -> Result<GameId, StartError> {
        let first = self.stored_identity(&next.players.first).await?;
        let second = self.stored_identity(&next.players.second).await?;
        self.start(next.offer(BySide { first, second })).await
    }
}
