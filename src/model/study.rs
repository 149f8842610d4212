//! A study: a line of moves with comments, which somebody shows to others. Pure.

use fourfold_engine::{Game, ReplayError, Variant};
use thiserror::Error;

use super::text::{BadText, Lines, check_text};

/// Characters of a title: what a narrow page shows in two rows.
const TITLE_MAX: usize = 80;

/// Characters of one comment: what stands beside a board without scrolling.
const COMMENT_MAX: usize = 500;

/// Characters of all comments of a study together: with the limit of studies it bounds what an account stores.
const COMMENTS_MAX: usize = 8_000;

/// Why something is no study.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadStudy {
    #[error("a title has 1 to {TITLE_MAX} characters, without spaces around them")]
    NoTitle,
    #[error("the title {0}")]
    Title(BadText),
    #[error("{0}")]
    Moves(#[from] ReplayError),
    #[error("the line has {moves} moves, so it begins after 0 to {moves} of them, not after {start}")]
    Start { start: u32, moves: u32 },
    #[error("a comment stands after move {start} to {moves}, where the line is, not after move {ply}")]
    Ply { ply: u32, start: u32, moves: u32 },
    #[error("there are two comments after move {0}")]
    Twice(u32),
    #[error("the comment after move {0} is empty")]
    Blank(u32),
    #[error("the comment after move {ply} {bad}")]
    Comment { ply: u32, bad: BadText },
    #[error("all comments together have at most {COMMENTS_MAX} characters")]
    TooLong,
}

impl BadStudy {
    /// The field of a request that is at fault.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::NoTitle | Self::Title(_) => "title",
            Self::Moves(_) => "moves",
            Self::Start { .. } => "start",
            Self::Ply { .. } | Self::Twice(_) | Self::Blank(_) | Self::Comment { .. } | Self::TooLong => {
                "comments"
            }
        }
    }
}

/// What is said of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StudyComment {
    /// Stones on the board.
    pub(crate) ply: u32,
    pub(crate) text: String,
}

/// Who finds a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StudyListing {
    /// Everybody: it is in the list.
    Listed,
    /// Whoever has its address.
    ByLink,
}

impl StudyListing {
    pub(crate) fn of(is_listed: bool) -> Self {
        if is_listed { Self::Listed } else { Self::ByLink }
    }

    pub(crate) fn is_listed(self) -> bool {
        self == Self::Listed
    }
}

/// The content of a study, which keeps all rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Study {
    title: String,
    game: Game,
    start: u32,
    comments: Vec<StudyComment>,
    pub(crate) listing: StudyListing,
}

impl Study {
    /// Moves are those from the empty board; the study begins after the first `start` of them.
    ///
    /// # Errors
    ///
    /// Names the rule that is broken.
    pub(crate) fn new(
        title: &str,
        (variant, moves, start): (Variant, &str, u32),
        mut comments: Vec<StudyComment>,
        listing: StudyListing,
    ) -> Result<Self, BadStudy> {
        check_text(title, TITLE_MAX, Lines::One).map_err(BadStudy::Title)?;
        if title.is_empty() || title.trim() != title {
            return Err(BadStudy::NoTitle);
        }
        let game = Game::from_moves(variant, moves)?;
        let moves = game.ply();
        if start > moves {
            return Err(BadStudy::Start { start, moves });
        }
        comments.sort_by_key(|comment| comment.ply);
        for comment in &comments {
            check_comment(comment, start, moves)?;
        }
        if let Some([twice, _]) = comments.array_windows().find(|[one, next]| one.ply == next.ply) {
            return Err(BadStudy::Twice(twice.ply));
        }
        if comments.iter().map(|comment| comment.text.chars().count()).sum::<usize>() > COMMENTS_MAX {
            return Err(BadStudy::TooLong);
        }
        Ok(Self { title: title.to_owned(), game, start, comments, listing })
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The line from the empty board to its last move.
    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// Stones on the board where it begins.
    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    /// By their plies.
    pub(crate) fn comments(&self) -> &[StudyComment] {
        &self.comments
    }

    /// What is said of the position with so many stones.
    pub(crate) fn comment(&self, ply: u32) -> Option<&str> {
        self.comments.iter().find(|comment| comment.ply == ply).map(|comment| comment.text.as_str())
    }
}

fn check_comment(StudyComment { ply, text }: &StudyComment, start: u32, moves: u32) -> Result<(), BadStudy> {
    let ply = *ply;
    if !(start..=moves).contains(&ply) {
        return Err(BadStudy::Ply { ply, start, moves });
    }
    check_text(text, COMMENT_MAX, Lines::Many).map_err(|bad| BadStudy::Comment { ply, bad })?;
    if text.trim().is_empty() { Err(BadStudy::Blank(ply)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(ply: u32, text: &str) -> StudyComment {
        StudyComment { ply, text: text.to_owned() }
    }

    fn study(title: &str, moves: &str, start: u32, comments: &[StudyComment]) -> Result<Study, BadStudy> {
        Study::new(title, (Variant::STANDARD, moves, start), comments.to_vec(), StudyListing::ByLink)
    }

    #[test]
    fn a_study_has_a_line_and_comments_on_its_positions() {
        let made = study("A trap", "4453", 2, &[comment(4, "Now\nlook."), comment(2, "Here.")]).unwrap();
        assert_eq!((made.title(), made.start(), made.game().notation().as_str()), ("A trap", 2, "4453"));
        assert_eq!(made.comments(), [comment(2, "Here."), comment(4, "Now\nlook.")]);
        assert_eq!((made.comment(4), made.comment(3)), (Some("Now\nlook."), None));
        assert!(study("Nothing yet", "", 0, &[]).is_ok());
        assert!(study(&"ä".repeat(80), "", 0, &[comment(0, &"ö".repeat(500))]).is_ok());
    }

    #[test]
    fn what_breaks_a_rule_is_named() {
        let check = |bad: Result<Study, BadStudy>, field: &str, words: &str| {
            let error = bad.unwrap_err();
            assert_eq!(error.field(), field, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        };
        for title in ["", " ", " a", "a ", "a\nb", "a\u{202e}b", "a\u{200b}b", &"x".repeat(81)] {
            check(study(title, "", 0, &[]), "title", "title");
        }
        check(study("a", "4444444", 0, &[]), "moves", "move 7");
        check(study("a", "48", 0, &[]), "moves", "move 2");
        check(study("a", "12121213", 0, &[]), "moves", "move 8");
        check(study("a", "44", 3, &[]), "start", "not after 3");
        check(study("a", "44", 1, &[comment(0, "x")]), "comments", "not after move 0");
        check(study("a", "44", 1, &[comment(3, "x")]), "comments", "not after move 3");
        check(study("a", "44", 0, &[comment(1, "x"), comment(1, "y")]), "comments", "two comments");
        check(study("a", "44", 0, &[comment(1, " \n")]), "comments", "empty");
        check(study("a", "44", 0, &[comment(1, "x\u{202e}")]), "comments", "direction of writing");
        check(study("a", "44", 0, &[comment(1, &"x".repeat(501))]), "comments", "more than 500");
        let long: Vec<_> = (0..=16).map(|ply| comment(ply, &"x".repeat(500))).collect();
        check(study("a", "4444445555556666", 0, &long), "comments", "8000");
    }
}
