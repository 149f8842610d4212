//! Competition: self-tests, classes, tournaments, the ladder and its ratings.

use std::sync::Arc;

use futures::FutureExt as _;

use super::fair_play::{self, FairPlayParts};
use super::{Ground, KeptParts, Playing, ServerError, Thinking, requirement};
use crate::app::server::revoked::Revocations;
use crate::competition::classes::{ClassKeeper, Classes};
use crate::competition::duels::{DuelDeps, Duels};
use crate::competition::fair_play::FairPlay;
use crate::competition::leaderboard::seasons::Season;
use crate::competition::leaderboard::{Leaderboard, LeaderboardActor, LeaderboardDeps, seasons};
use crate::competition::matchmaker::{
    MatchmakerActor, MatchmakerDeps, MatchmakerSettings, PairsPerMinute, Troubles,
};
use crate::competition::self_test::SelfTests;
use crate::competition::self_test::trial::SelfTestDeps;
use crate::competition::tournament::{Director, DirectorDeps, Tournaments};
use crate::operations::webhooks::actor::WebhookActor;
use crate::play::host::admission::Requirement;
use crate::session::Services;
use crate::study::explorer::Explorer;
use crate::system::config::{Config, SeasonConfig};
use crate::system::part::Part;
use crate::system::supervision::{Kept, remade};

/// What competition shows to pages, and the explorer, which has the ratings of the leaderboard.
#[derive(Debug)]
pub(in crate::app::server) struct Competition {
    pub(in crate::app::server) self_tests: SelfTests,
    pub(super) duels: Duels,
    pub(super) classes: Classes,
    pub(in crate::app::server) tournaments: Tournaments,
    pub(in crate::app::server) fair_play: FairPlay,
    pub(super) leaderboard: Leaderboard,
    pub(in crate::app::server) explorer: Arc<Explorer>,
    pub(super) troubles: Troubles,
}

/// Competition: self-tests, tournaments, the published ratings. The tournaments' director must hear how the live games
/// end, so this comes before they are taken up.
pub(in crate::app::server) async fn competition(
    ground: &Ground,
    thinking: &Thinking,
    playing: &Playing,
) -> Result<(Competition, Director, FairPlayParts), ServerError> {
    let (director, tournaments) = Director::new(
        DirectorDeps {
            host: playing.host.clone(),
            store: Arc::clone(&ground.store),
            writer: ground.writer.clone(),
            sessions: playing.sessions.clone(),
        },
        ground.config.tournaments.0.clone(),
    )
    .await?;
    let troubles = Troubles::default();
    let self_tests = SelfTests::new(SelfTestDeps {
        troubles: troubles.clone(),
        host: playing.host.clone(),
        sessions: playing.sessions.clone(),
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        tasks: ground.tasks.of(Part::SelfTests),
        stop: ground.stop.clone(),
    });
    let (fair_play_parts, fair_play) = fair_play::build(ground, thinking, playing)?;
    let duels = Duels::new(DuelDeps {
        host: playing.host.clone(),
        directory: playing.directory.clone(),
        sessions: playing.sessions.clone(),
        at_once: ground.config.limits.duels.count(),
    });
    let leaderboard = Leaderboard::new(playing.host.ratings().clone());
    let competition = Competition {
        self_tests,
        duels,
        classes: Classes::default(),
        fair_play,
        tournaments,
        explorer: Arc::new(Explorer::new(leaderboard.shown().clone())),
        leaderboard,
        troubles,
    };
    Ok((competition, director, fair_play_parts))
}

impl Competition {
    /// Keeps what goes on by itself: the published ratings, the matchmaker, tests where rated games need them, and what
    /// tells owners of bots how it goes.
    pub(in crate::app::server) fn keep(
        &self,
        parts: &mut KeptParts,
        ground: &Ground,
        thinking: &Thinking,
        playing: &Playing,
    ) {
        match requirement(&ground.config) {
            Requirement::BeforeRated => {
                let tests = self.self_tests.clone();
                parts.keep(remade(Part::SelfTests, move |_| tests.clone().run().map(Ok)));
            }
            Requirement::Optional => {}
        }
        let duels = self.duels.clone();
        parts.keep(remade(Part::Duels, move |stop| duels.clone().run(stop).map(Ok)));
        let keeper = ClassKeeper {
            classes: self.classes.clone(),
            host: playing.host.clone(),
            directory: playing.directory.clone(),
            sessions: playing.sessions.clone(),
        };
        parts.keep(remade(Part::Classes, move |stop| keeper.clone().run(stop).map(Ok)));
        let deps = LeaderboardDeps {
            store: Arc::clone(&ground.store),
            writer: ground.writer.clone(),
            leaderboard: self.leaderboard.clone(),
            seasons: seasons(&ground.config),
        };
        parts.keep(remade(Part::Leaderboard, move |stop| {
            LeaderboardActor::new(deps.clone()).run(stop).map(Ok)
        }));
        if let Some(webhooks) = &ground.webhooks {
            parts.keep(WebhookActor::new(webhooks.clone(), playing.host.ends(), self.troubles.clone()));
        }
        if ground.config.ladder.enabled {
            parts.keep(self.matchmaker(ground, thinking, playing));
        }
    }

    /// What closes connections, and takes offers, plans and classes back, of whoever is sent away.
    pub(in crate::app::server) fn revocations(&self, services: &Arc<Services>) -> Revocations {
        Revocations::new(Arc::clone(services), self.tournaments.clone(), self.classes.clone())
    }

    fn matchmaker(&self, ground: &Ground, thinking: &Thinking, playing: &Playing) -> impl Kept + use<> {
        let deps = MatchmakerDeps {
            host: playing.host.clone(),
            store: Arc::clone(&ground.store),
            sessions: playing.sessions.clone(),
            directory: playing.directory.clone(),
            feeds: playing.feeds.clone(),
            pool: thinking.pool.clone(),
            troubles: self.troubles.clone(),
            leaderboard: self.leaderboard.clone(),
            metrics: Arc::clone(&ground.metrics),
        };
        let ladder = &ground.config.ladder;
        let settings = MatchmakerSettings {
            time: ladder.time(),
            cpu_share: ladder.cpu_share.number(),
            calm_percent: ladder.calm_percent.number(),
            house_pairs: ladder.concurrency.count(),
            pairs_per_day: ladder.pairs_per_day.number(),
            per_minute: PairsPerMinute {
                all: ladder.remote_pairs_per_minute.number(),
                same: ladder.remote_pairs_per_minute_and_opponent.number(),
            },
        };
        remade(Part::Matchmaker, move |stop| MatchmakerActor::new(deps.clone(), settings).run(stop).map(Ok))
    }
}

/// What is ranked by itself, the latest first.
fn seasons(config: &Config) -> Vec<Arc<Season>> {
    let season = |SeasonConfig { name, start, end, variant }: &SeasonConfig| Season {
        name: name.clone(),
        start: *start,
        end: *end,
        variant: variant.0,
    };
    seasons::sorted(config.seasons.0.iter().map(season).collect())
}
