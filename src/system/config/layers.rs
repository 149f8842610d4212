//! The layers of a configuration: defaults, the file over them, the environment over both.
//!
//! Flags come last and are set by the command itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Config, ConfigError, LogFilter};
use crate::system::files;

/// What all our variables begin with. The rest is section and key in capitals, `FOURFOLD_LIMITS_CONNECTIONS`; the keys
/// of `[server]` go without their section, `FOURFOLD_LISTEN`.
const PREFIX: &str = "FOURFOLD_";

/// The variable by which Rust programs choose what they log; it stands over `FOURFOLD_LOG_LEVEL`.
const RUST_LOG: &str = "RUST_LOG";

/// The section whose keys go without its name.
const PLAIN_SECTION: &str = "server";

/// A file has at most so many bytes: one with every key explained and a thousand bots has a tenth of it, and what is
/// longer is no configuration.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How alike (0 to 1, Jaro-Winkler) a known key must be to be offered in place of an unknown one.
const LIKENESS_MIN: f64 = 0.75;

impl Config {
    /// Reads the layers below the flags.
    ///
    /// # Errors
    ///
    /// Names file and line, or the variable, of the first value that is not allowed, and what is.
    pub(crate) fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let config = file.map_or_else(|| Ok(Self::default()), read_file)?;
        let config = apply_environment(&config, environment)?;
        check_programs(&config, file)?;
        config.validate()
    }

    /// Checks again what flags may have changed.
    ///
    /// # Errors
    ///
    /// Names the keys whose values do not go together.
    pub(crate) fn with_flags(mut self, change: impl FnOnce(&mut Self)) -> Result<Self, ConfigError> {
        change(&mut self);
        self.validate()
    }
}

/// Refuses bots of the house that are programs unless they are allowed. Only a file names bots; the environment may
/// allow them.
fn check_programs(config: &Config, file: Option<&Path>) -> Result<(), ConfigError> {
    let (Some((place, bot)), Some(path)) = (config.forbidden_program(), file) else { return Ok(()) };
    let message = format!(
        "house_bots[{place}].spec: `{}` is a program, and programs.allow is false: allowed are the bots that \
         `fourfold bots` lists, and programs where programs.allow is true",
        bot.spec
    );
    let spec = bot.spec.to_string();
    let line = read_text(path)?.lines().position(|line| line.contains(&spec)).unwrap_or(0) + 1;
    Err(ConfigError::File { path: path.to_owned(), line, message })
}

fn read_file(path: &Path) -> Result<Config, ConfigError> {
    let text = read_text(path)?;
    parse(&text).map_err(|ConfigFault { line, message }| ConfigError::File {
        path: PathBuf::from(path),
        line,
        message,
    })
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    let bytes = files::read_regular(path, FILE_BYTES_MAX)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    String::from_utf8(bytes).map_err(|_| ConfigError::NotUtf8 { path: path.to_owned() })
}

/// What is wrong with a text.
struct ConfigFault {
    line: usize,
    message: String,
}

fn parse(text: &str) -> Result<Config, ConfigFault> {
    let fault = |error: &toml::de::Error, message| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        ConfigFault { line: text[..start].matches('\n').count() + 1, message }
    };
    let document =
        toml::Deserializer::parse(text).map_err(|error| fault(&error, explain("", error.message())))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let message = explain(&error.path().to_string(), error.inner().message());
        fault(error.inner(), message)
    })
}

/// Puts the key before the message; offers the nearest known key in place of an unknown one.
fn explain(path: &str, message: &str) -> String {
    let message = message.replace('\n', ", ");
    let Some(unknown) = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next())
    else {
        return if matches!(path, "" | ".") { message } else { format!("{path}: {message}") };
    };
    // serde names the known ones between backticks, after the unknown one.
    let known: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
    let key = if path.ends_with(unknown) || matches!(path, "" | ".") {
        path.trim_matches('.').to_owned()
    } else {
        format!("{path}.{unknown}")
    };
    let key = if key.is_empty() { unknown.to_owned() } else { key };
    match nearest(unknown, known.iter().copied()) {
        Some(near) => format!("{key}: there is no such key, did you mean `{near}`?"),
        None => format!("{key}: there is no such key, allowed are {}", known.join(", ")),
    }
}

fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (name, strsim::jaro_winkler(text, name)))
        .filter(|(_, likeness)| *likeness >= LIKENESS_MIN)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(name, _)| name)
}

