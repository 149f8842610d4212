//! `fourfold account create-many`: the accounts of a class, with a slip of paper for each.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::operator::DataArg;
use crate::accounts::draw_password;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::output;
use crate::http::control::{ControlClient, ControlError};
use crate::model::ids::PlayerName;

/// Accounts of one list at most: a school. Each password takes a twentieth of a second to hash.
const ACCOUNTS_MAX: usize = 2_000;

/// Create an account for each line of a file, whether the daemon runs or not, and print the passwords.
///
/// A line is a name; what follows a comma is left out, as is a first line that says `name`. A name that is taken is
/// reported, and the others are made. The passwords are drawn, each is shown this once as soon as its account is
/// there, and they are kept nowhere.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold account create-many class-7b.csv --slips slips.html --site http://192.168.0.5:4444"
)]
pub(super) struct CreateAccounts {
    /// The names, one a line.
    file: PathBuf,
    /// Write a page with a slip for each, to print and cut; it has the passwords. The file must not be there yet.
    #[arg(long, value_name = "FILE")]
    slips: Option<PathBuf>,
    /// Where the arena is, for the slips.
    #[arg(long, value_name = "URL", requires = "slips")]
    site: Option<String>,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// What came of a line.
#[derive(Debug, Serialize)]
struct Made {
    name: String,
    /// None if there is no such account now.
    password: Option<String>,
    /// Why there is none.
    refused: Option<String>,
}

impl CreateAccounts {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let text = fs::read_to_string(&self.file)
            .map_err(|error| Exit::new(Code::NoInput, format!("{}: {error}", self.file.display())))?;
        let names =
            names_of(&text).map_err(|wrong| Exit::usage(format!("{}:{wrong}", self.file.display())))?;
        // Before the first account is made: a password that cannot be written down is lost.
        let slips =
            self.slips.as_deref().map(|file| Slips::create(file, self.site.as_deref())).transpose()?;
        let mut told = Told { slips, csv: (!self.json).then(io::stdout), made: Vec::new() };
        told.head()?;
        let done = self.data.command_new(async |daemon| make(daemon, &names, &mut told).await);
        // Also if it ended early: what was made was made.
        if self.json {
            output::print_json(&told.made)?;
        }
        done?;
        let refused = told.made.iter().filter(|made| made.refused.is_some()).count();
        match refused {
            0 => Ok(()),
            _ => Err(Exit::new(
                Code::Failure,
                format!("{refused} of {} accounts were not made", told.made.len()),
            )
            .into()),
        }
    }
}

/// Makes one account after the other, and tells each password before it goes on.
async fn make(daemon: &ControlClient, names: &[PlayerName], told: &mut Told) -> anyhow::Result<()> {
    for name in names {
        let password = draw_password();
        let refused = match daemon.create_account(name.as_str(), &password).await {
            Ok(_) => None,
            Err(ControlError::Refused(refusal)) => Some(refusal.message),
            Err(error) => {
                let message =
                    format!("{name}: perhaps made, with a password that nobody knows; not those behind");
                return Err(anyhow::Error::from(error).context(message));
            }
        };
        let password = refused.is_none().then(|| password.expose().to_owned());
        told.tell(Made { name: name.to_string(), password, refused })?;
    }
    Ok(())
}

/// Where passwords are told, each at once.
struct Told {
    slips: Option<Slips>,
    /// None if all is printed at the end.
    csv: Option<io::Stdout>,
    made: Vec<Made>,
}

impl Told {
    fn head(&mut self) -> io::Result<()> {
        self.csv.as_mut().map_or(Ok(()), |out| writeln!(out, "name,password"))
    }

    fn tell(&mut self, made: Made) -> anyhow::Result<()> {
        let Made { name, password, refused } = &made;
        if let (Some(slips), Some(password)) = (&mut self.slips, password) {
            slips.add(name, password).context("writing the slips")?;
        }
        match (&mut self.csv, password) {
            (Some(out), Some(password)) => writeln!(out, "{name},{password}")?,
            (Some(_), None) => writeln!(io::stderr(), "{name}: {}", refused.as_deref().unwrap_or_default())?,
            (None, _) => {}
        }
        self.made.push(made);
        Ok(())
    }
}

