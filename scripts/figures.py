#!/usr/bin/env python3
"""Measures the structure of a checkout: modules, cycles, types, sizes, visibility, dependencies.

Run it before and after a refactoring to see what has changed. A figure is no goal: it says where to look, and `--list`
shows what is behind it. Product code is what the crates are built of; tests are what is behind `cfg(test)` or a feature
named after tests, and what lies in the folders of tests, benches and examples.
"""

import argparse
import json
import re
import signal
import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from rust_crate import Crate, cycles
from rust_source import VISIBILITY, behind_attributes, end_of

# Comments are wrapped by hand, a little wider than rustfmt keeps code.
COMMENT_WIDTH = 120
BINARY = "fourfold"
TEMPLATE_WIDTH = 140
FILE_LINES = (400, 900)
FUNCTION_LINES = 45
SHORT_DOC_WORDS = 3
ALL_LINES = ("code", "comment", "blank")

TYPE = re.compile(r"\b(?:struct|enum|union|trait|type)\s+(\w+)")
WITH_ASSOCIATED_TYPES = re.compile(rf"^[ \t]*{VISIBILITY}(?:unsafe\s+)?(?:impl|trait)\b", re.MULTILINE)
WITH_FIELDS = re.compile(r"\b(?:struct|enum|union)\s+\w+")
FIELD = re.compile(rf"{VISIBILITY}(?:r#)?\w+\s*:(?!:)")
DOC = re.compile(r"(?:^[ \t]*///[^\n]*\n)+", re.MULTILINE)
FUNCTION = re.compile(r"\bfn\s+(\w+)")
BARE_MUST_USE = re.compile(r"#\[must_use\]")
PUBLIC = re.compile(
    r"\bpub\b(\([^)]*\))?\s*(?:(?:async|unsafe|extern|const(?=\s+(?:fn|unsafe|async)))\s+)*"
    r"(?:(fn|struct|enum|union|trait|const|static|type|mod|use)\b)?"
)
KINDS = ("fn", "struct", "enum", "trait", "const", "static", "type", "mod", "use", "field")
PACKAGE = re.compile(r'^name = "([^"]+)"\nversion = "([^"]+)"', re.MULTILINE)


@dataclass
class Figure:
    """A row of a table: a value for each column, and the lines that `--list` shows."""

    name: str
    title: str
    values: dict
    behind: list = field(default_factory=list)


class Checkout:
    """The packages of a workspace. `main` is the one in the root folder, or else the one that makes the binary."""

    def __init__(self, root):
        self.root = root.resolve()
        self.crates = [Crate(self.root, folder, name) for folder, name in packages(self.root)]
        self.main = min(self.crates, key=lambda crate: (crate.folder != self.root, crate.name != BINARY))
        self.product = [source for crate in self.crates for source in crate.product_sources]
        self.sources = [source for crate in self.crates for source in crate.sources.values()]

    def is_main(self, source):
        return source.file in self.main.sources


def packages(root):
    """Folder and name of each member of the workspace. (The Python that reads TOML by itself is not asked for.)"""
    members = re.search(r"^members\s*=\s*\[([^]]*)\]", (root / "Cargo.toml").read_text(), re.MULTILINE)
    patterns = re.findall(r'"([^"]+)"', members[1]) if members else ["."]
    folders = [folder for pattern in patterns for folder in ([root] if pattern == "." else sorted(root.glob(pattern)))]
    if root not in folders:
        folders.insert(0, root)
    for folder in folders:
        manifest = folder / "Cargo.toml"
        if manifest.exists() and (name := re.search(r'^name\s*=\s*"([^"]+)"', manifest.read_text(), re.MULTILINE)):
            yield folder, name[1]


def places(checkout, name, title, found):
    """The figure of what was found at places: (source, position, text)."""
    product = [(source, at, text) for source, at, text in found if not source.in_test(at)]
    of_main = sum(checkout.is_main(source) for source, _, _ in product)
    values = {"src": of_main, "workspace": len(product), "tests": len(found) - len(product)}
    return Figure(name, title, values, [f"{source.place(at)}  {text}".rstrip() for source, at, text in product])


# Modules


def module_figures(checkout):
    modules = sorted({checkout.main.top(source) for source in checkout.main.product_sources})
    yield Figure("modules", "modules side by side (lib and main are two)", {"src": len(modules)}, modules)
    found = [(crate, group) for crate in checkout.crates for group in cycles(crate.module_arrows)]
    names = [f"{crate.name}: {', '.join(group)}" for crate, group in found]
    yield cycle_figure(checkout, "cycles", "cycles of modules", found, lambda crate, group: 1, names)
    yield cycle_figure(checkout, "cycle-modules", "  modules in them", found, lambda crate, group: len(group), names)
    lines = [f"{module_lines(crate, [module])}  {module}" for crate, group in found for module in group]
    yield cycle_figure(checkout, "cycle-lines", "  product lines in them", found, module_lines, lines)
    paths = [line for crate, group in found for line in arrows(crate.module_arrows, group, str)]
    yield cycle_figure(checkout, "cycle-arrows", "  arrows between them", found, count_arrows, paths)
    yield from file_cycle_figures(checkout)


