//! What every store must do alike with accounts that are operators, and with what they look at.

use super::bot_versions::{BotFault, FaultKind};
use super::conformance::{Fixture, NOON, add, add_players, after_noon, because, player, player_id};
use super::moderation::{AuditAction, Measure, MeasureKind};
use super::operators::{FactorUse, StoredOperator};
use super::record::StoredPlayer;
use super::store::{Refused, Store, Write, Written};
use crate::model::player::PlayerKind;

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

fn measure(name: &str, kind: MeasureKind) -> Write {
    Write::TakeMeasure(Measure { player: player_id(name), kind, because: because("keeps order") })
}

fn appoint(name: &str) -> Write {
    let recovery = vec!["one".to_owned(), "two".to_owned()];
    measure(name, MeasureKind::Appoint { salt: "salt".into(), recovery })
}

fn used(factor: FactorUse) -> Write {
    Write::UseFactor { player: player_id("Ada"), used: factor }
}

pub(crate) async fn an_operator_is_appointed_and_dismissed<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("six", PlayerKind::Bot))).await.unwrap();
    write(&*store, appoint("Ada")).await.unwrap();
    assert_eq!(write(&*store, appoint("Ada")).await, Err(Refused::OperatorAlready));
    for other in ["six", "nobody"] {
        assert_eq!(write(&*store, appoint(other)).await, Err(Refused::NoSuchPlayer), "{other}");
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let ada = StoredOperator {
        player: player_id("Ada"),
        since: NOON,
        salt: "salt".into(),
        last_step: 0,
        recovery: vec!["one".into(), "two".into()],
    };
    assert_eq!(store.operators().await.unwrap(), std::slice::from_ref(&ada));
    assert_eq!(store.operator(&player_id("Ada")).await.unwrap(), Some(ada));
    assert_eq!(store.operator(&player_id("Bob")).await.unwrap(), None);
    write(&*store, measure("Ada", MeasureKind::Dismiss)).await.unwrap();
    assert_eq!(write(&*store, measure("Ada", MeasureKind::Dismiss)).await, Err(Refused::NoOperator));
    assert_eq!(store.operators().await.unwrap(), []);
    let log = store.audit_log(None, 9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.detail.as_deref())).collect();
    assert_eq!(told, [(AuditAction::Dismiss, None), (AuditAction::Appoint, None)], "no secret is in it");
}

pub(crate) async fn a_code_is_used_up_once<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    assert_eq!(write(&*store, used(FactorUse::Step(7))).await, Err(Refused::NoOperator));
    write(&*store, appoint("Ada")).await.unwrap();
    write(&*store, used(FactorUse::Step(7))).await.unwrap();
    let two = || used(FactorUse::Recovery("two".into()));
    write(&*store, two()).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    for again in [used(FactorUse::Step(7)), used(FactorUse::Step(6)), two()] {
        assert_eq!(write(&*store, again).await, Err(Refused::FactorUsed), "also after a restart");
    }
    let unknown = used(FactorUse::Recovery("three".into()));
    assert_eq!(write(&*store, unknown).await, Err(Refused::FactorUsed));
    write(&*store, used(FactorUse::Step(8))).await.unwrap();
    let ada = store.operator(&player_id("Ada")).await.unwrap().unwrap();
    assert_eq!((ada.last_step, ada.recovery), (8, vec!["one".to_owned()]));
}

pub(crate) async fn whoever_leaves_is_no_operator<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, appoint("Ada")).await.unwrap();
    write(&*store, appoint("Bob")).await.unwrap();
    let name = "gone-1".parse().unwrap();
    write(&*store, Write::Retire { player: player_id("Ada"), name }).await.unwrap();
    let name = "gone-2".parse().unwrap();
    write(&*store, measure("Bob", MeasureKind::Delete { name })).await.unwrap();
    assert_eq!(store.operators().await.unwrap(), []);
}

pub(crate) async fn operators_see_who_came_last_and_who_is_kept_out<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let made = |name: &str, kind, ms| StoredPlayer { created_at: after_noon(ms), ..player(name, kind) };
    let house = StoredPlayer { house: true, ..made("perfect", PlayerKind::Bot, 9) };
    let players = [
        made("Ada", PlayerKind::Human, 1),
        made("six", PlayerKind::Bot, 3),
        made("Bob", PlayerKind::Human, 2),
        made("guest-x", PlayerKind::Guest, 4),
        house,
    ];
    for player in players {
        write(&*store, add(player)).await.unwrap();
    }
    let names = |players: Vec<StoredPlayer>| -> Vec<String> {
        players.into_iter().map(|player| player.name.to_string()).collect()
    };
    assert_eq!(names(store.newest_registered(9).await.unwrap()), ["six", "Bob", "Ada"]);
    assert_eq!(names(store.newest_registered(1).await.unwrap()), ["six"]);
    assert_eq!(names(store.restricted(9).await.unwrap()), [""; 0]);
    write(&*store, measure("six", MeasureKind::Ban { until: None })).await.unwrap();
    write(&*store, measure("Ada", MeasureKind::Mute { until: Some(NOON) })).await.unwrap();
    assert_eq!(names(store.restricted(9).await.unwrap()), ["Ada", "six"]);
}

pub(crate) async fn operators_see_the_faults_of_all_bots<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let fault = |name: &str, ms| BotFault {
        bot: player_id(name),
        game: None,
        kind: FaultKind::Time,
        note: "slow".into(),
        at: after_noon(ms),
    };
    for (name, ms) in [("Ada", 1), ("Bob", 2), ("Ada", 3)] {
        write(&*store, Write::AddFault(fault(name, ms))).await.unwrap();
    }
    assert_eq!(store.newest_faults(2).await.unwrap(), [fault("Ada", 3), fault("Bob", 2)]);
}

/// Makes a test of each check.
macro_rules! conformance_of_operators {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_operators:
            an_operator_is_appointed_and_dismissed,
            a_code_is_used_up_once,
            whoever_leaves_is_no_operator,
            operators_see_who_came_last_and_who_is_kept_out,
            operators_see_the_faults_of_all_bots,
        );
    };
}
pub(crate) use conformance_of_operators;
