//! The engine's side of UCI with the variant `cfour`, as cutechess-cli speaks it: stones are dropped, `P@d1`.

use std::time::Duration;

use fourfold_engine::{Cell, Column, Position, Side, Variant};

use super::{Asked, question, reserve, share};

/// What the referee has said.
#[derive(Clone, Debug)]
pub(super) struct UciState {
    name: String,
    position: Position,
}

impl UciState {
    pub(super) fn new(name: String) -> Self {
        Self { name, position: Position::new(Variant::STANDARD) }
    }

    pub(super) fn hear(&mut self, line: &str) -> Result<Asked, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["uci"] => Ok(Asked::Text(format!(
                "id name {}\nid author Fourfold\noption name UCI_Variant type combo default cfour var cfour\nuciok\n",
                self.name
            ))),
            ["isready"] => Ok(Asked::Text("readyok\n".to_owned())),
            ["quit"] => Ok(Asked::End),
            ["position", "startpos"] => self.set(&[]),
            ["position", "startpos", "moves", drops @ ..] => self.set(drops),
            ["position", ..] => Err("only `position startpos` is known".to_owned()),
            ["go", limits @ ..] => question(self.position, self.time(limits)),
            _ => Ok(Asked::Nothing), // as UCI asks
        }
    }

    fn set(&mut self, drops: &[&str]) -> Result<Asked, String> {
        let mut position = Position::new(Variant::STANDARD);
        for drop in drops {
            let column = column_of(drop, &position).ok_or_else(|| format!("{drop} cannot be played"))?;
            position = position.play_unchecked(column);
        }
        self.position = position;
        Ok(Asked::Nothing)
    }

    /// The time for a move of these limits; none if they name none, as `infinite`.
    fn time(&self, limits: &[&str]) -> Option<Duration> {
        let value = |name: &str| {
            let at = limits.iter().position(|word| *word == name)?;
            limits.get(at + 1)?.parse::<u64>().ok()
        };
        if let Some(ms) = value("movetime") {
            return Some(Duration::from_millis(ms).saturating_sub(reserve(ms)));
        }
        let (bank, increment) = match self.position.side_to_move() {
            Side::First => ("wtime", "winc"),
            Side::Second => ("btime", "binc"),
        };
        let bank = value(bank)?;
        let wished = share(bank) + Duration::from_millis(value(increment).unwrap_or_default()) * 3 / 4;
        Some(wished.min(Duration::from_millis(bank / 2)))
    }
}

/// The move of a column, where its stone would land.
pub(super) fn best_move(column: Column, position: &Position) -> String {
    match position.landing_cell(column) {
        Some(cell) => format!("bestmove {}", drop_at(cell)),
        None => "bestmove 0000".to_owned(),
    }
}

fn drop_at(cell: Cell) -> String {
    let file = char::from(b'a' + cell.column().number() - 1);
    format!("P@{file}{}", cell.row_number())
}

/// A drop that lands where it says, in a game that goes on.
fn column_of(text: &str, position: &Position) -> Option<Column> {
    let lands = |column: &Column| position.landing_cell(*column).is_some_and(|cell| drop_at(cell) == text);
    position.outcome().is_none().then(|| position.legal_columns().find(lands)).flatten()
}
