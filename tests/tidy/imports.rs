//! Which modules of a package name which, in `use`, in expressions, types, attributes and macros.

use std::collections::{BTreeMap, BTreeSet};

use crate::scan::{is_word, words};
use crate::source::{Source, blank};
use crate::tree::{ModulePath, Tree};

/// So many re-exports are followed to where an item is defined; more would be a circle of them.
const STEPS_MAX: usize = 8;

/// A path into its own package that a file names, written from the root of the crate.
#[derive(Debug)]
pub(crate) struct Reference<'t> {
    pub(crate) source: &'t Source,
    pub(crate) at: usize,
    /// The module that names it.
    pub(crate) from: ModulePath,
    pub(crate) path: ModulePath,
    /// The module that defines what it names.
    pub(crate) home: ModulePath,
}

/// One path of a `use` declaration, and the name it gives: `*` for all that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    pub(crate) at: usize,
    pub(crate) path: ModulePath,
    pub(crate) name: String,
}

/// The modules of a package, as far as paths need them.
#[derive(Debug)]
pub(crate) struct Package<'t> {
    /// As Rust code calls it.
    name: &'t str,
    files: Vec<(&'t Source, &'t ModulePath)>,
    modules: BTreeSet<ModulePath>,
    definitions: BTreeMap<ModulePath, BTreeSet<&'t str>>,
    /// What each module makes of paths: the name it gives, and the path from the root of the crate.
    uses: BTreeMap<ModulePath, Vec<(String, ModulePath)>>,
}

impl<'t> Package<'t> {
    pub(crate) fn new(tree: &'t Tree, folder: &str, name: &'t str) -> Self {
        let files: Vec<_> = tree.product_of(folder).collect();
        let mut package = Self {
            name,
            files,
            modules: BTreeSet::new(),
            definitions: BTreeMap::new(),
            uses: BTreeMap::new(),
        };
        for (source, module) in package.files.clone() {
            package.learn_modules(source, module);
        }
        for (source, module) in package.files.clone() {
            package.learn_uses(source, module);
        }
        package
    }

    fn learn_modules(&mut self, source: &'t Source, module: &[String]) {
        self.modules.insert(module.to_vec());
        for declared in source.modules().filter(|declared| declared.body.is_some() && !declared.is_test) {
            let mut inner = module_at(source, module, declared.at);
            inner.push(declared.name.to_owned());
            self.modules.insert(inner);
        }
        for (at, name) in definitions(&source.product) {
            self.definitions.entry(module_at(source, module, at)).or_default().insert(name);
        }
    }

    fn learn_uses(&mut self, source: &Source, module: &[String]) {
        for each in uses(&source.product) {
            let at = module_at(source, module, each.at);
            if let Some(path) = self.absolute(&each.path, &at, &BTreeMap::new()) {
                self.uses.entry(at).or_default().push((each.name, path));
            }
        }
    }

    /// Every path into this package that its product names.
    pub(crate) fn references(&self) -> Vec<Reference<'t>> {
        self.files.iter().flat_map(|(source, module)| self.references_of(source, module)).collect()
    }

    fn references_of(&self, source: &'t Source, module: &[String]) -> Vec<Reference<'t>> {
        let used = uses(&source.product);
        let aliases = self.aliases(source, module, &used);
        let named = used.into_iter().map(|each| (each.at, each.path)).chain(paths(&source.product));
        let reference = |(at, path): (usize, ModulePath)| {
            let from = module_at(source, module, at);
            let path = self.absolute(&path, &from, &aliases)?;
            let home = self.home(&path, STEPS_MAX);
            Some(Reference { source, at, from, path, home })
        };
        named.filter_map(reference).collect()
    }

    /// The modules that the file has given names.
    fn aliases(&self, source: &Source, module: &[String], used: &[Use]) -> BTreeMap<String, ModulePath> {
        let alias = |each: &Use| {
            let path = self.absolute(&each.path, &module_at(source, module, each.at), &BTreeMap::new())?;
            self.modules.contains(&path).then(|| (each.name.clone(), path))
        };
        used.iter().filter_map(alias).collect()
    }

    /// The path, as written in the module, from the root of the crate; None if it leads elsewhere.
    fn absolute(
        &self,
        path: &[String],
        module: &[String],
        aliases: &BTreeMap<String, ModulePath>,
    ) -> Option<ModulePath> {
        let first = path.first()?.as_str();
        if first == "crate" || first == self.name {
            return Some(path[1..].to_vec());
        }
        let is_relative = |word: &&String| matches!(word.as_str(), "self" | "super");
        let relative = path.iter().take_while(is_relative).count();
        if relative > 0 {
            let up = path[..relative].iter().filter(|word| *word == "super").count();
            let start = &module[..module.len().saturating_sub(up)];
            return Some([start, &path[relative..]].concat());
        }
        let child = [module, &path[..1]].concat();
        if self.modules.contains(&child) {
            return Some([module, path].concat());
        }
        aliases.get(first).map(|alias| [alias, &path[1..]].concat())
    }

    /// The module that defines what the path names, behind re-exports.
    fn home(&self, path: &[String], steps: usize) -> ModulePath {
        let module = self.module_of(path);
        let found = self.find(&module, &path[module.len()..], steps);
        found.unwrap_or(module)
    }

    /// The longest part of the path that is a module.
    fn module_of(&self, path: &[String]) -> ModulePath {
        let lengths = (0..=path.len()).rev();
        lengths
            .map(|length| path[..length].to_vec())
            .find(|part| self.modules.contains(part))
            .unwrap_or_default()
    }

    /// The module that defines the first word of `rest` as this module names it.
    fn find(&self, module: &ModulePath, rest: &[String], steps: usize) -> Option<ModulePath> {
        let name = rest.first()?;
        if self.definitions.get(module).is_some_and(|own| own.contains(name.as_str())) {
            return Some(module.clone());
        }
        let (uses, steps) = (self.uses.get(module)?, steps.checked_sub(1)?);
        if let Some((_, path)) = uses.iter().find(|(given, _)| given == name) {
            return Some(self.home(&[path, &rest[1..]].concat(), steps));
        }
        let globs = uses.iter().filter(|(given, path)| given == "*" && self.modules.contains(path));
        globs.into_iter().find_map(|(_, path)| self.find(path, rest, steps))
    }
}

