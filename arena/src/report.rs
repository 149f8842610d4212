//! What a run comes to, as it is published: the JSON shapes of `match`, `tournament` and `rate`, and their sentences.

use fourfold_engine::WinDrawLoss;
use serde::Serialize;

use crate::course::Course;
use crate::format::Format;
use crate::log::Why;
use crate::results::{EntrantTally, Meeting, Results};
use crate::stats::elo;
use crate::stats::fit::{self, Anchor, Fit, Warning};
use crate::stats::pairs::{Estimate, PairCounts};
use crate::stats::sprt::{Hypothesis, Sprt};
use crate::stats::stopped::median_unbiased_elo;

/// How sure one may be of who is stronger before it is called known.
const KNOWN: f64 = 0.99;

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
    pub normalised_elo: f64,
    pub unfinished_pairs: u64,
    /// Pairs that repeat an earlier one move for move.
    pub repeated_pairs: u64,
    pub faults_by: [u64; 2],
    /// Null while there is more to play.
    pub ended: Option<Why>,
    pub sentence: String,
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
    /// The strength that the stopped test points to: the plain `elo` is too far out after a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elo_after_stop: Option<f64>,
}

impl MatchReport {
    /// Reports on a run of two entrants.
    pub fn new(course: &Course) -> Self {
        let (plan, results) = (course.plan(), course.results());
        let Meeting { score, pairs, .. } = results.meeting(0, 1);
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
            elo_after_stop: median_unbiased_elo(sprt, pairs),
        }
    }
}

/// What a match has shown, in words.
fn sentence(names: &[String; 2], pairs: &PairCounts, sprt: Option<&SprtReport>) -> String {
    let [a, b] = names;
    if pairs.pairs() == 0 {
        return format!("Nothing is known about {a} and {b}: no pair of games was finished.");
    }
    if let Some(SprtReport { accepted: Some(accepted), elo0, elo1, elo_after_stop, .. }) = sprt {
        let elo = elo_after_stop.unwrap_or_default();
        let (verb, by) = match accepted {
            Hypothesis::H1 => ("stronger", format!("{elo1} points rather than {elo0}")),
            Hypothesis::H0 => ("not stronger", format!("{elo1} points; {elo0} fits better")),
        };
        return format!(
            "The test accepts {accepted:?} after {} pairs: {a} is {verb} than {b} by {by} (about {elo:+.0}).",
            pairs.pairs()
        );
    }
    let los = pairs.los();
    let (stronger, weaker, sure) = if los >= 0.5 { (a, b, los) } else { (b, a, 1.0 - los) };
    let ahead = format!("{stronger} is stronger than {weaker} with {}", percent(sure));
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
    /// Why not to trust them.
    pub warnings: Vec<String>,
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
    /// 3 points a win, 1 a draw.
    pub score: u64,
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
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&one, &other| fit.elo[other].total_cmp(&fit.elo[one]));
        Self::in_order(entries, meetings, &fit, &order)
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
        let order = ranking(course);
        let mut table = Self::in_order(&entries, &meetings, &fit, &order);
        for ((rank, &entrant), row) in (1..).zip(&order).zip(&mut table.players) {
            let tally = &results.entrants()[entrant];
            row.standing = Some(TournamentPlace {
                rank,
                score: tally.points(),
                wins_first: tally.score.first.wins,
                wins_second: tally.score.second.wins,
                faults: tally.faults,
                suspended: !course.active()[entrant],
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

/// By score, then wins, then the order of entry; in a knockout by how far everybody came first.
fn ranking(course: &Course) -> Vec<usize> {
    let tallies = course.results().entrants();
    let stages = match course.plan().format {
        Format::Knockout => course.stages(),
        Format::Match
        | Format::RoundRobin
        | Format::Gauntlet { .. }
        | Format::Swiss { .. }
        | Format::Ladder => vec![0; tallies.len()],
    };
    let mut order: Vec<usize> = (0..tallies.len()).collect();
    order.sort_by_key(|&entrant| {
        let tally = &tallies[entrant];
        std::cmp::Reverse((stages[entrant], tally.points(), tally.score.sum().wins))
    });
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

    use super::*;
    use crate::results::GameOutcome;
    use crate::testing::plan;

    fn play(course: &mut Course, games: u64, wins: impl Fn(u64) -> bool) {
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
        assert!(sentence.starts_with("a is stronger than b with 88 %"), "{sentence}");
        assert!(sentence.ends_with(" more pairs would be needed for 99 %."), "{sentence}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["ended"], serde_json::Value::Null);
        assert!(json.get("sprt").is_none());
    }

    #[test]
    fn tournaments_rank_by_three_points_a_win() {
        let mut course = Course::new(plan(Format::RoundRobin, 3, 1));
        while let Some(slot) = course.due() {
            // Everybody wins as the first side but against c, who loses everything.
            let winner = if slot.seats().first == 2 { Side::Second } else { Side::First };
            let moves = slot.number.to_string();
            course.book(&GameOutcome {
                winner: Some(winner),
                at_fault: None,
                both_moved: true,
                moves: &moves,
            });
        }
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
