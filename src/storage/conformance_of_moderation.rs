//! What every store must do alike with players whom operators deal with, and with the log of it.

use super::conformance::{FIRST_WINS, play, spec};
use super::conformance::{Fixture, NOON, add, add_players, after_noon, because, player, player_id, void};
use super::moderation::{AuditAction, Measure, MeasureKind, Order, OrderKind};
use super::record::{Ban, GamePair, GameSpec, StoredPlayer};
use super::store::{Refused, Store, Write, Written};
use crate::model::invitation::InvitationCode;
use crate::model::lookalike::Outline;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::model::result::{EndReason, GameResult};

fn measure(name: &str, kind: MeasureKind) -> Write {
    Write::TakeMeasure(Measure { player: player_id(name), kind, because: because("it was rude") })
}

async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().remove(0)
}

async fn ban_of(store: &dyn Store, name: &str) -> Option<Ban> {
    store.player(&player_id(name)).await.unwrap().unwrap().ban
}

pub(crate) async fn a_ban_is_read_with_the_player_until_it_is_lifted<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let until = Some(after_noon(60_000));
    write(&*store, measure("Ada", MeasureKind::Ban { until })).await.unwrap();
    let ban = Ban { until, reason: "it was rude".into() };
    assert_eq!(ban_of(&*store, "Ada").await, Some(ban.clone()));
    assert_eq!((ban.holds(NOON), ban.holds(after_noon(60_000))), (true, false));
    assert_eq!(ban_of(&*store, "Bob").await, None);
    // Another one takes its place, and this one does not end.
    write(&*store, measure("Ada", MeasureKind::Ban { until: None })).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(ban_of(&*store, "Ada").await, Some(Ban { until: None, reason: "it was rude".into() }));
    write(&*store, measure("Ada", MeasureKind::Unban)).await.unwrap();
    assert_eq!(ban_of(&*store, "Ada").await, None);
    assert_eq!(write(&*store, measure("Ada", MeasureKind::Unban)).await, Err(Refused::NotBanned));
    assert_eq!(store.audit_log(None, 9).await.unwrap().len(), 3, "what is refused is not noted");
}

pub(crate) async fn names_that_look_alike_are_found<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ilona_0", "ada", "6bob"]).await;
    let alike = async |name: &str| -> Vec<String> {
        let found = store.lookalikes(&Outline::of(name)).await.unwrap();
        found.into_iter().map(|player| player.name.to_string()).collect()
    };
    for name in ["Ilona_0", "lLONA-O", "110na-o", "iiona_0"] {
        assert_eq!(alike(name).await, ["Ilona_0"], "{name}");
    }
    assert_eq!(alike("ADA").await, ["ada"]);
    for name in ["ilona0", "gbob", "bob", "%", "a_a"] {
        assert_eq!(alike(name).await, [""; 0], "{name}");
    }
}

pub(crate) async fn an_invitation_lets_as_many_in_as_it_says<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let (code, other) = ("CLASS-7B".parse().unwrap(), "CLASS-8A".parse().unwrap());
    let admit = |name: &str| measure(name, MeasureKind::Admit { code: code_of("class-7b"), uses: 2 });
    for name in ["Ada", "Bob"] {
        assert_eq!(write(&*store, admit(name)).await, Ok(Written::Done));
    }
    assert_eq!(write(&*store, admit("Eve")).await, Err(Refused::UsedUp));
    let more = measure("Eve", MeasureKind::Admit { code: code_of("CLASS-8A"), uses: u32::MAX });
    assert_eq!(write(&*store, more).await, Ok(Written::Done));
    assert_eq!((store.admitted(&code).await.unwrap(), store.admitted(&other).await.unwrap()), (2, 1));
    let log = store.audit_log(None, 9).await.unwrap();
    assert_eq!(log.len(), 3, "what is refused is not noted");
    assert_eq!((log[1].action, log[1].detail.as_deref()), (AuditAction::Admit, Some("CLASS-7B")));
}

fn renaming(from: &str, to: &str) -> MeasureKind {
    MeasureKind::Rename { from: from.parse().unwrap(), name: to.parse().unwrap() }
}

fn code_of(text: &str) -> InvitationCode {
    text.parse().unwrap()
}

pub(crate) async fn measures_are_for_accounts_and_remote_bots<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let house = StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) };
    let guest = player("guest-x", PlayerKind::Guest);
    for player in [house, guest] {
        let name = player.name.to_string();
        write(&*store, add(player)).await.unwrap();
        for kind in [MeasureKind::Ban { until: None }, renaming(&name, "other")] {
            let refused = write(&*store, measure(&name, kind)).await;
            assert_eq!(refused, Err(Refused::NoSuchPlayer), "{name}");
        }
    }
    assert_eq!(write(&*store, measure("nobody", MeasureKind::SignOut)).await, Err(Refused::NoSuchPlayer));
    assert_eq!(store.audit_log(None, 9).await.unwrap(), []);
}

