//! What can be set on a bot.

use crate::bot::BotError;
use crate::spec::BotSpec;

/// One setting of a bot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// What it does, with the unit, in a few words.
    pub about: &'static str,
    pub kind: SettingKind,
}

/// Which values a setting takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SettingKind {
    /// A whole number from `min` to `max`; unset unless given if there is no default.
    Integer { default: Option<u64>, min: u64, max: u64 },
    /// A number from `min` to `max`, written like `0.5`.
    Decimal { default: f64, min: f64, max: f64 },
    /// As many whole numbers as there are defaults, each from `min` to `max`, separated by commas; or the name
    /// of a file with such a line.
    IntegersOrFile { default: &'static [i32], min: i32, max: i32 },
    /// One of a few words, the first by default.
    Choice { words: &'static [&'static str] },
    /// `true` or `false`.
    Switch { default: bool },
    /// The name of a file; unset unless given.
    File,
}

/// What may stand in place of numbers.
const OR_FILE: &str = "or a file of them";

impl SettingKind {
    /// The default as it would be written, `None` if the setting is unset unless given.
    pub fn default_value(self) -> Option<String> {
        match self {
            Self::Integer { default, min: _, max: _ } => default.map(|value| value.to_string()),
            Self::Decimal { default, min: _, max: _ } => Some(default.to_string()),
            Self::IntegersOrFile { default, min: _, max: _ } => {
                Some(default.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Choice { words } => words.first().map(ToString::to_string),
            Self::Switch { default } => Some(default.to_string()),
            Self::File => None,
        }
    }

    /// The allowed values, such as `a whole number from 1 to 12`.
    pub fn allowed(self) -> String {
        match self {
            Self::Integer { default: _, min, max } => format!("a whole number from {min} to {max}"),
            Self::Decimal { default: _, min, max } => format!("a number from {min} to {max}, like 0.5"),
            Self::IntegersOrFile { default, min, max } => {
                let count = default.len();
                format!("{count} whole numbers from {min} to {max} with commas between, {OR_FILE}")
            }
            Self::Choice { words } => words.join(" or "),
            Self::Switch { default: _ } => "true or false".to_owned(),
            Self::File => "a file's name".to_owned(),
        }
    }

    /// Whether a value may be given.
    pub fn allows(self, value: &str) -> bool {
        match self {
            Self::Integer { default: _, min, max } => {
                value.parse().is_ok_and(|value: u64| (min..=max).contains(&value))
            }
            Self::Decimal { default: _, min, max } => {
                let is_plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                is_plain && value.parse().is_ok_and(|value: f64| (min..=max).contains(&value))
            }
            Self::IntegersOrFile { default, min, max } => {
                let is_in_range = |values: Vec<i32>| {
                    values.len() == default.len() && values.iter().all(|value| (min..=max).contains(value))
                };
                self.names_file(value) || parse_integers(value).is_some_and(is_in_range)
            }
            Self::Choice { words } => words.contains(&value),
            Self::Switch { default: _ } => value.parse::<bool>().is_ok(),
            Self::File => !value.is_empty(),
        }
    }

    /// What the content of a file may be that is named in place of a value.
    pub fn allowed_content(self) -> String {
        let allowed = self.allowed();
        allowed.trim_end_matches(OR_FILE).trim_end_matches(", ").to_owned()
    }

    /// Whether a value names a file, which the caller of a bot has to read.
    pub fn names_file(self, value: &str) -> bool {
        match self {
            Self::File => true,
            // Anything else than numbers, so that a wrong number is not taken for a file that is not there.
            Self::IntegersOrFile { .. } => {
                value.bytes().any(|byte| !byte.is_ascii_digit() && !b" ,+-".contains(&byte))
            }
            Self::Integer { .. } | Self::Decimal { .. } | Self::Choice { .. } | Self::Switch { .. } => false,
        }
    }
}

fn parse_integers(text: &str) -> Option<Vec<i32>> {
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// The settings of a [`BotSpec`], checked against those that the bot has, with defaults filled in.
#[derive(Debug)]
pub(crate) struct CheckedSettings<'a> {
    bot: &'static str,
    known: &'static [Setting],
    spec: &'a BotSpec,
    knowledge: Option<&'a [u8]>,
}

impl<'a> CheckedSettings<'a> {
    /// Checks every given setting: known, given once, value allowed.
    pub(crate) fn check(
        bot: &'static str,
        known: &'static [Setting],
        spec: &'a BotSpec,
        knowledge: Option<&'a [u8]>,
    ) -> Result<Self, BotError> {
        for (index, (name, value)) in spec.settings().enumerate() {
            let Some(setting) = known.iter().find(|setting| setting.name == name) else {
                return Err(unknown_setting(bot, known, name));
            };
            if spec.settings().take(index).any(|(earlier, _)| earlier == name) {
                return Err(BotError::RepeatedSetting { bot, setting: name.to_owned() });
            }
            if !setting.kind.allows(value) {
                let allowed = setting.kind.allowed();
                let value = value.to_owned();
                return Err(BotError::BadValue { bot, setting: setting.name, value, allowed });
            }
        }
        Ok(Self { bot, known, spec, knowledge })
    }

    /// Whose settings they are.
    pub(crate) fn bot(&self) -> &'static str {
        self.bot
    }

    /// The value given, else the default if there is one, as it is written.
    fn written(&self, name: &str) -> Option<String> {
        let setting = self.known.iter().find(|setting| setting.name == name);
        let kind = setting.expect("a bot asks only for settings that it has").kind;
        self.spec.value(name).map(ToOwned::to_owned).or_else(|| kind.default_value())
    }

    /// The number given, else the default if there is one.
    pub(crate) fn integer_if_set(&self, name: &str) -> Option<u64> {
        self.written(name).map(|value| value.parse().expect("the value was checked"))
    }

    /// The number given or the default.
    pub(crate) fn decimal(&self, name: &str) -> f64 {
        self.text(name).parse().expect("the value was checked")
    }

    /// The numbers given or the defaults, as many as the setting has.
    ///
    /// Fails if a file is named instead: its content should have taken the name's place.
    pub(crate) fn integers<const COUNT: usize>(&self, name: &str) -> Result<[i32; COUNT], BotError> {
        let text = self.text(name);
        let numbers = parse_integers(&text).ok_or_else(|| self.unread_file(&text))?;
        Ok(numbers.try_into().expect("the count was checked"))
    }

    /// A file that the bot, which does no I/O, would need to have read.
    pub(crate) fn unread_file(&self, file: &str) -> BotError {
        BotError::Broken { bot: self.bot, reason: format!("nobody has read its file `{file}` for it") }
    }

    /// The word given or the default.
    pub(crate) fn text(&self, name: &str) -> String {
        self.written(name).expect("the setting has a default")
    }

    /// The text given, if any.
    pub(crate) fn text_if_set(&self, name: &str) -> Option<String> {
        self.written(name)
    }

    /// What the bot has learnt before, as the caller kept it.
    pub(crate) fn knowledge(&self) -> Option<&'a [u8]> {
        self.knowledge
    }