/// One key that the environment can set.
struct Variable {
    name: String,
    section: String,
    key: String,
}

fn variables(table: &toml::Table) -> Vec<Variable> {
    let of_section = |(section, keys): (&String, &toml::Value)| -> Vec<Variable> {
        let named = |key: &String| {
            let name = if section == PLAIN_SECTION { key.clone() } else { format!("{section}_{key}") };
            Variable {
                name: format!("{PREFIX}{}", name.to_uppercase()),
                section: section.clone(),
                key: key.clone(),
            }
        };
        keys.as_table().into_iter().flat_map(toml::Table::keys).map(named).collect()
    };
    table.iter().flat_map(of_section).collect()
}

fn apply_environment(
    config: &Config,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Config, ConfigError> {
    let mut table = toml::Table::try_from(config).expect("a configuration is TOML");
    let known = variables(&table);
    let mut config = config.clone();
    let mut rust_log = None;
    for (name, value) in environment {
        let is_ours = |name: &&str| name.starts_with(PREFIX) || *name == RUST_LOG;
        let Some(name) = name.to_str().filter(is_ours) else { continue };
        let refused = |message: String| ConfigError::Environment { variable: name.to_owned(), message };
        if name == RUST_LOG {
            let text = value.to_str().ok_or_else(|| refused("not UTF-8".to_owned()))?;
            rust_log = match text {
                "" => None,
                filter => Some(filter.parse::<LogFilter>().map_err(|error| refused(error.to_string()))?),
            };
            continue;
        }
        let Some(variable) = known.iter().find(|variable| variable.name == name) else {
            check_list(name, &table).and_then(|()| check_unknown(name, &known)).map_err(refused)?;
            continue;
        };
        let text = value.to_str().ok_or_else(|| refused("not UTF-8".to_owned()))?;
        let place = &mut table[&variable.section][&variable.key];
        *place = read_value(text, place);
        config = table
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| refused(error.message().replace('\n', ", ")))?;
    }
    if let Some(filter) = rust_log {
        config.log.level = filter;
    }
    Ok(config)
}

