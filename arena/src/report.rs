//! What a run comes to, as it is published: the JSON shapes of `match`, `tournament` and `rate`, and their sentences.

use std::cmp::{Ordering, Reverse};

use fourfold_engine::WinDrawLoss;
use serde::Serialize;

use crate::course::Course;
use crate::format::Format;
use crate::log::Why;
use crate::results::{EntrantTally, Meeting, POINTS_OF_A_WIN, Results};
use crate::stats::elo;
use crate::stats::fit::{self, Anchor, Fit, Warning};
use crate::stats::pairs::{Estimate, PairCounts};
use crate::stats::sprt::{Hypothesis, Sprt};
use crate::stats::stopped::median_unbiased_elo;

/// How sure one may be of who is stronger before it is called known.
const KNOWN: f64 = 0.99;

/// How sure one may be before a sentence says so without a doubt: what most papers ask for.
const SHOWN: f64 = 0.95;

/// A match as the first entrant sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchReport {
    pub entrants: [String; 2],
    pub games: u64,
    /// Finished pairs: all that follows from `elo` to `pentanomial` is of them alone.
    pub pairs: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// Points in shares of all games, 1/2 before the first.
    pub score: f64,
    pub elo: f64,
    pub elo_low: f64,
    pub elo_high: f64,
    pub los: f64,
    /// Pairs by half points, none to four.
    pub pentanomial: [u64; 5],
    /// Games that differ from all others.
    pub distinct: u64,
    pub faults: u64,
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtReport>,
    /// Null if all pairs went alike.
    pub normalised_elo: Option<f64>,
    pub unfinished_pairs: u64,
    /// Pairs that repeat an earlier one move for move.
    pub repeated_pairs: u64,
    pub faults_by: [u64; 2],
    /// Why games were lost by a fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fault_kinds: Vec<FaultKindReport>,
    /// Null while there is more to play.
    pub ended: Option<Why>,
    pub sentence: String,
}

/// A kind of fault, and how often it cost a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FaultKindReport {
    pub entrant: String,
    pub fault: String,
    pub games: u64,
}

impl FaultKindReport {
    /// Those of a run, by entrant.
    pub fn of(course: &Course) -> Vec<Self> {
        let name = |entrant: usize| course.plan().entrants[entrant].clone();
        let kinds = course.results().fault_kinds();
        kinds
            .map(|(entrant, fault, games)| Self { entrant: name(entrant), fault: fault.to_owned(), games })
            .collect()
    }
}

/// How a sequential test stands.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SprtReport {
    pub elo0: f64,
    pub elo1: f64,
    pub llr: f64,
    pub lower: f64,
    pub upper: f64,
    /// Null until it is decided.
    pub accepted: Option<Hypothesis>,
    /// The strength that the stopped test points to: the plain `elo` is too far out after a stop. Left out where that
    /// cannot be told: beyond the hypotheses a test takes so many pairs however large the difference is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elo_after_stop: Option<f64>,
}

impl MatchReport {
    /// Reports on a run of two entrants.
    pub fn new(course: &Course) -> Self {
        let (plan, results) = (course.plan(), course.results());
        let Meeting { score, mut pairs, .. } = results.meeting(0, 1);
        if results.played() == 0 {
            pairs = PairCounts::default(); // who fails before its first move has shown nothing of its strength
        }
        let unknown = Estimate { elo: 0.0, low: -elo::LIMIT, high: elo::LIMIT, los: 0.5 };
        let estimate = pairs.estimate().unwrap_or(unknown);
        let sprt = plan.sprt.as_ref().map(|sprt| SprtReport::new(sprt, &pairs));
        let names = [plan.entrants[0].clone(), plan.entrants[1].clone()];
        let sentence = sentence(&names, &pairs, sprt.as_ref());
        Self {
            games: score.games(),
            pairs: pairs.pairs(),
            wins: score.wins,
            draws: score.draws,
            losses: score.losses,
            score: score.share().unwrap_or(0.5),
            elo: estimate.elo,
            elo_low: estimate.low,
            elo_high: estimate.high,
            los: estimate.los,
            pentanomial: pairs.counts,
            distinct: results.distinct(),
            faults: results.faults(),
            seed: plan.seed,
            sprt,
            normalised_elo: pairs.normalised_elo(),
            unfinished_pairs: results.unfinished_pairs(),
            repeated_pairs: pairs.repeated,
            fault_kinds: FaultKindReport::of(course),
            faults_by: [results.entrants()[0].faults, results.entrants()[1].faults],
            ended: course.over(),
            entrants: names,
            sentence,
        }
    }
}