def file_cycle_figures(checkout):
    """Cycles inside one module are left out: they are its own business."""
    found = [(crate, group) for crate in checkout.crates for group in cycles(crate.file_arrows)
             if len({crate.top(source) for source in group}) > 1]
    paths = [line for crate, group in found for line in arrows(crate.file_arrows, group, lambda source: source.name)]
    yield cycle_figure(checkout, "file-cycles", "cycles of files across modules", found, lambda crate, group: 1, paths)
    files = [source.name for _, group in found for source in group]
    yield cycle_figure(checkout, "file-cycle-files", "  files in them", found, lambda crate, group: len(group), files)


def cycle_figure(checkout, name, title, found, measure, behind):
    values = [(crate, measure(crate, group)) for crate, group in found]
    of_main = sum(value for crate, value in values if crate is checkout.main)
    return Figure(name, title, {"src": of_main, "workspace": sum(value for _, value in values)}, behind)


def module_lines(crate, modules):
    return sum(source.count(False, ALL_LINES) for source in crate.product_sources if crate.top(source) in modules)


def count_arrows(crate, group):
    return sum(end in group for start in group for end in crate.module_arrows[start])


def arrows(graph, group, name):
    """Each arrow inside a cycle, and the paths that make it."""
    for start in group:
        for end in sorted(graph[start].keys() & set(group), key=str):
            yield f"{name(start)} -> {name(end)}"
            for source, reference in sorted(graph[start][end], key=lambda found: (found[0].name, found[1].at)):
                glob = "::*" if reference.name == "*" else ""
                yield f"    {source.place(reference.at)}  {'::'.join(reference.path)}{glob}"


# Types, visibility, documentation


def type_figures(checkout):
    defined, of_main, in_tests = defaultdict(list), defaultdict(list), set()
    for source in checkout.sources:
        for at, name in types(source):
            if source.in_test(at):
                in_tests.add(name)
                continue
            defined[name].append(source.place(at))
            if checkout.is_main(source):
                of_main[name].append(source.place(at))
    values = {"src": len(of_main), "workspace": len(defined), "tests": len(in_tests)}
    yield Figure("types", "names of types", values, sorted(defined))
    repeated = {name: where for name, where in sorted(defined.items()) if len(where) > 1}
    values = {"src": sum(len(where) > 1 for where in of_main.values()), "workspace": len(repeated)}
    yield Figure("repeated-types", "  defined more than once", values,
                 [f"{name}  {', '.join(where)}" for name, where in repeated.items()])


def types(source):
    """The types a file defines. Associated types are not: their name is the trait's."""
    blocks = [(match.start(), end_of(source.code, match.end(), ";{"))
              for match in WITH_ASSOCIATED_TYPES.finditer(source.code)]
    for match in TYPE.finditer(source.code):
        inside = any(start < match.start() < end for start, end in blocks)
        if not (inside and match[0].startswith("type")):
            yield match.start(), match[1]


def visibility_figures(checkout):
    found = defaultdict(list)
    for source in checkout.sources:
        for match in PUBLIC.finditer(source.code):
            scope, kind = match[1] or "", match[2] or "field"
            found[scope if scope in ("", "(crate)") else "(in …)", kind].append((source, match.start(), kind))
    for scope, name in (("", "pub"), ("(crate)", "pub-crate"), ("(in …)", "pub-in")):
        items = [place for kind in KINDS for place in found[scope, kind] if kind != "field"]
        yield places(checkout, name, f"pub{scope}: items", items)
        for kind in KINDS if name != "pub-in" else ():
            yield places(checkout, f"{name}-{kind}", f"  {kind}", found[scope, kind])


def documentation_figures(checkout):
    short = [(source, at, text) for source in checkout.sources for at, text in short_docs(source)]
    yield places(checkout, "short-docs", f"docs of at most {SHORT_DOC_WORDS} words", short)
    of_fields = [(source, at, text) for source, at, text in short if documents_field(source, at)]
    yield places(checkout, "short-field-docs", "  of fields", of_fields)
    bare = [(source, match.start(), "") for source in checkout.sources for match in BARE_MUST_USE.finditer(source.code)]
    yield places(checkout, "bare-must-use", "#[must_use] without a reason", bare)


