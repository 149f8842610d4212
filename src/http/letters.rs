//! What mails say, in the language of whoever reads them.

use std::fmt::Write as _;

use super::texts::Language;
use crate::model::time::UnixMillis;
use crate::operations::mail::{MailWords, Occasion, Wording};

/// The mail with which an operator tries how mails are sent.
const TEST: (&str, &str) = (
    "A test of mails",
    "This mail says nothing: an operator of a Fourfold arena tries whether mails arrive. This one has.\n",
);

/// Knows the words of mails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters;

impl MailWords for Letters {
    fn words(&self, language: &str, occasion: &Occasion) -> Wording {
        let language = Language::of_tag(language).unwrap_or(Language::ALL[0]);
        match occasion {
            Occasion::Verify { account, link } => {
                let name = &[("name", account.as_str())];
                let body = [language.fill("mail.verify_body", name), link.expose().to_owned()];
                letter(language.text("mail.verify_subject"), &body, language.text("mail.not_you"))
            }
            Occasion::Reset { account, link } => {
                let name = &[("name", account.as_str())];
                let body = [language.fill("mail.reset_body", name), link.expose().to_owned()];
                letter(&language.fill("mail.reset_subject", name), &body, language.text("mail.not_you"))
            }
            Occasion::Replaced { account, settings } => {
                let name = &[("name", account.as_str())];
                let body = [language.fill("mail.replaced_body", name)];
                let end = format!("{}\n{settings}", language.text("mail.replaced_settings"));
                letter(&language.fill("mail.replaced_subject", name), &body, &end)
            }
            Occasion::Paused { bot, fault, until, page, settings } => {
                let name = &[("name", bot.as_str())];
                let fault = language.text(fault_key(fault)).to_owned();
                let until = until.map(UnixMillis::minute).unwrap_or_default();
                let body =
                    [language.fill("mail.paused_body", &[("name", bot.as_str()), ("until", &until)]), fault];
                let more = format!("{}\n{page}", language.text("mail.paused_page"));
                let end = format!("{}\n{settings}", language.text("mail.paused_settings"));
                let body = [body.as_slice(), &[more]].concat();
                letter(&language.fill("mail.paused_subject", name), &body, &end)
            }
            Occasion::Turn { opponent, left, page, settings } => {
                let left = language.rough_time(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
                let values = &[("name", opponent.as_str()), ("time", &left)];
                let body = [
                    language.fill("mail.turn_body", values),
                    format!("{}\n{page}", language.text("mail.turn_page")),
                ];
                let end = format!("{}\n{settings}", language.text("mail.paused_settings"));
                letter(&language.fill("mail.turn_subject", values), &body, &end)
            }
            Occasion::Test => Wording { subject: TEST.0.to_owned(), body: TEST.1.to_owned() },
        }
    }
}

/// The key of how a bot broke off last.
fn fault_key(fault: &str) -> &'static str {
    match fault {
        "time" => "mail.fault_time",
        "illegal" => "mail.fault_illegal",
        "absent" => "mail.fault_absent",
        _ => "mail.fault_failed",
    }
}

/// Paragraphs with a line between them.
fn letter(subject: &str, paragraphs: &[String], end: &str) -> Wording {
    let mut body = String::new();
    for paragraph in paragraphs {
        // Writing to a string does not fail.
        let _ = write!(body, "{paragraph}\n\n");
    }
    body.push_str(end);
    body.push('\n');
    Wording { subject: subject.to_owned(), body }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::operations::mail::MailedLink;

    #[test]
    fn mails_say_all_that_there_is_to_say_in_every_language() {
        let link = || MailedLink::of("https://fourfold.example/account/reset#c4m_x");
        let occasions = |fault| {
            [
                (Occasion::Verify { account: "Ada".parse().unwrap(), link: link() }, vec!["Ada", "#c4m_x"]),
                (Occasion::Reset { account: "Ada".parse().unwrap(), link: link() }, vec!["Ada", "#c4m_x"]),
                (
                    Occasion::Replaced {
                        account: "Ada".parse().unwrap(),
                        settings: "https://fourfold.example/account".into(),
                    },
                    vec!["Ada", "/account\n"],
                ),
                (
                    Occasion::Paused {
                        bot: "six".parse().unwrap(),
                        fault,
                        until: Some(UnixMillis(1_700_000_000_000)),
                        page: "https://fourfold.example/bot/six".into(),
                        settings: "https://fourfold.example/account".into(),
                    },
                    vec!["six", "2023-11-14 22:13 UTC", "/bot/six", "/account\n"],
                ),
                (
                    Occasion::Turn {
                        opponent: "Bob".parse().unwrap(),
                        left: Duration::from_hours(71),
                        page: "https://fourfold.example/game/g1".into(),
                        settings: "https://fourfold.example/account".into(),
                    },
                    vec!["Bob", "2", "/game/g1\n", "/account\n"],
                ),
            ]
        };
        for language in Language::ALL {
            for fault in ["time", "illegal", "absent", "failed"] {
                for (occasion, said) in occasions(fault) {
                    let Wording { subject, body } = Letters.words(language.tag(), &occasion);
                    assert!(!subject.is_empty() && !subject.contains('{'), "{subject}");
                    assert!(!body.contains('{'), "{body}");
                    assert!(said.iter().all(|said| body.contains(said)), "{body}");
                    // A link stands alone in its line, so that readers of mail find its end.
                    assert!(
                        body.lines().all(|line| !line.contains("https") || !line.contains(' ')),
                        "{body}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_language_that_is_unknown_is_english() {
        let words = |language: &str| {
            Letters.words(
                language,
                &Occasion::Reset { account: "Ada".parse().unwrap(), link: MailedLink::of("x") },
            )
        };
        assert_eq!(words("tlh"), words("en"));
        assert_ne!(words("de"), words("en"));
    }
}
