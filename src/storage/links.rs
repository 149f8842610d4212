//! Challenges that stand for a day or longer: links to open ones, and those by correspondence to somebody.

use async_trait::async_trait;
use fourfold_engine::Variant;

use super::error::StoreError;
use super::record::OpeningSource;
use crate::model::clock::TimeControl;
use crate::model::ids::{ChallengeId, PlayerId, PlayerName};
use crate::model::opening::SideChoice;
use crate::model::time::UnixMillis;
use crate::system::config::SiteOrigin;

/// An open challenge, to whoever opens its link, or one that somebody has days to answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column, and a box to tick")]
pub struct StoredLink {
    /// The last part of the link.
    pub(crate) id: ChallengeId,
    pub(crate) maker: PlayerId,
    /// Who is asked; nobody in particular for an open one.
    pub(crate) to: Option<PlayerId>,
    /// The name of a maker without an account, who may be stored nowhere else.
    pub(crate) guest: Option<PlayerName>,
    pub(crate) variant: Variant,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    pub(crate) rated: bool,
    /// Whether the games only put load on the arena.
    pub(crate) is_load: bool,
    /// Whether it stands in the list of open offers.
    pub(crate) is_listed: bool,
    /// Whether the games are in no list.
    pub(crate) is_private: bool,
    /// With which moves they begin, if that was asked for.
    pub(crate) opening: Option<OpeningSource>,
    pub(crate) games: u32,
    /// What the maker plays in the first one.
    pub(crate) side: SideChoice,
    /// Where the maker has found the site.
    pub(crate) site: Option<SiteOrigin>,
    /// The maker's own key, by which the request is known when it comes again.
    pub(crate) key: Option<String>,
    pub(crate) expires_at: UnixMillis,
}

/// The part of a store that is about links to open challenges.
#[async_trait]
pub trait LinkStore {
    /// All of them, those that end first before the others; also those that have ended and that nobody has closed.
    /// Damaged ones are left out, with a line in the log.
    async fn links(&self) -> Result<Vec<StoredLink>, StoreError>;
}
