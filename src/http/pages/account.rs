//! Signing up, in and out; bots of one's own.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Html;

use super::Page;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::moment::TimedText;
use super::words;
use crate::http::api::fair_play::OwnDecisions;
use crate::http::assets;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::device::{Browser, Device, System};
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::invitation::InvitationCode;
use crate::model::player::{Identity, PlayerKind};
use crate::model::portrait::{Flag, Picture, Portrait};
use crate::operations::push::Pusher;
use crate::storage::mails::StoredMail;
use crate::storage::record::{StoredPlayer, StoredToken};
use crate::storage::store::Teaching;
use crate::storage::webhooks::{NoAnswer, Outcome};
use crate::system::config::Registration;

/// The shell lines that start a bot of the Python kit. What stands in braces is filled in by the page, where the token
/// is seen, this once.
const START_LINES: &str = "curl -s {site}/kits/python.tar | tar x && cd fourfold-python
export FOURFOLD_URL={socket} FOURFOLD_TOKEN={token}
python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/python examples/random_bot.py";

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: LayoutFrame,
    /// People own bots; somebody who comes with a bot's token does not.
    may_own_bots: bool,
    bots: Vec<String>,
    start_lines: &'static str,
    sessions: Vec<SessionLine>,
    /// Where messages about one's bots go, or would: of whoever has bots, where there are messages.
    webhook: Option<WebhookBox>,
    /// Where the person has their mail, or might, where mails are sent.
    mail: Option<MailBox>,
    /// What the page needs to have this browser show notices, where that is done.
    push: Option<PushBox>,
    /// Whether mails are sent, so that a forgotten password is no lost account.
    sends_mail: bool,
    /// What a person shows, and may choose.
    portrait: Option<PortraitBox>,
    /// Whom the person blocks.
    blocked: Vec<PlayerName>,
    /// Whether bots of the house may learn from the person's games.
    may_teach: bool,
    /// How the person's hard decisions stand, where games are judged.
    decisions: Option<String>,
    /// Said to a guest who has played.
    keep_games: Option<String>,
    /// Who may make an account.
    registration: Registration,
    /// The code in the address, which operators pass on.
    invitation: String,
}

/// What a browser needs to show notices.
struct PushBox {
    public_key: String,
    /// The tag of the language in which somebody reads this page, and will read notices.
    language: &'static str,
}

impl PushBox {
    fn new(language: Language, pusher: &Pusher) -> Self {
        Self { public_key: pusher.public_key().to_owned(), language: language.tag() }
    }
}

/// The address to which it is told what happens to one's bots, if there is one.
#[derive(Default)]
struct WebhookBox {
    url: String,
    /// Whether too much failed there.
    is_paused: bool,
    /// How the last message went.
    last: String,
}

/// The mail address of an account, if it has one.
#[derive(Default)]
struct MailBox {
    address: String,
    is_verified: bool,
    /// Whether mails are wanted when a bot is paused.
    notices: bool,
    /// The tag of the language in which somebody reads this page, and will read mails.
    language: &'static str,
}

impl MailBox {
    fn new(language: Language, mail: Option<StoredMail>) -> Self {
        let empty = Self { language: language.tag(), ..Self::default() };
        let Some(mail) = mail else { return empty };
        let (address, is_verified) = (mail.address.to_string(), mail.verified_at.is_some());
        Self { address, is_verified, notices: mail.notices, ..empty }
    }
}

/// A browser that is signed in.
struct SessionLine {
    id: TokenId,
    device: String,
    since: TimedText,
    /// When it was used last, unless that was just when it began.
    used: Option<TimedText>,
    is_current: bool,
}

impl SessionLine {
    fn new(lang: Language, session: StoredToken, here: Option<&TokenId>) -> Self {
        let at = |key, at| TimedText::new(lang, key, ("date", at));
        Self {
            is_current: here == Some(&session.id),
            device: device(lang, session.device.unwrap_or_default()),
            since: at("account.session_since", session.created_at),
            used: session.used_at.map(|used_at| at("account.session_used", used_at)),
            id: session.id,
        }
    }
}

/// How the person's hard decisions stand, in one sentence; nothing where games are not judged.
fn decisions(state: &AppState, language: Language, player: &PlayerId) -> Option<String> {
    state.evidence.as_ref()?;
    let OwnDecisions { hard, kept, usual_from: from, usual_to: to, .. } = OwnDecisions::of(state, player);
    if hard == 0 {
        return Some(language.text("fair_play.nothing").to_owned());
    }
    let numbers = [("hard", hard), ("kept", kept), ("from", from), ("to", to)];
    Some(language.fill("fair_play.stands", &numbers))
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, RawQuery(query): RawQuery) -> Page {
    let owner =
        visitor.signed_in().map(|viewer| &viewer.identity).filter(|who| who.kind == PlayerKind::Human);
    let (bots, sessions) = match owner {
        Some(owner) => (state.store.bots_of(&owner.id).await?, state.accounts.sessions(&owner.id).await?),
        None => (Vec::new(), Vec::new()),
    };
    let may_teach = match owner {
        Some(owner) => state.store.teaching(&owner.id).await? == Teaching::Allowed,
        None => true,
    };
    let language = visitor.language();
    let webhook = match owner {
        Some(owner) => webhook_box(&state, language, &owner.id, &bots).await?,
        None => None,
    };
    let mail = match owner.filter(|_| state.mailer.is_some()) {
        Some(owner) => Some(MailBox::new(language, state.accounts.mail(&owner.id).await?)),
        None => None,
    };
    let here = visitor.signed_in().and_then(|viewer| viewer.credential.token());
    let sessions = sessions.into_iter().map(|session| SessionLine::new(language, session, here)).collect();
    let keep_games = stored_guest(&state, &visitor)
        .await?
        .map(|name| language.fill("account.keep_games", &[("name", name.spoken())]));
    let page = AccountPage {
        frame: visitor.frame(Tab::Account, title(language, owner)),
        may_own_bots: owner.is_some(),
        bots: bots.iter().map(|bot| bot.name.to_string()).collect(),
        start_lines: START_LINES,
        sessions,
        webhook,
        mail,
        push: owner.and(state.pusher.as_ref()).map(|pusher| PushBox::new(language, pusher)),
        sends_mail: state.mailer.is_some(),
        portrait: portrait(&state, owner).await?,
        blocked: blocked(&state, owner).await?,
        may_teach,
        decisions: owner.and_then(|owner| decisions(&state, language, &owner.id)),
        keep_games,
        registration: state.access.registration,
        invitation: invitation_in(query.as_deref().unwrap_or_default()),
    };
    Ok(Html(page.render()?))
}

