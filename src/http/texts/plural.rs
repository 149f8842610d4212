//! Plural forms: which one a number of things takes, by the rules of the Unicode CLDR for whole numbers
//! (<https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html>). The form that Romance
//! languages have for millions reads like `other` in all our texts.

use serde::{Deserialize, Serialize};

use super::Language;

/// A plural form, named as `Intl.PluralRules` names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Plural {
    One,
    Few,
    Many,
    Other,
}

impl Plural {
    /// The form for `n` things.
    pub(crate) fn of(language: Language, n: u64) -> Self {
        let one_if = |is_one| if is_one { Self::One } else { Self::Other };
        match language {
            Language::English
            | Language::German
            | Language::Spanish
            | Language::Italian
            | Language::Dutch => one_if(n == 1),
            Language::French | Language::Portuguese => one_if(n <= 1),
            Language::Polish => match (n, n % 10, n % 100) {
                (1, ..) => Self::One,
                (_, 2..=4, tens) if !(12..=14).contains(&tens) => Self::Few,
                _ => Self::Many,
            },
            Language::Japanese | Language::Chinese => Self::Other,
        }
    }

    /// The forms that a text of the language must have.
    #[cfg(test)]
    pub(crate) fn all(language: Language) -> &'static [Self] {
        match language {
            Language::English
            | Language::German
            | Language::French
            | Language::Spanish
            | Language::Portuguese
            | Language::Italian
            | Language::Dutch => &[Self::One, Self::Other],
            Language::Polish => &[Self::One, Self::Few, Self::Many, Self::Other],
            Language::Japanese | Language::Chinese => &[Self::Other],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polish_counts_by_the_last_digits() {
        for (numbers, expected) in [
            (&[1][..], Plural::One),
            (&[2, 3, 4, 22, 34, 102, 1_004], Plural::Few),
            (&[0, 5, 11, 12, 13, 14, 19, 21, 25, 112, 1_013], Plural::Many),
        ] {
            for n in numbers {
                assert_eq!(Plural::of(Language::Polish, *n), expected, "{n}");
            }
        }
    }

    #[test]
    fn nothing_is_singular_in_french_and_plural_in_german() {
        assert_eq!(Plural::of(Language::French, 0), Plural::One);
        assert_eq!(Plural::of(Language::German, 0), Plural::Other);
        assert_eq!(Plural::of(Language::Japanese, 1), Plural::Other);
    }
}
