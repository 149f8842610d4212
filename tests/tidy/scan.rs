//! Words and brackets of Rust code whose comments and literals are blank.

/// Whether the byte can be part of a name.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The names and keywords, each with its position.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code.as_bytes()[at..].iter().position(|byte| is_word(*byte))?;
        let length = code.as_bytes()[start..].iter().take_while(|byte| is_word(**byte)).count();
        at = start + length;
        Some((start, &code[start..at]))
    })
}

/// Where the word first stands by itself.
pub(crate) fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_whole = |at: usize| {
        let (before, after) = (text[..at].bytes().next_back(), text[at + word.len()..].bytes().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    text.match_indices(word).map(|(at, _)| at).find(|at| is_whole(*at))
}

/// The position behind the bracket that closes the one here.
pub(crate) fn after_group(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// The position behind the first of the marks outside all brackets; of a brace, behind its group.
pub(crate) fn after_first(code: &str, start: usize, marks: &[u8]) -> usize {
    let mut at = start;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'{' if marks.contains(&b'{') => return after_group(code, at),
            mark if marks.contains(mark) => return at + 1,
            b'(' | b'[' | b'{' => at = after_group(code, at),
            b')' | b']' | b'}' => return at,
            _ => at += 1,
        }
    }
    at
}

/// Where the item, field or statement ends whose attributes begin here.
pub(crate) fn after_item(code: &str, start: usize) -> usize {
    let start = after_attributes(code, start);
    match first_keyword(code, start) {
        "use" | "let" | "type" | "static" | "const" => after_first(code, start, b";"),
        "fn" | "struct" | "enum" | "union" | "mod" | "impl" | "trait" | "macro_rules" => {
            after_first(code, start, b";{")
        }
        _ => after_first(code, start, b",;{"),
    }
}

fn after_attributes(code: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if !code[at..].starts_with('#') {
            return at;
        }
        at = after_group(code, at);
    }
}

/// The word that says what kind of item begins here, behind its visibility and the like.
fn first_keyword(code: &str, start: usize) -> &str {
    let mut at = start;
    if code[at..].starts_with("pub(") {
        at = after_group(code, at + 3);
    }
    let end = after_first(code, at, b";{,=");
    let mut found = words(&code[at..end]).map(|(_, word)| word).skip_while(|word| *word == "pub").peekable();
    let Some(first) = found.next() else { return "" };
    let before_fn = |word: &str| matches!(word, "async" | "unsafe" | "const" | "extern");
    match found.peek() {
        Some(next) if before_fn(first) && (*next == "fn" || before_fn(next)) => "fn",
        Some(&kind @ ("impl" | "trait")) if before_fn(first) => kind,
        _ => first,
    }
}
