//! What a finished game does to the ratings: pure, so that every back end and the verifier agree.

use fourfold_engine::{BySide, SideResult};

use super::record::{Ending, GameSpec, RatingRow, UnratedReason};
use crate::model::rating::eligibility;
use crate::model::result::GameResult;

use crate::model::rating::eligibility::GameFingerprint;
use crate::model::rating::elo;
use crate::model::rating::newcomers;

use crate::model::rating::elo::RatingEntry;

/// Judges one finished game.
#[derive(Debug)]
pub(crate) struct Referee<'a> {
    pub(crate) spec: &'a GameSpec,
    /// All moves, the opening's included.
    pub(crate) moves: &'a str,
    pub(crate) ending: Ending,
}

/// What becomes of the ratings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RatingVerdict {
    /// They change.
    Rated(BySide<RatingUpdate>),
    /// They do not; why, if it was meant to be rated.
    Unrated(Option<UnratedReason>),
}

/// What becomes of one player's rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RatingUpdate {
    pub(crate) entry: RatingEntry,
    /// The player's row from now on.
    pub(crate) row: RatingRow,
    pub(crate) opponent: OpponentStanding,
}

/// Whether a player has met a newcomer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpponentStanding {
    /// What was gained counts for the day's limit.
    New,
    Known,
}

/// What came before a game, as far as it matters for what the game does to the ratings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precedents<'a> {
    pub(crate) rows: BySide<RatingRow>,
    /// The last [`eligibility::REMEMBERED_GAMES`] rated games of these two players in this variant.
    pub(crate) remembered: &'a [GameFingerprint],
    /// What each gained from newcomers in the day before; asked for only where [`Referee::opponents`] has one.
    pub(crate) gained: BySide<i64>,
}

impl Referee<'_> {
    /// The verdict, if what was fixed at the start is enough for it.
    ///
    /// A back end asks this first, because only a game that may be rated needs the arguments of [`Self::judge`].
    pub(crate) fn judge_start(&self) -> Option<RatingVerdict> {
        let spec = self.spec;
        if !spec.rated || spec.unrated_because.is_some() {
            Some(RatingVerdict::Unrated(spec.unrated_because))
        } else if spec.players.first == spec.players.second {
            Some(RatingVerdict::Unrated(Some(UnratedReason::SameOwner)))
        } else {
            None
        }
    }

    /// Whom each side has met, by the ratings before the game.
    pub(crate) fn opponents(&self, rows: &BySide<RatingRow>) -> BySide<OpponentStanding> {
        BySide::from_fn(|side| {
            let opponent = side.opponent();
            let is_new =
                self.spec.footing.is_some_and(|footing| footing[opponent].is_new(rows[opponent].standing));
            if is_new { OpponentStanding::New } else { OpponentStanding::Known }
        })
    }

    /// The verdict on a game that may be rated.
    pub(crate) fn judge(&self, before: Precedents<'_>) -> RatingVerdict {
        let Precedents { rows, remembered, gained } = before;
        if let Some(verdict) = self.judge_start() {
            return verdict;
        }
        let unrated = eligibility::unrated_because(&self.course(), self.ending.reason, remembered);
        let winner = match (unrated, self.ending.result) {
            (Some(reason), _) => return RatingVerdict::Unrated(Some(reason)),
            (None, GameResult::Void) => return RatingVerdict::Unrated(Some(UnratedReason::Void)),
            (None, result) => result.winner(),
        };
        let entries = elo::settle(rows.first.standing, rows.second.standing, winner);
        let opponents = self.opponents(&rows);
        RatingVerdict::Rated(BySide::from_fn(|side| {
            let opponent = opponents[side];
            let entry = match opponent {
                OpponentStanding::New => newcomers::limited(entries[side], gained[side]),
                OpponentStanding::Known => entries[side],
            };
            RatingUpdate { entry, row: rows[side].after(entry, SideResult::of(side, winner)), opponent }
        }))
    }

    /// By what later games are compared with this one.
    pub(crate) fn course(&self) -> GameFingerprint {
        GameFingerprint {
            first: self.spec.players.first.clone(),
            moves: self.moves.to_owned(),
            result: self.ending.result,
        }
    }
}

impl RatingRow {
    /// The row after one more rated game.
    pub(crate) fn after(mut self, entry: RatingEntry, result: SideResult) -> Self {
        self.standing.rating = entry.after;
        self.standing.games += 1;
        self.score.count(result);
        self
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Side, Variant, WinDrawLoss, rng};
    use rand::RngExt;

    use super::*;
    use crate::model::clock::TimeControl;
    use crate::model::rating::elo::{MilliElo, Standing};
    use crate::model::rating::newcomers::{Footing, Gains};
    use crate::model::result::EndReason;
    use crate::model::time::UnixMillis;
    use crate::storage::record::OpeningSource;

    /// Somebody who plays as well as the points say.
    struct Honest {
        strength: i64,
        footing: Footing,
        row: RatingRow,
        gains: Gains,
    }

