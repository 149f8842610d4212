//! Who is an operator on the page `/admin`.

use std::io::{self, Write};

use qrcodegen::{QrCode, QrCodeEcc};

use super::{Common, ReasonArg};
use crate::http::control::{ListedOperator, NewOperator};

/// White around the code, in modules: what terminals with a dark ground need to be read.
const QUIET: i32 = 2;

/// Let an account act on the page `/admin`, or end that, or list those that may; whether the daemon runs or not.
///
/// Nobody becomes an operator over the network: this command shows, once, the key for an app on the phone that makes
/// codes of six digits, and codes for the day when the phone is lost. To renew them, remove the operator and add it
/// again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold admin operator add ada --reason 'keeps order in the evening'
  fourfold admin operator remove ada --reason 'has left us'
  fourfold admin operator list")]
pub(super) struct OperatorCommand {
    #[command(subcommand)]
    what: OperatorAction,
}

#[derive(Debug, clap::Subcommand)]
enum OperatorAction {
    /// Make an operator of an account, and show what it must write down.
    #[command(
        after_help = "Example:\n  fourfold admin operator add ada --reason 'keeps order in the evening'"
    )]
    Add(OfAccount),
    /// Make an operator an account like others.
    #[command(after_help = "Example:\n  fourfold admin operator remove ada --reason 'has left us'")]
    Remove(OfAccount),
    /// List all operators.
    #[command(after_help = "Example:\n  fourfold admin operator list")]
    List(Common),
}

/// Whose account, and why.
#[derive(Debug, clap::Args)]
struct OfAccount {
    /// The account.
    name: String,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

impl OperatorCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            OperatorAction::Add(add) => add.add(),
            OperatorAction::Remove(remove) => remove.remove(),
            OperatorAction::List(common) => list(&common),
        }
    }
}

impl OfAccount {
    fn add(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.appoint_operator(&self.name, &because).await,
            |out, NewOperator { name, address, secret, recovery_codes }| {
                writeln!(out, "{name} is an operator. What follows is shown this once.\n")?;
                print_code(out, &address)?;
                writeln!(out, "For an app that makes codes (TOTP): {address}")?;
                writeln!(out, "Or typed: {secret}\n")?;
                writeln!(out, "For the day when the phone is lost, each good once:")?;
                recovery_codes.iter().try_for_each(|code| writeln!(out, "  {code}"))?;
                writeln!(out, "\n{name} signs in as usual and goes to /admin")
            },
        )
    }

    fn remove(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.dismiss_operator(&self.name, &because).await,
            |out, ListedOperator { name, .. }| writeln!(out, "{name} is no operator any more"),
        )
    }
}

fn list(common: &Common) -> anyhow::Result<()> {
    common.run(
        async |daemon| daemon.operators().await,
        |out, operators: Vec<ListedOperator>| {
            for ListedOperator { name, since, recovery_codes } in operators {
                writeln!(out, "{name}  since {since}, {recovery_codes} codes for a lost phone left")?;
            }
            Ok(())
        },
    )
}

/// The address as a picture, two rows of modules a line; nothing if it does not fit.
fn print_code(out: &mut dyn Write, address: &str) -> io::Result<()> {
    let Ok(code) = QrCode::encode_text(address, QrCodeEcc::Low) else { return Ok(()) };
    let range = -QUIET..code.size() + QUIET;
    for y in range.clone().step_by(2) {
        let line: String = range.clone().map(|x| half_blocks(&code, x, y)).collect();
        writeln!(out, "{line}")?;
    }
    writeln!(out)
}

/// Light modules are drawn: most terminals write light on dark.
fn half_blocks(code: &QrCode, x: i32, y: i32) -> char {
    match (code.get_module(x, y), code.get_module(x, y + 1)) {
        (false, false) => '█',
        (false, true) => '▀',
        (true, false) => '▄',
        (true, true) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_as_wide_as_high_and_has_its_corner() {
        let mut out = Vec::new();
        print_code(&mut out, "otpauth://totp/x").unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let width = lines[0].chars().count();
        assert_eq!(lines.len(), width.div_ceil(2));
        assert!(lines[0].chars().all(|c| c == '█'), "the quiet zone");
        assert!(lines[1].starts_with("██ ▄▄▄▄▄ █"), "{text}");
    }
}
