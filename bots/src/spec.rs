//! A bot as people write it.

use std::fmt;
use std::str::FromStr;

use crate::bot::BotError;

/// A house bot with settings, such as `negamax:depth=6` or `montecarlo:playouts=500,seed=7`.
///
/// Reading checks only the form; [`crate::registry::build`] knows which bots and settings there are. A part
/// without `=` belongs to the value before it, so that values may contain commas: `c4ai:weights=1,2,3`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BotSpec {
    name: String,
    /// Names and values in the order given.
    settings: Vec<(String, String)>,
}

impl BotSpec {
    /// The bot of this name with its default settings.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), settings: Vec::new() }
    }

    /// Gives a setting a value, in place of any earlier one.
    pub fn with(mut self, setting: &str, value: impl fmt::Display) -> Self {
        self.settings.retain(|(name, _)| name != setting);
        self.settings.push((setting.to_owned(), value.to_string()));
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names and values as given, not yet checked.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value given for a setting, not yet checked.
    pub fn value(&self, setting: &str) -> Option<&str> {
        self.settings().find(|&(name, _)| name == setting).map(|(_, value)| value)
    }
}

/// Prints `name` or `name:setting=value,setting=value`.
impl fmt::Display for BotSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<String> = self.settings().map(|(name, value)| format!("{name}={value}")).collect();
        if settings.is_empty() {
            formatter.pad(&self.name)
        } else {
            formatter.pad(&format!("{}:{}", self.name, settings.join(",")))
        }
    }
}

impl FromStr for BotSpec {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Self, BotError> {
        let unreadable = || BotError::Unreadable { text: text.to_owned() };
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        if !is_name(name) {
            return Err(unreadable());
        }
        let mut settings: Vec<(String, String)> = Vec::new();
        for part in rest.into_iter().flat_map(|rest| rest.split(',')) {
            if let Some((setting, value)) = part.split_once('=').filter(|(setting, _)| is_name(setting)) {
                settings.push((setting.to_owned(), value.to_owned()));
            } else {
                let (_, value) = settings.last_mut().ok_or_else(unreadable)?;
                value.push(',');
                value.push_str(part);
            }
        }
        Ok(Self { name: name.to_owned(), settings })
    }
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    !text.is_empty() && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, settings: &[(&str, &str)]) {
        let spec: BotSpec = text.parse().unwrap();
        assert_eq!(spec.name(), name);
        assert_eq!(spec.settings().collect::<Vec<_>>(), settings);
        assert_eq!(spec.to_string(), text);
    }

    #[test]
    fn settings_follow_the_name() {
        check("greedy", "greedy", &[]);
        check("negamax:depth=6,seed=7", "negamax", &[("depth", "6"), ("seed", "7")]);
        check("c4ai:weights=29,-237,126,seed=1", "c4ai", &[("weights", "29,-237,126"), ("seed", "1")]);
        check("memory:file=data/a=b.xml", "memory", &[("file", "data/a=b.xml")]);
        check("negamax:depth=", "negamax", &[("depth", "")]);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["", ":", "negamax:", "negamax:6", "negamax:=6", "Negamax", "nega max", "cmd/x:depth=6"] {
            assert_eq!(text.parse::<BotSpec>(), Err(BotError::Unreadable { text: text.to_owned() }));
        }
    }

    #[test]
    fn a_setting_given_later_replaces_the_earlier_one() {
        let spec: BotSpec = "montecarlo:seed=1,playouts=9".parse().unwrap();
        assert_eq!(spec.with("seed", 2).to_string(), "montecarlo:playouts=9,seed=2");
    }
}
