//! What browsers show, in the language of whoever reads it.

use super::texts::Language;
use crate::operations::push::{Notice, NoticeWords, Shown};

/// Knows the words of notices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notices;

impl NoticeWords for Notices {
    fn words(&self, language: &str, notice: &Notice) -> Shown {
        let language = Language::of_tag(language).unwrap_or(Language::ALL[0]);
        let (title, body) = match notice {
            Notice::Turn { opponent, left, .. } => {
                let left = language.rough_time(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
                let title = language.fill("mail.turn_subject", &[("name", opponent.as_str())]);
                (title, language.fill("correspondence.left", &[("time", left)]))
            }
            Notice::Challenge { from, .. } => {
                (language.fill("challenge.invites", &[("name", from.spoken())]), String::new())
            }
            Notice::Tournament { name, .. } => {
                (language.fill("push.tournament", &[("name", name)]), String::new())
            }
            Notice::Test => (language.text("push.test_title").to_owned(), String::new()),
        };
        Shown { title, body }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn notices_say_what_has_happened_in_every_language() {
        let notices = [
            (
                Notice::Turn {
                    game: "g1".parse().unwrap(),
                    opponent: "Bob".parse().unwrap(),
                    left: Duration::from_hours(71),
                },
                "Bob",
            ),
            (
                Notice::Challenge {
                    challenge: "c1".parse().unwrap(),
                    from: "Bob".parse().unwrap(),
                    lasts: Duration::from_secs(20),
                },
                "Bob",
            ),
            (Notice::Tournament { id: "T1".parse().unwrap(), name: "Cup".into() }, "Cup"),
            (Notice::Test, ""),
        ];
        for language in Language::ALL {
            for (notice, said) in &notices {
                let Shown { title, body } = Notices.words(language.tag(), notice);
                assert!(title.contains(said) && !title.is_empty(), "{title}");
                assert!(!title.contains('{') && !body.contains('{'), "{title} {body}");
            }
        }
        let turn = Notices.words("en", &notices[0].0);
        assert_eq!((turn.title.as_str(), turn.body.as_str()), ("Your turn against Bob", "2 days left"));
        assert_eq!(Notices.words("tlh", &Notice::Test), Notices.words("en", &Notice::Test));
    }
}
