//! The flags of `fourfold train ntuple` that say how it learns: one for each idea that was tried.

use std::fmt;

use fourfold_bots::ntuple::{Method, Openings, Percent, Tables};

/// Shares are in percent.
#[derive(Clone, Copy, Default, Debug, clap::Args)]
pub(super) struct MethodFlags {
    /// ntuple: weights that play when it has learnt, `average` or `current` [default: average].
    #[arg(long, value_name = "WEIGHTS")]
    play_by: Option<Tables>,
    /// ntuple: games that the average remembers, at least 1000 [default: 20000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(Method::AVERAGE_OVER_MIN..))]
    average_over: Option<u64>,
    /// ntuple: weights whose values it learns from, `average` or `current` [default: current].
    #[arg(long, value_name = "WEIGHTS")]
    targets_by: Option<Tables>,
    /// ntuple: share of games that begin where an advantage was lost, in percent [default: 0].
    #[arg(long, value_name = "PERCENT")]
    restarts: Option<Percent>,
    /// ntuple: share of games that begin with random moves, in percent; of several members only
    /// every second has such games [default: 0].
    #[arg(long, value_name = "PERCENT")]
    random_openings: Option<Percent>,
    /// ntuple: most of these moves; each number up to it is as likely [default: 12].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Openings::PLIES_MAX)))]
    opening_plies: Option<u32>,
    /// ntuple: share of games, the last of --settle, that learn from the best replies, in percent [default: 0].
    #[arg(long, value_name = "PERCENT")]
    late_search: Option<Percent>,
    /// ntuple: weight of how the game went on against the next value, in percent [default: 70].
    #[arg(long, value_name = "PERCENT")]
    lambda: Option<Percent>,
    /// ntuple: share of moves that are drawn, in percent [default: 10].
    #[arg(long, value_name = "PERCENT")]
    exploration: Option<Percent>,
    /// ntuple: share of an error that is mended at once in the first game, in percent, at least 1 [default: 80].
    #[arg(long, value_name = "PERCENT", value_parser = step)]
    first_step: Option<Percent>,
    /// ntuple: the same in the last game of --settle [default: 16].
    #[arg(long, value_name = "PERCENT", value_parser = step)]
    last_step: Option<Percent>,
}

/// A step that goes somewhere.
fn step(text: &str) -> Result<Percent, String> {
    match text.parse() {
        Ok(step) if step > Percent::ZERO => Ok(step),
        Ok(_) | Err(_) => Err("a step is a whole number of percent from 1 to 100".to_owned()),
    }
}

impl MethodFlags {
    pub(super) fn method(self) -> Method {
        const DEFAULT: Method = Method::DEFAULT;
        Method {
            exploration: self.exploration.unwrap_or(DEFAULT.exploration),
            lambda: self.lambda.unwrap_or(DEFAULT.lambda),
            first_step: self.first_step.unwrap_or(DEFAULT.first_step),
            last_step: self.last_step.unwrap_or(DEFAULT.last_step),
            average_over: self.average_over.unwrap_or(DEFAULT.average_over),
            play_by: self.play_by.unwrap_or(DEFAULT.play_by),
            targets_by: self.targets_by.unwrap_or(DEFAULT.targets_by),
            restarts: self.restarts.unwrap_or(DEFAULT.restarts),
            openings: Openings {
                share: self.random_openings.unwrap_or(DEFAULT.openings.share),
                plies: self.opening_plies.unwrap_or(DEFAULT.openings.plies),
            },
            late_search: self.late_search.unwrap_or(DEFAULT.late_search),
        }
    }

    /// The flags that were given, with their values.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, String)> {
        let Self {
            play_by,
            average_over,
            targets_by,
            restarts,
            random_openings,
            opening_plies,
            late_search,
            lambda,
            exploration,
            first_step,
            last_step,
        } = self;
        let flags = [
            ("--play-by", shown(play_by.as_ref())),
            ("--average-over", shown(average_over.as_ref())),
            ("--targets-by", shown(targets_by.as_ref())),
            ("--restarts", shown(restarts.as_ref())),
            ("--random-openings", shown(random_openings.as_ref())),
            ("--opening-plies", shown(opening_plies.as_ref())),
            ("--late-search", shown(late_search.as_ref())),
            ("--lambda", shown(lambda.as_ref())),
            ("--exploration", shown(exploration.as_ref())),
            ("--first-step", shown(first_step.as_ref())),
            ("--last-step", shown(last_step.as_ref())),
        ];
        flags.into_iter().filter_map(|(flag, value)| value.map(|value| (flag, value)))
    }
}

fn shown<T: fmt::Display>(value: Option<&T>) -> Option<String> {
    value.map(ToString::to_string)
}