    impl Honest {
        fn new(strength: i64, footing: Footing, games: u64, elo: i64) -> Self {
            let standing = Standing { rating: MilliElo(1_000 * elo), games };
            let score = WinDrawLoss { wins: games, ..WinDrawLoss::default() };
            Self { strength, footing, row: RatingRow { standing, score }, gains: Gains::default() }
        }

        fn elo(&self) -> i64 {
            i64::from(self.row.standing.rating.to_elo())
        }
    }

    fn rated_game() -> GameSpec {
        GameSpec {
            id: "g".parse().unwrap(),
            players: BySide { first: "ada".parse().unwrap(), second: "bob".parse().unwrap() },
            variant: Variant::STANDARD,
            time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
            rated: true,
            unrated_because: None,
            footing: None,
            versions: BySide::default(),
            opening: OpeningSource::default(),
            pair: None,
            started_at: UnixMillis(0),
        }
    }

    #[test]
    fn what_was_fixed_at_the_start_may_be_enough() {
        let judged = |spec: &GameSpec| {
            let ending = Ending { result: GameResult::First, reason: EndReason::Resign, by: None };
            Referee { spec, moves: "4444", ending }.judge_start()
        };
        let unrated = |because| Some(RatingVerdict::Unrated(because));
        assert_eq!(judged(&rated_game()), None);
        assert_eq!(judged(&GameSpec { rated: false, ..rated_game() }), unrated(None));
        let because = Some(UnratedReason::PairLimit);
        assert_eq!(judged(&GameSpec { unrated_because: because, ..rated_game() }), unrated(because));
        let alone = BySide { first: "ada".parse().unwrap(), second: "ada".parse().unwrap() };
        let same = unrated(Some(UnratedReason::SameOwner));
        assert_eq!(judged(&GameSpec { players: alone, ..rated_game() }), same);
    }

    /// One game, which ends as their strengths make it probable.
    fn play(pair: &mut [&mut Honest; 2], at: UnixMillis, rng: &mut impl rand::Rng) {
        let milli = |player: &Honest| MilliElo(1_000 * player.strength);
        let expected = elo::expected_score(milli(pair[0]), milli(pair[1]));
        let first_wins = rng.random_range(0..1_000_000_000) < expected;
        let result = if first_wins { GameResult::First } else { GameResult::Second };
        let footing = Some(BySide { first: pair[0].footing, second: pair[1].footing });
        let spec = GameSpec { footing, started_at: at, ..rated_game() };
        let ending = Ending { result, reason: EndReason::Resign, by: None };
        let referee = Referee { spec: &spec, moves: "44444441", ending };
        let index = |side: Side| usize::from(side == Side::Second);
        let rows = BySide::from_fn(|side| pair[index(side)].row);
        let gained = BySide::from_fn(|side| pair[index(side)].gains.before(at));
        let RatingVerdict::Rated(changes) = referee.judge(Precedents { rows, remembered: &[], gained })
        else {
            panic!("the game counts")
        };
        for side in Side::BOTH {
            let player = &mut *pair[index(side)];
            player.row = changes[side].row;
            if changes[side].opponent == OpponentStanding::New {
                player.gains.note(at, changes[side].entry.delta);
            }
        }
    }

    #[test]
    fn honest_newcomers_come_to_where_they_belong() {
        let mut rng = rng::seeded(22);
        let at = UnixMillis(1_750_000_000_000);
        for strength in [1_100, 1_300, 1_500, 1_700, 1_900] {
            let mut off = 0;
            for _ in 0..20 {
                let mut newcomer = Honest::new(strength, Footing::Young, 0, 1_500);
                for game in 0..200 {
                    // Among those who are known, and bots of the house.
                    let elo = 1_100 + 200 * (game % 5);
                    let footing = if game % 2 == 0 { Footing::House } else { Footing::Settled };
                    let mut known = Honest::new(elo, footing, 100, elo);
                    play(&mut [&mut newcomer, &mut known], at, &mut rng);
                }
                off += newcomer.elo() - strength;
            }
            assert!((off / 20).abs() < 60, "{strength}: {} off", off / 20);
        }
    }

    #[test]
    fn whoever_meets_newcomers_alone_neither_gains_nor_loses_by_it() {
        let (mut rng, mut sum) = (rng::seeded(23), 0);
        for run in 0..40 {
            let mut known = Honest::new(1_500, Footing::Settled, 100, 1_500);
            for game in 0..200 {
                // A few games a day.
                let at = UnixMillis(1_750_000_000_000 + i64::from(game) * 4 * 3_600_000);
                let mut newcomer = Honest::new(1_500, Footing::Young, 0, 1_500);
                play(&mut [&mut known, &mut newcomer], at, &mut rng);
            }
            assert!((known.elo() - 1_500).abs() <= 100, "{run}: {}", known.elo());
            sum += known.elo() - 1_500;
        }
        assert!((sum / 40).abs() <= 15, "{} points in the mean", sum / 40);
    }
}