pub(crate) async fn a_player_gets_another_name_that_is_free<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let rename = |to: &str| measure("Ada", renaming("Ada", to));
    assert_eq!(write(&*store, rename("BOB")).await, Err(Refused::NameTaken));
    write(&*store, rename("ADA")).await.unwrap();
    write(&*store, rename("countess")).await.unwrap();
    let renamed = store.player_by_name(&"Countess".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((renamed.id, renamed.name.as_str()), (player_id("Ada"), "countess"));
    assert_eq!(store.player_by_name(&"Ada".parse().unwrap()).await.unwrap(), None);
    let log = store.audit_log(None, 1).await.unwrap();
    assert_eq!(log[0].detail.as_deref(), Some("from Ada to countess"));
    write(&*store, add(player("guest-rude", PlayerKind::Guest))).await.unwrap();
    let tamed = |to: &str| measure("guest-rude", renaming("guest-rude", to));
    assert_eq!(write(&*store, tamed("rude")).await, Err(Refused::NoSuchPlayer));
    write(&*store, tamed("guest-Kind")).await.unwrap();
    assert!(store.player_by_name(&"guest-kind".parse().unwrap()).await.unwrap().is_some());
}

pub(crate) async fn the_log_has_everything_the_newest_first<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    play(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    write(&*store, void("g1")).await.unwrap();
    let password = "$other".to_owned();
    write(&*store, measure("Ada", MeasureKind::ResetPassword { password })).await.unwrap();
    assert_eq!(store.password(&player_id("Ada")).await.unwrap().as_deref(), Some("$other"));
    write(&*store, measure("Bob", MeasureKind::SignOut)).await.unwrap();
    let log = store.audit_log(None, 9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (entry.number, entry.action, &*entry.subject)).collect();
    let (ada, bob) = (player_id("Ada"), player_id("Bob"));
    let expected = [
        (3, AuditAction::SignOut, bob.as_str()),
        (2, AuditAction::ResetPassword, ada.as_str()),
        (1, AuditAction::Void, "g1"),
    ];
    assert_eq!(told, expected);
    assert_eq!((log[0].by.as_deref(), &*log[0].reason, log[0].at), (Some("a test"), "it was rude", NOON));
    assert_eq!(store.audit_log(Some(3), 1).await.unwrap(), log[1..2]);
}

pub(crate) async fn players_of_a_kind_are_listed_by_name<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["bob", "Ada", "Eve"]).await;
    write(&*store, add(StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) })).await.unwrap();
    write(&*store, add(player("robo", PlayerKind::Bot))).await.unwrap();
    let names = async |kind, after: Option<&str>, limit| {
        let after = after.map(|name| name.parse().unwrap());
        let players = store.registered(kind, after.as_ref(), limit).await.unwrap();
        players.into_iter().map(|player| player.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(PlayerKind::Human, None, 9).await, ["Ada", "bob", "Eve"]);
    assert_eq!(names(PlayerKind::Human, Some("ADA"), 1).await, ["bob"]);
    assert_eq!(names(PlayerKind::Bot, None, 9).await, ["robo"]);
}

pub(crate) async fn what_a_person_shows_is_kept_until_it_is_cleared<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("robo", PlayerKind::Bot))).await.unwrap();
    let shown = Portrait {
        picture: "owl".parse().ok(),
        flag: "NL".parse().ok(),
        line: "I play in the middle.".parse().ok(),
    };
    let set = |name: &str| Write::SetPortrait { player: player_id(name), portrait: shown.clone() };
    for name in ["Ada", "Bob"] {
        write(&*store, set(name)).await.unwrap();
    }
    for nobody in ["robo", "nobody"] {
        assert_eq!(write(&*store, set(nobody)).await, Err(Refused::NoSuchPlayer));
        let clear = measure(nobody, MeasureKind::ClearProfile);
        assert_eq!(write(&*store, clear).await, Err(Refused::NoSuchPlayer));
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let portrait = async |name: &str| store.player(&player_id(name)).await.unwrap().unwrap().portrait;
    assert_eq!(portrait("Ada").await, shown);
    write(&*store, measure("Ada", MeasureKind::ClearProfile)).await.unwrap();
    assert_eq!((portrait("Ada").await, portrait("Bob").await), (Portrait::default(), shown.clone()));
    assert_eq!(store.audit_log(None, 9).await.unwrap()[0].action, AuditAction::ClearProfile);
    let gone = Write::Retire { player: player_id("Bob"), name: "gone-1".parse().unwrap() };
    write(&*store, gone).await.unwrap();
    assert_eq!(portrait("Bob").await, Portrait::default());
}

