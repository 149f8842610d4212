//! What a lesson changed, as it is stored for people to read.

use fourfold_bots::{Change, Counts};

/// Changes of one lesson that are named, unless more of them are new: a game has some dozen, or a hundred and more where
/// gaps count too.
const NAMED_MAX: usize = 40;

/// What a lesson changed.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Changes {
    /// Patterns that changed.
    pub changed: usize,
    /// Those of them that were not known before.
    pub new: usize,
    /// The new ones, and some of the others.
    pub named: Vec<Change>,
}

impl Changes {
    /// All that a lesson changed.
    pub fn of(all: Vec<Change>) -> Self {
        let changed = all.len();
        let (mut named, mut grown): (Vec<Change>, Vec<Change>) =
            all.into_iter().partition(|change| change.before.is_none());
        let new = named.len();
        grown.truncate(NAMED_MAX.saturating_sub(new));
        named.append(&mut grown);
        Self { changed, new, named }
    }

    /// How many changed, then one line for each that is named: `own c1 d1 . . | 1 1 0 | 2 2 0`, or `new` in the place of
    /// what was before. Nothing if nothing changed that has a name.
    pub fn print(&self) -> String {
        if self.changed == 0 {
            return String::new();
        }
        let counts = |Counts { seen, won, lost }: &Counts| format!("{seen} {won} {lost}");
        let line = |Change { pattern, before, after }: &Change| {
            let before = before.as_ref().map_or_else(|| "new".to_owned(), counts);
            format!("{pattern} | {before} | {}", counts(after))
        };
        let totals = format!("{} changed, {} new", self.changed, self.new);
        std::iter::once(totals).chain(self.named.iter().map(line)).collect::<Vec<_>>().join("\n")
    }

    /// Reads a stored lesson; lines of another form are left out. Older ones do not begin with how many changed: those
    /// that they name are counted.
    pub fn parse(text: &str) -> Self {
        let named: Vec<Change> = text.lines().filter_map(change).collect();
        let (changed, new) =
            text.lines().next().and_then(totals).unwrap_or_else(|| {
                (named.len(), named.iter().filter(|change| change.before.is_none()).count())
            });
        Self { changed, new, named }
    }
}

fn totals(line: &str) -> Option<(usize, usize)> {
    let (changed, new) = line.strip_suffix(" new")?.split_once(" changed, ")?;
    let (changed, new) = (changed.parse().ok()?, new.parse().ok()?);
    (new <= changed).then_some((changed, new))
}

fn change(line: &str) -> Option<Change> {
    let counts = |text: &str| {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        Some(Counts { seen: numbers.next()??, won: numbers.next()??, lost: numbers.next()?? })
    };
    let mut parts = line.split(" | ");
    let (pattern, before, after) = (parts.next()?, parts.next()?, parts.next()?);
    let before = if before == "new" { None } else { Some(counts(before)?) };
    Some(Change { pattern: pattern.to_owned(), before, after: counts(after)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Counts = Counts { seen: 2, won: 1, lost: 0 };

    fn changes(count: usize, before: Option<Counts>) -> Vec<Change> {
        (0..count)
            .map(|index| Change { pattern: format!("own c1 d{index} . ."), before, after: AFTER })
            .collect()
    }

    #[test]
    fn printed_changes_read_back() {
        let mut all = changes(1, Some(Counts::default()));
        all.extend(changes(2, None));
        let changes = Changes::of(all);
        assert_eq!((changes.changed, changes.new, changes.named.len()), (3, 2, 3));
        assert_eq!(changes.named[0].before, None, "the new ones first");
        assert_eq!(Changes::parse(&changes.print()), changes);
        assert_eq!(Changes::of(Vec::new()).print(), "");
    }

    #[test]
    fn all_are_counted_and_only_known_ones_are_left_out() {
        for (grown, new, named) in [(30, 10, 40), (100, 10, 40), (100, 40, 40), (100, 128, 128)] {
            let mut all = changes(grown, Some(AFTER));
            all.extend(changes(new, None));
            let read = Changes::parse(&Changes::of(all).print());
            assert_eq!((read.changed, read.new, read.named.len()), (grown + new, new, named));
            assert_eq!(read.named.iter().filter(|change| change.before.is_none()).count(), new);
        }
    }

    #[test]
    fn what_was_stored_without_totals_is_counted() {
        let old = "own a1 a2 . . | new | 1 1 0\nown b1 . . . | 1 1 0 | 2 2 0";
        let read = Changes::parse(old);
        assert_eq!((read.changed, read.new, read.named.len()), (2, 1, 2));
        for rubbish in ["", "rubbish\na | b | c\n", "1 changed, 2 new"] {
            assert_eq!(Changes::parse(rubbish), Changes::default(), "{rubbish:?}");
        }
    }
}
