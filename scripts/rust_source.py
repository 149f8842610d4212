"""One Rust file, read well enough to measure it. No compiler is asked, so one that does not build is read too."""

import re
from bisect import bisect_right
from functools import cached_property

TOKEN = re.compile(
    r"""(?P<comment> //[^\n]* | /\*.*?\*/ )
      | \b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
      | "(?:\\.|[^"\\])*"
      | '(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\\n])' """,
    re.DOTALL | re.VERBOSE,
)
VISIBILITY = r"(?:pub(?:\([^)]*\))?\s+)?"
MODULE = re.compile(rf"^[ \t]*{VISIBILITY}mod\s+(\w+)\s*([;{{])", re.MULTILINE)
BRACKET = re.compile(r"[(\[{}\])]")
ATTRIBUTE = re.compile(r"\s*#!?\[")
CFG = re.compile(r"#!?\[cfg\(([^\]]*)\)\]")
FOR_TESTS = re.compile(r'(?<!not\()(?:\btest\b|feature\s*=\s*"[\w-]*(?:test|conformance)[\w-]*")')
ENDED_BY_SEMICOLON = re.compile(rf"{VISIBILITY}(?:use|let|type|static|const(?!\s+(?:fn|unsafe|async)\b))\b")
WITH_BODY = "fn|struct|enum|union|mod|impl|trait|macro_rules"
ENDED_BY_BODY = re.compile(rf"{VISIBILITY}(?:(?:async|const|unsafe)\s+)*(?:{WITH_BODY})\b")


def blanked(match):
    """The match with everything but its line breaks made blank, so that positions stay what they are."""
    return re.sub(r"[^\n]", " ", match[0])


def group_end(code, start):
    """The position behind the bracket that closes the one at `start`."""
    depth = 0
    for mark in BRACKET.finditer(code, start):
        depth += 1 if mark[0] in "([{" else -1
        if depth == 0:
            return mark.end()
    return len(code)


def behind_attributes(code, start):
    while attribute := ATTRIBUTE.match(code, start):
        start = group_end(code, attribute.end() - 1)
    return re.compile(r"\s*").match(code, start).end()


def end_of(code, start, ends):
    """The position behind the first of `ends` outside all brackets; of a brace, behind its group."""
    marks = re.compile(r"[(\[{}\]),;]")
    while mark := marks.search(code, start):
        if mark[0] in ends:
            return group_end(code, mark.start()) if mark[0] == "{" else mark.end()
        if mark[0] in ")]}":
            return mark.start()
        start = group_end(code, mark.start()) if mark[0] in "([{" else mark.end()
    return len(code)


def item_end(code, start):
    """Where the item, field or statement ends whose attributes begin at `start`."""
    start = behind_attributes(code, start)
    if ENDED_BY_SEMICOLON.match(code, start):
        return end_of(code, start, ";")
    return end_of(code, start, ";{" if ENDED_BY_BODY.match(code, start) else ",;{")


class Source:
    """`code` is the text with comments and literals made blank: positions are the same in both."""

    def __init__(self, file, root, module, is_test):
        self.file, self.name, self.module, self.is_test = file, file.relative_to(root).as_posix(), module, is_test
        self.text = file.read_text(encoding="utf-8")
        self.code = TOKEN.sub(blanked, self.text)
        self.without_comments = TOKEN.sub(lambda match: blanked(match) if match["comment"] else match[0], self.text)
        self.lines = self.text.removesuffix("\n").split("\n")
        self.line_starts = [0]
        for line in self.lines[:-1]:
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)

    @cached_property
    def test_spans(self):
        conditions = (match for match in CFG.finditer(self.without_comments) if self.code[match.start()] == "#")
        return [
            (match.start(), len(self.code) if match[0].startswith("#!") else item_end(self.code, match.start()))
            for match in conditions
            if FOR_TESTS.search(match[1])
        ]

    def in_test(self, at):
        return self.is_test or any(start <= at < end for start, end in self.test_spans)

    def line(self, at):
        """The number of the line that holds the position."""
        return bisect_right(self.line_starts, at)

    def place(self, at):
        return f"{self.name}:{self.line(at)}"

    def product(self, pattern):
        """Where the code of the product matches."""
        return (match for match in pattern.finditer(self.code) if not self.in_test(match.start()))

    @cached_property
    def line_kinds(self):
        """Of each line whether it is "code", "comment" or "blank", and whether it is a test's."""
        kinds = []
        for line, rest, start in zip(self.lines, self.without_comments.split("\n"), self.line_starts):
            kind = "code" if rest.strip() else "comment" if line.strip() else "blank"
            kinds.append((kind, self.in_test(start + len(line) - len(line.lstrip()))))
        return kinds

    def count(self, is_test, kinds=("code",)):
        """How many lines of these kinds there are."""
        return sum(kind in kinds and test == is_test for kind, test in self.line_kinds)

    @cached_property
    def inline_modules(self):
        bodies = (match for match in MODULE.finditer(self.code) if match[2] == "{")
        return [(match.end() - 1, group_end(self.code, match.end() - 1), match[1]) for match in bodies]

    def module_at(self, at):
        return self.module + tuple(name for start, end, name in self.inline_modules if start < at < end)

    def children(self):
        """The files of the modules that this one declares: file, path, whether only tests have it."""
        is_root = self.file.stem in ("lib", "main", "mod")
        folder = self.file.parent if is_root else self.file.with_suffix("")
        for match in MODULE.finditer(self.code):
            inside = self.module_at(match.start())[len(self.module) :]
            for name in (f"{match[1]}.rs", f"{match[1]}/mod.rs"):
                file = folder.joinpath(*inside, name)
                if match[2] == ";" and file.exists():
                    yield file, (*self.module, *inside, match[1]), self.in_test(match.start())