/// The module around the position in a file that is `module`.
fn module_at(source: &Source, module: &[String], at: usize) -> ModulePath {
    module.iter().cloned().chain(source.modules_around(at)).collect()
}

/// The names that items and methods give, each with its position.
fn definitions(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let kinds = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];
    let mut before = "";
    words(code).filter(move |(_, word)| kinds.contains(&std::mem::replace(&mut before, word)))
}

/// The paths of all `use` declarations one by one.
pub(crate) fn uses(code: &str) -> Vec<Use> {
    declarations(code).into_iter().flat_map(|range| use_tree(&code[range.clone()], range.start)).collect()
}

/// Where the declarations stand, from behind `use` to the semicolon. `use<'a>` in a type is none.
fn declarations(code: &str) -> Vec<std::ops::Range<usize>> {
    let starts = words(code).filter(|(_, word)| *word == "use").map(|(at, _)| at + 3);
    let starts = starts.filter(|at| !code[*at..].trim_start().starts_with('<'));
    starts.map(|at| at..at + code[at..].find(';').unwrap_or(code.len() - at)).collect()
}

/// The paths of one `use` declaration: its words are gathered, and braces remember what stands before them.
fn use_tree(tree: &str, offset: usize) -> Vec<Use> {
    let (mut found, mut prefixes, mut path, mut at) = (Vec::new(), vec![Vec::new()], Vec::new(), offset);
    for (start, token) in tokens(tree) {
        match token {
            "{" => prefixes.push(path.clone()),
            "," | "}" => {
                found.extend(end_of_use(&path, prefixes.last(), at));
                path = prefixes.last().cloned().unwrap_or_default();
                if token == "}" {
                    prefixes.pop();
                    path = prefixes.last().cloned().unwrap_or_default();
                }
            }
            word => {
                path.push(word.to_owned());
                at = offset + start;
            }
        }
    }
    found.extend(end_of_use(&path, prefixes.last(), at));
    found
}

/// What was gathered since the last brace or comma, if anything was.
fn end_of_use(path: &[String], prefix: Option<&ModulePath>, at: usize) -> Option<Use> {
    if prefix.is_none_or(|prefix| prefix == path) {
        return None;
    }
    let (mut path, mut name) = match path {
        [plain @ .., word, name] if word == "as" => (plain.to_vec(), name.clone()),
        _ => (path.to_vec(), path.last()?.clone()),
    };
    if path.len() > 1 && path.last().is_some_and(|last| last == "self" || last == "*") {
        let last = path.pop()?;
        name = if last == "self" && name == "self" { path.last()?.clone() } else { name };
    }
    Some(Use { at, path, name })
}

fn tokens(tree: &str) -> impl Iterator<Item = (usize, &str)> {
    let marks = tree.match_indices(['{', '}', ',', '*']);
    let mut all: Vec<_> = words(tree).chain(marks).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter()
}

/// The paths of more than one word outside `use` declarations.
pub(crate) fn paths(code: &str) -> Vec<(usize, ModulePath)> {
    let code = declarations(code).into_iter().fold(code.to_owned(), |code, range| blank(&code, range));
    let (mut found, mut end) = (Vec::new(), 0);
    for (at, word) in words(&code) {
        if at < end || is_continued(&code[..at]) {
            continue;
        }
        let mut path = vec![word.to_owned()];
        end = at + word.len();
        while let Some((next, word)) = next_part(&code, end) {
            path.push(word.to_owned());
            end = next + word.len();
        }
        if path.len() > 1 {
            found.push((at, path));
        }
    }
    found
}

/// Whether what comes behind the text is a field, a method, or a later part of a path.
fn is_continued(before: &str) -> bool {
    before.ends_with("::") || before.ends_with('.') && !before.ends_with("..")
}

fn next_part(code: &str, end: usize) -> Option<(usize, &str)> {
    let rest = code[end..].trim_start().strip_prefix("::")?.trim_start();
    rest.bytes().next().filter(|byte| is_word(*byte))?;
    words(rest).next().map(|(_, word)| (code.len() - rest.len(), word))
}
