//! What would make the sources hard to read: too long, too wide, unfinished, or in words that were given up.

use std::ops::Range;

use crate::breaches::check_none;
use crate::scan::{after_first, find_word, is_word, words};
use crate::source::Source;
use crate::tree::Tree;

/// Longest file in lines, unit tests not counted. Most have under 400; the rules of one table are one subject.
const FILE_LINES_MAX: usize = 900;

/// Longest function in lines, from its name to its last brace. Most have under 20.
const FUNCTION_LINES_MAX: usize = 45;

/// One `match` with an arm for each variant of an enum, which calls what does the work: it grows with the enum.
const AS_LONG_AS_ITS_ENUM: usize = usize::MAX;

/// Functions that were longer before the rule, with their lines. They can only shrink, and so can the list.
const LONG_FUNCTIONS: &[(&str, &str, usize)] = &[
    ("arena/src/runner.rs", "run", 46),
    ("src/app/laboratory/train/courses.rs", "begin", 48),
    ("src/app/server.rs", "start_with", 64),
    ("src/client/load/player.rs", "take", 46),
    ("src/http/api/own_bots.rs", "endpoints", 68),
    ("src/http/pages/chart.rs", "new", 50),
    ("src/operations/verify/fold.rs", "add", 47),
    ("src/play/room/actor/telling.rs", "carry_out", 61),
    ("src/play/room/remote/owner.rs", "command", AS_LONG_AS_ITS_ENUM),
    ("src/storage/memory.rs", "apply", AS_LONG_AS_ITS_ENUM),
    ("src/storage/postgres/apply.rs", "apply", AS_LONG_AS_ITS_ENUM),
    ("src/storage/sqlite/write.rs", "apply", AS_LONG_AS_ITS_ENUM),
    ("src/storage/store.rs", "can_wait_outside", AS_LONG_AS_ITS_ENUM),
    ("src/study/learning/learner_task.rs", "save", 47),
    ("src/study/learning/verify.rs", "verify_one", 62),
];

/// Widest line of comment in columns: a little wider than the code, which rustfmt looks after.
const COMMENT_COLUMNS_MAX: usize = 120;

/// Widest line of a template in columns: a tag with its attributes and a text fits. A tag can be broken only between
/// attributes, and around it only where white space shows nothing.
const TEMPLATE_COLUMNS_MAX: usize = 140;

/// So few words on a field only say its name and type again. Where help texts and schemas are made of docs, they stay.
const FIELD_WORDS_TOO_FEW: usize = 3;

/// A name, where it was or is, and what is said instead.
#[derive(Clone, Copy, Debug)]
struct Name {
    word: &'static str,
    place: &'static str,
    now: &'static str,
    seen: Seen,
}

/// Many names are ordinary words too, which comments may say.
#[derive(Clone, Copy, Debug)]
enum Seen {
    InCode,
    InComments,
}

const fn name(word: &'static str, place: &'static str, now: &'static str) -> Name {
    Name { word, place, now, seen: Seen::InCode }
}

