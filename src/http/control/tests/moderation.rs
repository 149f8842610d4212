//! What operators do to players and networks, and who they are.

use super::*;
use crate::model::device::Device;
use crate::model::portrait::Portrait;

#[tokio::test]
async fn networks_are_banned_and_listed() {
    let client = ControlClient::here(control());
    for bad in ["", "ada", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0"] {
        check_refused(client.ban_network(bad, None, because("spam")).await, ApiCode::BadField);
    }
    check_refused(client.ban_network("10.0.0.0/8", Some(u32::MAX), because("spam")).await, ApiCode::BadField);
    check_refused(client.unban_network("10.0.0.0/8", because("sorry")).await, ApiCode::Conflict);
    let banned = client.ban_network("203.0.113.7", Some(1), because("spam")).await.unwrap();
    assert_eq!((&*banned.network, banned.until.is_some(), &*banned.reason), ("203.0.113.7/32", true, "spam"));
    client.ban_network("2001:db8::/32", None, because("more spam")).await.unwrap();
    let networks = client.networks().await.unwrap();
    let listed: Vec<&str> = networks.iter().map(|banned| &*banned.network).collect();
    assert_eq!(listed, ["203.0.113.7/32", "2001:db8::/32"]);
    client.unban_network("203.0.113.7", because("sorry")).await.unwrap();
    assert_eq!(client.networks().await.unwrap().len(), 1);
}

#[tokio::test]
async fn invitations_are_given_out_once_and_end() {
    let client = ControlClient::here(control());
    let invite = async |code: Option<&str>, uses, days| {
        client.invite(code.map(ToOwned::to_owned), uses, days, because("a class")).await
    };
    for bad in ["", "short", "with space", "a/b/c/d", "zwölf-zwölf", &"x".repeat(33)] {
        check_refused(invite(Some(bad), None, None).await, ApiCode::BadField);
    }
    for uses in [0, 10_001, u32::MAX] {
        check_refused(invite(None, Some(uses), None).await, ApiCode::BadField);
    }
    check_refused(invite(None, None, Some(u32::MAX)).await, ApiCode::BadField);
    check_refused(client.invite(None, None, None, because(" ")).await, ApiCode::BadField);
    let drawn = invite(None, None, None).await.unwrap();
    assert_eq!((drawn.code.len(), drawn.uses, drawn.used, drawn.until), (14, 1, 0, None));
    let class = invite(Some("class-7b"), Some(30), Some(7)).await.unwrap();
    assert_eq!((&*class.code, class.uses, class.until.is_some()), ("CLASS-7B", 30, true));
    check_refused(invite(Some("Class-7B"), None, None).await, ApiCode::Conflict);
    let listed = client.invitations().await.unwrap();
    assert_eq!(
        listed.iter().map(|invitation| &*invitation.code).collect::<Vec<_>>(),
        [&*drawn.code, "CLASS-7B"]
    );
    assert_eq!(client.uninvite("CLASS-7b", because("the term is over")).await.unwrap(), class);
    check_refused(client.uninvite("class-7b", because("again")).await, ApiCode::Conflict);
    check_refused(client.uninvite("?", because("again")).await, ApiCode::BadField);
    assert_eq!(client.invitations().await.unwrap().len(), 1);
}

#[tokio::test]
async fn players_are_muted_and_deleted() {
    let control = control();
    let client = ControlClient::here(control.clone());
    create_account(&client, "ada").await.unwrap();
    client.create_bot("six", "ada").await.unwrap();
    check_refused(client.unmute("ada", &because("x")).await, ApiCode::Conflict);
    check_refused(client.mute("ada", Some(0), because("x")).await, ApiCode::BadField);
    assert!(client.mute("ada", Some(2), because("loud")).await.unwrap().until.is_some());
    let listed = client.players("human", None).await.unwrap().items;
    assert_eq!(listed[0].muted_because.as_deref(), Some("loud"));
    client.unmute("ada", &because("quiet now")).await.unwrap();
    assert_eq!(client.delete_player("ada", &because("asked for it")).await.unwrap().ended, Some(1));
    assert_eq!(client.players("human", None).await.unwrap().items, []);
    assert_eq!(client.players("bot", None).await.unwrap().items, []);
    check_refused(client.delete_player("ada", &because("again")).await, ApiCode::NotFound);
    let log = client.audit_log(9).await.unwrap();
    let told: Vec<&str> = log.iter().map(|entry| &*entry.action).collect();
    assert_eq!(told, ["delete", "delete", "unmute", "mute"]);
}