fn title(language: Language, owner: Option<&Identity>) -> &'static str {
    if owner.is_some() { language.text("account.yours") } else { language.text("account.sign_in") }
}

/// What a person shows, and what there is to choose.
struct PortraitBox {
    /// Where the pictures are.
    pictures_url: String,
    /// Each with whether it is the one: chosen, or that of the name.
    pictures: Vec<(Picture, bool)>,
    flags: Vec<(Flag, bool)>,
    line: String,
}

/// What somebody shows.
async fn portrait(state: &AppState, owner: Option<&Identity>) -> Result<Option<PortraitBox>, PageError> {
    let Some(owner) = owner else { return Ok(None) };
    let Some(player) = state.store.player(&owner.id).await? else { return Ok(None) };
    let Portrait { picture, flag, line } = player.portrait;
    let own = picture.unwrap_or_else(|| Picture::of_name(player.name.spoken()));
    Ok(Some(PortraitBox {
        pictures_url: assets::url("pictures.svg"),
        pictures: Picture::all().map(|picture| (picture, picture == own)).collect(),
        flags: Flag::all().map(|each| (each, Some(each) == flag)).collect(),
        line: line.map(|line| line.to_string()).unwrap_or_default(),
    }))
}

/// Whom somebody blocks.
async fn blocked(state: &AppState, owner: Option<&Identity>) -> Result<Vec<PlayerName>, PageError> {
    let Some(owner) = owner else { return Ok(Vec::new()) };
    Ok(state.accounts.blocked_by(&owner.id).await?.into_iter().map(|tied| tied.name).collect())
}

/// What somebody sees of their address: nothing where there are no messages, or nobody to tell of.
async fn webhook_box(
    state: &AppState,
    language: Language,
    owner: &PlayerId,
    bots: &[StoredPlayer],
) -> Result<Option<WebhookBox>, PageError> {
    let Some(webhooks) = &state.webhooks else { return Ok(None) };
    let Some(webhook) = webhooks.of(owner).await? else {
        return Ok((!bots.is_empty()).then(WebhookBox::default));
    };
    let last = webhook.last.map(|last| {
        let (day, outcome) = (words::moment(language, last.at), outcome_words(language, last.outcome));
        language.fill("webhook.last", &[("day", &day), ("outcome", &outcome)])
    });
    Ok(Some(WebhookBox { is_paused: webhook.is_paused(), url: webhook.url, last: last.unwrap_or_default() }))
}

fn outcome_words(language: Language, outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(status) => language.fill("webhook.answered", &[("status", &status.to_string())]),
        Outcome::Failed(why) => language
            .text(match why {
                NoAnswer::UnknownHost => "webhook.unknown_host",
                NoAnswer::PrivateAddress => "webhook.private_address",
                NoAnswer::Unreachable => "webhook.unreachable",
                NoAnswer::Untrusted => "webhook.untrusted",
                NoAnswer::Timeout => "webhook.timeout",
            })
            .to_owned(),
    }
}

/// A browser and its system in words.
fn device(language: Language, Device { browser, system }: Device) -> String {
    match (browser.map(Browser::name), system.map(System::name)) {
        (Some(browser), Some(system)) => {
            language.fill("account.session_device", &[("browser", browser), ("system", system)])
        }
        (Some(known), None) | (None, Some(known)) => known.to_owned(),
        (None, None) => language.text("account.session_unknown").to_owned(),
    }
}

/// The code of an invitation in the query of an address; what is none is not repeated on the page.
fn invitation_in(query: &str) -> String {
    let value = query.split('&').find_map(|part| part.strip_prefix("invitation="));
    let code = value.and_then(|value| value.parse::<InvitationCode>().ok());
    code.map(|code| code.to_string()).unwrap_or_default()
}

/// The name under which a visitor without an account has played, if they have.
async fn stored_guest(state: &AppState, visitor: &Visitor) -> Result<Option<PlayerName>, PageError> {
    let Some(guest) = visitor.viewer() else { return Ok(None) };
    match guest.identity.kind {
        PlayerKind::Guest => Ok(state.store.player(&guest.identity.id).await?.map(|player| player.name)),
        PlayerKind::Human | PlayerKind::Bot => Ok(None),
    }
}