impl SprtReport {
    fn new(sprt: &Sprt, pairs: &PairCounts) -> Self {
        let (lower, upper) = sprt.bounds();
        Self {
            elo0: sprt.elo0,
            elo1: sprt.elo1,
            llr: sprt.llr(pairs),
            lower,
            upper,
            accepted: sprt.verdict(pairs),
            elo_after_stop: median_unbiased_elo(sprt, pairs).filter(|elo| is_within_reach(*elo, sprt, pairs)),
        }
    }
}

/// Whether a test that has stopped can say how large the difference is. No test stops before some 17 pairs, so where
/// the games alone put it wholly beyond the hypothesis that was accepted, or exclude what the test points to, the time
/// of the stop says too little.
fn is_within_reach(elo: f64, sprt: &Sprt, pairs: &PairCounts) -> bool {
    let Some(Estimate { low, high, .. }) = pairs.estimate() else { return false };
    (low..=high).contains(&elo)
        && match sprt.verdict(pairs) {
            Some(Hypothesis::H1) => low <= sprt.elo1,
            Some(Hypothesis::H0) => high >= sprt.elo0,
            None => false,
        }
}

/// What a match has shown, in words.
fn sentence(names: &[String; 2], pairs: &PairCounts, sprt: Option<&SprtReport>) -> String {
    let [a, b] = names;
    if pairs.pairs() == 0 {
        return format!("Nothing is known about {a} and {b}: no pair of games was played.");
    }
    if let Some(SprtReport { accepted: Some(accepted), elo0, elo1, elo_after_stop, .. }) = sprt {
        let about = match (elo_after_stop, pairs.estimate()) {
            (Some(elo), _) => format!("about {elo:+.0}"),
            (None, Some(Estimate { low, high, .. })) => {
                format!("the games alone say {low:+.0} to {high:+.0}")
            }
            (None, None) => "nobody can say how much".to_owned(),
        };
        let (verb, by) = match accepted {
            Hypothesis::H1 => ("stronger", format!("{elo1} points rather than {elo0}")),
            Hypothesis::H0 => ("not stronger", format!("{elo1} points; {elo0} fits better")),
        };
        return format!(
            "The test accepts {accepted:?} after {} pairs: {a} is {verb} than {b} by {by} ({about}).",
            pairs.pairs()
        );
    }
    if pairs.informative() <= 1 {
        let alike = match pairs.pairs() {
            1 => String::new(),
            all => format!("all {all} pairs went alike, move for move, and "),
        };
        return format!("Nothing is known yet about {a} and {b}: {alike}one pair tells nothing.");
    }
    let los = pairs.los();
    let (stronger, weaker, sure) = if los >= 0.5 { (a, b, los) } else { (b, a, 1.0 - los) };
    let verb = if sure >= SHOWN { "is" } else { "may be" };
    let ahead = format!("{stronger} {verb} stronger than {weaker} with {}", percent(sure));
    if (los - 0.5).abs() < 1e-9 {
        format!("{a} and {b} are level after {} pairs.", pairs.pairs())
    } else if sure >= KNOWN {
        format!("{ahead}.")
    } else {
        match pairs.pairs_needed(KNOWN) {
            Some(1) => format!("{ahead}; one more pair would be needed for {}.", percent(KNOWN)),
            Some(more) => format!("{ahead}; {more} more pairs would be needed for {}.", percent(KNOWN)),
            None => format!("{ahead}; too few pairs differ to say how many more are needed."),
        }
    }
}

/// A probability in whole per cent, and never a full hundred.
fn percent(share: f64) -> String {
    if share >= 0.999 {
        "more than 99.9 %".to_owned()
    } else if share > 0.99 {
        format!("{:.1} %", share * 100.0)
    } else {
        format!("{:.0} %", share * 100.0)
    }
}

/// The ratings of a field.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RatingTable {
    /// Elo points that the first move is worth.
    pub first_move_advantage: f64,
    /// The strongest first, or by rank in a tournament.
    pub players: Vec<RatedPlayer>,
    pub games: u64,
    pub pairs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament: Option<TournamentReport>,
    /// What is known of every two players, if somebody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<RatingMatrix>,
    /// Why not to trust them.
    pub warnings: Vec<String>,
}