#[tokio::test]
async fn operators_deal_with_players_and_the_log_says_so() {
    let control = control();
    let client = ControlClient::here(control.clone());
    create_account(&client, "ada").await.unwrap();
    create_account(&client, "eve").await.unwrap();
    client.create_bot("six", "ada").await.unwrap();
    let banned = client.ban("SIX", Some(7), because("rude")).await.unwrap();
    assert_eq!((banned.name.as_str(), banned.until.is_some()), ("six", true));
    assert_eq!(client.ban("six", None, because("very rude")).await.unwrap().until, None);
    let bots = client.players("bot", None).await.unwrap().items;
    let owner = bots[0].owner.as_ref().map(ToString::to_string);
    let shown = (bots.len(), owner.as_deref(), bots[0].banned_because.as_deref());
    assert_eq!(shown, (1, Some("ada"), Some("very rude")));
    client.unban("six", &because("sorry")).await.unwrap();
    assert_eq!(client.players("bot", None).await.unwrap().items[0].banned_because, None);

    assert_eq!(
        client.rename("ada", "lovelace", because("asked for it")).await.unwrap().name.as_str(),
        "lovelace"
    );
    let ada = control.store.player_by_name(&"lovelace".parse().unwrap()).await.unwrap().unwrap();
    control.accounts.open_session(&ada.id, Device::default()).await.unwrap();
    assert_eq!(client.sessions("lovelace").await.unwrap().len(), 1);
    let reset = client.reset_password("lovelace", &because("forgot it")).await.unwrap();
    assert_eq!(client.sessions("lovelace").await.unwrap(), []);
    let password = Secret::new(reset.password.unwrap());
    control.accounts.sign_in(OPERATOR, "lovelace", password, Device::default()).await.unwrap();
    let old = control
        .accounts
        .sign_in(OPERATOR, "lovelace", Secret::new("tea and biscuits"), Device::default())
        .await;
    assert!(matches!(old, Err(crate::accounts::AccountError::BadCredentials)), "{old:?}");
    assert_eq!(client.sign_out("lovelace", &because("stolen")).await.unwrap().ended, Some(1));
    let shown = Portrait { picture: "owl".parse().ok(), ..Portrait::default() };
    control.accounts.show(&ada.id, shown).await.unwrap();
    client.clear_profile("lovelace", &because("rude")).await.unwrap();
    assert_eq!(control.store.player(&ada.id).await.unwrap().unwrap().portrait, Portrait::default());
    assert_eq!(client.sign_out("six", &because("leaked")).await.unwrap().ended, Some(1));
    let nothing = client.remove_study(&"nothing".parse().unwrap(), &because("rude")).await;
    check_refused(nothing, ApiCode::NotFound);

    let log = client.audit_log(9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (&*entry.action, &*entry.subject)).collect();
    let of_ada = |action| (action, "lovelace");
    let expected = [
        ("sign_out", "six"),
        of_ada("clear_profile"),
        of_ada("sign_out"),
        of_ada("reset_password"),
        of_ada("rename"),
        ("unban", "six"),
        ("ban", "six"),
        ("ban", "six"),
    ];
    assert_eq!(told, expected);
    let (rename, ban) = (&log[4], &log[7]);
    assert_eq!(
        (rename.detail.as_deref(), rename.by.as_deref()),
        (Some("from ada to lovelace"), Some("grace"))
    );
    assert_eq!((ban.detail.as_deref(), &ban.until), (None, &banned.until));
}