/// Lists of tables, such as the bots of the house, are no matter of variables.
fn check_list(name: &str, table: &toml::Table) -> Result<(), String> {
    let is_meant = |(key, value): &(&String, &toml::Value)| {
        let rest = name.strip_prefix(PREFIX).and_then(|name| name.strip_prefix(&key.to_uppercase()));
        value.is_array() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    table.iter().find(is_meant).map_or(Ok(()), |(key, _)| {
        Err(format!("only a file has a list of {key}: write [[{key}]] there, and name it with --config"))
    })
}

/// Says to tests whether they may do without servers. It begins as a section does, and daemons of tests get it too.
const OF_TESTS: &str = "FOURFOLD_CLUSTER_TESTS";

/// Variables of other programs, such as `FOURFOLD_TOKEN` of the bot kits, are none of our business; those that begin
/// with a section's name are.
fn check_unknown(name: &str, known: &[Variable]) -> Result<(), String> {
    let is_section = |variable: &&Variable| {
        variable.section != PLAIN_SECTION
            && name.starts_with(&format!("{PREFIX}{}_", variable.section.to_uppercase()))
    };
    if name == OF_TESTS || known.iter().find(is_section).is_none() {
        return Ok(());
    }
    let near = nearest(name, known.iter().map(|variable| variable.name.as_str()));
    Err(near.map_or("there is no such key".to_owned(), |near| {
        format!("there is no such key, did you mean {near}?")
    }))
}

/// Reads a variable as what stood at its place: a list is written with commas, and of numbers if it was one before.
fn read_value(text: &str, place: &toml::Value) -> toml::Value {
    let string = || toml::Value::String(text.to_owned());
    match place {
        toml::Value::Array(before) => {
            let like = before.first().cloned().unwrap_or_else(|| toml::Value::String(String::new()));
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            toml::Value::Array(items.map(|item| read_value(item, &like)).collect())
        }
        toml::Value::Integer(_) => text.parse().map_or_else(|_| string(), toml::Value::Integer),
        toml::Value::Boolean(_) => text.parse().map_or_else(|_| string(), toml::Value::Boolean),
        toml::Value::String(_) | toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => {
            string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::durability::Durability;

    use crate::system::causes::with_causes;
    use crate::system::config::LogFormat;

    fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.toml");
        std::fs::write(&path, file).unwrap();
        let environment = environment.iter().map(|&(name, value)| (name.into(), value.into()));
        let place = format!("{}/", directory.path().display());
        Config::load(Some(&path), environment).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[track_caller]
    fn check_refused(file: &str, environment: &[(&str, &str)], message: &str) {
        assert_eq!(load(file, environment).unwrap_err(), message);
    }

    #[test]
    fn without_file_and_environment_there_are_the_defaults() {
        assert_eq!(Config::load(None, []).unwrap(), Config::default());
        assert_eq!(load("", &[]).unwrap(), Config::default());
    }

    #[test]
    fn the_environment_stands_over_the_file_and_the_file_over_the_defaults() {
        let file = "[server]\nlisten = \"127.0.0.1:1\"\nheartbeat_ms = 500\n";
        let environment = [
            ("FOURFOLD_LISTEN", "127.0.0.1:2"),
            ("FOURFOLD_ORIGINS", "https://a.example, https://b.example"),
            ("FOURFOLD_LADDER_ENABLED", "false"),
            ("FOURFOLD_STORAGE_DURABILITY", "relaxed"),
            ("FOURFOLD_LOG_FORMAT", "json"),
            ("FOURFOLD_TOKEN", "of a bot kit"),
            ("PATH", "/bin"),
        ];
        let config = load(file, &environment).unwrap();
        assert_eq!(config.server.listen.to_string(), "127.0.0.1:2");
        assert_eq!(config.server.heartbeat_ms.number(), 500);
        assert_eq!(config.server.origins.len(), 2);
        assert!(!config.ladder.enabled);
        assert_eq!(config.storage.durability, Durability::Relaxed);
        assert_eq!(config.log.format, LogFormat::Json);
        assert_eq!(config.limits, Config::default().limits);
    }

    #[test]
    fn errors_in_the_file_name_line_and_key() {
        check_refused(
            "[server]\n\nlisen = \"x\"\n",
            &[],
            "x.toml:3: server.lisen: there is no such key, did you mean `listen`?",
        );
        check_refused("[sevrer]\n", &[], "x.toml:1: sevrer: there is no such key, did you mean `server`?");
        check_refused(
            "[limits]\nconnections = \"many\"\n",
            &[],
            "x.toml:2: limits.connections: invalid type: string \"many\", expected a whole number from 0 to 1000000",
        );
        check_refused(
            "[limits]\nconnections = -1\n",
            &[],
            "x.toml:2: limits.connections: invalid value: integer `-1`, expected a whole number from 0 to 1000000",
        );
        check_refused(
            "[server]\nlisten = \"127.0.0.1:70000\"\n",
            &[],
            "x.toml:2: server.listen: port `70000` is not a number from 0 to 65535",
        );
        check_refused(
            "\n[[house_bots]]\nname = \"Deep\"\nspec = \"randon\"\n",
            &[],
            "x.toml:4: house_bots[0].spec: no bot is called `randon`; did you mean `random`?",
        );
        check_refused(
            "[storage]\ndurability = \"some\"\n",
            &[],
            "x.toml:2: storage.durability: unknown variant `some`, expected `strict` or `relaxed`",
        );
    }

    #[test]
    fn programs_are_bots_of_the_house_where_the_operator_allows_them() {
        let bot = "[[house_bots]]\nname = \"Deep\"\nspec = \"cmd+kaggle:python3 'my bot.py' -d 4\"\n";
        let refused = "x.toml:3: house_bots[0].spec: `cmd+kaggle:python3 'my bot.py' -d 4` is a program, and \
                       programs.allow is false: allowed are the bots that `fourfold bots` lists, and programs where \
                       programs.allow is true";
        check_refused(bot, &[], refused);
        let allowed = load(&format!("[programs]\nallow = true\n{bot}"), &[]).unwrap();
        assert_eq!(allowed.house_bots.0[0].spec.to_string(), "cmd+kaggle:python3 'my bot.py' -d 4");
        assert_eq!(load(bot, &[("FOURFOLD_PROGRAMS_ALLOW", "true")]).unwrap().house_bots, allowed.house_bots);
        let tongue = bot.replace("kaggle", "klingon");
        let unknown = "x.toml:3: house_bots[0].spec: `klingon` is no dialect: there are simple, board42, kaggle, \
                       aigames, cfour, and board42,order=top";
        check_refused(&tongue, &[], unknown);
        check_refused(
            "[programs]\nprocesses = 0\n",
            &[],
            "x.toml:2: programs.processes: invalid value: integer `0`, expected a whole number from 1 to 64",
        );
    }

    #[test]
    fn files_of_bots_of_the_house_stay_below_the_data_directory() {
        for path in ["../../etc/passwd", "memories/../../x", ".."] {
            let bot = format!("[[house_bots]]\nname = \"Deep\"\nspec = \"memory:file={path}\"\n");
            let error = load(&bot, &[]).unwrap_err();
            let said =
                format!("x.toml:3: house_bots[0].spec: `{path}` leads out of the data directory by `..`");
            assert!(error.starts_with(&said), "{error}");
        }
        for path in ["memories/deep.xml", "./deep..xml", "/var/lib/deep.xml"] {
            let bot = format!("[[house_bots]]\nname = \"Deep\"\nspec = \"memory:file={path}\"\n");
            assert!(load(&bot, &[]).is_ok(), "{path}");
        }
    }

    #[test]
    fn lists_are_no_matter_of_variables() {
        let message = "environment variable FOURFOLD_HOUSE_BOTS: only a file has a list of house_bots: write \
                       [[house_bots]] there, and name it with --config";
        check_refused("", &[("FOURFOLD_HOUSE_BOTS", "x")], message);
        check_refused("house_bots = []\n", &[("FOURFOLD_HOUSE_BOTS", "")], message);
    }

    #[test]
    fn what_has_no_end_is_no_configuration() {
        let error = Config::load(Some(Path::new("/dev/zero")), []).unwrap_err();
        assert!(with_causes(&error).contains("no regular file"), "{error}");
        let long = format!("# {}\n", "x".repeat(usize::try_from(FILE_BYTES_MAX).unwrap()));
        assert_eq!(load(&long, &[]).unwrap_err(), "x.toml: cannot be read");
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        for file in ["\n[server", "\n= 1", "\nserver", "[server]\nlisten = 1\nlisten = 2\n"] {
            let error = load(file, &[]).unwrap_err();
            assert!(error.starts_with("x.toml:"), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(
            load("[server]\nlisten = \"a:1\"\nlisten = \"a:2\"\n", &[])
                .unwrap_err()
                .starts_with("x.toml:3: ")
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let missing = Config::load(Some(Path::new("no/such.toml")), []).unwrap_err().to_string();
        assert_eq!(missing, "no/such.toml: cannot be read");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.toml");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(Config::load(Some(&path), []).unwrap_err().to_string().ends_with("x.toml: not UTF-8"));
    }

    #[test]
    fn errors_in_the_environment_name_the_variable() {
        check_refused(
            "",
            &[("FOURFOLD_HEARTBEAT_MS", "soon")],
            "environment variable FOURFOLD_HEARTBEAT_MS: invalid type: string \"soon\", expected a whole number from \
             100 to 60000",
        );
        check_refused(
            "",
            &[("FOURFOLD_LADDER_ENABLE", "yes")],
            "environment variable FOURFOLD_LADDER_ENABLE: there is no such key, did you mean FOURFOLD_LADDER_ENABLED?",
        );
        check_refused(
            "",
            &[("FOURFOLD_ORIGINS", "here")],
            "environment variable FOURFOLD_ORIGINS: `here` is not scheme, host and port of a site, such as \
             https://fourfold.example or http://localhost:8080",
        );
    }

    #[test]
    fn rust_log_stands_over_our_own_variable() {
        let both = [("RUST_LOG", "warn"), ("FOURFOLD_LOG_LEVEL", "debug")];
        assert_eq!(load("", &both).unwrap().log.level.to_string(), "warn");
        let empty = [("FOURFOLD_LOG_LEVEL", "debug"), ("RUST_LOG", "")];
        assert_eq!(load("", &empty).unwrap().log.level.to_string(), "debug");
        assert!(
            load("", &[("RUST_LOG", "lots")]).unwrap_err().starts_with("environment variable RUST_LOG: ")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_not_utf8_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let environment = [(OsString::from("FOURFOLD_LISTEN"), OsString::from_vec(vec![0xff]))];
        let error = Config::load(None, environment).unwrap_err().to_string();
        assert_eq!(error, "environment variable FOURFOLD_LISTEN: not UTF-8");
    }

    #[test]
    fn flags_are_checked_against_the_rest() {
        let refused =
            Config::default().with_flags(|config| config.metrics.listen = "0.0.0.0:1".parse().unwrap());
        assert!(refused.is_err());
    }
}
