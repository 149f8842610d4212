//! What a lesson changed, as it is stored for people to read.

use fourfold_bots::{Change, Counts, GameRecord};
use fourfold_engine::notation::{parse_moves, print_moves};
use fourfold_engine::{Column, Side};

/// What the line of a turn begins with, and what the line with their number ends with.
const TURN: &str = "move ";
const TURNS: &str = " rethought";

/// What a lesson changed.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Changes {
    pub(crate) changed: usize,
    /// Those of them that were not known before.
    pub(crate) new: usize,
    /// The new ones. The others, some dozen or a hundred in every game, are only counted: nobody looks at them, and
    /// they were nine tenths of what a lesson took on the disk. Lessons from before have some of them too.
    pub(crate) named: Vec<Change>,
    /// Where in the game it chose otherwise right after it; `None` of lessons from before that was noted.
    pub(crate) changed_moves: Option<Vec<ChangedMove>>,
}

/// A turn of a game at which a learner chose otherwise right after it had learnt that game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChangedMove {
    /// Of the move that was played then, counted from 1.
    pub(crate) ply: usize,
    /// The columns among which it would have chosen before, from left to right.
    pub(crate) before: Vec<Column>,
    /// Those among which it chose right after.
    pub(crate) after: Vec<Column>,
}

impl ChangedMove {
    /// Compares what a learner leant to before each move of a game, before and after it learnt these records of it.
    /// Turns of sides whose record it did not learn do not count.
    pub(super) fn between(
        records: &[GameRecord],
        before: Vec<Vec<Column>>,
        after: Vec<Vec<Column>>,
    ) -> Vec<Self> {
        let is_learnt = |ply: usize| {
            let side = if ply % 2 == 1 { Side::First } else { Side::Second };
            records.iter().any(|record| record.side == side)
        };
        let turns = before.into_iter().zip(after).zip(1..);
        let turns = turns.filter(|((before, after), ply)| before != after && is_learnt(*ply));
        turns.map(|((before, after), ply)| Self { ply, before, after }).collect()
    }
}

impl Changes {
    /// All that a lesson changed.
    pub(crate) fn of(all: Vec<Change>) -> Self {
        let changed = all.len();
        let named: Vec<Change> = all.into_iter().filter(|change| change.before.is_none()).collect();
        Self { changed, new: named.len(), named, changed_moves: None }
    }

    /// The turns at which it chose otherwise; none if that was not noted.
    pub(crate) fn turns(&self) -> &[ChangedMove] {
        self.changed_moves.as_deref().unwrap_or_default()
    }

    /// How many changed, then one line for each that is named: `own c1 d1 . . | new | 1 1 0`; then how many turns, if
    /// that was noted, and one line for each: `move 9 | 4 | 35`.
    pub(crate) fn print(&self) -> String {
        let counts = |Counts { seen, won, lost }: &Counts| format!("{seen} {won} {lost}");
        let line = |Change { pattern, before, after }: &Change| {
            let before = before.as_ref().map_or_else(|| "new".to_owned(), counts);
            format!("{pattern} | {before} | {}", counts(after))
        };
        let turn = |ChangedMove { ply, before, after }: &ChangedMove| {
            format!("{TURN}{ply} | {} | {}", print_moves(before), print_moves(after))
        };
        let totals = format!("{} changed, {} new", self.changed, self.new);
        let turns = self.changed_moves.as_ref().map(|turns| format!("{}{TURNS}", turns.len()));
        let lines = std::iter::once(totals).chain(self.named.iter().map(line));
        lines.chain(turns).chain(self.turns().iter().map(turn)).collect::<Vec<_>>().join("\n")
    }

    /// Whether the text of a lesson names a turn, found without reading the rest.
    pub(super) fn names_a_turn(text: &str) -> bool {
        text.lines().any(|line| line.starts_with(TURN))
    }