/// Names that were given up and do not come back.
const OLD_NAMES: &[Name] = &[
    name("Book", "src/competition/leaderboard", "a word for sums: a book is of openings"),
    name("Books", "src/competition", "RatingSums"),
    name("Course", "src/model/rating", "GameFingerprint"),
    name("DeskError", "src", "PuzzleError"),
    name("Faculty", "src", "RoundCache"),
    name("Field", "src/competition/leaderboard", "Standings"),
    name("FieldFit", "src", "RatingFit"),
    name("FitList", "src", "Population"),
    name("Hall", "arena/src", "RunState"),
    name("Hand", "src/storage/sqlite", "WriteConnection"),
    name("Hold", "src/competition", "StartCommand"),
    name("HoldError", "src", "TournamentStartError"),
    name("LadderActor", "src", "the matchmaker's"),
    name("LeaderboardList", "src", "Population"),
    name("Learnt", "src/study/learning", "knowledge"),
    name("Mind", "src/study/learning", "knowledge"),
    name("MoveTally", "src", "WinDrawLoss"),
    name("OpponentScore", "src", "WinDrawLoss"),
    name("Outlook", "src", "LiveValue"),
    name("Progress", "src/analysis", "MoreWork"),
    name("Progress", "src/play/room", "ListedBoard"),
    name("Pupil", "src", "LearnerTask"),
    name("PuzzleDesk", "src", "Puzzles"),
    name("Rest", "src/protocol", "a word for what is left"),
    name("Seated", "src", "SeatConnection or TakenSeat"),
    name("Taught", "src", "PastLesson or TeachingGame"),
    name("Truth", "src/analysis", "LiveValue"),
    name("WatchedTruth", "src", "WatchedValue"),
    name("agreement", "src/play/room/state", "takeback or rematch"),
    name("authors", "src/storage", "bot_versions"),
    name("desk", "src/app", "the word for what it is"),
    name("heart", "src/session", "heartbeat"),
    name("outlook", "src", "value"),
    name("pace", "src/http", "slow_peer"),
    Name { word: "purse", place: "src", now: "compute budget", seen: Seen::InComments },
    name("rethought", "src/study", "changed_moves"),
    name("slots", "src/http", "connection_limits"),
    name("tell_truth", "src", "tell_value"),
    name("ticket", "src/session", "resume_token"),
    name("told", "src/study/learning", "lesson_history"),
    name("truth", "src/play", "live_value"),
];

/// Names that are to be given up. One that is gone belongs to [`OLD_NAMES`].
const NAMES_TO_GO: &[Name] = &[];

#[test]
fn files_stay_readable() {
    let breaches = long_files(Tree::repository());
    check_none(&format!("at most {FILE_LINES_MAX} lines a file"), &breaches);
}

#[test]
fn functions_stay_readable() {
    let breaches = long_functions(Tree::repository(), LONG_FUNCTIONS);
    check_none(&format!("at most {FUNCTION_LINES_MAX} lines a function"), &breaches);
}

#[test]
fn comments_stay_readable() {
    let breaches = wide_comments(Tree::repository());
    check_none(&format!("at most {COMMENT_COLUMNS_MAX} columns a line of comment"), &breaches);
}

#[test]
fn templates_stay_readable() {
    let breaches = wide_templates(Tree::repository());
    check_none(&format!("at most {TEMPLATE_COLUMNS_MAX} columns a line of a template"), &breaches);
}

#[test]
fn attributes_have_a_reason() {
    let rule = "say what goes wrong for who drops it: #[must_use = \"...\"]";
    check_none(rule, &bare_attributes(Tree::repository()));
}

#[test]
fn docs_of_fields_say_something() {
    let rule = format!("more than {FIELD_WORDS_TOO_FEW} words on a field, or none");
    check_none(&rule, &short_docs(Tree::repository()));
}

#[test]
fn nothing_is_left_for_later() {
    check_none("finish it or open an issue", &left_for_later(Tree::repository()));
}

#[test]
fn old_names_do_not_come_back() {
    check_none("say it in the word of today", &old_names(Tree::repository(), OLD_NAMES, NAMES_TO_GO));
}

fn long_files(tree: &Tree) -> Vec<String> {
    let lines = tree.product().map(|source| (source, source.product_lines()));
    let long = lines.filter(|(_, lines)| *lines > FILE_LINES_MAX);
    long.map(|(source, lines)| format!("{} has {lines} lines", source.path)).collect()
}