def short_docs(source):
    """Position behind each, and its words."""
    for doc in DOC.finditer(source.text):
        words = re.sub(r"^\s*///", "", doc[0], flags=re.MULTILINE).split()
        if len(words) <= SHORT_DOC_WORDS:
            yield doc.end() - 1, " ".join(words)


def documents_field(source, at):
    if not FIELD.match(source.code, behind_attributes(source.code, at)):
        return False
    bodies = ((match.end(), end_of(source.code, match.end(), ";{")) for match in WITH_FIELDS.finditer(source.code))
    return any(start < at < end for start, end in bodies)


# Sizes


def size_figures(checkout):
    width = code_width(checkout.root / "rustfmt.toml")
    comments, code = wide(checkout, "comment", COMMENT_WIDTH), wide(checkout, "code", width)
    yield places(checkout, "wide-comments", f"comments over {COMMENT_WIDTH} columns", comments)
    yield places(checkout, "wide-code", f"lines of code over {width} columns", code)
    lines = sorted(((source.count(False, ALL_LINES), source) for source in checkout.product), key=lambda each: -each[0])
    for limit in FILE_LINES:
        large = [(count, source) for count, source in lines if count > limit]
        values = {"src": sum(checkout.is_main(source) for _, source in large), "workspace": len(large)}
        behind = [f"{count}  {source.name}" for count, source in large]
        yield Figure(f"files-{limit}", f"files over {limit} product lines", values, behind)
    yield from function_figures(checkout)


def code_width(rustfmt):
    width = re.search(r"^max_width\s*=\s*(\d+)", rustfmt.read_text() if rustfmt.exists() else "", re.MULTILINE)
    return int(width[1]) if width else 100


def wide(checkout, kind, width):
    return [(source, start + len(line) - len(line.lstrip()), str(len(line)))
            for source in checkout.sources
            for line, start, (each, _) in zip(source.lines, source.line_starts, source.line_kinds)
            if each == kind and len(line) > width]


def function_figures(checkout):
    found = [(lines, source, at, name) for source in checkout.sources for lines, at, name in functions(source)]
    yield places(checkout, "functions", "functions", [(source, at, name) for _, source, at, name in found])
    product = [each for each in found if not each[1].in_test(each[2])]
    values = {"src": statistics.median([lines for lines, source, *_ in product if checkout.is_main(source)] or [0]),
              "workspace": statistics.median([lines for lines, *_ in product] or [0])}
    yield Figure("function-median", "  median of their lines", values)
    large = sorted((each for each in found if each[0] > FUNCTION_LINES), key=lambda each: -each[0])
    yield places(checkout, f"functions-{FUNCTION_LINES}", f"  over {FUNCTION_LINES} lines",
                 [(source, at, f"{name}: {lines}") for lines, source, at, name in large])


def functions(source):
    """The functions with a body: lines from signature to closing brace, position, name."""
    for match in FUNCTION.finditer(source.code):
        end = end_of(source.code, match.end(), ";{")
        if source.code[end - 1] == "}":
            yield source.line(end - 1) - source.line(match.start()) + 1, match.start(), match[1]


def line_figures(checkout):
    for crate in checkout.crates:
        yield lines_figure(f"lines-{crate.name}", crate.name, crate.sources.values())
    yield lines_figure("lines", "all", checkout.sources)


def lines_by_module(checkout):
    crate, groups = checkout.main, defaultdict(list)
    for source in crate.sources.values():
        if crate.folder / "src" in source.file.parents:
            groups[crate.top(source)].append(source)
    for module, sources in sorted(groups.items()):
        yield lines_figure(f"lines-src-{module}", module, sources)
    yield lines_figure("lines-src", "src", [source for sources in groups.values() for source in sources])


def lines_figure(name, title, sources):
    sources = [*sources]
    values = {"code": sum(source.count(False) for source in sources),
              "with comments, blanks": sum(source.count(False, ALL_LINES) for source in sources),
              "tests' code": sum(source.count(True) for source in sources)}
    behind = [f"{source.count(False)} {source.count(True)}  {source.name}" for source in sources]
    return Figure(name, title, values, behind)


# What is not Rust


def template_figures(checkout):
    found = []
    for file in sorted(file for file in (checkout.root / "web/templates").rglob("*") if file.is_file()):
        lines = file.read_text(encoding="utf-8").splitlines()
        found += [(len(line), file.relative_to(checkout.root), number) for number, line in enumerate(lines, 1)]
    found = sorted((each for each in found if each[0] > TEMPLATE_WIDTH), reverse=True)
    behind = [f"{file}:{number}  {length}" for length, file, number in found]
    yield Figure("wide-templates", f"lines of templates over {TEMPLATE_WIDTH} columns", {"value": len(found)}, behind)
    files = Counter(str(file) for _, file, _ in found)
    behind = [f"{count}  {file}" for file, count in files.most_common()]
    yield Figure("wide-template-files", "  files with such lines", {"value": len(files)}, behind)
    yield Figure("widest-template", "  columns of the widest", {"value": max((each[0] for each in found), default=0)})


