//! Checking a book by solving some of its positions again.

use std::io::{self, Write};

use anyhow::{Context, bail};
use fourfold_engine::openings::{self, Opening};
use fourfold_engine::solver::book::Book;
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{Variant, rng};
use rand::seq::IndexedRandom;

use super::VerifyBook;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;
use crate::system::sha256;

impl VerifyBook {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let book = self.book()?;
        let interrupt = Interrupt::listen()?;
        let mut solver = Solver::new();
        let openings = self.sample_of(&book);
        let mut progress = ProgressLine::new(openings.len() as u64, "positions");
        for (index, opening) in openings.iter().enumerate() {
            let game = opening.game(Variant::STANDARD).context("openings are legal")?;
            let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
            // It ends early only if it is interrupted.
            let Ok(proven) = solver.score(game.position(), limits) else { break };
            let found = book.score(game.position());
            if found != Some(proven.value) {
                let found = found.map_or_else(|| "no score".to_owned(), |score| score.to_string());
                let message =
                    format!("{}: the book has {found}, the score is {}", opening.notation(), proven.value);
                bail!(Exit::new(Code::Data, message));
            }
            progress.advance(1);
            interrupt.check(|| format!("{} positions are right", index + 1))?;
        }
        interrupt.check(|| "what was solved until then is right".to_owned())?;
        drop(progress);
        let bytes = book.to_bytes();
        let (plies, count) = (book.plies(), openings.len());
        let line = format!("{plies} plies, {} bytes, sha256 {}", bytes.len(), sha256::of(&bytes));
        writeln!(io::stdout(), "{line}: {count} positions solved again, all right")?;
        Ok(())
    }

    fn book(&self) -> anyhow::Result<Book> {
        let Some(path) = &self.file else { return Ok(Book::embedded().clone()) };
        let bytes = input::read(path)?;
        let damaged = |error| Exit::new(Code::Data, format!("{}: {error}", path.display()));
        Ok(Book::from_bytes(&bytes).map_err(damaged)?)
    }

    /// Positions of the last plies, which are solved soonest.
    fn sample_of(&self, book: &Book) -> Vec<Opening> {
        let openings = openings::enumerate(Variant::STANDARD, book.plies());
        openings.sample(&mut rng::seeded(self.seed), self.sample as usize).cloned().collect()
    }
}