/// Functions over the limit that are not known or have grown, and known ones that are under it now.
fn long_functions(tree: &Tree, known: &[(&str, &str, usize)]) -> Vec<String> {
    let found: Vec<(String, &Source, usize, &str)> = tree.product().flat_map(functions_over_limit).collect();
    let allowed = |path: &str, name: &str| {
        let entry = known.iter().find(|(at, known, _)| (*at, *known) == (path, name));
        entry.map_or(FUNCTION_LINES_MAX, |(_, _, lines)| *lines)
    };
    let breaches = found.iter().filter(|(_, source, lines, name)| *lines > allowed(&source.path, name));
    let breaches = breaches.map(|(place, _, lines, name)| format!("{place} {name} has {lines} lines"));
    let is_long = |path: &str, name: &str| {
        found.iter().any(|(_, source, _, long)| source.path == path && *long == name)
    };
    let gone = known.iter().filter(|(path, name, _)| !is_long(path, name));
    let gone = gone.map(|(path, name, _)| format!("{path} {name} is short now: correct the list"));
    breaches.chain(gone).collect()
}

/// Place, file, lines and name.
fn functions_over_limit(source: &Source) -> Vec<(String, &Source, usize, &str)> {
    let code = &source.product;
    let starts = words(code).filter(|(_, word)| *word == "fn").map(|(at, _)| at);
    let functions = starts.filter_map(|at| {
        let (_, name) = words(&code[at + 2..]).next()?;
        let end = after_first(code, at, b";{");
        let lines = code[at..end].lines().count();
        (lines > FUNCTION_LINES_MAX).then(|| (source.place(at), source, lines, name))
    });
    functions.collect()
}

/// Lines that are comment and nothing else, of tests too.
fn wide_comments(tree: &Tree) -> Vec<String> {
    let of_file = |source: &Source| {
        wide_lines(&source.path, &source.text, COMMENT_COLUMNS_MAX, |line| {
            line.trim_start().starts_with("//")
        })
    };
    tree.sources.iter().flat_map(of_file).collect()
}

fn wide_templates(tree: &Tree) -> Vec<String> {
    let templates = tree.others.iter().filter(|(path, _)| path.starts_with("web/templates/"));
    templates.flat_map(|(path, text)| wide_lines(path, text, TEMPLATE_COLUMNS_MAX, |_| true)).collect()
}

fn wide_lines(path: &str, text: &str, columns_max: usize, counts: fn(&str) -> bool) -> Vec<String> {
    let columns = text.lines().zip(1..).filter(|(line, _)| counts(line));
    let columns = columns.map(|(line, number)| (line.chars().count(), number));
    let wide = columns.filter(|(columns, _)| *columns > columns_max);
    wide.map(|(columns, number)| format!("{path}:{number} has {columns} columns")).collect()
}

/// Lines with an attribute that says nothing by itself.
/// Docs of so few words on fields that are in no help text and no schema.
fn short_docs(tree: &Tree) -> Vec<String> {
    let of_file = |source: &Source| short_field_docs(source).into_iter().map(|at| source.place(at)).collect();
    let places = tree.sources.iter().flat_map(|source| -> Vec<String> { of_file(source) });
    places.map(|place| format!("{place} says too little")).collect()
}

/// Where such docs stand in a file.
fn short_field_docs(source: &Source) -> Vec<usize> {
    let code = &source.code;
    let types = words(code).filter(|(_, word)| matches!(*word, "struct" | "enum"));
    let silent = types.filter(|(at, _)| !is_spoken(code, *at));
    let bodies = silent.filter_map(|(at, _)| {
        let end = after_first(code, at, b";{");
        let start = at + code[at..end].find('{')?;
        Some(start..end)
    });
    bodies.flat_map(|body| short_docs_in(source, body)).collect()
}

