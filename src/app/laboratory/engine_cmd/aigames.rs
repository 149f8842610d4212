//! The referee's side of the "Four in a Row" protocol of theaigames.com: settings and updates, then `action move T`.

use fourfold_engine::Variant;

use super::{Asked, question, share, stacked};

/// What the referee has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AigamesState {
    columns: u8,
    rows: u8,
    field: Vec<u8>,
}

impl Default for AigamesState {
    fn default() -> Self {
        Self { columns: Variant::STANDARD.width(), rows: Variant::STANDARD.height(), field: Vec::new() }
    }
}

impl AigamesState {
    pub(super) fn hear(&mut self, line: &str) -> Result<Asked, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
        match words.as_slice() {
            ["settings", "field_columns", columns] => self.columns = number(columns)?,
            ["settings", "field_rows", rows] => self.rows = number(rows)?,
            ["update", "game", "field", field] => self.update(field)?,
            ["action", "move", ms] => {
                let ms: u64 = ms.parse().map_err(|_| format!("{ms} is no number of milliseconds"))?;
                // What is left of the time bank.
                return question(stacked(self.variant()?, &self.field)?, Some(share(ms)));
            }
            _ => {} // names, rounds, time banks
        }
        Ok(Asked::Nothing)
    }

    fn variant(&self) -> Result<Variant, String> {
        format!("{}x{}", self.columns, self.rows).parse().map_err(|error| format!("{error}"))
    }

    fn update(&mut self, field: &str) -> Result<(), String> {
        let cells = field.split([',', ';']).map(|cell| cell.parse().ok().filter(|cell| *cell <= 2));
        self.field = cells.collect::<Option<_>>().ok_or("cells are 0, 1 or 2")?;
        let due = usize::from(self.columns) * usize::from(self.rows);
        if self.field.len() == due { Ok(()) } else { Err(format!("{} cells, not {due}", self.field.len())) }
    }
}
