//! Whom one follows: friends first, those who are there before the others.

use std::collections::HashSet;

use askama::Template;
use axum::extract::State;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::{Badge, badge};
use crate::http::api::follows::FollowView;
use crate::http::leagues::OPPONENTS_MAX;
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::{Identity, PlayerKind};
use crate::storage::StoreError;

/// Somebody whom one follows.
pub(super) struct Followed {
    pub(super) name: PlayerName,
    badge: Option<Badge>,
    is_friend: bool,
    pub(super) is_online: bool,
    /// A game of theirs that can be watched.
    pub(super) game: Option<GameId>,
    /// What the button says by which one asks them for a game, if they can be asked now.
    invite: Option<&'static str>,
}

impl Followed {
    fn new(view: FollowView, has_met: bool) -> Self {
        let FollowView { name, kind, friend, online, game, .. } = view;
        let can_be_asked = online && kind == PlayerKind::Human;
        Self {
            badge: badge(kind),
            is_friend: friend,
            is_online: online,
            game,
            invite: can_be_asked.then_some(if has_met { "game.play_again" } else { "friends.challenge" }),
            name,
        }
    }

    /// The key of how it stands with them.
    fn state(&self) -> &'static str {
        match (&self.game, self.is_online) {
            (Some(_), _) => "friends.playing",
            (None, true) => "player.online",
            (None, false) => "friends.away",
        }
    }
}

#[derive(Template)]
#[template(path = "friends.html")]
struct FriendsPage {
    frame: LayoutFrame,
    /// Whether whoever looks may follow others: bots and guests do not.
    may_follow: bool,
    friends: Vec<Followed>,
    /// Those who do not follow back.
    others: Vec<Followed>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let player = follower(&visitor);
    let (friends, others) = match player {
        Some(player) => followed(&state, player).await?.into_iter().partition(|one| one.is_friend),
        None => (Vec::new(), Vec::new()),
    };
    let may_follow = player.is_some();
    let frame = visitor.frame(Tab::Friends, visitor.language().text("friends.title"));
    Ok(Html(FriendsPage { frame, may_follow, friends, others }.render()?))
}

/// Whoever looks, if they may follow others: people with an account.
pub(super) fn follower(visitor: &Visitor) -> Option<&Identity> {
    visitor.signed_in().map(|viewer| &viewer.identity).filter(|who| who.kind == PlayerKind::Human)
}

/// Whom somebody follows, those first who are there.
async fn followed(state: &AppState, player: &Identity) -> Result<Vec<Followed>, StoreError> {
    let met = state.store.crosstable(&player.id, Variant::STANDARD, OPPONENTS_MAX).await?;
    let met: HashSet<PlayerId> = met.into_iter().map(|against| against.opponent).collect();
    let views = FollowView::all(state, &player.id).await?;
    let shown = |view: FollowView| {
        let has_met = met.contains(&view.id);
        Followed::new(view, has_met)
    };
    let mut all: Vec<Followed> = views.into_iter().map(shown).collect();
    all.sort_by_key(|one| (!one.is_online, one.game.is_none()));
    Ok(all)
}

/// One's friends who are there, as the front page shows them.
pub(super) struct FriendsOnline {
    pub(super) online: Vec<Followed>,
}

/// Friends shown on the front page; the others are a press away.
const SHOWN_MAX: usize = 6;

impl FriendsOnline {
    /// Nothing for those who have no friends.
    pub(super) async fn of(state: &AppState, visitor: &Visitor) -> Result<Option<Self>, StoreError> {
        let Some(player) = follower(visitor) else { return Ok(None) };
        let views = FollowView::all(state, &player.id).await?;
        let friends: Vec<FollowView> = views.into_iter().filter(|view| view.friend).collect();
        if friends.is_empty() {
            return Ok(None);
        }
        let mut online: Vec<Followed> =
            friends.into_iter().filter(|view| view.online).map(|view| Followed::new(view, false)).collect();
        online.sort_by_key(|one| one.game.is_none());
        online.truncate(SHOWN_MAX);
        Ok(Some(Self { online }))
    }
}