/// Whether programs read the docs of the fields of the type at the position, to show them to people.
fn is_spoken(code: &str, at: usize) -> bool {
    let attributes = code[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
    let derives = ["JsonSchema", "Args", "Parser", "Subcommand"];
    derives.iter().any(|derive| find_word(&code[attributes..at], derive).is_some())
}

/// The docs of one line that fields of a type have, and that are too short.
fn short_docs_in(source: &Source, body: Range<usize>) -> Vec<usize> {
    let (mut at, mut docs, mut found) = (body.start, Vec::new(), Vec::new());
    for line in source.text[body].split_inclusive('\n') {
        let said = line.trim();
        if let Some(said) = said.strip_prefix("///") {
            docs.push((at, said.split_whitespace().count()));
        } else if !said.starts_with("#[") {
            if let [(doc, 1..=FIELD_WORDS_TOO_FEW)] = docs[..]
                && is_field(said)
            {
                found.push(doc);
            }
            docs.clear();
        }
        at += line.len();
    }
    found
}

/// `name: Type`, visible or not.
fn is_field(line: &str) -> bool {
    let Some((before, _)) = line.split_once(": ") else { return false };
    let name = before.rsplit(' ').next().unwrap_or(before);
    let is_alone = before == name || before.starts_with("pub") && !before.contains('{');
    is_alone && name.bytes().all(is_word)
}

fn bare_attributes(tree: &Tree) -> Vec<String> {
    let of_file = |source: &Source| {
        let lines = source.text.lines().zip(1..).filter(|(line, _)| line.trim() == "#[must_use]");
        lines.map(|(_, number)| format!("{}:{number} gives no reason", source.path)).collect::<Vec<_>>()
    };
    tree.sources.iter().flat_map(of_file).collect()
}

fn left_for_later(tree: &Tree) -> Vec<String> {
    // In pieces, so that this file does not have them either.
    let words = ["todo", "!(", "unimplemented", "!(", "dbg", "!(", "TO", "DO", "FIX", "ME"];
    let words: Vec<String> = words.chunks(2).map(<[&str]>::concat).collect();
    let marked = |source: &Source| {
        let word = words.iter().find(|word| source.text.contains(word.as_str()))?;
        Some(format!("{} has {word}", source.path))
    };
    tree.sources.iter().filter_map(marked).collect()
}

/// Old names that are there, and names to go that are not.
fn old_names(tree: &Tree, old: &[Name], to_go: &[Name]) -> Vec<String> {
    let back = old.iter().flat_map(|name| {
        places_of(tree, *name).map(|at| format!("{at} has {}: it is {} now", name.word, name.now))
    });
    let gone = to_go.iter().filter(|name| places_of(tree, **name).next().is_none());
    let gone = gone.map(|name| format!("{} is gone from {}: it is an old name now", name.word, name.place));
    back.chain(gone).collect()
}

/// The first line of each file where the name stands, tests included.
fn places_of(tree: &Tree, name: Name) -> impl Iterator<Item = String> {
    let own = tree.sources.iter().filter(move |source| source.is_in(name.place));
    own.filter_map(move |source| {
        let text = match name.seen {
            Seen::InCode => &source.code,
            Seen::InComments => &source.text,
        };
        Some(source.place(find_word(text, name.word)?))
    })
}

mod tests {
    use super::*;
    use crate::breaches::check;

    #[track_caller]
    fn check_file(rule: fn(&Tree) -> Vec<String>, text: &str, expected: &[&str]) {
        check(rule, &[("src/lib.rs", text)], expected);
    }

    fn function(lines: usize) -> String {
        format!("fn a() {{}}\nfn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_that_is_too_long_is_found() {
        let code = "fn f() {}\n".repeat(FILE_LINES_MAX);
        check_file(long_files, &format!("{code}#[cfg(test)]\nmod tests {{\n{code}}}\n"), &[]);
        check_file(long_files, &format!("// One more.\n{code}"), &["src/lib.rs has 901 lines"]);
    }

    #[test]
    fn a_function_that_is_too_long_is_found() {
        let long: fn(&Tree) -> Vec<String> = |tree| long_functions(tree, &[]);
        check_file(long, &function(FUNCTION_LINES_MAX), &[]);
        check_file(long, &function(FUNCTION_LINES_MAX + 1), &["src/lib.rs:2 long has 46 lines"]);
        check_file(long, &format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(99)), &[]);
    }

    #[test]
    fn a_known_long_function_can_only_shrink() {
        let known: fn(&Tree) -> Vec<String> = |tree| long_functions(tree, &[("src/lib.rs", "long", 50)]);
        check_file(known, &function(46), &[]);
        check_file(known, &function(51), &["long has 51 lines"]);
        check_file(known, &function(45), &["src/lib.rs long is short now"]);
    }

    #[test]
    fn a_comment_that_is_too_wide_is_found() {
        let words = "é".repeat(COMMENT_COLUMNS_MAX - 4);
        check_file(wide_comments, &format!("/// {words}\nconst A: &str = \"{words}{words}\";"), &[]);
        check_file(wide_comments, &format!("\n//! a{words}"), &["src/lib.rs:2 has 121 columns"]);
    }

    #[test]
    fn a_line_of_a_template_that_is_too_wide_is_found() {
        let line = "a".repeat(TEMPLATE_COLUMNS_MAX);
        check(wide_templates, &[("web/templates/a.html", &line)], &[]);
        let files = [("web/templates/parts/a.html", &*format!("\n{line}a"))];
        check(wide_templates, &files, &["web/templates/parts/a.html:2 has"]);
    }

    #[test]
    fn an_attribute_without_a_reason_is_found() {
        check_file(bare_attributes, "#[must_use = \"a game needs a room\"]\nstruct A;", &[]);
        check_file(
            bare_attributes,
            "struct A;\n    #[must_use]\nstruct B;",
            &["src/lib.rs:2 gives no reason"],
        );
    }

    #[test]
    fn a_doc_of_a_field_that_says_too_little_is_found() {
        let field = "struct A {\n    /// Which game.\n    pub(crate) game: u8,\n}";
        check_file(short_docs, field, &["src/lib.rs:2 says too little"]);
        let of_variant = "enum A {\n    /// A game.\n    Over {\n        /// Which.\n        #[x]\n        game: u8,\n    },\n}";
        check_file(short_docs, of_variant, &["src/lib.rs:4 says too little"]);
        for derive in ["JsonSchema", "clap::Args"] {
            check_file(short_docs, &format!("struct B {{ a: u8 }}\n#[derive({derive})]\n{field}"), &[]);
        }
        check_file(
            short_docs,
            "struct A {\n    /// Which game.\n    ///\n    /// See B.\n    game: u8,\n}",
            &[],
        );
        check_file(short_docs, "struct A {\n    /// Which of the games.\n    game: u8,\n}", &[]);
        check_file(short_docs, "impl A {\n    /// Which game.\n    fn game() {}\n}", &[]);
    }

    #[test]
    fn what_is_left_for_later_is_found() {
        check_file(left_for_later, "fn f() { done() }", &[]);
        check_file(left_for_later, &["fn f() { to", "do!() }"].concat(), &["src/lib.rs has"]);
    }

    const PURSE: Name = Name { word: "Purse", place: "src", now: "compute budget", seen: Seen::InComments };

    #[test]
    fn an_old_name_is_found_as_a_whole_word() {
        let old: fn(&Tree) -> Vec<String> = |tree| old_names(tree, &[PURSE], &[]);
        check_file(old, "struct Purses; struct PurseLeft; struct Purse_;", &[]);
        check_file(
            old,
            "\n/// A [`Purse`].\nstruct A;",
            &["src/lib.rs:2 has Purse: it is compute budget now"],
        );
        check(old, &[("arena/src/lib.rs", "struct Purse;")], &[]);
        let in_code: fn(&Tree) -> Vec<String> =
            |tree| old_names(tree, &[name("told", "src", "history")], &[]);
        check_file(in_code, "/// What it is told.\nstruct A(&'static str);", &[]);
        check_file(in_code, "mod told {}", &["src/lib.rs:1 has told"]);
    }

    #[test]
    fn a_name_that_has_gone_becomes_an_old_one() {
        let to_go: fn(&Tree) -> Vec<String> = |tree| old_names(tree, &[], &[PURSE]);
        check_file(to_go, "struct Purse;", &[]);
        check_file(to_go, "struct Budget;", &["Purse is gone from src: it is an old name now"]);
    }
}
