//! Puzzles chosen by what they are about.

use super::service::{PuzzleError, Puzzles};
use super::themes::{Theme, themes};
use crate::storage::puzzles::PuzzleEntry;

impl Puzzles {
    /// All puzzles about something, or all, the easiest first, each with its grade.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn about(&self, theme: Option<Theme>) -> Result<Vec<(u32, PuzzleEntry)>, PuzzleError> {
        let all = self.all().await?;
        match theme {
            Some(theme) => self.of_theme(all, theme).await,
            None => Ok(all),
        }
    }

    /// Those of these puzzles that are about something.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn of_theme(
        &self,
        mut puzzles: Vec<(u32, PuzzleEntry)>,
        theme: Theme,
    ) -> Result<Vec<(u32, PuzzleEntry)>, PuzzleError> {
        self.learn_themes(&puzzles).await?;
        let index = self.theme_index();
        puzzles.retain(|(_, entry)| index.is_about(&entry.id, theme));
        Ok(puzzles)
    }

    /// How many of all puzzles are about each theme.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn theme_counts(
        &self,
        all: &[(u32, PuzzleEntry)],
    ) -> Result<[(Theme, usize); Theme::ALL.len()], PuzzleError> {
        self.learn_themes(all).await?;
        let index = self.theme_index();
        let count = |theme| all.iter().filter(|(_, entry)| index.is_about(&entry.id, theme)).count();
        Ok(Theme::ALL.map(|theme| (theme, count(theme))))
    }

    async fn learn_themes(&self, puzzles: &[(u32, PuzzleEntry)]) -> Result<(), PuzzleError> {
        let unknown = self.theme_index().unknown(puzzles);
        for id in unknown {
            // It may have gone meanwhile.
            let Some(stored) = self.store.puzzle(&id).await? else { continue };
            self.theme_index().learn(id, themes(&stored.puzzle));
        }
        Ok(())
    }
}