def dependency_figures(checkout):
    for crate in checkout.crates:
        found = sorted(dependencies((crate.folder / "Cargo.toml").read_text()))
        counts = Counter(kind for kind, _ in found)
        values = {kind: counts[kind] for kind in ("direct", "build", "dev")}
        yield Figure(f"dependencies-{crate.name}", crate.name, values, [f"{kind} {name}" for kind, name in found])


def lock_figures(checkout):
    lock, versions = checkout.root / "Cargo.lock", defaultdict(list)
    for name, version in PACKAGE.findall(lock.read_text() if lock.exists() else ""):
        versions[name].append(version)
    behind = [f"{name}  {', '.join(found)}" for name, found in versions.items()]
    yield Figure("locked", "crates in Cargo.lock", {"value": sum(map(len, versions.values()))}, behind)
    several = [line for line in behind if "," in line]
    yield Figure("several-versions", "  in several versions", {"value": len(several)}, several)


def dependencies(manifest):
    """The direct dependencies: direct, build or dev, and the name."""
    found, section = set(), None
    for line in manifest.splitlines():
        if header := re.match(r"\[(.+)\]\s*$", line):
            table = re.match(r"(?:target\..+\.)?((?:dev-|build-)?)dependencies(?:\.([\w-]+))?$", header[1])
            section = table and (table[1].rstrip("-") or "direct")
            if table and table[2]:
                found.add((section, table[2]))
                section = None
        elif section and (name := re.match(r"([\w-]+)(?:\.\w+)*\s*=", line)):
            found.add((section, name[1]))
    return found


def build_figures(checkout, binary, times):
    binary = binary or checkout.root / "target/release" / BINARY
    if binary.exists():
        yield Figure("binary", "bytes of the binary", {"value": binary.stat().st_size}, [str(binary)])
    for line in times.read_text().splitlines() if times else ():
        if line.strip():
            name, seconds = line.rsplit(maxsplit=1)
            yield Figure(f"time-{name.replace(' ', '-')}", f"{name}, seconds", {"value": float(seconds)}, [line])


# Output


def measure(checkout, binary, times):
    structure = (module_figures, type_figures, visibility_figures, documentation_figures, size_figures)
    rest = (template_figures(checkout), lock_figures(checkout), build_figures(checkout, binary, times))
    return {
        "structure": [figure for figures in structure for figure in figures(checkout)],
        "lines by crate": [*line_figures(checkout)],
        "lines by module of src": [*lines_by_module(checkout)],
        "dependencies": [*dependency_figures(checkout)],
        "the rest": [figure for figures in rest for figure in figures],
    }


def shown(value):
    return f"{value:,}" if isinstance(value, (int, float)) else value


def print_table(title, figures):
    columns = [*dict.fromkeys(column for figure in figures for column in figure.values)]
    names, titles = max(len(figure.name) for figure in figures), max(len(figure.title) for figure in figures)
    rows = [[shown(figure.values.get(column, "")) for column in columns] for figure in figures]
    widths = [max(map(len, cells)) for cells in zip(columns, *rows)]
    heads = (column.rjust(width) for column, width in zip(columns, widths))
    print(f"{title:{names}}  {'':{titles}}  {'  '.join(heads)}".rstrip())
    for figure, row in zip(figures, rows):
        cells = (cell.rjust(width) for cell, width in zip(row, widths))
        print(f"{figure.name:{names}}  {figure.title:{titles}}  {'  '.join(cells)}".rstrip())
    print()


def print_behind(tables, name):
    figure = next((figure for figures in tables.values() for figure in figures if figure.name == name), None)
    if figure is None:
        sys.exit(f"no figure is called {name}; the first column of the table has the names")
    print("\n".join(figure.behind))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `… | head` is no error
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--json", action="store_true", help="for programs, not for people")
    parser.add_argument("--list", metavar="FIGURE", help="what is behind one figure")
    parser.add_argument("--binary", type=Path, help="measured instead of target/release/fourfold")
    parser.add_argument("--times", type=Path, help="a file of lines `name seconds`, to be printed with the rest")
    options = parser.parse_args()
    tables = measure(Checkout(options.checkout), options.binary, options.times)
    if options.list:
        print_behind(tables, options.list)
    elif options.json:
        values = {title: {each.name: each.values for each in figures} for title, figures in tables.items()}
        print(json.dumps(values, indent=2))
    else:
        for title, figures in tables.items():
            print_table(title, figures)


if __name__ == "__main__":
    main()
