//! What a push service reads: who sends, for how long to keep it, and what it takes the place of. And what the browser
//! reads when it has decrypted the rest.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::Serialize;

use super::encryption::TEXT_BYTES_MAX;
use super::{Notice, Shown};
use crate::model::time::UnixMillis;
use crate::operations::outgoing::{Posting, Target};
use crate::system::vapid::VapidKey;

/// How long a token holds that says who sends: push services take up to a day.
const TOKEN_LASTS: Duration = Duration::from_hours(12);

/// Characters of what is shown, of title and of body: a fraction of a notice even if each takes six bytes.
const SHOWN_CHARS_MAX: usize = 200;

/// How push services know us.
#[derive(Debug)]
pub(crate) struct Sender {
    key: VapidKey,
    subject: String,
}

/// What the browser reads; `web/static/service-worker.js` does.
#[derive(Serialize)]
struct Text<'t> {
    title: &'t str,
    body: &'t str,
    /// Where a press on it leads.
    url: String,
    /// A later one of the same takes its place.
    tag: String,
    lang: &'t str,
}

#[derive(Serialize)]
struct TokenHead {
    typ: &'static str,
    alg: &'static str,
}

#[derive(Serialize)]
struct Claims<'c> {
    /// The origin of the push service.
    aud: String,
    /// Until when it holds, in seconds since 1970.
    exp: i64,
    sub: &'c str,
}

impl Sender {
    /// `subject` says where the operators of push services reach ours.
    pub(crate) fn new(key: VapidKey, subject: String) -> Self {
        Self { key, subject }
    }

    pub(super) fn public_key(&self) -> &str {
        self.key.public()
    }

    /// A request to a push service, unless there are no random numbers to sign it with.
    pub(super) fn posting(
        &self,
        target: &Target,
        notice: &Notice,
        body: Vec<u8>,
        now: UnixMillis,
    ) -> Option<Posting> {
        let token = self.token(target, now)?;
        let shown = format!("vapid t={token}, k={}", self.key.public());
        let mut authorization = HeaderValue::from_str(&shown).ok()?;
        authorization.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (header::AUTHORIZATION, authorization),
            (header::CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (HeaderName::from_static("ttl"), HeaderValue::from(notice.lasts().as_secs())),
            (HeaderName::from_static("topic"), HeaderValue::from_str(&notice.topic()).ok()?),
            (HeaderName::from_static("urgency"), HeaderValue::from_static(notice.urgency())),
            (header::USER_AGENT, HeaderValue::from_static("fourfold-push/1")),
        ]);
        Some(Posting { headers, body: Bytes::from(body) })
    }

    /// What proves to one push service, for some hours, that it is us (RFC 8292).
    fn token(&self, target: &Target, now: UnixMillis) -> Option<String> {
        let exp = now.later(TOKEN_LASTS).0 / 1_000;
        let claims = Claims { aud: target.origin(), exp, sub: &self.subject };
        let signed = format!("{}.{}", part(&TokenHead { typ: "JWT", alg: "ES256" }), part(&claims));
        let signature = self.key.sign(&signed).ok()?;
        Some(format!("{signed}.{signature}"))
    }
}

/// What the browser reads.
pub(super) fn text_of(shown: &Shown, notice: &Notice, language: &str) -> String {
    const { assert!(2 * 6 * SHOWN_CHARS_MAX < TEXT_BYTES_MAX, "what is shown fits, and what is beside it") };
    let (title, body) = (shortened(&shown.title), shortened(&shown.body));
    let text = Text { title, body, url: notice.path(), tag: notice.topic(), lang: language };
    serde_json::to_string(&text).expect("a struct of texts can be written")
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// A part of a token.
fn part(of: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_string(of).expect("a struct of texts and numbers can be written"))
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;
    use crate::system::vapid::NewVapidKey;

    const NOON: UnixMillis = UnixMillis(1_700_000_000_999);

    fn sender() -> Sender {
        let NewVapidKey { public, private } = VapidKey::generate().unwrap();
        Sender::new(VapidKey::read(&public, &private).unwrap(), "mailto:ops@example.org".into())
    }

    #[test]
    fn a_token_says_who_sends_to_whom_and_until_when() {
        let sender = sender();
        let target = Target::read("https://push.example:8443/send/1?x", 100).unwrap();
        let posting = sender.posting(&target, &Notice::Test, vec![1], NOON).unwrap();
        let authorization = posting.headers[header::AUTHORIZATION].to_str().unwrap();
        let (token, key) = authorization.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(key, sender.public_key());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let verifier = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(key));
        verifier.verify(signed.as_bytes(), &decoded(signature)).unwrap();
        let (head, claims) = signed.split_once('.').unwrap();
        let read = |text: &str| serde_json::from_slice::<Value>(&decoded(text)).unwrap();
        assert_eq!(read(head), serde_json::json!({"typ": "JWT", "alg": "ES256"}));
        let expected = serde_json::json!({
            "aud": "https://push.example:8443", "exp": 1_700_043_200, "sub": "mailto:ops@example.org",
        });
        assert_eq!(read(claims), expected);
        assert_eq!(posting.headers["ttl"], "300");
        assert!(!format!("{posting:?}").contains(token), "tokens stand in no log");
    }

    #[test]
    fn the_longest_text_fits_into_a_notice() {
        let long = || "\u{1}".repeat(1_000);
        let text = text_of(&Shown { title: long(), body: long() }, &Notice::Test, "de");
        assert!(text.len() <= TEXT_BYTES_MAX, "{}", text.len());
        assert_eq!(shortened("kurz"), "kurz");
    }
}
