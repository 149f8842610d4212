//! The tables that an arena consists of, as every engine has them.

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Number,
    Flag,
    Text,
    Bytes,
}

/// A table: its name, and its columns with those of the primary key first. One without a key has a single row.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// Columns of the key.
    pub(crate) key: usize,
    /// Rows that are moved at a time: few where one may be large.
    pub(crate) portion: u32,
    /// Whether its key is one that the engine counts up.
    pub(crate) is_numbered: bool,
}

/// Rows that are moved at a time, if each has some hundred bytes: enough that the way to a server does not count.
const PORTION: u32 = 5_000;
/// The same for those that hold a text of some kilobytes.
const PORTION_OF_TEXTS: u32 = 200;
/// The same for those that hold what a learner knows, which may be many megabytes.
const PORTION_OF_STATES: u32 = 1;

impl Table {
    /// The columns by which rows are ordered.
    pub(crate) fn key_columns(&self) -> &'static [(&'static str, Kind)] {
        self.columns.get(..self.key).unwrap_or(self.columns)
    }

    /// All columns, as a statement names them.
    pub(crate) fn names(&self) -> String {
        names(self.columns)
    }

    /// The rows from a key on, or from the first. Its arguments are the key, and the most rows.
    pub(crate) fn select(&self, start: Start) -> String {
        let Self { name, .. } = self;
        let (columns, key) = (self.names(), names(self.key_columns()));
        if self.key == 0 {
            return format!("SELECT {columns} FROM {name} LIMIT $1");
        }
        let given = numbered(self.key);
        let (condition, limit) = match start {
            Start::First => (String::new(), 1),
            Start::After => (format!("WHERE ({key}) > ({given}) "), self.key + 1),
            Start::At => (format!("WHERE ({key}) = ({given}) "), self.key + 1),
        };
        format!("SELECT {columns} FROM {name} {condition}ORDER BY {key} LIMIT ${limit}")
    }

    /// The last row.
    pub(crate) fn select_last(&self) -> String {
        let Self { name, .. } = self;
        let last: Vec<_> = self.key_columns().iter().map(|(column, _)| format!("{column} DESC")).collect();
        format!("SELECT {} FROM {name} ORDER BY {} LIMIT $1", self.names(), last.join(", "))
    }
}

/// Where a portion begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    First,
    After,
    At,
}

fn names(columns: &[(&str, Kind)]) -> String {
    columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// `$1, $2, …`, which both engines understand.
pub(crate) fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}

macro_rules! table {
    ($name:ident ($($key:ident: $key_kind:ident),*) $($column:ident: $kind:ident),*; $portion:expr, $numbered:expr) => {
        Table {
            name: stringify!($name),
            columns: &[
                $((stringify!($key), Kind::$key_kind),)*
                $((stringify!($column), Kind::$kind),)*
            ],
            key: <[&str]>::len(&[$(stringify!($key)),*]),
            portion: $portion,
            is_numbered: $numbered,
        }
    };
}

