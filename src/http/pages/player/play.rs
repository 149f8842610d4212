//! How a player plays, and against whom: form, columns, openings, crosstable.

use fourfold_engine::{SideResult, Variant, WinDrawLoss};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::competition::leaderboard::habits::{GAMES_MAX, Habits, OpeningHabit, Recent};
use crate::http::crosstable::{OpponentGames, described};
use crate::http::pages::drawing::{Drawing, MiniBoard};
use crate::http::pages::parts::PlayerTag;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::storage::StoreError;
use crate::storage::published::Against;

/// Opponents in the crosstable.
const OPPONENTS_MAX: usize = 50;

/// A column's bar is so high, in units of its own.
const BAR: u64 = 96;

/// A game of the recent form: a letter, the same in words, and how to show it.
pub(super) struct FormTile {
    pub(super) game: String,
    pub(super) letter: &'static str,
    pub(super) label: String,
    pub(super) class: &'static str,
}

/// How often a column was chosen.
pub(super) struct ColumnBar {
    pub(super) number: usize,
    pub(super) top: u64,
    pub(super) height: u64,
    pub(super) label: String,
    pub(super) percent: u64,
}

/// An opening with what came of it.
pub(super) struct OpeningRow {
    pub(super) board: MiniBoard,
    pub(super) moves: String,
    /// Where the games with it are.
    pub(super) url: String,
    pub(super) record: String,
}

/// A row of the crosstable.
pub(super) struct MeetingRow {
    pub(super) opponent: PlayerTag,
    pub(super) elo: Option<i32>,
    pub(super) games: u64,
    /// Where these games are.
    pub(super) url: String,
    pub(super) record: String,
    pub(super) score: String,
    pub(super) expected: Option<String>,
    /// Whether it scored more than was expected, or less, by a point in twenty.
    pub(super) class: &'static str,
}

/// All of it.
pub(super) struct PlaySection {
    pub(super) form: Vec<FormTile>,
    pub(super) columns: Vec<ColumnBar>,
    pub(super) openings: Vec<OpeningRow>,
    pub(super) meetings: Vec<MeetingRow>,
}

impl PlaySection {
    /// Looks at a player's rated games on one board, whose crosstable has been read.
    pub(super) async fn read(
        state: &AppState,
        lang: Language,
        player: &PlayerId,
        variant: Variant,
        mut met: Vec<Against>,
    ) -> Result<Self, StoreError> {
        met.truncate(OPPONENTS_MAX);
        let games = state.store.last_rated_games(player, variant, GAMES_MAX).await?;
        let habits = Habits::new(player, variant, &games);
        let meetings = described(state, player, variant, met).await?;
        let name_of = |id: &PlayerId| {
            let met = meetings.iter().find(|meeting| meeting.opponent.id == *id);
            met.map(|meeting| meeting.opponent.name.to_string()).unwrap_or_default()
        };
        Ok(Self {
            form: habits
                .form
                .iter()
                .map(|recent| form_tile(lang, recent, &name_of(&recent.opponent)))
                .collect(),
            columns: column_bars(lang, &habits.columns),
            openings: habits.openings.iter().map(|opening| opening_row(lang, variant, opening)).collect(),
            meetings: meetings.iter().map(|meeting| MeetingRow::new(lang, variant, meeting)).collect(),
        })
    }
}

fn form_tile(lang: Language, recent: &Recent, opponent: &str) -> FormTile {
    let (letter, word, class) = match recent.result {
        SideResult::Win => ("profile.letter_won", "game.won", "won"),
        SideResult::Draw => ("profile.letter_drawn", "game.drawn", "soft"),
        SideResult::Loss => ("profile.letter_lost", "game.lost", "lost"),
    };
    FormTile {
        game: recent.game.to_string(),
        letter: lang.text(letter),
        label: lang.fill("player.game_against", &[("name", opponent), ("result", lang.text(word))]),
        class,
    }
}

fn column_bars(lang: Language, counts: &[u64]) -> Vec<ColumnBar> {
    let (all, most) = (counts.iter().sum::<u64>(), counts.iter().copied().max().unwrap_or_default());
    if most == 0 {
        return Vec::new();
    }
    let bar = |(number, &count): (usize, &u64)| {
        let height = count * BAR / most;
        let percent = (count * 200 + all) / (2 * all);
        let values =
            [("column", number.to_string()), ("n", lang.number(count)), ("percent", percent.to_string())];
        ColumnBar { number, top: BAR - height, height, label: lang.fill("profile.column", &values), percent }
    };
    (1..).zip(counts).map(bar).collect()
}

fn opening_row(lang: Language, variant: Variant, opening: &OpeningHabit) -> OpeningRow {
    let score = opening.score;
    OpeningRow {
        board: MiniBoard { drawing: Drawing::new(variant, &opening.moves) },
        moves: opening.moves.clone(),
        url: games_url(variant, &[("opening", &opening.moves)]),
        record: record(lang, score.games(), score),
    }
}

/// Which of the games on a board the list on the same page shows.
fn games_url(variant: Variant, chosen: &[(&str, &str)]) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let mut url = format!("?variant={variant}");
    for (name, value) in chosen {
        url.extend(["&", name, "=", &encode(value)]);
    }
    url + "#games"
}

/// `games` are those that a rating rests on, which may have been stored apart from the score.
pub(super) fn record(lang: Language, games: u64, score: WinDrawLoss) -> String {
    let WinDrawLoss { wins, draws, losses } = score;
    let counts = [("won", wins), ("drawn", draws), ("lost", losses)];
    lang.count_with("player.record", games, &counts.map(|(name, n)| (name, lang.number(n))))
}

impl MeetingRow {
    fn new(lang: Language, variant: Variant, meeting: &OpponentGames) -> Self {
        let (score, total) = (meeting.share(), meeting.total());
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let class = match meeting.expected {
            Some(expected) if score > expected + 0.05 => "won",
            Some(expected) if score < expected - 0.05 => "lost",
            Some(_) | None => "",
        };
        Self {
            opponent: PlayerTag::new(lang, &super::wire(&meeting.opponent, None)),
            elo: meeting.elo,
            games: meeting.games(),
            url: games_url(variant, &[("rated", "true"), ("opponent", meeting.opponent.name.as_str())]),
            record: format!("+{} ={} −{}", total.wins, total.draws, total.losses),
            score: percent(score),
            expected: meeting.expected.map(percent),
            class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_favourite_column_is_the_highest() {
        let bars = column_bars(Language::English, &[10, 0, 30]);
        assert_eq!(
            bars.iter().map(|bar| (bar.number, bar.height, bar.percent)).collect::<Vec<_>>(),
            [(1, 32, 25), (2, 0, 0), (3, 96, 75),]
        );
        assert_eq!(bars[2].label, "Column 3: 30 moves, 75 %");
        assert!(column_bars(Language::English, &[0, 0]).is_empty());
    }
}