/// What is known of every two players, in the order of the table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RatingMatrix {
    /// How probable it is that the row's player is stronger than the column's; 1/2 on the diagonal.
    pub los: Vec<Vec<f64>>,
    /// Of the ratings, in squared points.
    pub covariance: Vec<Vec<f64>>,
}

/// One row.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RatedPlayer {
    pub name: String,
    pub elo: f64,
    /// Half the width of the interval that holds 95 %.
    pub pm95: f64,
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// How probable it is that this one is stronger than the next row's; null in the last row.
    pub los_next: Option<f64>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub standing: Option<TournamentPlace>,
}

/// A place in a tournament.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct TournamentPlace {
    pub rank: usize,
    /// 3 points a win, 1 a draw; a round without an opponent counts as won.
    pub score: u64,
    /// Rounds without an opponent.
    pub rests: u64,
    /// In a Swiss tournament, the scores of all opponents met: who has equal points against better ones is ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buchholz: Option<u64>,
    pub wins_first: u64,
    pub wins_second: u64,
    pub faults: u64,
    /// Whether it was taken out after faults.
    pub suspended: bool,
}

/// What is known of a tournament as a whole.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TournamentReport {
    pub format: Format,
    pub seed: u64,
    /// Half points of the row's entrant against the column's, both by rank; null where they did not meet.
    pub crosstable: Vec<Vec<Option<[u64; 2]>>>,
    pub distinct: u64,
    pub faults: u64,
    pub unfinished_pairs: u64,
    pub repeated_pairs: u64,
    /// Null while there is more to play.
    pub ended: Option<Why>,
}

/// A player and its games, before they are rated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportEntry {
    pub name: String,
    pub score: WinDrawLoss,
}

impl RatingTable {
    /// Rates players by all their meetings, the strongest first.
    pub fn rate(entries: &[ReportEntry], meetings: &[fit::FitMeeting], anchors: &[Anchor]) -> Self {
        let fit = Fit::new(entries.len(), meetings, anchors);
        Self::in_order(entries, meetings, &fit, &by_rating(&fit))
    }