/// All of them, each after those that its rows name.
pub(crate) const TABLES: &[Table] = &[
    table!(player (key: Number) id: Text, name: Text, kind: Text, house: Flag, owner: Number, password: Text,
        version: Text, about: Text, url: Text, created_at: Number, teaches: Flag, banned_because: Text,
        banned_until: Number, muted_because: Text, muted_until: Number, start: Number,
        language: Text, picture: Text, flag: Text, line: Text; PORTION, true),
    table!(token (key: Number) id: Text, player: Number, kind: Text, digest: Bytes, created_at: Number,
        expires_at: Number, device: Text, used_at: Number, scope: Text; PORTION, true),
    table!(game (key: Number) id: Text, first_player: Number, second_player: Number, variant: Text,
        bank_ms: Number, increment_ms: Number, move_ms: Number, rated: Flag, unrated_because: Text,
        opening_kind: Text, opening_moves: Text, pair_id: Text, pair_leg: Number, pair_of: Number,
        started_at: Number, first_footing: Text, second_footing: Text,
        first_version: Text, second_version: Text; PORTION, true),
    table!(live_game (game: Number) first_illegal: Number, second_illegal: Number, first_conditional: Text,
        second_conditional: Text; PORTION, false),
    table!(event (game: Number, seq: Number) kind: Text, first_ms: Number, second_ms: Number, at: Number,
        column_no: Number, spent_ms: Number, credited_ms: Number, info: Text, plies: Number, result: Text,
        reason: Text, at_fault: Text; PORTION, false),
    table!(packed_log (game: Number) events: Bytes, notes: Bytes, result: Text, reason: Text, at_fault: Text;
        PORTION_OF_TEXTS, false),
    table!(settlement (number: Number) game: Number, result: Text, moves: Text, unrated_because: Text,
        ended_at: Number, hash: Text; PORTION, false),
    table!(player_game (player: Number, number: Number); PORTION, false),
    table!(rating_entry (player: Number, variant: Text, number: Number) opponent: Number, before: Number,
        delta: Number, after: Number, from_newcomer_at: Number; PORTION, false),
    table!(rating (player: Number, variant: Text) rating: Number, games: Number, wins: Number, draws: Number,
        losses: Number; PORTION, false),
    table!(rating_reset (player: Number, at: Number) after: Number, version: Text, reason: Text; PORTION, false),
    table!(refit (variant: Text) after: Number; PORTION, false),
    table!(learner (key: Number) name: Text, spec: Text, covered: Number, games: Number, revision: Number,
        stale: Flag, state: Bytes; PORTION_OF_STATES, true),
    table!(lesson (learner: Number, number: Number) changes: Text; PORTION_OF_TEXTS, false),
    table!(learner_version (learner: Number, mark: Number) games: Number, covered: Number, state: Bytes,
        frozen_at: Number, decision: Number; PORTION_OF_STATES, false),
    table!(learner_point (learner: Number, games: Number) rating: Number, at: Number, decision: Number;
        PORTION, false),
    table!(tournament (key: Number) id: Text, name: Text, due_at: Number, format: Text, parameter: Number,
        pairs: Number, seed: Number, bank_ms: Number, increment_ms: Number, move_ms: Number, rated: Flag,
        concurrency: Number, watchable: Flag, started_at: Number, ended_at: Number, ended: Text, winner: Number,
        games: Number, maker: Number, open_people: Flag, because: Text; PORTION, true),
    table!(tournament_entrant (tournament: Number, place: Number) player: Number, came: Number, went: Number;
        PORTION, false),
    table!(tournament_walkover (tournament: Number, number: Number) absent: Text; PORTION, false),
    table!(tournament_plan (id: Text) name: Text, maker: Number, begins_at: Number, format: Text, rounds: Number,
        minutes: Number, pairs: Number, bank_ms: Number, increment_ms: Number, move_ms: Number, rated: Flag, open_bots: Flag;
        PORTION, false),
    table!(tournament_entry (plan: Text, player: Number) place: Number; PORTION, false),
    table!(audit (number: Number) at: Number, action: Text, subject: Text, detail: Text, until: Number, reason: Text,
        by_whom: Text; PORTION, true),
    table!(publication () revision: Number, up_to: Number; 1, false),
    table!(published_rating (variant: Text, list: Text, player: Number) elo: Number, error: Number,
        games: Number; PORTION, false),
    table!(judging () covered: Number; 1, false),
    table!(packing () number: Number; 1, false),
    table!(forgotten () lessons: Number, notes: Number; 1, false),
    table!(judged_ahead (number: Number); PORTION, false),
    table!(judgement (number: Number, side: Text) moves: Number, good: Number, optimal: Number,
        decisions: Number, good_decisions: Number, loss: Number; PORTION, false),
    table!(skill (player: Number, variant: Text) games: Number, moves: Number, good: Number, optimal: Number,
        decisions: Number, good_decisions: Number, loss: Number; PORTION, false),
    table!(puzzle (key: Number) id: Text, moves: Text, line: Text, goal: Text, prior: Number, quality: Number,
        game: Number, made_at: Number, tries: Number, levels: Number, solved: Number; PORTION, true),
    table!(puzzle_try (player: Number, puzzle: Number) solved: Flag, level: Number, at: Number; PORTION, false),
    table!(puzzle_streak (player: Number) day: Number, run: Number, best: Number; PORTION, false),
    table!(puzzle_day (player: Number, day: Number); PORTION, false),
    table!(rush (player: Number, kind: Text, day: Number) solved: Number, at: Number; PORTION, false),
    table!(bot_version (player: Number, version: Text) first_seen: Number, last_seen: Number, passed_at: Number,
        tested_at: Number, report: Text; PORTION_OF_TEXTS, false),
    table!(bot_fault (key: Number) player: Number, game: Text, kind: Text, note: Text, at: Number;
        PORTION_OF_TEXTS, true),
    table!(report (number: Number) reporter: Number, player: Number, game: Text, reason: Text, note: Text, at: Number,
        state: Text, handled_by: Text; PORTION_OF_TEXTS, true),
    table!(challenge_link (id: Text) maker: Text, guest: Text, variant: Text, bank_ms: Number, increment_ms: Number,
        move_ms: Number, rated: Flag, is_load: Flag, opening_kind: Text, opening_moves: Text, games: Number, side: Text,
        site: Text, request_key: Text, expires_at: Number, listed: Flag,
        is_private: Flag, asked: Text; PORTION, false),
    table!(left_session (id: Text) after: Number, ends: Text; PORTION_OF_TEXTS, false),
    table!(operator (player: Number) since: Number, salt: Text, last_step: Number, recovery: Text; PORTION, false),
    table!(webhook (owner: Number) url: Text, salt: Text, since: Number, failures: Number, last_at: Number,
        last_outcome: Text; PORTION, false),
    table!(mail (owner: Number) address: Text, language: Text, notices: Flag, since: Number, verified_at: Number;
        PORTION, false),
    table!(mail_link (owner: Number, purpose: Text) digest: Bytes, expires_at: Number; PORTION, false),
    table!(push_subscription (endpoint: Text) owner: Number, p256dh: Text, auth: Text, language: Text,
        since: Number; PORTION, false),
    table!(follow (player: Number, followed: Number) since: Number; PORTION, false),
    table!(block (player: Number, blocked: Number) since: Number; PORTION, false),
    table!(study (number: Number) id: Text, owner: Number, title: Text, variant: Text, moves: Text, start: Number,
        comments: Text, listed: Flag, version: Number, made_at: Number, changed_at: Number; PORTION_OF_TEXTS, true),
    table!(vacation (player: Number, from_ms: Number) until_ms: Number; PORTION, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_name_the_key_and_its_order() {
        let table = TABLES.iter().find(|table| table.name == "lesson").unwrap();
        assert_eq!(
            table.select(Start::First),
            "SELECT learner, number, changes FROM lesson ORDER BY learner, number LIMIT $1"
        );
        assert_eq!(
            table.select(Start::After),
            "SELECT learner, number, changes FROM lesson WHERE (learner, number) > ($1, $2) \
             ORDER BY learner, number LIMIT $3"
        );
        assert_eq!(
            table.select_last(),
            "SELECT learner, number, changes FROM lesson ORDER BY learner DESC, number DESC LIMIT $1"
        );
    }
}
