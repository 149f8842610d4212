//! Whoever is banned is gone at once, and the others go on.

use super::panics::{column, say, until};
use super::*;
use crate::model::clock::TimeControl;
use crate::model::ids::GameId;
use crate::model::result::{EndReason, GameResult};
use crate::model::secret::Secret;
use crate::protocol::CloseCode;
use crate::protocol::error::ErrorCode;
use crate::protocol::server::{GameEnd, ServerMessage};
use crate::storage::links::LinkStore as _;
use crate::storage::moderation::Because;
use crate::storage::people::PeopleStore as _;
use crate::storage::tournaments::TournamentPlan;
use crate::system::config::FormatName;
use crate::testing::{Client, hello, place};

fn because() -> Because {
    Because { reason: "it was rude".into(), by: "grace".into(), at: UnixMillis::now() }
}

impl TestDaemon {
    async fn join(&self, credential: &Credential) -> Client {
        Client::new(self.open(credential.clone(), hello()).await.unwrap())
    }

    /// Whoever comes anew hears what the last word to the connection was that was there.
    async fn check_kept_out(&self, credential: &Credential, mut there: Client) {
        let refused = self.open(credential.clone(), hello()).await.map(drop).unwrap_err();
        let last = there.hear().pop().expect("a last word");
        assert_eq!(last, ServerMessage::Error(Box::new(refused.error.clone())));
        assert_eq!(there.port.outbox().parted(&there.attachment), Some(CloseCode::Banned));
        assert_eq!((refused.code, refused.error.code), (CloseCode::Banned, ErrorCode::Forbidden));
        assert!(refused.error.message.contains("it was rude"), "{refused}");
    }
}

