//! The wings of the daemon stand in one order, and no modules import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::breaches::check_none;
use crate::imports::{Package, Reference};
use crate::tree::{PACKAGES, Tree};

/// The wings of `src` in their order: a file imports only from wings before its own, or from its own.
pub(crate) const WINGS: &[(&str, &str)] = &[
    ("model", "the words of the domain; no I/O"),
    ("protocol", "the wire and nothing else"),
    ("system", "files, data directory, configuration, metrics and logs"),
    ("analysis", "the threads that compute, and the true values of positions and games"),
    ("storage", "what is kept: contract, writer, back ends, records"),
    ("accounts", "who is who"),
    ("cluster", "how nodes reach each other, and what a node decides by itself"),
    ("play", "rooms, hosts, presence, feeds, house bots and seats"),
    ("lobby", "how players find games"),
    ("session", "one connected client"),
    ("study", "learning, judging, puzzles, explorer"),
    ("client", "a client of the protocol, the bridge for programs, load"),
    ("competition", "leaderboard, ladder, tournaments, self-tests of bots"),
    ("operations", "the check of a whole store"),
    ("http", "listener, interface, the operator's socket, pages, texts"),
    ("app", "the server that builds all of it, the command line, the laboratory"),
];

/// Wings that know less than the order allows.
const NARROW: &[(&str, &[&str])] = &[
    ("analysis", &["model", "system"]),
    ("accounts", &["model", "storage", "system"]),
    ("client", &["model", "protocol", "system"]),
    ("cluster", &["model"]),
    ("storage", &["model", "protocol", "system"]),
    ("system", &["model"]),
];

type Arrows<'t> = BTreeMap<String, BTreeMap<String, Reference<'t>>>;

#[test]
fn wings_import_only_from_those_before_them() {
    check_none("nothing imports upwards", &upward_imports(Tree::repository(), WINGS));
}

#[test]
fn narrow_wings_import_only_what_they_are_about() {
    check_none("these wings need no more", &wide_imports(Tree::repository(), NARROW));
}

#[test]
fn every_module_stands_in_a_wing() {
    check_none("the list of wings is complete", &unlisted_wings(Tree::repository(), WINGS));
}

#[test]
fn modules_do_not_import_in_circles() {
    check_none("no module imports in a circle", &circles(Tree::repository()));
}

/// Paths of the daemon that lead into a wing after their own, as they are written or behind re-exports.
pub(crate) fn upward_imports(tree: &Tree, wings: &[(&str, &str)]) -> Vec<String> {
    let place =
        |wing: Option<&String>| wings.iter().position(|(name, _)| Some(*name) == wing.map(String::as_str));
    let breach = |reference: &Reference| {
        let own = place(reference.from.first())?;
        let ends = [reference.path.first(), reference.home.first()].map(place);
        let (later, _) = wings.get(ends.into_iter().flatten().filter(|end| *end > own).max()?)?;
        Some(format!("{} knows {later}: {}", reference.source.place(reference.at), reference.path.join("::")))
    };
    Package::new(tree, "", "fourfold").references().iter().filter_map(breach).collect()
}

/// Imports of wings that the importing one is not allowed to know, though they stand before it.
fn wide_imports(tree: &Tree, narrow: &[(&str, &[&str])]) -> Vec<String> {
    let breach = |reference: &Reference| {
        let (own, end) = (reference.from.first()?, reference.home.first()?);
        let (_, allowed) = narrow.iter().find(|(wing, _)| wing == own)?;
        let is_allowed = own == end || allowed.contains(&end.as_str());
        (!is_allowed).then(|| format!("{} knows {end}", reference.source.place(reference.at)))
    };
    Package::new(tree, "", "fourfold").references().iter().filter_map(breach).collect()
}

/// Files beside the wings, and wings without files.
pub(crate) fn unlisted_wings(tree: &Tree, wings: &[(&str, &str)]) -> Vec<String> {
    let names = tree.product().filter_map(|source| source.path.strip_prefix("src/"));
    let names = names.filter(|path| !matches!(*path, "lib.rs" | "main.rs"));
    let found: BTreeSet<&str> = names.map(|path| path.split('/').next().unwrap_or(path)).collect();
    let found: BTreeSet<&str> = found.iter().map(|name| name.strip_suffix(".rs").unwrap_or(name)).collect();
    let listed: BTreeSet<&str> = wings.iter().map(|(name, _)| *name).collect();
    let unlisted = found.difference(&listed).map(|name| format!("unlisted wing: src/{name}"));
    let gone = listed.difference(&found).map(|name| format!("{name} is gone: correct the list"));
    unlisted.chain(gone).collect()
}

