//! The two files of a run: FILE is the product, `FILE.run` is what else the run needs to go on.
//!
//! ```text
//! fourfold training 2
//! bot = memory
//! seed = 1
//! options =
//! product = sha256 of FILE
//! records = 100
//! games = sha256 of those 100 games
//!
//! (the course's own state)
//! ```
//!
//! `records` and `games` are of `--from`, and missing from runs that play games of their own.
//!
//! They belong together, but only one file can be replaced at a time. So the product is written as `FILE.next` first,
//! then `FILE.run` names its digest, and then `FILE.next` takes its place: wherever the writing is cut, one of FILE and
//! `FILE.next` is the product of `FILE.run`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fourfold_bots::training::Notes;

use crate::storage::records::lessons::RecordedLesson;
use crate::system::files::{self, beside};
use crate::system::sha256;

/// The first line of `FILE.run`. The number changes with the form.
const HEAD: &str = "fourfold training 2\n";

/// What a run is: two runs of equal terms are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RunTerms {
    /// The bot with its settings.
    pub(super) bot: String,
    pub(super) seed: u64,
    /// Flags of this kind of bot.
    pub(super) options: String,
}

/// Where a run stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SavedRun {
    pub(super) terms: RunTerms,
    /// Games of `--from` that were studied; `None` if the run plays games of its own.
    pub(super) studied: Option<Studied>,
    pub(super) product: Vec<u8>,
    /// What the run itself keeps of where it stands.
    pub(super) state: Vec<u8>,
}

/// Which games of others were studied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Studied {
    pub(super) records: u64,
    /// Of all of them in their order, in hexadecimal; empty before the first.
    digest: String,
}

impl Studied {
    /// Another one.
    pub(super) fn add(&mut self, lesson: &RecordedLesson) {
        self.records += 1;
        let RecordedLesson { game, winner, .. } = lesson;
        self.digest = sha256::of(
            format!("{} {} {} {winner:?}", self.digest, game.variant(), game.notation()).as_bytes(),
        );
    }
}

/// What there is to go on from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FoundRun {
    Nothing,
    /// A product of play or of somebody else: a run begins with it.
    Product(Vec<u8>),
    Run(SavedRun),
}

/// The files of a run.
#[derive(Clone, Debug)]
pub(super) struct RunFiles {
    product: PathBuf,
}

impl RunFiles {
    pub(super) fn new(product: &Path) -> Self {
        Self { product: product.to_owned() }
    }

    fn run(&self) -> PathBuf {
        beside(&self.product, ".run")
    }

    fn next(&self) -> PathBuf {
        beside(&self.product, ".next")
    }

    pub(super) fn read(&self) -> anyhow::Result<FoundRun> {
        let Some(run) = read(&self.run())? else {
            return Ok(read(&self.product)?.map_or(FoundRun::Nothing, FoundRun::Product));
        };
        let broken = || format!("{} is not a training run: delete it or begin --anew", self.run().display());
        let (notes, state) = split(&run).with_context(broken)?;
        let terms = RunTerms {
            bot: notes.value("bot").with_context(broken)?,
            seed: notes.value("seed").with_context(broken)?,
            options: notes.value("options").with_context(broken)?,
        };
        let wanted: String = notes.value("product").with_context(broken)?;
        let product = self.product_of(&wanted)?;
        let studied = match notes.values("games").next() {
            Some(digest) => {
                let records = notes.value("records").with_context(broken)?;
                Some(Studied { records, digest: digest.to_owned() })
            }
            None => None,
        };
        Ok(FoundRun::Run(SavedRun { terms, studied, product, state: state.to_vec() }))
    }

    /// The product of this digest, brought to its place if the writing was cut before.
    fn product_of(&self, wanted: &str) -> anyhow::Result<Vec<u8>> {
        if let Some(product) = read(&self.product)?.filter(|product| sha256::of(product) == wanted) {
            return Ok(product);
        }
        let Some(product) = read(&self.next())?.filter(|product| sha256::of(product) == wanted) else {
            bail!(
                "{} is not what the run in {} left: put it back, or begin --anew",
                self.product.display(),
                self.run().display()
            );
        };
        fs::rename(self.next(), &self.product)
            .with_context(|| format!("cannot write {}", self.product.display()))?;
        Ok(product)
    }

