//! What is read of a repository: the Rust files of its packages, and the templates and manifests beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::source::Source;

/// Where a path is looked for from: the modules from the root of a crate down.
pub(crate) type ModulePath = Vec<String>;

/// The packages whose product the rules are about: folder, and the name that Rust code calls it by.
pub(crate) const PACKAGES: &[(&str, &str)] = &[
    ("", "fourfold"),
    ("engine/", "fourfold_engine"),
    ("bots/", "fourfold_bots"),
    ("arena/", "fourfold_arena"),
];

/// What is read: anything else in the root folder is no source, or made by a build.
const FOLDERS: &[&str] = &["src", "tests", "engine", "bots", "arena", "web/templates"];

/// Packages of others, which the tests of the pages may just be installing.
const FOREIGN: &str = "node_modules";

static REPOSITORY: LazyLock<Tree> = LazyLock::new(|| Tree::read(Path::new(env!("CARGO_MANIFEST_DIR"))));

#[derive(Debug)]
pub(crate) struct Tree {
    /// The Rust files, by path.
    pub(crate) sources: Vec<Source>,
    /// All others, by path.
    pub(crate) others: BTreeMap<String, String>,
    /// Which module each file is, for those that a crate reaches.
    modules: BTreeMap<String, ModulePath>,
}

impl Tree {
    pub(crate) fn repository() -> &'static Self {
        &REPOSITORY
    }

    pub(crate) fn read(root: &Path) -> Self {
        let mut tree = Self { sources: Vec::new(), others: BTreeMap::new(), modules: BTreeMap::new() };
        for folder in FOLDERS {
            tree.read_folder(root, folder);
        }
        tree.read_file(root, "Cargo.toml");
        tree.sources.sort_by(|one, other| one.path.cmp(&other.path));
        tree.find_modules();
        tree
    }

    fn read_folder(&mut self, root: &Path, folder: &str) {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
        for entry in entries {
            let entry = entry.unwrap();
            if entry.file_name() == FOREIGN {
                continue;
            }
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                self.read_folder(root, &path);
            } else {
                self.read_file(root, &path);
            }
        }
    }

    fn read_file(&mut self, root: &Path, path: &str) {
        let Some((_, kind @ ("rs" | "toml" | "html"))) = path.rsplit_once('.') else { return };
        let Ok(text) = fs::read_to_string(root.join(path)) else { return };
        if kind == "rs" {
            self.sources.push(Source::new(path.to_owned(), text));
        } else {
            self.others.insert(path.to_owned(), text);
        }
    }

    pub(crate) fn source(&self, path: &str) -> Option<&Source> {
        let found = self.sources.binary_search_by(|source| source.path.as_str().cmp(path)).ok()?;
        Some(&self.sources[found])
    }

    /// The files of [`PACKAGES`] that are not for tests only.
    pub(crate) fn product(&self) -> impl Iterator<Item = &Source> {
        let is_ours =
            |source: &Source| PACKAGES.iter().any(|(folder, _)| source.is_in(&format!("{folder}src")));
        self.sources.iter().filter(move |source| !source.is_test && is_ours(source))
    }

    /// The product files of one package, each with its module.
    pub(crate) fn product_of(&self, folder: &str) -> impl Iterator<Item = (&Source, &ModulePath)> {
        let sources = format!("{folder}src");
        let own = self.product().filter(move |source| source.is_in(&sources));
        own.filter_map(|source| Some((source, self.modules.get(&source.path)?)))
    }

    /// Whether a crate reaches the file by `mod`.
    pub(crate) fn is_reached(&self, source: &Source) -> bool {
        self.modules.contains_key(&source.path)
    }

    /// Follows `mod` from the roots of all crates. What only tests reach is of tests.
    fn find_modules(&mut self) {
        let is_product_root = |path: &str| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        let mut roots: Vec<String> = self.sources.iter().map(|source| source.path.clone()).collect();
        roots.retain(|path| is_crate_root(path));
        roots.sort_by_key(|path| !is_product_root(path));
        let mut is_product = BTreeMap::new();
        for root in roots {
            let of_product = is_product_root(&root);
            self.reach(root, Vec::new(), of_product, &mut is_product);
        }
        for source in &mut self.sources {
            if !is_product.get(&source.path).copied().unwrap_or(false) {
                source.become_test();
            }
        }
    }

    /// Takes in the file and those below it, unless it is known: what was reached from a root first, counts.
    fn reach(
        &mut self,
        path: String,
        module: ModulePath,
        of_product: bool,
        known: &mut BTreeMap<String, bool>,
    ) {
        if known.contains_key(&path) {
            return;
        }
        let Some(source) = self.source(&path) else { return };
        let children: Vec<_> = children(source, &module).collect();
        known.insert(path.clone(), of_product);
        self.modules.insert(path, module);
        for (files, child, for_tests) in children {
            let file = files.into_iter().find(|file| self.source(file).is_some());
            if let Some(file) = file {
                self.reach(file, child, of_product && !for_tests, known);
            }
        }
    }
}

/// Whether the file is one that Cargo builds a crate from.
fn is_crate_root(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = folder.rsplit('/').next().unwrap_or_default();
    let grandparent = folder.rsplit('/').nth(1).unwrap_or_default();
    let is_place = |name: &str| matches!(name, "tests" | "examples" | "benches" | "bin");
    match name {
        "lib.rs" => above == "src",
        "main.rs" => above == "src" || is_place(grandparent),
        _ => is_place(above) && !folder.contains("src/") || above == "bin",
    }
}

/// The modules that a file declares in other files: where they may be, their path, and whether only tests have them.
fn children(source: &Source, module: &[String]) -> impl Iterator<Item = ([String; 2], ModulePath, bool)> {
    let (parent, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let is_root = is_crate_root(&source.path) || name == "mod.rs";
    let own = if is_root { parent } else { source.path.strip_suffix(".rs").unwrap_or(parent) };
    source.modules().filter(|declared| declared.body.is_none()).map(move |declared| {
        let inside: Vec<String> = source.modules_around(declared.at).collect();
        let folder = [own].into_iter().chain(inside.iter().map(String::as_str)).collect::<Vec<_>>().join("/");
        let named = |name: &str| format!("{folder}/{name}");
        let files = match declared.path {
            Some(path) => [format!("{parent}/{path}"), String::new()],
            None => [named(&format!("{}.rs", declared.name)), named(&format!("{}/mod.rs", declared.name))],
        };
        let path = module.iter().cloned().chain(inside).chain([declared.name.to_owned()]).collect();
        (files, path, declared.is_test)
    })
}