/// Children of one module that import each other in a circle, wherever below them the imports stand.
pub(crate) fn circles(tree: &Tree) -> Vec<String> {
    let mut breaches = Vec::new();
    for (folder, name) in PACKAGES {
        let package = Package::new(tree, folder, name);
        for (parent, arrows) in arrows_by_parent(package.references()) {
            let place = [format!("{folder}src"), parent.join("/")].join("/");
            let told = |members: &Vec<String>| {
                format!("{}: {}", place.trim_end_matches('/'), told(members, &arrows))
            };
            breaches.extend(groups(&arrows).iter().map(told));
        }
    }
    breaches
}

/// For each module which of its children name which, with one reference of each arrow.
fn arrows_by_parent(references: Vec<Reference>) -> BTreeMap<Vec<String>, Arrows> {
    let mut found: BTreeMap<Vec<String>, Arrows> = BTreeMap::new();
    for reference in references {
        let common =
            reference.from.iter().zip(&reference.home).take_while(|(one, other)| one == other).count();
        let (Some(start), Some(end)) = (reference.from.get(common), reference.home.get(common)) else {
            continue;
        };
        let (parent, start, end) = (reference.from[..common].to_vec(), start.clone(), end.clone());
        found.entry(parent).or_default().entry(start).or_default().entry(end).or_insert(reference);
    }
    found
}

/// The groups of modules of which each reaches each.
fn groups(arrows: &Arrows) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        arrows.keys().map(|start| (start, reach(arrows, start))).collect();
    let group = |start: &&String| {
        let back = |end: &&&String| reached.get(**end).is_some_and(|ends| ends.contains(*start));
        reached[*start].iter().filter(back).map(|end| (*end).clone()).collect::<Vec<_>>()
    };
    arrows.keys().map(|start| group(&start)).filter(|group| group.len() > 1).collect()
}

fn reach<'a>(arrows: &'a Arrows, start: &'a String) -> BTreeSet<&'a String> {
    let (mut found, mut todo) = (BTreeSet::new(), vec![start]);
    while let Some(next) = todo.pop() {
        let ends = arrows.get(next).into_iter().flat_map(BTreeMap::keys);
        todo.extend(ends.filter(|end| found.insert(*end)));
    }
    found
}

/// The circle, and a place for each arrow in it.
fn told(members: &[String], arrows: &Arrows) -> String {
    let inside = |start: &String, end: &String| members.contains(start) && members.contains(end);
    let all = arrows
        .iter()
        .flat_map(|(start, ends)| ends.iter().map(move |(end, reference)| (start, end, reference)));
    let lines = all.filter(|(start, end, _)| inside(start, end)).map(|(start, end, reference)| {
        format!(
            "    {start} -> {end}: {} {}",
            reference.source.place(reference.at),
            reference.path.join("::")
        )
    });
    format!("{members:?}\n{}", lines.collect::<Vec<_>>().join("\n"))
}

mod tests {
    use super::*;
    use crate::breaches::check;

    const TWO: &[(&str, &str)] = &[("low", ""), ("high", "")];

    /// A daemon of two wings, with the code in a module of the lower one.
    #[track_caller]
    fn check_upward(code: &str, expected: &[&str]) {
        let files = [
            ("src/lib.rs", "mod low; mod high; pub use high::Top;"),
            ("src/low.rs", "mod part; mod inner { mod deep {} }"),
            ("src/low/part.rs", code),
            ("src/high.rs", "mod part; pub struct Top;"),
            ("src/high/part.rs", "use crate::low::x; pub struct Thing;"),
        ];
        check(|tree| upward_imports(tree, TWO), &files, expected);
    }

