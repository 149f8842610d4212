//! Random credentials: bots' tokens and the cookies of people who signed in.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::model::secret::Secret;
use crate::storage::record::{StoredToken, TokenKind};

/// Random bytes in a secret: nobody guesses 256 bits, so a fast hash is enough to store it.
const SECRET_BYTES: usize = 32;

/// Characters of these bytes in base64url without padding.
const ENCODED_CHARS: usize = (SECRET_BYTES * 4).div_ceil(3);

/// Starts every bot's token, so that secret scanners know it.
pub(crate) const BOT_PREFIX: &str = "c4b_";

/// Starts every session cookie, which tells it from a guest's.
pub(crate) const SESSION_PREFIX: &str = "c4s_";

/// Starts the secret of every link in a mail.
const LINK_PREFIX: &str = "c4m_";

fn prefix(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Bot => BOT_PREFIX,
        TokenKind::Session => SESSION_PREFIX,
    }
}

/// Draws a fresh secret.
pub(super) fn draw(kind: TokenKind, rng: &mut impl Rng) -> Secret {
    draw_with(prefix(kind), rng)
}

/// Draws the secret of a link in a mail.
pub(super) fn draw_link(rng: &mut impl Rng) -> Secret {
    draw_with(LINK_PREFIX, rng)
}

fn draw_with(prefix: &str, rng: &mut impl Rng) -> Secret {
    let mut bytes = [0; SECRET_BYTES];
    rng.fill_bytes(&mut bytes);
    Secret::new(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// Whether the text could be a secret of this kind: anything else is not worth a look into the store.
pub(super) fn has_form(kind: TokenKind, secret: &Secret) -> bool {
    has_form_with(prefix(kind), secret)
}

/// The same of links in mails.
pub(super) fn is_link(secret: &Secret) -> bool {
    has_form_with(LINK_PREFIX, secret)
}

fn has_form_with(prefix: &str, secret: &Secret) -> bool {
    secret.expose().strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == ENCODED_CHARS
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    })
}

/// What is stored in place of the secret.
pub(super) fn digest(secret: &Secret) -> [u8; 32] {
    Sha256::digest(secret.expose()).into()
}

/// Whether a stored token is the one with this digest and of this kind. The store found it by the digest; comparing
/// once more, in constant time, leaves nothing to how a database compares.
pub(super) fn matches(token: &StoredToken, kind: TokenKind, digest: &[u8; 32]) -> bool {
    bool::from(token.digest.ct_eq(digest)) && token.kind == kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    #[test]
    fn secrets_have_their_form_and_differ() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let token = draw(TokenKind::Bot, &mut rng);
        assert!(has_form(TokenKind::Bot, &token));
        assert!(!has_form(TokenKind::Session, &token));
        assert_ne!(token, draw(TokenKind::Bot, &mut rng));
    }

    #[test]
    fn other_texts_do_not_have_the_form() {
        let short = format!("c4b_{}", "a".repeat(ENCODED_CHARS - 1));
        let long = format!("c4b_{}", "a".repeat(ENCODED_CHARS + 1));
        let strange = format!("c4b_{}", "+".repeat(ENCODED_CHARS));
        for text in ["", "c4b_", &short, &long, &strange] {
            assert!(!has_form(TokenKind::Bot, &Secret::new(text)), "{text}");
        }
    }
}
