//! Tournaments.

use fourfold_arena::format::Format;
use tracing::error;

use super::{Damage, number, parsed, present, word};
use crate::model::clock::TimeControl;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::tournament::TournamentFormat;
use crate::storage::tournaments::{Attendance, StoredTournament, TournamentEnd, TournamentPlan};

row! {
    #[derive(Debug)]
    pub(crate) struct StoredTournamentRow {
        key: i64,
        id: String,
        name: String,
        due_at: i64,
        format: String,
        parameter: i64,
        pairs: i64,
        seed: i64,
        bank_ms: Option<i64>,
        increment_ms: i64,
        move_ms: Option<i64>,
        rated: bool,
        concurrency: i64,
        watchable: bool,
        started_at: i64,
        ended_at: Option<i64>,
        ended: Option<String>,
        games: Option<i64>,
        winner: Option<String>,
        maker: Option<String>,
        open_people: bool,
        because: Option<String>,
        entrants: String,
    }
}

impl StoredTournamentRow {
    /// The tournament with its number, by which lists go on.
    pub(crate) fn decode(self) -> Result<(u64, StoredTournament), Damage> {
        let tournament = StoredTournament {
            id: parsed("tournament.id", &self.id)?,
            due_at: UnixMillis(self.due_at),
            format: self.format()?,
            entrants: ids(&self.entrants)?,
            pairs: number("tournament.pairs", self.pairs)?,
            seed: self.seed.cast_unsigned(),
            time: TimeControl {
                bank_ms: self.bank_ms.map(|ms| number("tournament.bank_ms", ms)).transpose()?,
                increment_ms: number("tournament.increment_ms", self.increment_ms)?,
                move_ms: self.move_ms.map(|ms| number("tournament.move_ms", ms)).transpose()?,
            },
            rated: self.rated,
            concurrency: number("tournament.concurrency", self.concurrency)?,
            watchable: self.watchable,
            started_at: UnixMillis(self.started_at),
            maker: self.maker.as_deref().map(|id| parsed("player.id", id)).transpose()?,
            open_people: self.open_people,
            end: self.end()?,
            name: self.name,
        };
        Ok((number("tournament.key", self.key)?, tournament))
    }

    fn format(&self) -> Result<TournamentFormat, Damage> {
        let parameter = || number("tournament.parameter", self.parameter);
        let format = match self.format.as_str() {
            "arena" => return Ok(TournamentFormat::Arena { minutes: parameter()? }),
            "match" => Format::Match,
            "round_robin" => Format::RoundRobin,
            "gauntlet" => Format::Gauntlet { seeds: parameter()? },
            "swiss" => Format::Swiss { rounds: parameter()? },
            "knockout" => Format::Knockout,
            "ladder" => Format::Ladder,
            other => return Err(Damage::value("tournament.format", other)),
        };
        Ok(TournamentFormat::Schedule(format))
    }

    fn end(&self) -> Result<Option<TournamentEnd>, Damage> {
        let (Some(at), Some(reason)) = (self.ended_at, &self.ended) else { return Ok(None) };
        Ok(Some(TournamentEnd {
            reason: word("tournament.ended", reason)?,
            at: UnixMillis(at),
            winner: self.winner.as_deref().map(|id| parsed("player.id", id)).transpose()?,
            games: number("tournament.games", present("tournament.games", self.games)?)?,
            because: self.because.clone(),
        }))
    }
}

/// Ids need no escape, so that splitting the list reads it.
fn ids(list: &str) -> Result<Vec<PlayerId>, Damage> {
    let list = list.trim_matches(['[', ']']).split(',').filter(|id| !id.is_empty());
    list.map(|id| parsed("player.id", id.trim_matches('"'))).collect()
}

row! {
    #[derive(Debug)]
    pub(crate) struct PlanRow {
        id: String,
        name: String,
        maker: String,
        begins_at: i64,
        format: String,
        rounds: Option<i64>,
        minutes: Option<i64>,
        pairs: i64,
        bank_ms: Option<i64>,
        increment_ms: i64,
        move_ms: Option<i64>,
        rated: bool,
        open_bots: bool,
        entered: String,
    }
}

impl PlanRow {
    fn decode(self) -> Result<TournamentPlan, Damage> {
        Ok(TournamentPlan {
            id: parsed("tournament_plan.id", &self.id)?,
            maker: parsed("player.id", &self.maker)?,
            begins_at: UnixMillis(self.begins_at),
            format: word("tournament_plan.format", &self.format)?,
            rounds: self.rounds.map(|rounds| number("tournament_plan.rounds", rounds)).transpose()?,
            minutes: self.minutes.map(|minutes| number("tournament_plan.minutes", minutes)).transpose()?,
            pairs: number("tournament_plan.pairs", self.pairs)?,
            time: TimeControl {
                bank_ms: self.bank_ms.map(|ms| number("tournament_plan.bank_ms", ms)).transpose()?,
                increment_ms: number("tournament_plan.increment_ms", self.increment_ms)?,
                move_ms: self.move_ms.map(|ms| number("tournament_plan.move_ms", ms)).transpose()?,
            },
            rated: self.rated,
            open_bots: self.open_bots,
            entered: ids(&self.entered)?,
            name: self.name,
        })
    }
}

/// The plans that can be read. One that cannot be harms no other.
pub(crate) fn decode_plans(rows: Vec<PlanRow>) -> Vec<TournamentPlan> {
    let decode = |row: PlanRow| {
        let id = row.id.clone();
        let damaged = |Damage(what)| error!(tournament = id, what, "a plan is damaged and left out");
        row.decode().map_err(damaged).ok()
    };
    rows.into_iter().filter_map(decode).collect()
}

/// From when and until when entrants take part, in their order.
pub(crate) fn attendance(rows: Vec<(i64, Option<i64>)>) -> Result<Vec<Attendance>, Damage> {
    let one = |(came, went): (i64, Option<i64>)| {
        let went = went.map(|went| number("tournament_entrant.went", went)).transpose()?;
        Ok(Attendance { came: number("tournament_entrant.came", came)?, went })
    };
    rows.into_iter().map(one).collect()
}

/// The word and the number of a format.
pub(crate) fn format_columns(format: TournamentFormat) -> (&'static str, u32) {
    let format = match format {
        TournamentFormat::Arena { minutes } => return ("arena", minutes),
        TournamentFormat::Schedule(format) => format,
    };
    match format {
        Format::Match => ("match", 0),
        Format::RoundRobin => ("round_robin", 0),
        Format::Gauntlet { seeds } => ("gauntlet", seeds),
        Format::Swiss { rounds } => ("swiss", rounds),
        Format::Knockout => ("knockout", 0),
        Format::Ladder => ("ladder", 0),
    }
}
