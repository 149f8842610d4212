//! Moments on pages: in UTC as they are sent, which the frame's module turns into the visitor's own time.

use askama::Template;
use askama::filters::HtmlSafe;

use super::words;
use crate::http::texts::Language;
use crate::model::time::UnixMillis;

/// A day and the time of day.
#[derive(Clone, PartialEq, Eq, Debug, Template)]
#[template(source = r#"<time datetime="{{ at }}">{{ words }}</time>"#, ext = "html")]
pub(super) struct Moment {
    at: String,
    words: String,
}

impl HtmlSafe for Moment {}

impl Moment {
    pub(super) fn new(lang: Language, at: UnixMillis) -> Self {
        Self { at: at.to_string(), words: words::moment(lang, at) }
    }
}

/// A text with a moment in it.
#[derive(Clone, PartialEq, Eq, Debug, Template)]
#[template(source = "{{ before }}{{ moment }}{{ after }}", ext = "html")]
pub(super) struct TimedText {
    before: String,
    moment: Moment,
    after: String,
}

impl HtmlSafe for TimedText {}

impl TimedText {
    /// The text of this key, with the moment where its part of this name is.
    pub(super) fn new(lang: Language, key: &'static str, (name, at): (&str, UnixMillis)) -> Self {
        // A character that no text has, for the place is another one in each language.
        const PLACE: &str = "\u{0}";
        let text = lang.fill(key, &[(name, PLACE)]);
        let (before, after) = text.split_once(PLACE).unwrap_or((&text, ""));
        Self { before: before.to_owned(), moment: Moment::new(lang, at), after: after.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_says_which_it_is_to_people_and_to_the_module() {
        let noon = UnixMillis(1_795_000_000_000);
        let moment = Moment::new(Language::English, noon).to_string();
        assert_eq!(
            moment,
            format!("<time datetime=\"{noon}\">{}</time>", words::moment(Language::English, noon))
        );
        for lang in Language::ALL {
            let text = TimedText::new(lang, "correspondence.vacation_until", ("time", noon)).to_string();
            assert!(text.contains("<time datetime=") && !text.contains(['\0', '{']), "{text}");
            let plain = text.replace(&format!("<time datetime=\"{noon}\">"), "").replace("</time>", "");
            let filled = lang.fill("correspondence.vacation_until", &[("time", words::moment(lang, noon))]);
            assert_eq!(plain, filled);
        }
    }
}
