"""The files of one Rust package, and which of its modules names which."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from rust_source import VISIBILITY, Source

USE = re.compile(rf"^[ \t]*({VISIBILITY})use\s+([^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:.])(\$crate|\w+)((?:\s*::\s*\w+)+)")
VISIBLE_IN = re.compile(r"pub\(in\s+$")
DEFINITION = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(\w+)")
TEST_PLACES = {"tests", "benches", "examples", "testing"}


@dataclass(frozen=True)
class Reference:
    """A path that the code names, written from the root of the crate; of a `use`, the name it gives too."""

    at: int
    path: tuple
    name: str = ""
    public: bool = False


class Crate:
    """A package. Its library and its binaries count as one tree of modules, as they share a folder."""

    def __init__(self, root, folder, name):
        self.root, self.folder, self.name = root, folder, name
        self.sources = {}
        for file in (folder / "src/lib.rs", folder / "src/main.rs"):
            self.read(file, (), False)
        for file in [folder / "build.rs", *sorted(folder.glob("src/bin/*.rs"))]:
            self.read(file, (file.parent.name, file.stem), False)
        for file in sorted(file for place in ("src", *TEST_PLACES) for file in (folder / place).rglob("*.rs")):
            self.read(file, file.relative_to(folder).with_suffix("").parts, False)
        self.product_sources = [source for source in self.sources.values() if not source.is_test]

    def read(self, file, module, is_test):
        """Takes in the file and those below it, unless it is known. What was reached from a root first, counts."""
        if file in self.sources or not file.exists():
            return
        is_test = is_test or not TEST_PLACES.isdisjoint(file.relative_to(self.root).with_suffix("").parts)
        source = self.sources[file] = Source(file, self.root, module, is_test)
        for child, path, only_tests in source.children():
            self.read(child, path, is_test or only_tests)

    @staticmethod
    def top(source):
        """The top-level module of a file; `lib` and `main` stand for themselves."""
        return source.module[0] if source.module else source.file.stem

    @cached_property
    def modules(self):
        """Each module of the product, with its file."""
        found = {}
        for source in self.product_sources:
            found.setdefault(source.module, source)
            for start, _, name in source.inline_modules:
                if not source.in_test(start):
                    found.setdefault((*source.module_at(start), name), source)
        return found

    @cached_property
    def references(self):
        return {source.file: [*self.references_of(source)] for source in self.product_sources}

    def references_of(self, source):
        """The paths into this crate that a file names, in `use` and in expressions and types."""
        aliases, uses = {}, []
        for match in source.product(USE):
            uses.append(match.span())
            for at, path, name in use_tree(match[2], match.start(2)):
                whole = self.absolute(path, source.module_at(at), {})
                if whole is not None:
                    aliases[name] = whole
                    yield Reference(at, whole, name, match[1].startswith("pub"))
        for match in source.product(PATH):
            at = match.start()
            if any(start <= at < end for start, end in uses) or VISIBLE_IN.search(source.code[max(0, at - 9) : at]):
                continue
            whole = self.absolute(tuple(re.findall(r"[\w$]+", match[0])), source.module_at(at), aliases)
            if whole is not None:
                yield Reference(at, whole)

    def absolute(self, path, module, aliases):
        """`path`, as written in `module`, from the root of the crate; None if it leads elsewhere."""
        if path[0] in ("crate", "$crate", self.name.replace("-", "_")):
            return path[1:]
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                module = module[:-1] if path[0] == "super" else module
                path = path[1:]
            return module + path
        if aliases.get(path[0]) in self.modules:
            return aliases[path[0]] + path[1:]
        return module + path if (*module, path[0]) in self.modules else None

    def module_of(self, path):
        """The longest part of `path` that is a module."""
        return next(path[:length] for length in range(len(path), -1, -1) if path[:length] in self.modules)

    @cached_property
    def exports(self):
        found = defaultdict(list)
        for file, references in self.references.items():
            for reference in references:
                if reference.public:
                    found[self.sources[file].module_at(reference.at)].append(reference)
        return found

    @cached_property
    def definitions(self):
        found = defaultdict(set)
        for source in self.product_sources:
            for match in source.product(DEFINITION):
                found[source.module_at(match.start())].add(match[1])
        return found

    def home(self, path, steps=8):
        """The module that defines what `path` names, behind `pub use`."""
        module = self.module_of(path)
        rest = path[len(module) :]
        if not rest or rest[0] in self.definitions[module] or steps == 0:
            return module
        for export in self.exports[module]:
            if export.name == rest[0] and export.path != path:
                return self.home(export.path + rest[1:], steps - 1)
            if export.name == "*" and rest[0] in self.definitions[export.path]:
                return export.path
        return module

    @cached_property
    def module_arrows(self):
        """Which top-level module names which: {from: {to: [(file, reference)]}}."""
        arrows = defaultdict(lambda: defaultdict(list))
        for source, reference in self.all_references():
            module = self.module_of(reference.path)
            start, end = self.top(source), module[0] if module else "lib"
            if start != end:
                arrows[start][end].append((source, reference))
        return arrows

    @cached_property
    def file_arrows(self):
        """The same between files, where each item counts for the file that defines it."""
        arrows = defaultdict(lambda: defaultdict(list))
        for source, reference in self.all_references():
            target = self.modules[self.home(reference.path)]
            if target is not source:
                arrows[source][target].append((source, reference))
        return arrows

    def all_references(self):
        return ((self.sources[file], reference) for file, found in self.references.items() for reference in found)


def use_tree(text, offset):
    """The paths of a `use` declaration one by one: position, path, the name it gives (`*` for all)."""
    found, prefixes, path, at = [], [()], (), offset

    def end_path():
        if path != prefixes[-1]:
            plain, name = (path[:-2], path[-1]) if path[-2:-1] == ("as",) else (path, path[-1])
            if plain[-1] in ("self", "*") and len(plain) > 1:
                name = plain[-2] if name == "self" else name
                plain = plain[:-1]
            found.append((at, plain, name))

    for token in re.finditer(r"\w+|[*{},]", text):
        if token[0] == "{":
            prefixes.append(path)
        elif token[0] in ",}":
            end_path()
            path = prefixes[-1]
            if token[0] == "}":
                prefixes.pop()
                path = prefixes[-1]
        else:
            path, at = (*path, token[0]), offset + token.start()
    end_path()
    return found


def cycles(arrows):
    """The strongly connected components of more than one node, largest first."""
    reached = {node: reach(arrows, node) for node in list(arrows)}
    groups = {
        frozenset(other for other in others if node in reached.get(other, ())) for node, others in reached.items()
    }
    return sorted((sorted(group, key=str) for group in groups if len(group) > 1), key=lambda group: -len(group))


def reach(arrows, start):
    found, todo = set(), [start]
    while todo:
        new = arrows.get(todo.pop(), {}).keys() - found
        found |= new
        todo += new
    return found