    /// Reads a stored lesson; lines of another form are left out. Older ones do not begin with how many changed: those
    /// that they name are counted.
    pub(crate) fn parse(text: &str) -> Self {
        let named: Vec<Change> = text.lines().filter_map(change).collect();
        let (changed, new) =
            text.lines().next().and_then(totals).unwrap_or_else(|| {
                (named.len(), named.iter().filter(|change| change.before.is_none()).count())
            });
        let is_noted = text.lines().any(|line| line.ends_with(TURNS));
        let changed_moves = is_noted.then(|| text.lines().filter_map(changed_move).collect());
        Self { changed, new, named, changed_moves }
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

fn changed_move(line: &str) -> Option<ChangedMove> {
    let mut parts = line.strip_prefix(TURN)?.split(" | ");
    let ply = parts.next()?.parse().ok().filter(|ply| *ply >= 1)?;
    let (before, after) = (parse_moves(parts.next()?).ok()?, parse_moves(parts.next()?).ok()?);
    Some(ChangedMove { ply, before, after })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::SideResult;
    use fourfold_engine::{Game, Variant};

    use super::*;

    fn columns(numbers: &str) -> Vec<Column> {
        parse_moves(numbers).unwrap()
    }

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
        assert_eq!((changes.changed, changes.new, changes.named.len()), (3, 2, 2));
        assert_eq!(Changes::parse(&changes.print()), changes);
        assert_eq!(Changes::of(Vec::new()).print(), "0 changed, 0 new");
    }

    #[test]
    fn turns_read_back_without_patterns_too() {
        let changed_moves = vec![
            ChangedMove { ply: 9, before: columns("4"), after: columns("35") },
            ChangedMove { ply: 42, before: columns("1234567"), after: columns("7") },
        ];
        let changes = Changes { changed_moves: Some(changed_moves), ..Changes::default() };
        let text = "0 changed, 0 new\n2 rethought\nmove 9 | 4 | 35\nmove 42 | 1234567 | 7";
        assert_eq!(changes.print(), text);
        assert_eq!(Changes::parse(text), changes);
        assert!(Changes::names_a_turn(text));
        for rubbish in ["move 0 | 1 | 2", "move x | 1 | 2", "move 3 | 1", "move 3 | x | 2"] {
            assert_eq!(Changes::parse(rubbish), Changes::default(), "{rubbish}");
        }
    }

    #[test]
    fn no_turn_is_something_else_than_none_noted() {
        let none = Changes { changed_moves: Some(Vec::new()), ..Changes::default() };
        assert_eq!(none.print(), "0 changed, 0 new\n0 rethought");
        assert_eq!(Changes::parse(&none.print()), none);
        for old in ["", "1 changed, 0 new\nown b1 . . . | 1 1 0 | 2 2 0"] {
            assert_eq!(Changes::parse(old).changed_moves, None, "{old}");
            assert!(!Changes::names_a_turn(old));
        }
    }

    #[test]
    fn only_turns_of_sides_that_were_learnt_count() {
        let game = Game::from_moves(Variant::STANDARD, "4455").unwrap();
        let record = |side| GameRecord { game: game.clone(), side, result: SideResult::Win };
        let leanings = |turns: [&str; 4]| turns.map(columns).to_vec();
        let between = |records: &[GameRecord]| {
            let (before, after) = (leanings(["4", "4", "123", "5"]), leanings(["4", "3", "12", "6"]));
            let changed_moves = ChangedMove::between(records, before, after);
            changed_moves.into_iter().map(|it| it.ply).collect::<Vec<_>>()
        };
        assert_eq!(between(&[record(Side::First)]), [3]);
        assert_eq!(between(&[record(Side::Second)]), [2, 4]);
        assert_eq!(between(&[record(Side::First), record(Side::Second)]), [2, 3, 4]);
    }

    #[test]
    fn all_are_counted_and_only_known_ones_are_left_out() {
        for (grown, new) in [(30, 10), (100, 0), (0, 40), (100, 128)] {
            let mut all = changes(grown, Some(AFTER));
            all.extend(changes(new, None));
            let read = Changes::parse(&Changes::of(all).print());
            assert_eq!((read.changed, read.new, read.named.len()), (grown + new, new, new));
            assert!(read.named.iter().all(|change| change.before.is_none()));
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
