//! One mail as it goes over the wire: headers and a text, all of it plain ASCII. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model::mail::MailAddress;
use crate::model::time::UnixMillis;

/// Bytes of text in one encoded word of a header: with what stands around it 75 characters, by RFC 2047.
const WORD_BYTES: usize = 45;

/// Bytes in one line of the text, which has 76 characters then, by RFC 2045.
const LINE_BYTES: usize = 57;

/// One mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Letter {
    pub(crate) from: MailAddress,
    /// How the sender calls itself.
    pub(crate) sender: String,
    pub(crate) to: MailAddress,
    pub(crate) subject: String,
    pub(crate) body: String,
    /// The tag of the language.
    pub(crate) language: String,
    /// Tells it from all others.
    pub(crate) id: String,
    pub(crate) at: UnixMillis,
}

impl Letter {
    /// All of it, lines ended by CR and LF. Of what others chose, only addresses stand there as they are, and these
    /// have no characters that end a header.
    pub(crate) fn text(&self) -> String {
        let Self { from, sender, to, subject, body, language, id, at } = self;
        let date = at.mail_date();
        let headers = [
            format!("From: {} <{from}>", encoded(sender)),
            format!("To: <{to}>"),
            format!("Subject: {}", encoded(subject)),
            format!("Date: {date}"),
            format!("Message-ID: <{id}@{}>", from.host()),
            "Auto-Submitted: auto-generated".to_owned(),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=utf-8".to_owned(),
            format!("Content-Language: {}", plain(language)),
            "Content-Transfer-Encoding: base64".to_owned(),
        ];
        let body = body.replace("\r\n", "\n").replace('\n', "\r\n");
        let lines = body.as_bytes().chunks(LINE_BYTES).map(|line| STANDARD.encode(line));
        format!("{}\r\n\r\n{}", headers.join("\r\n"), lines.collect::<Vec<_>>().join("\r\n"))
    }
}

/// A text in a header: encoded words, one a line.
fn encoded(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if word.len() + letter.len_utf8() > WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let words = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    words.collect::<Vec<_>>().join("\r\n ")
}

/// The tag of a language, whatever it was made of.
fn plain(tag: &str) -> String {
    tag.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::operations::mail) fn letter() -> Letter {
        Letter {
            from: "arena@example.org".parse().unwrap(),
            sender: "Fourfold".into(),
            to: "ada@example.net".parse().unwrap(),
            subject: "Neues Passwort".into(),
            body: "Grüße\nund ein Link: https://fourfold.example/account/reset#c4m_x\n".into(),
            language: "de".into(),
            id: "abc".into(),
            at: UnixMillis(1_700_000_000_000),
        }
    }

    /// The text in a mail, decoded.
    pub(in crate::operations::mail) fn body_of(text: &str) -> String {
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        String::from_utf8(STANDARD.decode(body.replace("\r\n", "")).unwrap()).unwrap()
    }

    #[test]
    fn a_mail_has_its_headers_and_its_text() {
        let text = letter().text();
        for header in [
            "From: =?utf-8?B?Rm91cmZvbGQ=?= <arena@example.org>\r\n",
            "\r\nTo: <ada@example.net>\r\n",
            "\r\nSubject: =?utf-8?B?TmV1ZXMgUGFzc3dvcnQ=?=\r\n",
            "\r\nDate: Tue, 14 Nov 2023 22:13:20 +0000\r\n",
            "\r\nMessage-ID: <abc@example.org>\r\n",
            "\r\nContent-Language: de\r\n",
        ] {
            assert!(text.contains(header), "{text}");
        }
        assert_eq!(body_of(&text), letter().body.replace('\n', "\r\n"));
        assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 100), "{text}");
        assert_eq!(text.matches("\r\n\r\n").count(), 1);
    }

    #[test]
    fn no_text_makes_a_header_of_its_own() {
        let nasty = "x\r\nBcc: all@example.org\r\n\r\nanother mail";
        let letter =
            Letter { sender: nasty.into(), subject: nasty.into(), language: nasty.into(), ..letter() };
        let text = letter.text();
        assert!(!text.contains("Bcc: ") && !text.contains("another mail"), "{text}");
        assert_eq!(text.matches("\r\n\r\n").count(), 1, "{text}");
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let subject = "四目並べ".repeat(20);
        let text = encoded(&subject);
        assert!(text.lines().all(|line| line.trim().len() <= 75), "{text}");
        let decoded = text.lines().map(|line| {
            let word = line.trim().strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap();
            String::from_utf8(STANDARD.decode(word).unwrap()).unwrap()
        });
        assert_eq!(decoded.collect::<String>(), subject);
    }
}
