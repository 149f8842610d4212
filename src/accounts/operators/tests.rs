//! Operators and what they prove, as an attacker would try it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::*;
use crate::model::device::Device;
use crate::model::signing::KEY_BYTES as SIGNING_KEY_BYTES;
use crate::model::totp::step_of;
use crate::storage::MemoryStore;
use crate::storage::Writer;
use crate::storage::moderation::AuditAction::{Appoint, Dismiss};
use crate::storage::moderation::ModerationStore as _;
use crate::storage::people::PeopleStore as _;
use crate::storage::record::TokenScope;
use crate::system::shares::Shares;

const SOMEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn because() -> Because {
    Because { reason: "keeps order".into(), by: "root".into(), at: UnixMillis(0) }
}

fn accounts() -> (Accounts, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::new());
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let signer = Signer::new(&[7; SIGNING_KEY_BYTES]);
    (Accounts::new(store.clone(), writer, signer, Shares::default()), store)
}

async fn session_of(accounts: &Accounts, player: &PlayerId) -> Authenticated {
    let issued = accounts.open_session(player, Device::default()).await.unwrap();
    Authenticated { identity: issued.identity, token: issued.token, scope: TokenScope::Manage }
}

/// Ada, signed in, and what she has written down.
async fn ada(accounts: &Accounts, store: &MemoryStore) -> (Authenticated, Enrolment) {
    let password = crate::model::secret::Secret::new("correct horse");
    let identity = accounts.register(SOMEWHERE, "Ada", password, None).await.unwrap();
    let player = store.player(&identity.id).await.unwrap().unwrap();
    let enrolment = accounts.appoint(&player, because()).await.unwrap();
    (session_of(accounts, &identity.id).await, enrolment)
}

fn code(enrolment: &Enrolment) -> String {
    enrolment.totp.code(step_of(UnixMillis::now()))
}

#[tokio::test(start_paused = true)]
async fn a_code_holds_for_one_session_and_not_for_ever() {
    let (accounts, store) = accounts();
    let (session, enrolment) = ada(&accounts, &store).await;
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Unproven);
    accounts.prove_operator(&session, &code(&enrolment)).await.unwrap();
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Acts);
    let other = session_of(&accounts, &session.identity.id).await;
    assert_eq!(accounts.standing(&other).await.unwrap(), Standing::Unproven, "another browser");
    tokio::time::advance(ACTS_FOR).await;
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Sees);
    tokio::time::advance(SEES_FOR.saturating_sub(ACTS_FOR)).await;
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Unproven);
}

#[tokio::test]
async fn a_code_is_good_once_for_whichever_session() {
    let (accounts, store) = accounts();
    let (session, enrolment) = ada(&accounts, &store).await;
    let code = code(&enrolment);
    accounts.prove_operator(&session, &code).await.unwrap();
    let thief = session_of(&accounts, &session.identity.id).await;
    let replayed = accounts.prove_operator(&thief, &code).await;
    assert!(matches!(replayed, Err(AccountError::WrongCode)), "{replayed:?}");
    let recovery = enrolment.recovery[3].to_lowercase();
    accounts.prove_operator(&thief, &recovery).await.unwrap();
    let again = accounts.prove_operator(&session, &enrolment.recovery[3]).await;
    assert!(matches!(again, Err(AccountError::WrongCode)), "{again:?}");
    let left = crate::storage::operators::OperatorStore::operator(&*store, &session.identity.id).await;
    let left = left.unwrap().unwrap().recovery;
    assert_eq!(left.len(), RECOVERY_CODES - 1);
    assert!(!left.iter().any(|digest| enrolment.recovery.contains(digest)), "they are not kept as they are");
}

#[tokio::test]
async fn of_two_who_use_one_code_at_once_one_is_let_in() {
    let (accounts, store) = accounts();
    let (session, enrolment) = ada(&accounts, &store).await;
    let thief = session_of(&accounts, &session.identity.id).await;
    let code = code(&enrolment);
    let both = tokio::join!(accounts.prove_operator(&session, &code), accounts.prove_operator(&thief, &code));
    assert_eq!([both.0.is_ok(), both.1.is_ok()].iter().filter(|is_in| **is_in).count(), 1);
}

#[tokio::test]
async fn whoever_guesses_codes_must_wait_and_the_right_one_does_not_help() {
    let (accounts, store) = accounts();
    let (session, enrolment) = ada(&accounts, &store).await;
    for wrong in ["", "000000", "x", "AAAA-BBBB-CCCC-DDDD", "٠٠٠٠٠٠"] {
        let refused = accounts.prove_operator(&session, wrong).await;
        assert!(matches!(refused, Err(AccountError::WrongCode)), "{wrong}: {refused:?}");
    }
    let refused = accounts.prove_operator(&session, &code(&enrolment)).await;
    assert!(matches!(refused, Err(AccountError::TooManyAttempts { .. })), "{refused:?}");
}

#[tokio::test]
async fn who_is_no_operator_any_more_has_proved_nothing() {
    let (accounts, store) = accounts();
    let (session, enrolment) = ada(&accounts, &store).await;
    let player = store.player(&session.identity.id).await.unwrap().unwrap();
    let again = accounts.appoint(&player, because()).await;
    assert!(matches!(again, Err(AccountError::OperatorAlready)), "{again:?}");
    accounts.prove_operator(&session, &code(&enrolment)).await.unwrap();
    accounts.dismiss(&player.id, because()).await.unwrap();
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::None);
    let refused = accounts.prove_operator(&session, &enrolment.recovery[0]).await;
    assert!(matches!(refused, Err(AccountError::NoOperator)), "{refused:?}");
    let new = accounts.appoint(&player, because()).await.unwrap();
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Unproven);
    assert_ne!(new.totp.secret(), enrolment.totp.secret());
    let old = accounts.prove_operator(&session, &enrolment.recovery[0]).await;
    assert!(matches!(old, Err(AccountError::WrongCode)), "{old:?}");
    let actions: Vec<_> =
        store.audit_log(None, 9).await.unwrap().into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, [Appoint, Dismiss, Appoint]);
}

#[tokio::test]
async fn whoever_takes_an_operators_name_is_none() {
    let (accounts, store) = accounts();
    let (session, _) = ada(&accounts, &store).await;
    accounts.rename(&session.identity.id, "Countess", because()).await.unwrap();
    let password = crate::model::secret::Secret::new("correct horse");
    let other = accounts.register(SOMEWHERE, "Ada", password, None).await.unwrap();
    let other = session_of(&accounts, &other.id).await;
    assert_eq!(accounts.standing(&other).await.unwrap(), Standing::None);
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::Unproven, "it is hers still");
    let ada = store.player(&session.identity.id).await.unwrap().unwrap();
    accounts.delete_as_operator(&ada.id, because()).await.unwrap();
    assert_eq!(accounts.standing(&session).await.unwrap(), Standing::None, "nothing is left of it");
}
