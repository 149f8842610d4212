//! Chooses the game on TV: looks at the live games each second, solves what it must know while somebody watches, and
//! tells the feeds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::{Game, Position};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::tv::{Candidate, OnShow, Story, pick};
use crate::analysis::values::{Analysis, AnalysisError, Asker};
use crate::model::ids::GameId;
use crate::model::player::PlayerKind;
use crate::play::feeds::Feeds;
use crate::play::room::Directory;
use crate::play::room::directory::PublicGame;

/// How often it looks.
const TICK: Duration = Duration::from_secs(1);

/// The tension of so many games is known, the best of the others; each costs a solved position a move.
const FOLLOWED_MAX: usize = 3;

/// Counts for both ratings where a game is over before anybody can see it: it is shown only if there is no other.
const TOO_FAST: i32 = -10_000;

/// Chooses the game on TV.
#[derive(Debug)]
pub(crate) struct TvDirector {
    directory: Directory,
    feeds: Feeds,
    analysis: Analysis,
    stories: HashMap<GameId, Story>,
    on_show: Option<(GameId, Instant)>,
}

impl TvDirector {
    /// Nothing is on show yet.
    pub(crate) fn new(directory: Directory, feeds: Feeds, analysis: Analysis) -> Self {
        Self { directory, feeds, analysis, stories: HashMap::new(), on_show: None }
    }

    /// Runs until the daemon stops.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = tick.tick() => {}
            }
            // A search under way is given up when the daemon stops.
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.look() => {}
            }
        }
    }

    /// Chooses anew among the games that go on.
    pub(super) async fn look(&mut self) {
        let mut live = self.directory.listed();
        live.retain(|game| !game.spec.is_load());
        self.stories.retain(|id, _| live.iter().any(|game| game.spec.id == *id));
        let mut candidates: Vec<Candidate<'_>> = live.iter().map(|game| self.candidate(game)).collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.worth()));
        let on_show = self.on_show.as_ref().map(|(game, since)| OnShow { game, shown_for: since.elapsed() });
        let chosen = pick(&candidates, on_show).cloned();
        let followed: Vec<GameId> =
            candidates.iter().take(FOLLOWED_MAX).map(|candidate| candidate.game.clone()).collect();
        if chosen.as_ref() != self.on_show.as_ref().map(|(game, _)| game) {
            self.on_show = chosen.clone().map(|game| (game, Instant::now()));
        }
        self.feeds.choose(chosen);
        if self.feeds.has_viewers() {
            self.follow(&live, &followed).await;
        }
    }

    fn candidate<'a>(&self, game: &'a Arc<PublicGame>) -> Candidate<'a> {
        let is_person = |kind: PlayerKind| i32::from(kind != PlayerKind::Bot);
        let players = &game.players;
        Candidate {
            game: &game.spec.id,
            strength: if game.is_brisk() { TOO_FAST } else { game.strength() },
            people: is_person(players.first.identity.kind) + is_person(players.second.identity.kind),
            story: self.stories.get(&game.spec.id).copied().unwrap_or_default(),
        }
    }

    /// Looks at the first of these games that has gone on since the last look.
    async fn follow(&mut self, live: &[Arc<PublicGame>], followed: &[GameId]) {
        for id in followed {
            let Some(game) = live.iter().find(|game| game.spec.id == *id) else { continue };
            let Some(position) = position_of(game) else { continue };
            let story = self.stories.get(id).copied().unwrap_or_default();
            if story.seen_ply == Some(position.ply()) {
                continue;
            }
            let next = match self.analysis.columns(&Asker::House, &position).await {
                Ok(scores) => story.after(&position, &scores),
                // Not asked again before the next move: on such boards there is no telling.
                Err(AnalysisError::TooHard) => story.without_answer(&position),
                Err(AnalysisError::Busy { .. } | AnalysisError::Share(_) | AnalysisError::Compute(_)) => {
                    return;
                }
            };
            self.stories.insert(id.clone(), next);
            return;
        }
    }
}

fn position_of(game: &PublicGame) -> Option<Position> {
    let game = Game::from_moves(game.spec.variant, &game.to_wire().moves).ok()?;
    Some(*game.position())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::host::{GameOffer, Origin};
    use crate::system::shares::Shares;
    use crate::testing::{Arena, offer};

    #[tokio::test(start_paused = true)]
    async fn people_are_shown_as_soon_as_what_was_shown_is_over() {
        let arena = Arena::new().await;
        let services = &arena.services;
        let analysis = Analysis::new(1, &Shares::default());
        let mut director = TvDirector::new(services.directory.clone(), services.feeds.clone(), analysis);
        director.look().await;
        assert_eq!(services.feeds.tv(), None);
        let names = ["ann", "bob", "cid", "dot"];
        let mut people = Vec::new();
        for name in names {
            let account = arena.person(name).await;
            people.push((arena.join(&account).await, account.identity));
        }
        let load = GameOffer { origin: Origin::Load, ..offer(&people[2].1, &people[3].1) };
        let load = services.host.start(load).await.unwrap();
        director.look().await;
        assert_eq!(services.feeds.tv(), None, "nobody chose its moves");
        people[2].0.resign(&load).await;
        let one = arena.start(&people[0].1, &people[1].1).await;
        arena.settle().await;
        director.look().await;
        let shown = || services.feeds.tv().map(|game| game.game);
        assert_eq!(shown(), Some(one.clone()));
        let two = arena.start(&people[2].1, &people[3].1).await;
        arena.settle().await;
        director.look().await;
        assert_eq!(shown(), Some(one.clone()), "an equal game takes nobody's place");
        people[0].0.play(&one, 0, 4).await;
        people[0].0.resign(&one).await;
        arena.settle().await;
        director.look().await;
        assert_eq!(shown(), Some(two));
    }
}
