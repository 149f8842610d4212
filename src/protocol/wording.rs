//! What is wrong with a value, in words of JSON: who reads them may not know Rust, whose types are named by serde.

/// Says again what serde says. Our own words stay as they are.
pub(super) fn in_words_of_json(cause: &str) -> String {
    if let Some(rest) = cause.strip_prefix("unknown variant ") {
        return format!("unknown value {rest}");
    }
    let is_of_serde =
        ["invalid type: ", "invalid value: ", "invalid length "].iter().any(|start| cause.starts_with(start));
    // The last one: what was found may be a text of the client, with the same words in it.
    match cause.rsplit_once(", expected ").filter(|_| is_of_serde) {
        Some((found, expected)) => format!("{}, expected {}", found_as_json(found), allowed(expected)),
        None => cause.to_owned(),
    }
}

/// What was found.
fn found_as_json(found: &str) -> String {
    match found {
        "invalid type: map" => "invalid type: object".to_owned(),
        "invalid type: sequence" => "invalid type: array".to_owned(),
        "invalid value: map" => "invalid value: object".to_owned(),
        found => found.replacen("invalid type: floating point ", "invalid type: number ", 1),
    }
}

/// What is allowed.
fn allowed(expected: &str) -> String {
    let words = match expected {
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        // One of a list of names.
        "string or map" | "map with a single key" | "unit" => "a string",
        expected if expected.starts_with("struct ") => "an object",
        expected => return range(expected).unwrap_or_else(|| expected.to_owned()),
    };
    words.to_owned()
}

/// The whole numbers of a type, such as `u16` and `a nonzero u16`.
fn range(kind: &str) -> Option<String> {
    let positive = kind.strip_prefix("a nonzero ");
    let (sign, bits) = positive.unwrap_or(kind).split_at_checked(1)?;
    let bits = bits.parse::<u32>().ok().filter(|bits| [8, 16, 32, 64].contains(bits))?;
    let (min, max) = match (sign, positive) {
        ("u", None) => (0, (1_i128 << bits) - 1),
        ("u", Some(_)) => (1, (1_i128 << bits) - 1),
        ("i", None) => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        _ => return None,
    };
    Some(format!("a whole number from {min} to {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_rust_become_words_of_json() {
        for (cause, words) in [
            ("invalid type: map, expected struct Accepts", "invalid type: object, expected an object"),
            (
                "invalid length 1, expected struct BotInfo with 4 elements",
                "invalid length 1, expected an object",
            ),
            ("invalid type: sequence, expected f64", "invalid type: array, expected a number"),
            (
                "invalid value: integer `0`, expected a nonzero u16",
                "invalid value: integer `0`, expected a whole number from 1 to 65535",
            ),
            (
                "invalid type: floating point `0.5`, expected i8",
                "invalid type: number `0.5`, expected a whole number from -128 to 127",
            ),
            ("unknown variant `x`, expected `a` or `b`", "unknown value `x`, expected `a` or `b`"),
            (
                "invalid type: string \"map, expected f64\", expected u8",
                "invalid type: string \"map, expected f64\", expected a whole number from 0 to 255",
            ),
            ("missing field `time`", "missing field `time`"),
            ("a range is [low, high], expected u8", "a range is [low, high], expected u8"),
        ] {
            assert_eq!(in_words_of_json(cause), words);
        }
    }
}