    pub(super) fn write(&self, run: &SavedRun) -> anyhow::Result<()> {
        let SavedRun { terms, studied, product, state } = run;
        let mut notes = Notes::default()
            .with("bot", &terms.bot)
            .with("seed", terms.seed)
            .with("options", &terms.options)
            .with("product", sha256::of(product));
        if let Some(studied) = studied {
            notes = notes.with("records", studied.records).with("games", &studied.digest);
        }
        let text = [HEAD.as_bytes(), &notes.to_bytes(), b"\n", state].concat();
        write(&self.next(), product)?;
        write(&self.run(), &text)?;
        fs::rename(self.next(), &self.product)
            .with_context(|| format!("cannot write {}", self.product.display()))
    }
}

/// Notes and the course's own state.
fn split(run: &[u8]) -> Option<(Notes, &[u8])> {
    let notes = run.strip_prefix(HEAD.as_bytes())?;
    let end = notes.windows(2).position(|pair| pair == b"\n\n")?;
    Some((Notes::from_bytes(&notes[..end]), &notes[end + 2..]))
}

fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    files::read_if_there(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    files::replace(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(product: &[u8], state: &[u8]) -> SavedRun {
        let terms = RunTerms { bot: "memory".into(), seed: 7, options: String::new() };
        let studied = Some(Studied { records: 3, digest: "0123".into() });
        SavedRun { terms, studied, product: product.to_vec(), state: state.to_vec() }
    }

    #[test]
    fn a_run_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(&dir.path().join("m.xml"));
        assert_eq!(files.read().unwrap(), FoundRun::Nothing);
        for (product, state) in [(&b"one"[..], &b""[..]), (b"\0\xff", b"binary\n\n\0\xff")] {
            files.write(&run(product, state)).unwrap();
            assert_eq!(files.read().unwrap(), FoundRun::Run(run(product, state)));
            assert_eq!(fs::read(dir.path().join("m.xml")).unwrap(), product);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "m.xml and m.xml.run");
        for studied in [None, Some(Studied::default())] {
            let run = SavedRun { studied, ..run(b"one", b"") };
            files.write(&run).unwrap();
            assert_eq!(files.read().unwrap(), FoundRun::Run(run));
        }
    }

    #[test]
    fn wherever_writing_is_cut_there_is_a_run_to_go_on_from() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(&dir.path().join("m"));
        files.write(&run(b"old", b"1")).unwrap();
        fs::write(files.next(), b"new").unwrap(); // cut after the first file
        assert_eq!(files.read().unwrap(), FoundRun::Run(run(b"old", b"1")));
        files.write(&run(b"new", b"2")).unwrap();
        fs::rename(&files.product, files.next()).unwrap(); // cut after the second
        fs::write(&files.product, b"old").unwrap();
        assert_eq!(files.read().unwrap(), FoundRun::Run(run(b"new", b"2")));
        assert_eq!(fs::read(&files.product).unwrap(), b"new", "it is in its place now");
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(&dir.path().join("m"));
        let message = || format!("{:#}", files.read().unwrap_err());
        files.write(&run(b"old", b"")).unwrap();
        fs::write(&files.product, b"played with since").unwrap();
        assert!(message().contains("is not what the run in"), "{}", message());
        fs::write(files.run(), b"something else").unwrap();
        assert!(message().contains("is not a training run"), "{}", message());
        fs::write(files.run(), [HEAD, "seed = 1\n\n"].concat()).unwrap();
        assert!(message().ends_with("the saved run has no `bot`"), "{}", message());
    }

    #[test]
    fn a_product_without_a_run_is_a_start() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("m"), b"played").unwrap();
        let found = RunFiles::new(&dir.path().join("m")).read().unwrap();
        assert_eq!(found, FoundRun::Product(b"played".to_vec()));
    }
}
