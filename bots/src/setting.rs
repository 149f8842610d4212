//! What can be set on a bot.

use crate::bot::BotError;
use crate::registry::Entry;
use crate::spec::BotSpec;

/// One setting of a bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    pub name: &'static str,
    /// What it does, with the unit, in a few words.
    pub about: &'static str,
    pub kind: SettingKind,
}

/// Which values a setting takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingKind {
    /// A whole number from `min` to `max`; unset unless given if there is no default.
    Integer { default: Option<u64>, min: u64, max: u64 },
}

impl SettingKind {
    /// The default as it would be written, `None` if the setting is unset unless given.
    pub fn default_value(self) -> Option<String> {
        match self {
            Self::Integer { default, min: _, max: _ } => default.map(|value| value.to_string()),
        }
    }

    /// The allowed values, such as `a whole number from 1 to 12`.
    pub fn allowed(self) -> String {
        match self {
            Self::Integer { default: _, min, max } => format!("a whole number from {min} to {max}"),
        }
    }

    fn allows(self, value: &str) -> bool {
        match self {
            Self::Integer { default: _, min, max } => {
                value.parse().is_ok_and(|value: u64| (min..=max).contains(&value))
            }
        }
    }
}

/// The settings of a [`BotSpec`], checked against the bot's entry, with defaults filled in.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    entry: &'static Entry,
    spec: &'a BotSpec,
}

impl<'a> Settings<'a> {
    /// Checks every given setting: known, given once, value allowed.
    pub(crate) fn check(entry: &'static Entry, spec: &'a BotSpec) -> Result<Self, BotError> {
        for (index, (name, value)) in spec.settings().enumerate() {
            let Some(setting) = entry.settings.iter().find(|setting| setting.name == name) else {
                return Err(unknown_setting(entry, name));
            };
            if spec.settings().take(index).any(|(earlier, _)| earlier == name) {
                return Err(BotError::RepeatedSetting { bot: entry.name, setting: name.to_owned() });
            }
            if !setting.kind.allows(value) {
                let allowed = setting.kind.allowed();
                let value = value.to_owned();
                return Err(BotError::BadValue { bot: entry.name, setting: setting.name, value, allowed });
            }
        }
        Ok(Self { entry, spec })
    }

    /// The number given, else the default if there is one.
    pub(crate) fn integer_if_set(&self, name: &str) -> Option<u64> {
        let setting = self.entry.settings.iter().find(|setting| setting.name == name);
        let SettingKind::Integer { default, min: _, max: _ } =
            setting.expect("a bot asks only for settings of its entry").kind;
        self.spec.value(name).and_then(|value| value.parse().ok()).or(default)
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

fn unknown_setting(entry: &Entry, name: &str) -> BotError {
    let names: Vec<&str> = entry.settings.iter().map(|setting| setting.name).collect();
    let known =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    BotError::UnknownSetting { bot: entry.name, setting: name.to_owned(), known }
}
