//! People without an account: who they are stands, signed, in their cookie. Nothing is stored until they play.

use sha2::{Digest, Sha256};

use crate::model::ids::{GONE_PREFIX, GUEST_PREFIX, PlayerId, PlayerName, SUFFIX_ALPHABET, SUFFIX_CHARS};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::secret::Secret;
use crate::model::signing::{Purpose, Signer};
use crate::storage::record::StoredPlayer;

use crate::model::time::UnixMillis;

/// How long a guest stays the same guest: 90 days. After that the browser gets a new identity.
pub(crate) const GUEST_LIFETIME_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// Parts of the signed payload.
const SEPARATOR: char = ' ';

/// A guest with this id. `attempt` counts from 0 and gives another name when the one before was taken.
pub(super) fn identity(id: PlayerId, attempt: u8) -> Identity {
    Identity { name: name(&id, attempt), id, kind: PlayerKind::Guest, owner: None }
}

/// Whether a stored player is a guest still, and not somebody who made an account or left.
pub(crate) fn is_guest(player: &StoredPlayer) -> bool {
    player.kind == PlayerKind::Guest && player.name.key().starts_with(GUEST_PREFIX)
}

/// What somebody who left is called. `attempt` is as for [`identity`].
pub(super) fn gone_name(id: &PlayerId, attempt: u8) -> PlayerName {
    made_up_name(GONE_PREFIX, id, attempt)
}

fn name(id: &PlayerId, attempt: u8) -> PlayerName {
    made_up_name(GUEST_PREFIX, id, attempt)
}

fn made_up_name(prefix: &str, id: &PlayerId, attempt: u8) -> PlayerName {
    let digest = Sha256::new().chain_update(id.as_str()).chain_update([attempt]).finalize();
    let letter = |byte: &u8| char::from(SUFFIX_ALPHABET[usize::from(*byte) % SUFFIX_ALPHABET.len()]);
    let suffix: String = digest.iter().take(SUFFIX_CHARS).map(letter).collect();
    format!("{prefix}{suffix}").parse().expect("prefix and suffix keep the rule for names")
}

/// The cookie of a guest.
pub(super) fn sign(signer: &Signer, id: &PlayerId, expires_at: UnixMillis) -> Secret {
    let payload = format!("{id}{SEPARATOR}{}", expires_at.0);
    Secret::new(signer.sign(Purpose::Guest, payload.as_bytes()))
}

/// The guest whose cookie this is, and until when, unless it has expired or is not ours.
pub(super) fn verify(signer: &Signer, cookie: &Secret, now: UnixMillis) -> Option<(PlayerId, UnixMillis)> {
    let payload = signer.verify(Purpose::Guest, cookie.expose())?;
    let (id, expires_at) = std::str::from_utf8(&payload).ok()?.split_once(SEPARATOR)?;
    let expires_at = UnixMillis(expires_at.parse().ok()?);
    (now < expires_at).then_some((id.parse().ok()?, expires_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::new(&[1; crate::model::signing::KEY_BYTES])
    }

    fn id() -> PlayerId {
        "abcdefghij".parse().unwrap()
    }

    #[test]
    fn a_guest_stays_who_they_are_until_the_cookie_expires() {
        let cookie = sign(&signer(), &id(), UnixMillis(1_000));
        let expected = Some((id(), UnixMillis(1_000)));
        assert_eq!(verify(&signer(), &cookie, UnixMillis(999)), expected);
        assert_eq!(verify(&signer(), &cookie, UnixMillis(1_000)), None);
    }

    #[test]
    fn names_follow_from_the_id_and_differ_by_attempt() {
        let first = identity(id(), 0).name;
        assert_eq!(first, identity(id(), 0).name);
        assert_ne!(first, identity(id(), 1).name);
        assert!(first.as_str().starts_with("guest-") && first.as_str().len() == 12, "{first}");
    }

    #[test]
    fn nobody_can_register_a_guest_name() {
        assert!(PlayerName::register(identity(id(), 0).name.as_str()).is_err());
    }
}