/// The names of a file, or the line that has none and why.
fn names_of(text: &str) -> Result<Vec<PlayerName>, String> {
    let mut names = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let name = line.split([',', ';']).next().unwrap_or_default().trim().trim_matches('"').trim();
        if name.is_empty() || (number == 1 && name.eq_ignore_ascii_case("name")) {
            continue;
        }
        let name = PlayerName::register(name).map_err(|error| format!("{number}: {error}"))?;
        if !seen.insert(name.as_str().to_ascii_lowercase()) {
            return Err(format!("{number}: `{name}` stands here twice"));
        }
        names.push(name);
    }
    match names.len() {
        0 => Err("1: there is no name".to_owned()),
        1..=ACCOUNTS_MAX => Ok(names),
        more => Err(format!("1: {more} names; one list has at most {ACCOUNTS_MAX}")),
    }
}

/// What the page of slips begins with; it needs nothing from elsewhere.
const SLIPS_HEAD: &str = "<!doctype html><meta charset=\"utf-8\"><title>Accounts</title><style>\
     body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:1fr 1fr}\
     div{border:1px dashed #888;padding:6mm;break-inside:avoid}\
     b{font-size:20px}code{font-size:18px}p{margin:0}</style>\n";

/// A page with a slip for each account that was made.
struct Slips {
    file: File,
    site: String,
}

impl Slips {
    /// A file that only its owner reads. One that is there already may have the only passwords of another class.
    fn create(path: &Path, site: Option<&str>) -> Result<Self, Exit> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let begun = opened.and_then(|mut file| file.write_all(SLIPS_HEAD.as_bytes()).map(|()| file));
        let file = begun.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Exit::usage(format!("{} is there already, and may have passwords", path.display()))
            }
            _ => Exit::new(Code::Io, format!("{}: {error}", path.display())),
        })?;
        let site = site.map(|site| format!("<p>{}</p>", escaped(site))).unwrap_or_default();
        Ok(Self { file, site })
    }

    fn add(&mut self, name: &str, password: &str) -> io::Result<()> {
        let (name, password, site) = (escaped(name), escaped(password), &self.site);
        writeln!(self.file, "<div><p><b>{name}</b></p><p><code>{password}</code></p>{site}</div>")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], &str>) {
        let names = names_of(text).map(|names| names.iter().map(PlayerName::to_string).collect::<Vec<_>>());
        let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
        assert_eq!(names, expected.map_err(ToOwned::to_owned), "{text:?}");
    }

    #[test]
    fn a_list_has_a_name_on_each_line() {
        check("ada\nbob\n", Ok(&["ada", "bob"]));
        check("\u{feff}Name,Class\r\n\"ada\",7b\r\n\r\nbob;7b", Ok(&["ada", "bob"]));
        check("ada\nname", Ok(&["ada", "name"]));
    }

    #[test]
    fn a_line_that_is_no_name_is_told() {
        check("", Err("1: there is no name"));
        check("ada\nAda", Err("2: `Ada` stands here twice"));
        assert!(names_of("ada\nbob the builder").unwrap_err().starts_with("2: "));
        assert!(names_of(&"x\n".repeat(3)).unwrap_err().starts_with("1: "), "too short");
        let many = (0..=ACCOUNTS_MAX).fold(String::new(), |list, number| list + &format!("pupil-{number}\n"));
        assert_eq!(names_of(&many).unwrap_err(), "1: 2001 names; one list has at most 2000");
    }

    #[test]
    fn slips_say_nothing_but_text_and_are_for_their_owner() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slips.html");
        let mut slips = Slips::create(&path, Some("http://x/?a=1&b")).unwrap();
        slips.add("ada", "tea<&>").unwrap();
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.contains("<code>tea&lt;&amp;&gt;</code>"), "{page}");
        assert!(page.contains("http://x/?a=1&amp;b"), "{page}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Slips::create(&path, None).is_err(), "passwords that nobody else has are not written over");
        assert_eq!(fs::read_to_string(&path).unwrap(), page);
    }
}
