//! How a program is named on a command line: `cmd:./mybot`, `cmd+kaggle:python3 bot.py --depth 4`.

use std::str::FromStr;

use super::dialect::{Dialect, DialectError};

/// A program with its arguments and the dialect that it speaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSpec {
    pub dialect: Dialect,
    /// The program and its arguments, at least one word.
    pub words: Vec<String>,
}

impl ProgramSpec {
    /// Whether a text names a program and no house bot.
    pub fn is_meant_by(text: &str) -> bool {
        text.starts_with("cmd:") || text.starts_with("cmd+")
    }
}

/// A text names no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramSpecError {
    #[error("`{0}` is no program such as cmd:./mybot or cmd+kaggle:./mybot.py")]
    Form(String),
    #[error(transparent)]
    Dialect(#[from] DialectError),
    #[error("`{0}` has a quotation mark without its partner")]
    Quotes(String),
    #[error("`{0}` names no program to run")]
    Empty(String),
}

impl FromStr for ProgramSpec {
    type Err = ProgramSpecError;

    fn from_str(text: &str) -> Result<Self, ProgramSpecError> {
        let form = || ProgramSpecError::Form(text.to_owned());
        let (head, command) = text.split_once(':').ok_or_else(form)?;
        let dialect = match head.strip_prefix("cmd").ok_or_else(form)? {
            "" => Dialect::Simple,
            rest => rest.strip_prefix('+').ok_or_else(form)?.parse()?,
        };
        let words = split_words(command).ok_or_else(|| ProgramSpecError::Quotes(text.to_owned()))?;
        if words.is_empty() {
            return Err(ProgramSpecError::Empty(text.to_owned()));
        }
        Ok(Self { dialect, words })
    }
}

/// Splits as a shell would, with quotation marks and backslashes but without expanding anything. `None` if a quotation
/// mark or a backslash has no partner.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(mark), letter) if letter == mark => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(letters.next()?),
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::notation::board42::RowOrder;

    use super::*;

    #[track_caller]
    fn check(text: &str, dialect: Dialect, words: &[&str]) {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(text.parse(), Ok(ProgramSpec { dialect, words }));
    }

    #[test]
    fn programs_have_a_dialect_and_arguments() {
        check("cmd:./mybot", Dialect::Simple, &["./mybot"]);
        check(
            "cmd+kaggle:python3 bot.py  --depth 4",
            Dialect::Kaggle,
            &["python3", "bot.py", "--depth", "4"],
        );
        check("cmd+board42,order=top:./old", Dialect::Board42(RowOrder::Top), &["./old"]);
        check("cmd:C:/bot", Dialect::Simple, &["C:/bot"]);
    }

    #[test]
    fn quotes_keep_words_together() {
        check(r#"cmd:'my bot' "a \"b\"" c\ d ''"#, Dialect::Simple, &["my bot", "a \"b\"", "c d", ""]);
    }

    #[test]
    fn what_names_no_program_is_refused() {
        for text in ["cmd", "cmd:", "cmd:  ", "cmd+:x", "cmd+chess:x", "cmdx:y", "cmd:'a", "cmd:a\\", "mcts"]
        {
            assert!(text.parse::<ProgramSpec>().is_err(), "{text}");
        }
    }
}
