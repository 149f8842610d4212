//! Challenges that stand for long, links above all, as they are stored, and taken up again by the next process.

use std::time::{Duration, Instant};

use super::challenge::{Asked, Challenges, PendingChallenge, check_terms};
use super::lookup::PlayerLookup;
use crate::accounts::identity_of;
use crate::model::clock::GameTime;
use crate::model::player::{Identity, PlayerKind};
use crate::model::time::UnixMillis;
use crate::play::incident::failure;
use crate::protocol::terms::{SeriesLength, Terms, WireOpening, WireVariant};
use crate::protocol::{ErrorCode, WireError};
use crate::storage::StoreError;
use crate::storage::links::StoredLink;
use crate::storage::record::OpeningSource;
use crate::storage::writer::WriteError;

/// When somebody may try again whose link could not be stored.
const RETRY: Duration = Duration::from_secs(5);

/// The stored form of a challenge that is made now.
pub(super) fn stored(challenge: &PendingChallenge, key: Option<String>) -> StoredLink {
    let (from, terms) = (&challenge.from.identity, &challenge.terms);
    let opening = terms.opening.as_ref();
    StoredLink {
        id: challenge.id.clone(),
        maker: from.id.clone(),
        to: challenge.to.as_ref().map(|to| to.identity.id.clone()),
        guest: (from.kind == PlayerKind::Guest).then(|| from.name.clone()),
        variant: terms.variant.0,
        time: terms.time.control(),
        rated: terms.rated,
        is_load: terms.load,
        is_listed: challenge.is_listed,
        is_private: terms.private,
        opening: opening.map(|opening| OpeningSource { kind: opening.kind, moves: opening.moves.clone() }),
        games: terms.games.number(),
        side: terms.side,
        site: challenge.site.clone(),
        key,
        expires_at: UnixMillis::now().later(challenge.lasts()),
    }
}

/// A link of an earlier process.
pub(super) struct TakenUp {
    pub(super) challenge: PendingChallenge,
    pub(super) key: Option<String>,
    pub(super) asked: Asked,
}

/// Takes a stored link up. Nothing comes of one that has ended, whose maker is gone, or that is not allowed any more.
pub(super) async fn take_up(
    lookup: &PlayerLookup,
    link: StoredLink,
    now: Instant,
) -> Result<Option<TakenUp>, StoreError> {
    // A clock that was set back makes no link stand longer than a new one.
    let Some(terms) = terms_of(&link) else { return Ok(None) };
    let Some(maker) = maker_of(lookup, &link).await? else { return Ok(None) };
    let to = match &link.to {
        None => None,
        Some(to) => match lookup.store.player(to).await? {
            Some(to) => Some(identity_of(&to)),
            None => return Ok(None),
        },
    };
    let Ok(terms) = check_terms(&terms, &maker, to.as_ref()) else { return Ok(None) };
    let lasts = Challenges::expiry(&terms, &maker, to.as_ref());
    let left = link.expires_at.after(UnixMillis::now()).min(lasts);
    if left.is_zero() {
        return Ok(None);
    }
    let from = lookup.stored_party(maker, terms.variant.0).await?;
    let to = match to {
        None => None,
        Some(to) => Some(lookup.stored_party(to, terms.variant.0).await?),
    };
    let asked = Asked { to: link.to, terms: terms.clone(), is_listed: link.is_listed };
    let challenge = PendingChallenge {
        id: link.id,
        from,
        to,
        terms,
        expires: now + left,
        is_listed: link.is_listed,
        site: link.site,
        // Addresses are not stored: it counts for no network any more.
        _place: None,
    };
    Ok(Some(TakenUp { challenge, key: link.key, asked }))
}

async fn maker_of(lookup: &PlayerLookup, link: &StoredLink) -> Result<Option<Identity>, StoreError> {
    if let Some(stored) = lookup.store.player(&link.maker).await? {
        return Ok(Some(identity_of(&stored)));
    }
    let guest = |name| Identity { id: link.maker.clone(), name, kind: PlayerKind::Guest, owner: None };
    Ok(link.guest.clone().map(guest))
}

fn terms_of(link: &StoredLink) -> Option<Terms> {
    let opening = link.opening.as_ref();
    Some(Terms {
        time: GameTime::new(link.time).ok()?,
        rated: link.rated,
        variant: WireVariant(link.variant),
        opening: opening.map(|opening| WireOpening { kind: opening.kind, moves: opening.moves.clone() }),
        games: SeriesLength::checked(link.games)?,
        side: link.side,
        load: link.is_load,
        private: link.is_private,
    })
}

/// What its maker is told when a link could not be stored.
pub(super) fn unstored(cause: &WriteError) -> WireError {
    match cause {
        WriteError::Busy | WriteError::Obstructed(_) => {
            WireError::new(ErrorCode::Busy, format!("the challenge was not made: {cause}")).retry_in(RETRY)
        }
        WriteError::Refused(_) | WriteError::Store(_) => failure("the challenge could not be stored", cause),
    }
}
