//! What every store must do alike with mail addresses and the links that are sent there.

use super::conformance::{Fixture, NOON, add, add_players, after_noon, player, player_id};
use super::mails::{LinkPurpose, MailLink, StoredMail};
use super::record::{StoredToken, TokenKind, TokenScope};
use super::store::{Refused, Store, Write, Written};
use crate::model::ids::TokenId;
use crate::model::mail::MailAddress;
use crate::model::player::PlayerKind;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn address(text: &str) -> MailAddress {
    text.parse().unwrap()
}

fn mail(name: &str, text: &str) -> StoredMail {
    StoredMail {
        owner: player_id(name),
        address: address(text),
        language: "de".into(),
        notices: true,
        since: NOON,
        verified_at: None,
    }
}

/// A link of which the secret begins with this byte, for ten milliseconds from noon on.
fn link(name: &str, purpose: LinkPurpose, byte: u8) -> Write {
    let owner = player_id(name);
    Write::AddMailLink(MailLink { owner, purpose, digest: [byte; 32], expires_at: after_noon(10) })
}

fn verify(byte: u8, ms: i64) -> Write {
    Write::VerifyMail { digest: [byte; 32], at: after_noon(ms) }
}

fn reset(byte: u8, ms: i64) -> Write {
    Write::ResetPassword { digest: [byte; 32], password: format!("hash {byte}"), at: after_noon(ms) }
}

/// Everybody has mail at the same address, which is nobody's for sure.
async fn with_mail(store: &dyn Store, names: &[&str]) {
    add_players(store, names).await;
    for name in names {
        write(store, Write::SetMail(mail(name, "ada@example.org"))).await.unwrap();
    }
}

pub(crate) async fn an_account_has_one_address<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    with_mail(&*store, &["Ada"]).await;
    add_players(&*store, &["Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    write(&*store, Write::SetMail(mail("Ada", "Ada.L@Example.org"))).await.unwrap();
    for other in ["six", "nobody"] {
        let refused = write(&*store, Write::SetMail(mail(other, "x@example.org"))).await;
        assert_eq!(refused, Err(Refused::NoSuchPlayer), "{other}");
    }
    let set = |name, notices| Write::SetNotices { owner: player_id(name), notices };
    write(&*store, set("Ada", false)).await.unwrap();
    assert_eq!(write(&*store, set("Bob", false)).await, Err(Refused::NoMail));
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let stored = StoredMail { notices: false, ..mail("Ada", "Ada.L@example.org") };
    assert_eq!(store.mail(&player_id("Ada")).await.unwrap(), Some(stored));
    assert_eq!(store.mail(&player_id("Bob")).await.unwrap(), None);
    let remove = || Write::RemoveMail { owner: player_id("Ada") };
    write(&*store, remove()).await.unwrap();
    assert_eq!(write(&*store, remove()).await, Err(Refused::NoMail));
    assert_eq!(store.mail(&player_id("Ada")).await.unwrap(), None);
}

pub(crate) async fn an_address_is_found_once_it_is_verified<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    with_mail(&*store, &["Ada", "Bob"]).await;
    let found = async || store.mails_at(&address("ADA@example.org"), 5).await.unwrap();
    assert_eq!(found().await, []);
    assert_eq!(write(&*store, verify(1, 0)).await, Err(Refused::NoMailLink));
    for (name, byte) in [("Ada", 1), ("Bob", 2)] {
        write(&*store, link(name, LinkPurpose::Verify, byte)).await.unwrap();
        write(&*store, verify(byte, 9)).await.unwrap();
        assert_eq!(write(&*store, verify(byte, 9)).await, Err(Refused::NoMailLink), "it is used up");
    }
    let verified = |name| StoredMail { verified_at: Some(after_noon(9)), ..mail(name, "ada@example.org") };
    assert_eq!(found().await, [verified("Ada"), verified("Bob")]);
    assert_eq!(store.mails_at(&address("ada@example.org"), 1).await.unwrap().len(), 1);
    assert_eq!(store.mails_at(&address("bob@example.org"), 5).await.unwrap(), []);
    write(&*store, Write::SetMail(mail("Ada", "ada@example.org"))).await.unwrap();
    assert_eq!(found().await, [verified("Bob")], "it is to be verified again");
}

pub(crate) async fn a_link_sets_one_password_and_ends_the_sessions<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    with_mail(&*store, &["Ada"]).await;
    let token = StoredToken {
        id: "session1".parse::<TokenId>().unwrap(),
        player: player_id("Ada"),
        kind: TokenKind::Session,
        scope: TokenScope::Manage,
        digest: [9; 32],
        created_at: NOON,
        expires_at: Some(after_noon(99)),
        device: None,
        used_at: None,
    };
    write(&*store, Write::AddToken { token: token.clone(), at_most: 5, password: None }).await.unwrap();
    write(&*store, link("Ada", LinkPurpose::Reset, 1)).await.unwrap();
    assert_eq!(write(&*store, verify(1, 0)).await, Err(Refused::NoMailLink), "it is for something else");
    assert_eq!(write(&*store, reset(2, 0)).await, Err(Refused::NoMailLink));
    assert_eq!(write(&*store, reset(1, 5)).await, Ok(Written::Revoked(vec![token.id])));
    assert_eq!(store.password(&player_id("Ada")).await.unwrap().as_deref(), Some("hash 1"));
    assert_eq!(write(&*store, reset(1, 5)).await, Err(Refused::NoMailLink), "it is used up");
}

pub(crate) async fn links_end<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    with_mail(&*store, &["Ada"]).await;
    add_players(&*store, &["Bob"]).await;
    let send = async |byte| write(&*store, link("Ada", LinkPurpose::Reset, byte)).await.unwrap();
    assert_eq!(write(&*store, link("Bob", LinkPurpose::Reset, 9)).await, Err(Refused::NoMail));
    send(1).await;
    assert_eq!(write(&*store, reset(1, 10)).await, Err(Refused::NoMailLink), "it is too old");
    send(2).await;
    send(3).await;
    assert_eq!(write(&*store, reset(2, 0)).await, Err(Refused::NoMailLink), "there is a newer one");
    let password =
        Write::SetPassword { player: player_id("Ada"), password: "another hash".into(), keeps: None };
    write(&*store, password).await.unwrap();
    assert_eq!(write(&*store, reset(3, 0)).await, Err(Refused::NoMailLink), "the password is another one");
    send(4).await;
    write(&*store, Write::SetMail(mail("Ada", "ada@example.net"))).await.unwrap();
    assert_eq!(write(&*store, reset(4, 0)).await, Err(Refused::NoMailLink), "the address is another one");
    assert_eq!(store.password(&player_id("Ada")).await.unwrap().as_deref(), Some("another hash"));
}

pub(crate) async fn whoever_leaves_takes_the_address_along<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    with_mail(&*store, &["Ada"]).await;
    write(&*store, link("Ada", LinkPurpose::Reset, 1)).await.unwrap();
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Ada"), name }).await.unwrap();
    assert_eq!(store.mail(&player_id("Ada")).await.unwrap(), None);
    assert_eq!(write(&*store, reset(1, 0)).await, Err(Refused::NoMailLink));
}

/// Makes a test of each check.
macro_rules! conformance_of_mails {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_mails:
            an_account_has_one_address,
            an_address_is_found_once_it_is_verified,
            a_link_sets_one_password_and_ends_the_sessions,
            links_end,
            whoever_leaves_takes_the_address_along,
        );
    };
}
pub(crate) use conformance_of_mails;