    /// The same with what is known of every two players.
    pub fn rate_with_matrix(
        entries: &[ReportEntry],
        meetings: &[fit::FitMeeting],
        anchors: &[Anchor],
    ) -> Self {
        let fit = Fit::new(entries.len(), meetings, anchors);
        let order = by_rating(&fit);
        let of = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            order.iter().map(|&a| order.iter().map(|&b| value(a, b)).collect()).collect()
        };
        let los = of(&|a, b| if a == b { 0.5 } else { fit.los(a, b) });
        let matrix = RatingMatrix { los, covariance: of(&|a, b| fit.covariance(a, b)) };
        Self { matrix: Some(matrix), ..Self::in_order(entries, meetings, &fit, &order) }
    }

    fn in_order(entries: &[ReportEntry], meetings: &[fit::FitMeeting], fit: &Fit, order: &[usize]) -> Self {
        let row = |(place, &player): (usize, &usize)| {
            let ReportEntry { name, score } = &entries[player];
            RatedPlayer {
                name: name.clone(),
                elo: fit.elo[player],
                pm95: fit.pm95(player),
                games: score.games(),
                wins: score.wins,
                draws: score.draws,
                losses: score.losses,
                los_next: order.get(place + 1).map(|&next| fit.los(player, next)),
                standing: None,
            }
        };
        let pairs: u64 = meetings.iter().flat_map(|meeting| meeting.pairs.iter().flatten()).sum();
        let names = |players: &[usize]| -> String {
            players.iter().map(|&player| entries[player].name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let warnings = fit::warnings(entries.len(), meetings);
        Self {
            first_move_advantage: fit.first_move_advantage,
            players: order.iter().enumerate().map(row).collect(),
            games: entries.iter().map(|entry| entry.score.games()).sum::<u64>() / 2,
            pairs,
            tournament: None,
            matrix: None,
            warnings: warnings.iter().map(|warning| say(warning, &names)).collect(),
        }
    }

    /// Standings, crosstable and joint ratings of a tournament, by rank.
    pub fn of_tournament(course: &Course) -> Self {
        let (plan, results) = (course.plan(), course.results());
        let entry = |(name, tally): (&String, &EntrantTally)| ReportEntry {
            name: name.clone(),
            score: tally.score.sum(),
        };
        let entries: Vec<ReportEntry> = plan.entrants.iter().zip(results.entrants()).map(entry).collect();
        let meetings = results.for_fit();
        let fit = Fit::new(entries.len(), &meetings, &[]);
        let scores = scores(course);
        let buchholz = buchholz(course, &scores);
        let order = ranking(course, &fit, &scores, &buchholz);
        let is_swiss = matches!(plan.format, Format::Swiss { .. });
        let mut table = Self::in_order(&entries, &meetings, &fit, &order);
        for ((rank, &entrant), row) in (1..).zip(&order).zip(&mut table.players) {
            let tally = &results.entrants()[entrant];
            row.standing = Some(TournamentPlace {
                rank,
                score: scores[entrant],
                rests: course.rests()[entrant],
                buchholz: is_swiss.then(|| buchholz[entrant]),
                wins_first: tally.score.first.wins,
                wins_second: tally.score.second.wins,
                faults: tally.faults,
                suspended: course.suspended()[entrant],
            });
        }
        table.tournament = Some(TournamentReport {
            format: plan.format,
            seed: plan.seed,
            crosstable: crosstable(results, &order),
            distinct: results.distinct(),
            faults: results.faults(),
            unfinished_pairs: results.unfinished_pairs(),
            repeated_pairs: repeated_pairs(results, entries.len()),
            ended: course.over(),
        });
        table
    }
}

/// The strongest first.
fn by_rating(fit: &Fit) -> Vec<usize> {
    let mut order: Vec<usize> = (0..fit.elo.len()).collect();
    order.sort_by(strongest_first(fit));
    order
}

fn strongest_first(fit: &Fit) -> impl Fn(&usize, &usize) -> Ordering {
    |&one, &other| fit.elo[other].total_cmp(&fit.elo[one])
}

/// Points of everybody, those of rests among them.
fn scores(course: &Course) -> Vec<u64> {
    let of_a_rest = 2 * POINTS_OF_A_WIN * course.plan().pairs;
    let tallies = course.results().entrants().iter().zip(course.rests());
    tallies.map(|(tally, rests)| tally.points() + of_a_rest * rests).collect()
}

/// The sum of the scores of everybody's opponents.
fn buchholz(course: &Course, scores: &[u64]) -> Vec<u64> {
    let met = |a: usize, b: usize| a != b && course.results().meeting(a, b).score.games() > 0;
    let of = |entrant: usize| {
        (0..scores.len()).filter(|&other| met(entrant, other)).map(|other| scores[other]).sum()
    };
    (0..scores.len()).map(of).collect()
}

/// By score, then wins, then the order of entry; in a knockout by how far everybody came first, in a Swiss tournament
/// by the scores of opponents before wins. On a ladder and in a gauntlet points say nothing, for everybody has other
/// opponents: there the ratings decide.
fn ranking(course: &Course, fit: &Fit, scores: &[u64], buchholz: &[u64]) -> Vec<usize> {
    let tallies = course.results().entrants();
    let wins = |entrant: usize| tallies[entrant].score.sum().wins;
    let mut order: Vec<usize> = (0..tallies.len()).collect();
    order.sort_by_key(|&entrant| Reverse((scores[entrant], wins(entrant))));
    match course.plan().format {
        Format::Match | Format::RoundRobin => {}
        Format::Knockout => {
            let stages = course.stages();
            order.sort_by_key(|&entrant| Reverse(stages[entrant]));
        }
        Format::Swiss { .. } => {
            order.sort_by_key(|&entrant| Reverse((scores[entrant], buchholz[entrant], wins(entrant))));
        }
        Format::Gauntlet { .. } | Format::Ladder => order.sort_by(strongest_first(fit)),
    }
    order
}

/// Half points and games of every row against every column.
fn crosstable(results: &Results, order: &[usize]) -> Vec<Vec<Option<[u64; 2]>>> {
    let cell = |a: usize, b: usize| {
        let score = results.meeting(a, b).score;
        (a != b && score.games() > 0).then(|| [score.half_points(), score.games()])
    };
    order.iter().map(|&a| order.iter().map(|&b| cell(a, b)).collect()).collect()
}

fn repeated_pairs(results: &Results, entrants: usize) -> u64 {
    let of = |a: usize| (a + 1..entrants).map(move |b| results.meeting(a, b).pairs.repeated).sum::<u64>();
    (0..entrants).map(of).sum()
}

fn say(warning: &Warning, names: &impl Fn(&[usize]) -> String) -> String {
    match warning {
        Warning::Disconnected(groups) => {
            let groups: Vec<String> = groups.iter().map(|group| format!("[{}]", names(group))).collect();
            format!("these never met, so their ratings are not comparable: {}", groups.join(" "))
        }
        Warning::OnlyWins(players) => {
            format!("won every game, so nothing bounds their ratings from above: {}", names(players))
        }
        Warning::OnlyLosses(players) => {
            format!("lost every game, so nothing bounds their ratings from below: {}", names(players))
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Side;
    use rand::RngExt;

    use super::*;
    use crate::plan::{Plan, PlannedGame};
    use crate::results::GameOutcome;
    use crate::testing::plan;

    fn play(course: &mut Course, games: u64, mut wins: impl FnMut(u64) -> bool) {
        let from = course.results().games();
        for number in from..from + games {
            let slot = course.due().unwrap();
            let (winner, loser) = if wins(number) { (0, 1) } else { (1, 0) };
            assert_ne!(winner, loser);
            let winner = if slot.seats().first == winner { Side::First } else { Side::Second };
            let moves = number.to_string();
            course.book(&GameOutcome {
                winner: Some(winner),
                at_fault: None,
                fault: None,
                both_moved: true,
                moves: &moves,
            });
        }
    }

    #[test]
    fn a_match_is_reported_with_finite_numbers_and_a_sentence() {
        let mut course = Course::new(plan(Format::Match, 2, 30));
        let empty = MatchReport::new(&course);
        assert_eq!((empty.games, empty.score, empty.los), (0, 0.5, 0.5));
        assert!(empty.sentence.starts_with("Nothing is known about a and b"));
        play(&mut course, 41, |number| number % 5 < 3);
        let report = MatchReport::new(&course);
        assert_eq!((report.games, report.pairs, report.unfinished_pairs, report.wins), (41, 20, 1, 25));
        assert!(report.elo_low < report.elo && report.elo < report.elo_high);
        let sentence = &report.sentence;
        assert!(sentence.starts_with("a may be stronger than b with 87 %"), "{sentence}");
        assert!(sentence.ends_with(" more pairs would be needed for 99 %."), "{sentence}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["ended"], serde_json::Value::Null);
        assert!(json.get("sprt").is_none());
    }

    #[test]
    fn few_pairs_claim_little() {
        let names = ["a", "b"].map(str::to_owned);
        let said = |counts: [u64; 5], repeated: u64| sentence(&names, &PairCounts { counts, repeated }, None);
        let one = said([0, 0, 0, 0, 1], 0);
        assert_eq!(one, "Nothing is known yet about a and b: one pair tells nothing.");
        let repeated = said([0, 0, 0, 0, 9], 8);
        assert!(
            repeated.starts_with("Nothing is known yet about a and b: all 9 pairs went alike"),
            "{repeated}"
        );
        let three = said([2, 0, 1, 0, 0], 0);
        assert_eq!(three, "b may be stronger than a with 91 %; 4 more pairs would be needed for 99 %.");
        assert_eq!(said([1, 0, 0, 0, 1], 0), "a and b are level after 2 pairs.");
    }

    #[test]
    fn pairs_that_all_went_alike_have_no_normalised_elo() {
        let mut course = Course::new(plan(Format::Match, 2, 20));
        play(&mut course, 40, |_| true);
        let report = serde_json::to_value(MatchReport::new(&course)).unwrap();
        assert_eq!((&report["score"], &report["normalised_elo"]), (&1.0.into(), &serde_json::Value::Null));
    }

    #[test]
    fn what_failed_before_a_move_has_shown_nothing_of_its_strength() {
        let mut course = Course::new(plan(Format::Match, 2, 5));
        for _ in 0..4 {
            let side = if course.due().unwrap().seats().first == 0 { Side::First } else { Side::Second };
            let (winner, at_fault) = (Some(side.opponent()), Some(side));
            let fault = Some("it exited with code 1: ValueError");
            course.book(&GameOutcome { winner, at_fault, fault, both_moved: false, moves: "" });
        }
        let report = MatchReport::new(&course);
        assert!(report.sentence.starts_with("Nothing is known"), "{}", report.sentence);
        assert!(
            report.elo.abs() < 1e-9 && (report.los - 0.5).abs() < 1e-9 && report.losses == 4,
            "{report:?}"
        );
        let fault = "it exited with code 1: ValueError".to_owned();
        assert_eq!(report.fault_kinds, [FaultKindReport { entrant: "a".into(), fault, games: 4 }]);
    }

    #[test]
    fn a_test_that_was_stopped_by_a_large_difference_claims_no_small_one() {
        let sprt = Some(Sprt::logistic(0.0, 50.0));
        let mut all_won = Course::new(Plan { sprt, ..plan(Format::Match, 2, 100) });
        while all_won.due().is_some() {
            play(&mut all_won, 1, |_| true);
        }
        let report = MatchReport::new(&all_won);
        assert_eq!(report.sprt.unwrap().elo_after_stop, None);
        assert!(report.sentence.contains("the games alone say +"), "{}", report.sentence);
        // As greedy bots meet better ones: 335 points.
        let score = elo::expected_score(335.0);
        for seed in 0..25 {
            let mut rng = fourfold_engine::rng::seeded(seed);
            let mut course = Course::new(Plan { sprt, ..plan(Format::Match, 2, 1_000) });
            while course.due().is_some() {
                play(&mut course, 1, |_| rng.random_bool(score));
            }
            let after_stop = MatchReport::new(&course).sprt.unwrap().elo_after_stop;
            assert!(after_stop.is_none_or(|elo| elo > 150.0), "seed {seed}: {after_stop:?}");
        }
    }

    /// Books whole pairs until nothing is due: who has the smaller number wins everything.
    fn play_out(course: &mut Course) {
        book_all(course, |slot| {
            let seats = slot.seats();
            if seats.first < seats.second { Side::First } else { Side::Second }
        });
    }

    /// Books games until nothing is due, each with this winner.
    fn book_all(course: &mut Course, winner: impl Fn(&PlannedGame) -> Side) {
        while let Some(slot) = course.due() {
            let moves = slot.number.to_string();
            course.book(&GameOutcome {
                winner: Some(winner(&slot)),
                at_fault: None,
                fault: None,
                both_moved: true,
                moves: &moves,
            });
        }
    }

    fn ranks(course: &Course) -> Vec<(String, u64)> {
        let rows = RatingTable::of_tournament(course).players.into_iter();
        rows.map(|row| (row.name.clone(), row.standing.unwrap().score)).collect()
    }

    #[test]
    fn ladders_and_gauntlets_rank_by_rating() {
        let mut ladder = Course::new(plan(Format::Ladder, 4, 30));
        play_out(&mut ladder);
        let names: Vec<_> = ranks(&ladder).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        let mut gauntlet = Course::new(plan(Format::Gauntlet { seeds: 1 }, 4, 1));
        // The seed beats the last one and loses to the others.
        book_all(&mut gauntlet, |slot| {
            let seed = if slot.seats().first == 0 { Side::First } else { Side::Second };
            if slot.pairing.b == 3 { seed } else { seed.opponent() }
        });
        assert_eq!(
            ranks(&gauntlet),
            [("b", 6), ("c", 6), ("a", 6), ("d", 0)].map(|(name, score)| (name.to_owned(), score))
        );
    }

    #[test]
    fn who_rests_in_a_swiss_round_has_the_points_of_it() {
        let mut swiss = Course::new(plan(Format::Swiss { rounds: 3 }, 5, 1));
        play_out(&mut swiss);
        assert_eq!(swiss.rests().iter().sum::<u64>(), 3);
        let table = RatingTable::of_tournament(&swiss);
        for row in &table.players {
            let standing = row.standing.unwrap();
            assert_eq!(standing.score, 3 * row.wins + 6 * standing.rests, "{row:?}");
            assert!(standing.buchholz.is_some());
        }
        let scores: Vec<u64> = table.players.iter().map(|row| row.standing.unwrap().score).collect();
        assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
    }

    #[test]
    fn tournaments_rank_by_three_points_a_win() {
        let mut course = Course::new(plan(Format::RoundRobin, 3, 1));
        // Everybody wins as the first side but against c, who loses everything.
        book_all(&mut course, |slot| if slot.seats().first == 2 { Side::Second } else { Side::First });
        let table = RatingTable::of_tournament(&course);
        let rows: Vec<_> = table
            .players
            .iter()
            .map(|row| (row.name.as_str(), row.standing.unwrap().score, row.standing.unwrap().wins_second))
            .collect();
        assert_eq!(rows, [("a", 9, 1), ("b", 9, 1), ("c", 0, 0)]);
        assert_eq!(table.tournament.as_ref().unwrap().crosstable[0], [None, Some([2, 2]), Some([4, 2])]);
        assert_eq!(table.warnings.len(), 1, "{:?}", table.warnings);
    }
}
