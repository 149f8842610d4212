//! What a text may hold that others are shown: one rule for all of them, pure.
//!
//! Refused is what makes a text look like another one, or like the words around it: characters that turn the direction
//! of writing, that take no room, that no font knows, piles of marks. What is refused is named with its position.

use std::fmt;

use thiserror::Error;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Marks on one letter: the languages of the world need fewer, and more reach into the lines above and below.
const MARKS_MAX: usize = 4;

/// Whether a text may have several lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lines {
    One,
    /// Line ends and tabulators are allowed.
    Many,
}

/// What is wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextRule {
    /// It has more characters than this.
    Length(usize),
    /// Line ends, escapes, and what else is no letter.
    Control,
    /// Marks and overrides of the direction of writing.
    Direction,
    /// Spaces and joiners of no width, and other characters that nobody sees.
    Invisible,
    /// Characters that mean nothing, or something else to everybody.
    Unassigned,
    /// More marks on one letter than [`MARKS_MAX`].
    Marks,
}

impl fmt::Display for TextRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(max) => write!(f, "has more than {max} characters"),
            Self::Control => f.write_str("has a control character"),
            Self::Direction => f.write_str("has a mark of the direction of writing"),
            Self::Invisible => f.write_str("has an invisible character"),
            Self::Unassigned => f.write_str("has a character that stands for nothing"),
            Self::Marks => write!(f, "has more than {MARKS_MAX} marks on one letter"),
        }
    }
}

/// A text that is not to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{rule}, at character {position}")]
pub struct BadText {
    pub(crate) rule: TextRule,
    /// Of the first character that is not allowed, from 1.
    pub(crate) position: usize,
}

/// Checks a text of at most so many characters.
///
/// # Errors
///
/// Names the rule that is broken first, and where.
pub(crate) fn check_text(text: &str, chars_max: usize, lines: Lines) -> Result<(), BadText> {
    let mut marks = 0;
    for (character, position) in text.chars().zip(1..) {
        marks = if is_mark(character) { marks + 1 } else { 0 };
        let rule = if position > chars_max {
            Some(TextRule::Length(chars_max))
        } else if marks > MARKS_MAX {
            Some(TextRule::Marks)
        } else if lines == Lines::Many && matches!(character, '\n' | '\r' | '\t') {
            None
        } else {
            rule_against(character)
        };
        if let Some(rule) = rule {
            return Err(BadText { rule, position });
        }
    }
    Ok(())
}

/// The rule that forbids a character wherever it stands.
pub(crate) fn rule_against(character: char) -> Option<TextRule> {
    match character {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(TextRule::Direction)
        }
        // The soft hyphen, and letters of Hangul and others that fonts leave empty.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
        | '\u{3164}' | '\u{ffa0}' => Some(TextRule::Invisible),
        _ => match character.general_category() {
            GeneralCategory::Control
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator => Some(TextRule::Control),
            // Joiners, spaces of no width, tags: their use is not to be seen.
            GeneralCategory::Format => Some(TextRule::Invisible),
            GeneralCategory::Unassigned | GeneralCategory::PrivateUse | GeneralCategory::Surrogate => {
                Some(TextRule::Unassigned)
            }
            _ => None,
        },
    }
}

/// The beginning of a text that came from outside, at most so many characters and on one line: what [`check_text`]
/// refuses is shown as `␣`, what is left out as `…`.
pub(crate) fn excerpt(text: &str, chars_max: usize) -> String {
    let mut marks = 0;
    let shown = |character: char| {
        marks = if is_mark(character) { marks + 1 } else { 0 };
        if marks > MARKS_MAX || rule_against(character).is_some() { '␣' } else { character }
    };
    let mut excerpt: String = text.chars().take(chars_max).map(shown).collect();
    if text.chars().nth(chars_max).is_some() {
        excerpt.push('…');
    }
    excerpt
}

fn is_mark(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(), (TextRule, usize)>) {
        let found = check_text(text, 10, Lines::One).map_err(|bad| (bad.rule, bad.position));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn all_languages_may_be_written() {
        for text in [
            "",
            "Zoë ⚫",
            "Jürgen",
            "e\u{301}te\u{301}",
            "日本語",
            "русский",
            "עברית",
            "हिन्दी",
            "👍🏽 🔴",
            "❤\u{fe0f}",
        ] {
            check(text, Ok(()));
        }
    }

    #[test]
    fn the_rule_and_the_position_are_named() {
        check("ab\u{202e}cd", Err((TextRule::Direction, 3)));
        check("\u{2067}", Err((TextRule::Direction, 1)));
        check("a\u{200b}b", Err((TextRule::Invisible, 2)));
        check("a\u{200d}b", Err((TextRule::Invisible, 2)));
        check("a\u{feff}", Err((TextRule::Invisible, 2)));
        check("a\u{e0041}", Err((TextRule::Invisible, 2)));
        check("\u{3164}", Err((TextRule::Invisible, 1)));
        check("a\nb", Err((TextRule::Control, 2)));
        check("\u{85}", Err((TextRule::Control, 1)));
        check("a\u{2028}b", Err((TextRule::Control, 2)));
        check("a\u{378}", Err((TextRule::Unassigned, 2)));
        check("\u{e000}", Err((TextRule::Unassigned, 1)));
        check("\u{10ffff}", Err((TextRule::Unassigned, 1)));
        check("e\u{301}\u{301}\u{301}\u{301}", Ok(()));
        check("e\u{301}\u{301}\u{301}\u{301}\u{301}", Err((TextRule::Marks, 6)));
        check("12345678901", Err((TextRule::Length(10), 11)));
        assert_eq!(
            check_text("ab\u{202e}", 10, Lines::One).unwrap_err().to_string(),
            "has a mark of the direction of writing, at character 3"
        );
    }

    #[test]
    fn an_excerpt_is_one_short_line_of_what_may_be_shown() {
        assert_eq!(excerpt("{\"a\":\n\u{202e}1}", 20), "{\"a\":␣␣1}");
        assert_eq!(excerpt("e\u{301}\u{301}\u{301}\u{301}\u{301}", 10), "e\u{301}\u{301}\u{301}\u{301}␣");
        assert_eq!([excerpt("12345", 5), excerpt("123456", 5), excerpt("", 0)], ["12345", "12345…", ""]);
    }

    #[test]
    fn lines_may_end_where_there_are_several() {
        assert_eq!(check_text("a\r\n\tb", 10, Lines::Many), Ok(()));
        let bad = check_text("a\n\u{1b}[31m", 10, Lines::Many).unwrap_err();
        assert_eq!((bad.rule, bad.position), (TextRule::Control, 3));
    }
}