/// Both find a game against each other; gives the two, the one to move first.
async fn seat(first: &mut Client, second: &mut Client) -> (bool, GameId) {
    let seek =
        r#"{"type": "seek", "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "rated": false}"#;
    say(first, seek).await;
    say(second, seek).await;
    for _ in 0..6_000 {
        for (is_first, client) in [(true, &mut *first), (false, &mut *second)] {
            for message in client.hear() {
                if let ServerMessage::Turn(turn) = message {
                    client.play(&turn.game, turn.ply, column(&turn)).await;
                    return (is_first, turn.game.clone());
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody is paired");
}

async fn end_of(client: &mut Client) -> GameEnd {
    for _ in 0..6_000 {
        let ends = client.hear().into_iter().find_map(|message| match message {
            ServerMessage::GameEnd(end) => Some(*end),
            _ => None,
        });
        match ends {
            Some(end) => return end,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the game does not end");
}

#[tokio::test]
async fn whoever_is_banned_loses_its_games_and_is_gone() {
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    let (bob, robo) = (daemon.person("Bob").await, daemon.bot("robo").await);
    let (mut bob_here, mut robo_here) = (daemon.join(&bob).await, daemon.join(&robo).await);
    let (bob_begins, game) = seat(&mut bob_here, &mut robo_here).await;
    let id = daemon.store.player_by_name(&"robo".parse().unwrap()).await.unwrap().unwrap().id;
    accounts.ban(&id, None, because()).await.unwrap();
    let end = end_of(&mut bob_here).await;
    let winner = if bob_begins { GameResult::First } else { GameResult::Second };
    assert_eq!((end.game, end.result, end.reason), (game, winner, EndReason::Resign));
    until("the end of its session", || daemon.services.sessions.of(&id).is_empty()).await;
    daemon.check_kept_out(&robo, robo_here).await;
    let Credential::Token(token) = &robo else { panic!("bots have tokens") };
    assert!(daemon.gateway.check_token(token).await.is_ok(), "the socket tells why");
    assert_eq!(bob_here.hear().len(), 0, "nothing else happens to the other");
    accounts.unban(&id, because()).await.unwrap();
    daemon.join(&robo).await;
    drop(bob_here);
    daemon.check_sound().await;
}

#[tokio::test]
async fn the_bots_of_whoever_is_banned_are_out_too_and_a_ban_ends_by_itself() {
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    let (ada, robo) = (daemon.person("Ada").await, daemon.bot("robo").await);
    let id =
        async |name: &str| daemon.store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap().id;
    let (owner, bot, person) = (id("robo-owner").await, id("robo").await, id("Ada").await);
    let (ada_here, robo_here) = (daemon.join(&ada).await, daemon.join(&robo).await);
    accounts.ban(&owner, None, because()).await.unwrap();
    until("the end of its session", || daemon.services.sessions.of(&bot).is_empty()).await;
    daemon.check_kept_out(&robo, robo_here).await;
    assert_eq!(daemon.services.sessions.of(&person).len(), 1, "others stay");
    let until_when = UnixMillis(UnixMillis::now().0 + 3_000);
    accounts.ban(&person, Some(until_when), because()).await.unwrap();
    until("the end of her session", || daemon.services.sessions.of(&person).is_empty()).await;
    daemon.check_kept_out(&ada, ada_here).await;
    while UnixMillis::now() < until_when {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    daemon.join(&ada).await;
    daemon.check_sound().await;
}

#[tokio::test]
async fn a_new_name_is_that_of_the_next_session() {
    let daemon = TestDaemon::start(quiet()).await;
    let ada = daemon.person("Ada").await;
    let here = daemon.join(&ada).await;
    let id = here.welcome.you.id.clone();
    daemon.services.accounts.rename(&id, "lovelace", because()).await.unwrap();
    until("the end of the session", || daemon.services.sessions.of(&id).is_empty()).await;
    assert_eq!(daemon.join(&ada).await.welcome.you.name.as_str(), "lovelace");
    drop(here);
    daemon.check_sound().await;
}

#[tokio::test]
async fn whoever_ends_an_account_loses_its_games_and_nobody_waits() {
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    let (from, password) = ("127.0.0.1".parse().unwrap(), || Secret::new("correct horse"));
    accounts.register(from, "Ada", password(), None).await.unwrap();
    let cookie = accounts.sign_in(from, "Ada", password(), Device::default()).await.unwrap().secret;
    let ada = accounts.session(&cookie).await.unwrap();
    let bob = daemon.person("Bob").await;
    let (mut ada_here, mut bob_here) =
        (daemon.join(&Credential::Cookie(cookie)).await, daemon.join(&bob).await);
    let (bob_begins, game) = seat(&mut bob_here, &mut ada_here).await;
    accounts.delete(from, &ada, password()).await.unwrap();
    let end = end_of(&mut bob_here).await;
    let winner = if bob_begins { GameResult::First } else { GameResult::Second };
    assert_eq!((end.game, end.result, end.reason), (game, winner, EndReason::Resign));
    let id = &ada.identity.id;
    until("the end of its session", || daemon.services.sessions.of(id).is_empty()).await;
    drop((ada_here, bob_here));
    daemon.check_sound().await;
}

#[tokio::test]
async fn offers_that_stand_for_long_go_with_whoever_may_not_make_them_any_more() {
    const OFFER: &str = r#"{"type": "open_challenge", "rated": false, "listed": true,
        "time": {"bank_ms": null, "increment_ms": 0, "move_ms": 604800000}}"#;
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    for (number, name) in ["Banned", "Muted", "Renamed", "Deleted"].into_iter().enumerate() {
        let here = daemon.join(&daemon.person(name).await).await;
        let id = here.welcome.you.id.clone();
        say(&here, OFFER).await;
        let listed = async |count: usize| {
            for _ in 0..1_000 {
                let (shown, stored) =
                    (daemon.services.lobby.listed().await, daemon.store.links().await.unwrap());
                if (shown.len(), stored.len()) == (count, count) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("{name}: there are not {count} offers");
        };
        listed(1).await;
        let plan = TournamentPlan {
            id: format!("T{number}").parse().unwrap(),
            name: format!("Cup {name}"),
            maker: id.clone(),
            begins_at: UnixMillis(UnixMillis::now().0 + 600_000),
            format: FormatName::Arena,
            rounds: None,
            minutes: Some(30),
            pairs: 1,
            time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
            rated: false,
            open_bots: false,
            entered: Vec::new(),
        };
        let you = &here.welcome.you;
        let maker = Identity { id: id.clone(), name: you.name.clone(), kind: you.kind, owner: None };
        daemon.tournaments.make(plan, &maker, place()).await.unwrap();
        match number {
            0 => accounts.ban(&id, None, because()).await.unwrap(),
            1 => accounts.mute(&id, None, because()).await.unwrap(),
            2 => drop(accounts.rename(&id, "lovelace", because()).await.unwrap()),
            _ => drop(accounts.delete_as_operator(&id, because()).await.unwrap()),
        }
        listed(0).await;
        // Whoever has another name or may not ask is still here, and may be for what they have made.
        let makers: Vec<String> = match number {
            0 | 3 => vec![],
            1 => vec![name.to_owned()],
            _ => vec!["lovelace".to_owned()],
        };
        let shown = || daemon.tournaments.upcoming().into_iter().filter_map(|upcoming| upcoming.maker);
        let of_theirs = || shown().filter(|maker| maker.id == id).map(|maker| maker.name.to_string());
        until("what is shown of tournaments", || of_theirs().collect::<Vec<_>>() == makers).await;
    }
    daemon.check_sound().await;
}
