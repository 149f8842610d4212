//! `fourfold completions` and `fourfold man`: made from the definition of the command line.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::CommandLine;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold completions bash > ~/.local/share/bash-completion/completions/fourfold"
)]
pub(super) struct CompletionsCommand {
    /// Which shell.
    shell: Shell,
}

impl CompletionsCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "fourfold", &mut script);
        io::stdout().write_all(&script)?;
        Ok(())
    }
}

/// Prints the manual page, all commands on one page.
pub(super) fn man() -> anyhow::Result<()> {
    let mut page = Vec::new();
    let mut command = CommandLine::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    let mut subcommands: Vec<_> =
        command.get_subcommands().filter(|sub| sub.get_name() != "help").cloned().collect();
    while !subcommands.is_empty() {
        let sub = subcommands.remove(0);
        let man = clap_mangen::Man::new(sub.clone());
        writeln!(page, ".SH \"{}\"", sub.get_display_name().unwrap_or(sub.get_name()).to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        let deeper = sub.get_subcommands().filter(|deep| deep.get_name() != "help").cloned();
        subcommands.splice(0..0, deeper);
    }
    io::stdout().write_all(&page)?;
    Ok(())
}
