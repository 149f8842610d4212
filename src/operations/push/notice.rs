//! What a browser shows its user, and which of what happens that is. Pure: the caller says how things stand.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::lobby::ChallengedAway;
use crate::model::ids::{ChallengeId, GameId, PlayerId, PlayerName, TournamentId};
use crate::operations::turns::{BY_PUSH, DueTurn, TurnsTold};
use crate::play::open_turns::OpenTurn;
use crate::storage::tournaments::StoredTournament;

/// How long a push service keeps a notice at most: what it tells is over then, or known.
const LASTS_MAX: Duration = Duration::from_hours(7 * 24);

/// How long it is worth knowing that a tournament has begun.
const TOURNAMENT_LASTS: Duration = Duration::from_hours(1);

/// How long a notice to try with is kept.
const TEST_LASTS: Duration = Duration::from_mins(5);

/// Bytes of a hash that become a topic: its 32 characters are as many as push services take.
const TOPIC_BYTES: usize = 24;

/// What somebody is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// It is one's turn in a game by correspondence.
    Turn {
        game: GameId,
        opponent: PlayerName,
        /// What is left for the move.
        left: Duration,
    },
    /// Somebody wants to play.
    Challenge { challenge: ChallengeId, from: PlayerName, lasts: Duration },
    /// A tournament begins in which one takes part.
    Tournament { id: TournamentId, name: String },
    /// Nothing happened: somebody tries it.
    Test,
}

impl Notice {
    /// Where one sees more of it.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Turn { game, .. } => format!("/game/{game}"),
            // What waits for an answer is shown on every page.
            Self::Challenge { .. } => "/".to_owned(),
            Self::Tournament { id, .. } => format!("/tournament/{id}"),
            Self::Test => "/account".to_owned(),
        }
    }

    /// What it is about: a later notice of the same takes its place, at the push service and on the screen. A hash, so
    /// that a push service does not read there which game that is.
    pub(super) fn topic(&self) -> String {
        let about = match self {
            Self::Turn { game, .. } => format!("turn {game}"),
            Self::Challenge { challenge, .. } => format!("challenge {challenge}"),
            Self::Tournament { id, .. } => format!("tournament {id}"),
            Self::Test => "test".to_owned(),
        };
        let hash = Sha256::digest(about);
        URL_SAFE_NO_PAD.encode(&hash[..TOPIC_BYTES])
    }

    /// How long it is worth knowing.
    pub(super) fn lasts(&self) -> Duration {
        match self {
            Self::Turn { left, .. } => (*left).min(LASTS_MAX),
            Self::Challenge { lasts, .. } => *lasts,
            Self::Tournament { .. } => TOURNAMENT_LASTS,
            Self::Test => TEST_LASTS,
        }
    }

    /// How much it matters that it comes soon, as RFC 8030 has it: phones wake up for what is urgent.
    pub(super) fn urgency(&self) -> &'static str {
        match self {
            Self::Turn { .. } => "normal",
            Self::Challenge { .. } | Self::Tournament { .. } | Self::Test => "high",
        }
    }
}

impl From<ChallengedAway> for Notice {
    fn from(away: ChallengedAway) -> Self {
        Self::Challenge { challenge: away.challenge, from: away.from, lasts: away.lasts }
    }
}

/// What was told of since the daemon began, and so what is news.
#[derive(Debug)]
pub(super) struct News {
    turns: TurnsTold,
    /// Those that have begun and were told of; none before the first look.
    tournaments: Option<BTreeSet<TournamentId>>,
}

impl News {
    pub(super) fn new() -> Self {
        Self { turns: TurnsTold::by(BY_PUSH), tournaments: None }
    }

    /// Whom to tell what, of all games by correspondence and all tournaments as they stand. `is_there` says who sees it
    /// on the page. The first look tells of nothing that was so before: the process before has.
    pub(super) fn due(
        &mut self,
        games: Vec<OpenTurn>,
        running: &[StoredTournament],
        is_there: impl Fn(&PlayerId) -> bool,
    ) -> Vec<(PlayerId, Notice)> {
        let turns = self.turns.due(games, &is_there).into_iter();
        let turns = turns.map(|DueTurn { turn, .. }| {
            let notice = Notice::Turn { game: turn.game, opponent: turn.opponent.name, left: turn.left };
            (turn.mover.id, notice)
        });
        let begun = running.iter().map(|tournament| tournament.id.clone()).collect();
        let known = self.tournaments.replace(begun);
        let is_news = |tournament: &&StoredTournament| {
            known.as_ref().is_some_and(|known| !known.contains(&tournament.id))
        };
        let starts = running.iter().filter(is_news).flat_map(|tournament| {
            let notice = Notice::Tournament { id: tournament.id.clone(), name: tournament.name.clone() };
            tournament.entrants.iter().map(move |entrant| (entrant.clone(), notice.clone()))
        });
        turns.chain(starts.filter(|(entrant, _)| !is_there(entrant))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance::{player, player_id};
    use crate::storage::conformance_of_tournaments::tournament;

    fn turn(ply: u32, lasted_mins: u64) -> OpenTurn {
        let person =
            |name| crate::accounts::identity_of(&player(name, crate::model::player::PlayerKind::Human));
        OpenTurn {
            game: "g1".parse().unwrap(),
            mover: person("Ada"),
            opponent: person("Bob"),
            ply,
            lasted: Duration::from_mins(lasted_mins),
            left: Duration::from_hours(70),
        }
    }

    #[test]
    fn a_turn_and_the_start_of_a_tournament_are_told_once_to_whoever_is_away() {
        let mut news = News::new();
        let [old, cup] = [tournament("T0", 0), tournament("T1", 1)];
        let bob_is_there = |player: &PlayerId| *player == player_id("Bob");
        assert_eq!(news.due(vec![turn(1, 30)], std::slice::from_ref(&old), bob_is_there), []);
        let running = [old, cup];
        let told = news.due(vec![turn(3, 2)], &running, bob_is_there);
        let [(first, of_turn), (second, of_cup)] = told.try_into().unwrap();
        assert_eq!([&first, &second], [&player_id("Ada"); 2]);
        assert!(
            matches!(&of_turn, Notice::Turn { opponent, .. } if opponent.as_str() == "Bob"),
            "{of_turn:?}"
        );
        assert_eq!(of_cup, Notice::Tournament { id: "T1".parse().unwrap(), name: "Cup".into() });
        assert_eq!(news.due(vec![turn(3, 3)], &running, bob_is_there), []);
        assert_eq!(news.due(vec![turn(5, 2)], &running, |_| false).len(), 1, "a turn is told of anew");
    }

    #[test]
    fn what_is_about_the_same_has_one_topic_that_does_not_name_it() {
        let turn = |game: &str, hours| Notice::Turn {
            game: game.parse().unwrap(),
            opponent: "Bob".parse().unwrap(),
            left: Duration::from_hours(hours),
        };
        assert_eq!(turn("g1", 70).topic(), turn("g1", 20).topic());
        assert_ne!(turn("g1", 70).topic(), turn("g2", 70).topic());
        for notice in [turn("g1", 1_000), Notice::Test] {
            let topic = notice.topic();
            assert!(topic.len() == 32 && !topic.contains("g1"), "{topic}");
            assert!(notice.lasts() <= LASTS_MAX);
        }
    }
}