    /// The same of bots that learn a text.
    pub(crate) fn knowledge_text(&self) -> Result<Option<&'a str>, BotError> {
        let no_text = |_| BotError::Broken { bot: self.bot, reason: "it is not a text".to_owned() };
        self.knowledge.map(str::from_utf8).transpose().map_err(no_text)
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name).parse().expect("the value was checked")
    }

    /// The number of a setting that has a default.
    pub(crate) fn integer(&self, name: &str) -> u64 {
        self.integer_if_set(name).expect("the setting has a default")
    }

    /// The same for a setting whose range is small.
    pub(crate) fn small_integer(&self, name: &str) -> u32 {
        u32::try_from(self.integer(name)).expect("the range fits 32 bits")
    }
}

fn unknown_setting(bot: &'static str, known: &[Setting], name: &str) -> BotError {
    let names: Vec<&str> = known.iter().map(|setting| setting.name).collect();
    let known =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    BotError::UnknownSetting { bot, setting: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: SettingKind, default: Option<&str>, good: &[&str], bad: &[&str]) {
        assert_eq!(kind.default_value().as_deref(), default);
        assert!(default.is_none_or(|default| kind.allows(default)), "the default itself");
        for value in good {
            assert!(kind.allows(value), "{value}");
        }
        for value in bad {
            assert!(!kind.allows(value), "{value}");
        }
    }

    #[test]
    fn each_kind_takes_its_values() {
        let integer = SettingKind::Integer { default: Some(4), min: 1, max: 12 };
        check(integer, Some("4"), &["1", "12"], &["", "0", "13", "-1", "1.5", "four"]);
        let decimal = SettingKind::Decimal { default: 1.0, min: 0.5, max: 2.0 };
        check(
            decimal,
            Some("1"),
            &["0.5", "2", "1.25", ".5"],
            &["", "0.4", "2.01", "-1", "1e0", "inf", "NaN"],
        );
        let integers = SettingKind::IntegersOrFile { default: &[1, -2], min: -9, max: 9 };
        check(integers, Some("1,-2"), &["0,0", "-9, 9", "w.csv"], &["", "1", "1,2,3", "1,10", "1,"]);
        let choice = SettingKind::Choice { words: &["bounded", "literal"] };
        check(choice, Some("bounded"), &["literal"], &["", "Literal", "other"]);
        let switch = SettingKind::Switch { default: false };
        check(switch, Some("false"), &["true"], &["", "1", "yes", "True"]);
        check(SettingKind::File, None, &["a b.xml"], &[""]);
    }
}
