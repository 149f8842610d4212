//! One Rust file, read well enough to judge it. No compiler is asked, so one that does not build is read too.

use std::ops::Range;

use crate::scan::{after_group, after_item, find_word, is_word, words};

/// A file of the repository. The views of its text have the same length, so a position means the same in all of them.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Comments and literals are blank, but for literals that are paths: attributes name functions so.
    pub(crate) code: String,
    /// What is compiled for tests only is blank too.
    pub(crate) product: String,
    pub(crate) is_test: bool,
    /// The modules with a body, the outer ones before those in them.
    bodies: Vec<(Range<usize>, String)>,
}

impl Source {
    pub(crate) fn new(path: String, text: String) -> Self {
        let code = without_comments_and_literals(&text);
        let product = without_tests(&code, &text);
        let mut source = Self { path, text, code, product, is_test: false, bodies: Vec::new() };
        let bodies = source.modules().filter_map(|module| Some((module.body?, module.name.to_owned())));
        source.bodies = bodies.collect();
        source
    }

    /// All of it is of tests.
    pub(crate) fn become_test(&mut self) {
        self.product = blank(&self.code, 0..self.code.len());
        self.is_test = true;
    }

    /// Whether it is the place itself (`a/b` is `a/b.rs`) or below it.
    pub(crate) fn is_in(&self, place: &str) -> bool {
        self.path.strip_prefix(place).is_some_and(|rest| matches!(rest, "" | ".rs") || rest.starts_with('/'))
    }

    /// The number of the line that holds the position.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    /// As editors open it: file and line.
    pub(crate) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.path, self.line(at))
    }

    /// Lines up to the unit tests at the end, comments included.
    pub(crate) fn product_lines(&self) -> usize {
        let end = self.product.trim_end().len();
        if end == 0 { 0 } else { self.line(end - 1) }
    }

    /// The modules that it declares.
    pub(crate) fn modules(&self) -> impl Iterator<Item = Declared<'_>> {
        words(&self.code).filter(|(_, word)| *word == "mod").filter_map(|(at, _)| self.module(at))
    }

    /// The modules with a body around the position, the outermost first.
    pub(crate) fn modules_around(&self, at: usize) -> impl Iterator<Item = String> {
        self.bodies.iter().filter(move |(body, _)| body.contains(&at)).map(|(_, name)| name.clone())
    }

    fn module(&self, at: usize) -> Option<Declared<'_>> {
        let (name_at, name) = words(&self.code[at + 3..]).next()?;
        let end = at + 3 + name_at + name.len();
        let rest = self.code[end..].trim_start();
        let body_at = self.code.len() - rest.len();
        let body = rest.starts_with('{').then(|| body_at..after_group(&self.code, body_at));
        let is_test = self.product.as_bytes()[at] == b' ';
        rest.starts_with(['{', ';']).then(|| Declared {
            at,
            name,
            path: self.path_attribute(at),
            body,
            is_test,
        })
    }

    /// What `#[path = "…"]` says just before the module.
    fn path_attribute(&self, at: usize) -> Option<&str> {
        let line = self.text[..at].trim_end_matches("pub ").trim_end().lines().next_back()?;
        line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]")
    }
}

/// `mod name;` or `mod name { … }`.
#[derive(Debug)]
pub(crate) struct Declared<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) path: Option<&'a str>,
    pub(crate) body: Option<Range<usize>>,
    pub(crate) is_test: bool,
}

/// The text with everything but line breaks made blank in the range.
pub(crate) fn blank(text: &str, range: Range<usize>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    blank_bytes(&mut bytes, range);
    String::from_utf8(bytes).expect("ranges begin and end between characters")
}

fn blank_bytes(bytes: &mut [u8], range: Range<usize>) {
    for byte in bytes[range].iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

fn without_comments_and_literals(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let Some(end) = end_of_token(text, at) else {
            at += 1;
            continue;
        };
        if is_path_literal(&text[at..end]) {
            blank_bytes(&mut bytes, at..at + 1);
            blank_bytes(&mut bytes, end - 1..end);
        } else {
            blank_bytes(&mut bytes, at..end);
        }
        at = end;
    }
    String::from_utf8(bytes).expect("tokens begin and end between characters")
}

/// `"crate::a::b"`, as in `#[serde(with = "crate::a::b")]`.
fn is_path_literal(token: &str) -> bool {
    let Some(inside) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    let is_ours = ["crate::", "self::", "super::"].iter().any(|start| inside.starts_with(start));
    is_ours && inside.bytes().all(|byte| is_word(byte) || byte == b':')
}

/// The end of the comment or literal that begins here.
fn end_of_token(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    let length = match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => string(rest),
        [b'\'', ..] => character(&text[at..])?,
        [b'r', ..] if at == 0 || !is_word(before_prefix(text, at)) => raw_string(rest)?,
        _ => return None,
    };
    Some(at + length)
}

/// The byte before a literal's `r`, or before the `b` or `c` before that.
fn before_prefix(text: &str, at: usize) -> u8 {
    let bytes = text.as_bytes();
    match bytes[at - 1] {
        b'b' | b'c' => at.checked_sub(2).map_or(b' ', |before| bytes[before]),
        byte => byte,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < rest.len() {
        match rest[at..at + 2] {
            [b'/', b'*'] => depth += 1,
            [b'*', b'/'] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// None for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest[1..].chars();
    match inside.next()? {
        '\\' => rest[3..].find('\'').map(|end| end + 4),
        one => (inside.next()? == '\'').then_some(one.len_utf8() + 2),
    }
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let end = [&b"\""[..], &vec![b'#'; hashes]].concat();
    let start = hashes + 2;
    let found = rest[start..].windows(end.len()).position(|window| window == end);
    Some(found.map_or(rest.len(), |at| start + at + end.len()))
}

/// Blanks the items, fields and statements behind `#[cfg(test)]` or behind a feature named after tests.
fn without_tests(code: &str, text: &str) -> String {
    let mut product = code.to_owned();
    for (at, _) in code.match_indices("cfg(") {
        let Some(start) = attribute_start(code, at) else { continue };
        let end = after_group(code, at + 3);
        if !is_for_tests(&code[at..end], &text[at..end]) {
            continue;
        }
        let is_inner = code[start..].starts_with("#!");
        let end = if is_inner { code.len() } else { after_item(code, start) };
        product = blank(&product, start..end);
    }
    product
}

/// Where `#[` or `#![` stands, if that is what `cfg(` at the position comes after.
fn attribute_start(code: &str, at: usize) -> Option<usize> {
    ["#[", "#!["].iter().find(|mark| code[..at].ends_with(**mark)).map(|mark| at - mark.len())
}

/// Whether the condition is met in tests only: `test` or a feature of theirs, and not its contrary.
fn is_for_tests(condition: &str, spelled: &str) -> bool {
    let is_test = find_word(condition, "test").is_some();
    let of_feature = condition.contains("feature") && spelled.contains("\"testing\"");
    (is_test || of_feature) && !condition.contains("not(")
}
