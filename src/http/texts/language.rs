//! The languages of the pages: which there are, which one a visitor reads, and how each writes numbers.

use std::fmt::Display;

/// A language that the pages speak.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Polish,
    Japanese,
    Chinese,
}

impl Language {
    /// All of them, in the order in which one chooses.
    pub(crate) const ALL: [Self; 10] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Portuguese,
        Self::Italian,
        Self::Dutch,
        Self::Polish,
        Self::Japanese,
        Self::Chinese,
    ];

    /// The tag of BCP 47, as attributes and cookies have it.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Italian => "it",
            Self::Dutch => "nl",
            Self::Polish => "pl",
            Self::Japanese => "ja",
            Self::Chinese => "zh",
        }
    }

    /// What its speakers call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::French => "Français",
            Self::Spanish => "Español",
            Self::Portuguese => "Português",
            Self::Italian => "Italiano",
            Self::Dutch => "Nederlands",
            Self::Polish => "Polski",
            Self::Japanese => "日本語",
            Self::Chinese => "中文",
        }
    }

    /// The language of a tag. What follows the first part, a country or a script, does not matter.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let first = tag.trim().split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(first))
    }

    /// The one that a browser likes best, by its `Accept-Language` header: `de-CH, de;q=0.9, en;q=0.8`. English if it
    /// likes none of ours.
    pub(crate) fn accepted(header: &str) -> Self {
        let mut best = (Self::English, 0.0);
        for range in header.split(',') {
            let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.trim().parse().ok());
            if let (Some(language), Some(weight)) = (Self::of_tag(tag), weight)
                && weight > best.1
            {
                best = (language, weight);
            }
        }
        best.0
    }

    /// A number with its thousands set apart, as `Intl.NumberFormat` does it in the page.
    pub(crate) fn number(self, n: u64) -> String {
        let (separator, from_digits) = match self {
            Self::English | Self::Japanese | Self::Chinese => (",", 4),
            Self::German | Self::Portuguese | Self::Dutch => (".", 4),
            Self::Spanish | Self::Italian => (".", 5),
            Self::French => ("\u{202f}", 4),
            Self::Polish => ("\u{a0}", 5),
        };
        let digits = n.to_string();
        if digits.len() < from_digits {
            return digits;
        }
        let mut grouped = String::with_capacity(2 * digits.len());
        for (index, digit) in digits.char_indices() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push_str(separator);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// A decimal fraction as `Display` prints it, with the sign between whole and parts that the language has. It does
    /// not set thousands apart.
    pub(crate) fn decimal(self, fraction: impl Display) -> String {
        let fraction = fraction.to_string();
        match self {
            Self::English | Self::Japanese | Self::Chinese => fraction,
            Self::German
            | Self::French
            | Self::Spanish
            | Self::Portuguese
            | Self::Italian
            | Self::Dutch
            | Self::Polish => fraction.replace('.', ","),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: Language) {
        assert_eq!(Language::accepted(header), expected, "{header}");
    }

    #[test]
    fn the_best_liked_of_our_languages_is_chosen() {
        check("de-CH, de;q=0.9, en;q=0.8", Language::German);
        check("sv, pl;q=0.7, en;q=0.3", Language::Polish);
        check("en;q=0.2, ja;q=0.9", Language::Japanese);
        check("zh-Hant-TW", Language::Chinese);
        check("PT_br", Language::Portuguese);
    }

    #[test]
    fn whoever_speaks_none_of_them_gets_english() {
        for header in ["", "sv", "*", "tlh;q=1", ";;;", "de;q=0", "de;q=much", "de;level=1"] {
            check(header, Language::English);
        }
    }

    #[test]
    fn thousands_are_set_apart_as_each_language_does() {
        for (language, expected) in [
            (Language::English, ["999", "1,234", "12,345", "1,234,567"]),
            (Language::German, ["999", "1.234", "12.345", "1.234.567"]),
            (Language::Spanish, ["999", "1234", "12.345", "1.234.567"]),
            (Language::Polish, ["999", "1234", "12\u{a0}345", "1\u{a0}234\u{a0}567"]),
        ] {
            assert_eq!([999, 1_234, 12_345, 1_234_567].map(|n| language.number(n)), expected, "{language:?}");
        }
    }
    #[test]
    fn parts_are_set_off_by_a_point_or_a_comma() {
        let comma = Language::ALL.into_iter().filter(|language| language.decimal(61.25) == "61,25");
        assert_eq!(comma.map(Language::tag).collect::<Vec<_>>(), ["de", "fr", "es", "pt", "it", "nl", "pl"]);
        assert_eq!(Language::Japanese.decimal(format_args!("{:.1} %", 61.25)), "61.2 %");
        assert_eq!(Language::German.decimal(7), "7");
    }
}
