//! What the secret of a session says: enough to go on with it after the daemon was killed and started again, without
//! anything being stored for it.

use crate::model::ids::{PlayerId, PlayerName, SessionId, TokenId};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::signing::{Purpose, Signer};
use crate::model::time::UnixMillis;

/// How long the secret of a guest's session that is gone says who the guest is: a day, as a guest's longest game. The
/// cookie of a browser says it for longer.
const GUEST_LIFETIME_MS: i64 = 24 * 60 * 60 * 1_000;

/// The content of a session's secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ResumeToken {
    pub(super) session: SessionId,
    pub(super) player: PlayerId,
    /// The stored credential that it rests on; none for guests.
    pub(super) credential: Option<TokenId>,
    /// When the session was opened.
    pub(super) issued_at: UnixMillis,
    name: PlayerName,
}

impl ResumeToken {
    pub(super) fn new(
        session: &SessionId,
        identity: &Identity,
        credential: Option<TokenId>,
        issued_at: UnixMillis,
    ) -> Self {
        Self {
            session: session.clone(),
            player: identity.id.clone(),
            credential,
            issued_at,
            name: identity.name.clone(),
        }
    }

    /// The guest it was made for. Everybody else is in the store.
    pub(super) fn identity(&self) -> Identity {
        Identity { id: self.player.clone(), name: self.name.clone(), kind: PlayerKind::Guest, owner: None }
    }

    /// Whether it is too old to prove on its own, with no credential behind it, who a guest is.
    pub(super) fn has_expired(&self, now: UnixMillis) -> bool {
        now.0.saturating_sub(self.issued_at.0) > GUEST_LIFETIME_MS
    }

    /// Five words, signed: session, player, name, time, credential.
    pub(super) fn write(&self, signer: &Signer) -> String {
        let credential = self.credential.as_ref().map_or("-", TokenId::as_str);
        let words =
            format!("{} {} {} {} {credential}", self.session, self.player, self.name, self.issued_at.0);
        signer.sign(Purpose::Session, words.as_bytes())
    }

    /// Reads [`Self::write`] back; `None` if we did not write it.
    pub(super) fn read(signer: &Signer, secret: &str) -> Option<Self> {
        let words = String::from_utf8(signer.verify(Purpose::Session, secret)?).ok()?;
        let mut words = words.split(' ');
        let token = Self {
            session: words.next()?.parse().ok()?,
            player: words.next()?.parse().ok()?,
            name: words.next()?.parse().ok()?,
            issued_at: UnixMillis(words.next()?.parse().ok()?),
            credential: match words.next()? {
                "-" => None,
                id => Some(id.parse().ok()?),
            },
        };
        words.next().is_none().then_some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::signing::KEY_BYTES;

    #[test]
    fn a_resume_token_expires_after_a_day_whatever_the_clock_says() {
        let identity = Identity {
            id: "p1".parse().unwrap(),
            name: "guest-abc".parse().unwrap(),
            kind: PlayerKind::Guest,
            owner: None,
        };
        let expired = |issued_at, now| {
            let token = ResumeToken::new(&"s1".parse().unwrap(), &identity, None, UnixMillis(issued_at));
            token.has_expired(UnixMillis(now))
        };
        assert!(!expired(5, 5 + GUEST_LIFETIME_MS));
        assert!(expired(5, 6 + GUEST_LIFETIME_MS));
        assert!(!expired(5, i64::MIN), "the clock was set back");
        assert!(expired(i64::MIN, i64::MAX));
    }

    #[test]
    fn a_resume_token_reads_back_and_a_changed_one_does_not() {
        let signer = Signer::new(&[7; KEY_BYTES]);
        let identity = Identity {
            id: "p1".parse().unwrap(),
            name: "guest-abc".parse().unwrap(),
            kind: PlayerKind::Guest,
            owner: None,
        };
        for credential in [None, Some("t1".parse().unwrap())] {
            let token = ResumeToken::new(&"s1".parse().unwrap(), &identity, credential, UnixMillis(5));
            let secret = token.write(&signer);
            assert_eq!(ResumeToken::read(&signer, &secret), Some(token));
            assert_eq!(ResumeToken::read(&Signer::new(&[8; KEY_BYTES]), &secret), None);
        }
    }
}