#[tokio::test]
async fn a_ban_that_says_what_is_not_understood_is_none() {
    let served = serve();
    create_account(&served.client().await, "ada").await.unwrap();
    for body in
        [r#"{"reason":"rude","day":7}"#, r#"{"reason":"rude","days":-1}"#, r#"{"reason":"rude","days":1e9}"#]
    {
        let length = body.len();
        let heard = served
            .say(&format!(
                "POST /control/v1/players/ada/ban HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            ))
            .await;
        check_heard(&heard, 422, "bad_field");
    }
    let ada = served.store.player_by_name(&"ada".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(ada.ban, None);
}

#[tokio::test]
async fn what_operators_cannot_do_to_players_is_refused_and_not_noted() {
    use crate::model::player::PlayerKind;
    use crate::storage::conformance::{add, player};
    use crate::storage::record::StoredPlayer;
    let control = control();
    let client = ControlClient::here(control.clone());
    create_account(&client, "ada").await.unwrap();
    create_account(&client, "eve").await.unwrap();
    client.create_bot("six", "ada").await.unwrap();
    let house = add(StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) });
    control.store.commit(&[house, add(player("guest-xyz", PlayerKind::Guest))]).await.unwrap();
    for name in ["perfect", "guest-xyz"] {
        check_refused(client.ban(name, None, because("rude")).await, ApiCode::Conflict);
        check_refused(client.sessions(name).await, ApiCode::Conflict);
    }
    check_refused(client.rename("perfect", "other", because("rude")).await, ApiCode::Conflict);
    check_refused(client.rename("guest-xyz", "guest-other", because("rude")).await, ApiCode::NameReserved);
    check_refused(client.ban("nobody", None, because("rude")).await, ApiCode::NotFound);
    check_refused(client.ban("ada", None, because(" ")).await, ApiCode::BadField);
    for days in [0, 3_651, u32::MAX] {
        check_refused(client.ban("ada", Some(days), because("rude")).await, ApiCode::BadField);
    }
    check_refused(client.unban("ada", &because("sorry")).await, ApiCode::Conflict);
    check_refused(client.rename("ada", "EVE", because("rude")).await, ApiCode::NameTaken);
    check_refused(client.rename("ada", "a b", because("rude")).await, ApiCode::BadField);
    check_refused(client.rename("ada", "admin", because("rude")).await, ApiCode::NameReserved);
    check_refused(client.reset_password("six", &because("forgot")).await, ApiCode::Conflict);
    check_refused(client.clear_profile("six", &because("rude")).await, ApiCode::Conflict);
    check_refused(client.players("guest", None).await, ApiCode::BadParameter);
    assert_eq!(client.audit_log(9).await.unwrap(), []);
    let renamed = client.rename("guest-xyz", "other", because("rude")).await.unwrap();
    assert_eq!(renamed.name.as_str(), "guest-other", "a guest stays marked");
}

#[tokio::test]
async fn operators_deal_with_reports_once() {
    use crate::model::ids::PlayerName;
    use crate::model::time::UnixMillis;
    use crate::storage::reports::{NewReport, ReportReason};
    use crate::storage::store::Write;

    let control = control();
    let client = ControlClient::here(control.clone());
    for name in ["ada", "eve"] {
        create_account(&client, name).await.unwrap();
    }
    let id =
        async |name: &str| control.store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap().id;
    let report = NewReport {
        reporter: id("ada").await,
        player: id("eve").await,
        game: None,
        reason: ReportReason::Name,
        note: "rude".into(),
        at: UnixMillis(0),
    };
    control.writer.write(Write::AddReport(report)).await.unwrap();
    let listed = client.reports(false).await.unwrap();
    let names = (listed[0].player.as_str(), listed[0].reporter.as_ref().map(PlayerName::as_str));
    assert_eq!((listed.len(), names, &*listed[0].state), (1, ("eve", Some("ada")), "open"));
    check_refused(client.handle_report(1, "take", &because(" ")).await, ApiCode::BadField);
    check_refused(client.handle_report(2, "take", &because("x")).await, ApiCode::NotFound);
    check_refused(client.handle_report(1, "burn", &because("x")).await, ApiCode::NotFound);
    assert_eq!(client.handle_report(1, "take", &because("I look")).await.unwrap().state, "taken");
    assert_eq!(client.reports(false).await.unwrap()[0].handled_by.as_deref(), Some("grace"));
    client.handle_report(1, "resolve", &because("renamed")).await.unwrap();
    assert_eq!(client.reports(false).await.unwrap(), []);
    assert_eq!(client.reports(true).await.unwrap().len(), 1);
    check_refused(client.handle_report(1, "dismiss", &because("x")).await, ApiCode::Conflict);
    let log = client.audit_log(9).await.unwrap();
    let told = log.iter().map(|entry| (&*entry.action, &*entry.subject, entry.detail.as_deref()));
    let expected = ["resolve_report", "take_report"].map(|action| (action, "eve", Some("report 1")));
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn operators_are_made_by_command_and_told_their_key_once() {
    let control = control();
    let client = ControlClient::here(control.clone());
    create_account(&client, "ada").await.unwrap();
    client.create_bot("six", "ada").await.unwrap();
    let made = client.appoint_operator("ADA", &because("keeps order")).await.unwrap();
    assert_eq!((made.name.as_str(), made.recovery_codes.len(), made.secret.len()), ("ada", 8, 32));
    assert!(made.address.contains(&format!("secret={}", made.secret)), "{}", made.address);
    check_refused(client.appoint_operator("ada", &because("again")).await, ApiCode::Conflict);
    check_refused(client.appoint_operator("six", &because("a bot")).await, ApiCode::Conflict);
    check_refused(client.appoint_operator("nobody", &because("x")).await, ApiCode::NotFound);
    check_refused(client.appoint_operator("ada", &because("")).await, ApiCode::BadField);
    let listed = client.operators().await.unwrap();
    assert_eq!((listed.len(), listed[0].name.as_str(), listed[0].recovery_codes), (1, "ada", 8));
    client.dismiss_operator("ada", &because("has left")).await.unwrap();
    check_refused(client.dismiss_operator("ada", &because("again")).await, ApiCode::Conflict);
    assert_eq!(client.operators().await.unwrap(), []);
    let told = serde_json::to_string(&client.audit_log(9).await.unwrap()).unwrap();
    assert!(!told.contains(&made.secret) && told.contains("\"appoint\""), "{told}");
    let names = |players: Vec<ListedPlayer>| -> Vec<String> {
        players.into_iter().map(|player| player.name.to_string()).collect()
    };
    client.ban("six", None, because("rude")).await.unwrap();
    assert_eq!(names(client.restricted().await.unwrap()), ["six"]);
    assert_eq!(client.newcomers().await.unwrap().len(), 2);
    assert_eq!(client.faults().await.unwrap(), []);
}