pub(crate) async fn a_mute_is_apart_from_a_ban<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let until = Some(after_noon(60_000));
    write(&*store, measure("Ada", MeasureKind::Mute { until })).await.unwrap();
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let ada = store.player(&player_id("Ada")).await.unwrap().unwrap();
    assert_eq!((ada.mute, ada.ban), (Some(Ban { until, reason: "it was rude".into() }), None));
    write(&*store, measure("Ada", MeasureKind::Unmute)).await.unwrap();
    assert_eq!(store.player(&player_id("Ada")).await.unwrap().unwrap().mute, None);
    assert_eq!(write(&*store, measure("Ada", MeasureKind::Unmute)).await, Err(Refused::NotMuted));
    assert_eq!(store.audit_log(None, 9).await.unwrap()[1].until, until);
}

pub(crate) async fn a_deleted_player_has_no_name_password_and_tokens<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    play(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    let delete = |name: &str| measure("Ada", MeasureKind::Delete { name: name.parse().unwrap() });
    assert_eq!(write(&*store, delete("bob")).await, Err(Refused::NameTaken));
    assert_eq!(write(&*store, delete("gone-1")).await, Ok(Written::Revoked(vec![])));
    let gone = store.player(&player_id("Ada")).await.unwrap().unwrap();
    assert_eq!((gone.name.as_str(), gone.kind), ("gone-1", PlayerKind::Guest));
    assert_eq!(store.password(&player_id("Ada")).await.unwrap(), None);
    assert!(store.game(&"g1".parse().unwrap()).await.unwrap().is_some(), "it is Bob's too");
    assert_eq!(
        write(&*store, delete("gone-2")).await,
        Err(Refused::NoSuchPlayer),
        "there is nobody any more"
    );
    assert_eq!(store.audit_log(None, 9).await.unwrap().len(), 1);
}

pub(crate) async fn orders_are_kept_in_the_log_in_their_order<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let until = Some(after_noon(1_000));
    let network = "10.0.0.0/8".parse().unwrap();
    for kind in [
        OrderKind::Pause,
        OrderKind::Announce { text: "back at 5 o'clock".into(), until },
        OrderKind::BanNetwork { network, until: None },
    ] {
        write(&*store, Write::GiveOrder(Order { kind, because: because("it was time") })).await.unwrap();
        write(&*store, measure("Ada", MeasureKind::SignOut)).await.unwrap();
    }
    drop(store);
    let orders = fixture.reopen().await.store().orders().await.unwrap();
    let told: Vec<_> = orders
        .iter()
        .map(|order| (order.number, order.action, &*order.subject, order.detail.as_deref(), order.until))
        .collect();
    let expected = [
        (1, AuditAction::Pause, "arena", None, None),
        (3, AuditAction::Announce, "arena", Some("back at 5 o'clock"), until),
        (5, AuditAction::BanNetwork, "10.0.0.0/8", None, None),
    ];
    assert_eq!(told, expected);
    assert_eq!((orders[0].by.as_deref(), &*orders[0].reason), (Some("a test"), "it was time"));
}

pub(crate) async fn series_that_are_not_complete_are_found_by_their_last_game<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let leg = |id: &str, pair: &str, leg, of| GameSpec {
        pair: Some(GamePair { id: pair.parse().unwrap(), leg, of }),
        ..spec(id, "Ada", "Bob")
    };
    let games = [
        leg("a1", "a", 1, 2),
        leg("b1", "b", 1, 4),
        leg("b2", "b", 2, 4),
        leg("c1", "c", 1, 2),
        leg("c2", "c", 2, 2),
        spec("alone", "Ada", "Bob"),
    ];
    for game in games {
        play(&*store, game, FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    // The next of this one goes on.
    play(&*store, leg("d1", "d", 1, 2), FIRST_WINS, GameResult::First, EndReason::Four).await;
    write(&*store, Write::StartGame(leg("d2", "d", 2, 2))).await.unwrap();
    let open = async |since| {
        let games = store.open_series(since).await.unwrap();
        games.into_iter().map(|game| game.spec.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(open(NOON).await, ["a1", "b2"]);
    assert_eq!(open(after_noon(3_600_000)).await, [""; 0]);
}

/// Makes a test of each check.
macro_rules! conformance_of_moderation {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance_of_moderation:
            a_ban_is_read_with_the_player_until_it_is_lifted,
            an_invitation_lets_as_many_in_as_it_says,
            names_that_look_alike_are_found,
            measures_are_for_accounts_and_remote_bots,
            a_player_gets_another_name_that_is_free,
            the_log_has_everything_the_newest_first,
            players_of_a_kind_are_listed_by_name,
            what_a_person_shows_is_kept_until_it_is_cleared,
            a_mute_is_apart_from_a_ban,
            a_deleted_player_has_no_name_password_and_tokens,
            orders_are_kept_in_the_log_in_their_order,
            series_that_are_not_complete_are_found_by_their_last_game,
        );
    };
}
pub(crate) use conformance_of_moderation;