    #[test]
    fn an_upward_import_is_found_wherever_it_stands() {
        check_upward("use super::other; use crate::low; fn f() { crate::low::f(); }", &[]);
        check_upward("use crate::high::Top;", &["src/low/part.rs:1 knows high: high::Top"]);
        check_upward(
            "use crate::{low::x, high::{part, Top as T}};",
            &["knows high: high::part", "knows high: high::Top"],
        );
        check_upward("use super::super::high as other;", &["knows high: high"]);
        check_upward("use crate::Top;", &["knows high: Top"]);
        check_upward("mod inner { use super::super::super::high::Top; }", &["knows high: high::Top"]);
        check_upward("fn f() { for _ in 0..crate::high::MAX {} }", &["knows high: high::MAX"]);
        check_upward("fn f(x: Vec<crate::high::Top>) {}", &["knows high: high::Top"]);
        check_upward("macro_rules! m { () => { $crate::high::f() } }", &["knows high: high::f"]);
        check_upward("#[serde(with = \"crate::high::part\")]\nstruct X;", &["knows high: high::part"]);
        check_upward(
            "use super::super as all;\nfn f() { all::high::f() }",
            &["part.rs:2 knows high: high::f"],
        );
    }

    #[test]
    fn a_narrow_wing_that_knows_more_is_found() {
        let files = [
            ("src/lib.rs", "mod low; mod high;"),
            ("src/high.rs", "use crate::low;\nuse self::a;"),
            ("src/low.rs", ""),
        ];
        check(|tree| wide_imports(tree, &[("high", &["low"])]), &files, &[]);
        check(|tree| wide_imports(tree, &[("high", &[])]), &files, &["src/high.rs:1 knows low"]);
    }

    #[test]
    fn what_is_said_or_only_tested_is_no_import() {
        check_upward("/// See [`crate::high::Top`].\nconst X: &str = \"of crate::high::Top\";", &[]);
        check_upward("#[cfg(test)]\nmod tests { use crate::high::Top; }", &[]);
        check_upward("fn f() {\n    #[cfg(test)]\n    crate::high::f();\n}", &[]);
        check_upward("#[cfg(not(test))]\nuse crate::high::Top;", &["knows high"]);
    }

    #[test]
    fn a_module_without_a_wing_is_found() {
        let check_wings = |files: &[(&str, &str)], expected: &[&str]| {
            check(|tree| unlisted_wings(tree, TWO), files, expected);
        };
        let wings = [("src/low.rs", "fn f() {}"), ("src/high.rs", "")];
        let lib = "mod low; mod high;";
        check_wings(&[&[("src/lib.rs", lib)], &wings[..]].concat(), &[]);
        let more = [("src/lib.rs", "mod low; mod high; mod attic;"), ("src/attic.rs", "")];
        check_wings(&[&more, &wings[..]].concat(), &["unlisted wing: src/attic"]);
        let folder = [("src/lib.rs", "mod low; mod high; mod attic;"), ("src/attic/mod.rs", "")];
        check_wings(&[&folder, &wings[..]].concat(), &["unlisted wing: src/attic"]);
        let tests =
            [("src/lib.rs", "mod low; mod high;\n#[cfg(test)]\nmod testing;"), ("src/testing.rs", "")];
        check_wings(&[&tests, &wings[..]].concat(), &[]);
        check_wings(&[("src/lib.rs", "mod low;"), wings[0]], &["high is gone"]);
    }

    #[track_caller]
    fn check_circles(files: &[(&str, &str)], expected: &[&str]) {
        check(circles, files, expected);
    }

    #[test]
    fn a_circle_is_found_between_the_children_of_any_module() {
        let top = ("engine/src/lib.rs", "mod a; mod b; mod c;\npub use b::Two;");
        let (one, two) = (("engine/src/a.rs", "use crate::Two;"), ("engine/src/b.rs", "pub struct Two;"));
        check_circles(&[top, one, two], &[]);
        let back = ("engine/src/b.rs", "pub struct Two; fn f() { super::a::g() }");
        check_circles(&[top, one, back], &["engine/src: [\"a\", \"b\"]"]);
        let deep =
            [("engine/src/b.rs", "mod deep; pub struct Two;"), ("engine/src/b/deep.rs", "use crate::a;")];
        check_circles(&[&[top, one], &deep[..]].concat(), &["a -> b: engine/src/a.rs:1 Two"]);
        let down = ("engine/src/a.rs", "mod x; mod y;");
        let below = [("engine/src/a/x.rs", "use super::y;"), ("engine/src/a/y.rs", "use super::x;")];
        check_circles(&[&[top, down], &below[..]].concat(), &["engine/src/a: [\"x\", \"y\"]"]);
    }
}
