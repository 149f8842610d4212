//! The protocol's self-test: what a bot's connection must survive, tried out with its own token against a daemon.
//!
//! One casual game against a house bot: a full column, the same move twice, another one for the same turn, a dropped
//! connection, a second session, the rest of the game, the farewell. The first failure ends the test, since what comes
//! after builds on it.

use std::time::Duration;

use fourfold_arena::admission::{Check, CheckVerdict};
use fourfold_engine::Variant;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::client::{Client, ClientError, Introduction, game_time};
use crate::model::bounded::Bounded;
use crate::model::clock::TimeControl;
use crate::model::pace::BotPace;
use crate::model::player::PlayerKind;
use crate::protocol::client::{Bye, ColumnField, Move, PlayBot};
use crate::protocol::server::{GameEnd, Turn};

use crate::model::opening::SideChoice;

use crate::protocol::terms::WireVariant;
use crate::protocol::{ClientMessage, CloseCode, ErrorCode, ServerMessage};

/// How long the server may take for one answer.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// The house bot that everybody can play against.
const OPPONENT: &str = "random";

/// Time for each move of the game: nothing here is about speed.
const MOVE_MS: u32 = 30_000;

/// Why a step failed.
#[derive(Debug, Error)]
enum StepError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("no {0} came in {s} s", s = ANSWER_WAIT.as_secs())]
    Missing(&'static str),
    #[error("{0}")]
    Wrong(String),
}

/// Runs all checks; those after a failure are missing.
pub(crate) async fn run(introduction: Introduction) -> Vec<Check> {
    let mut checks = Vec::new();
    let result = steps(introduction, &mut checks).await;
    if let Err((name, error)) = result {
        checks.push(Check { name, verdict: CheckVerdict::Failed, note: error.to_string() });
    }
    checks
}

/// Names what failed.
type TestStep<T> = Result<T, (&'static str, StepError)>;

async fn steps(introduction: Introduction, checks: &mut Vec<Check>) -> TestStep<()> {
    let mut passed = |name, note: String| checks.push(Check { name, verdict: CheckVerdict::Passed, note });

    let mut client = named("handshake", Client::connect(introduction.clone()).await)?;
    named("handshake", is_bot(&client))?;
    passed("handshake", format!("connected as {}", client.welcome().you.name));

    let turn = named("turn", first_turn(&mut client).await)?;
    passed("turn", format!("asked in game {}", turn.game));

    named("illegal_retry", illegal_move(&mut client, &turn).await)?;
    passed("illegal_retry", "a wrong column is refused and the turn goes on".to_owned());

    named("duplicate_move", duplicate_move(&mut client, &turn).await)?;
    passed("duplicate_move", "the same move twice is one move".to_owned());

    named("late_move", late_move(&mut client, &turn).await)?;
    passed("late_move", "another move for a turn of the past is refused".to_owned());

    named("drop_and_resume", resume(&mut client).await)?;
    passed("drop_and_resume", "the session goes on after a lost connection".to_owned());

    let mut client = named("double_session", take_over(client, introduction).await)?;
    passed("double_session", "a newer connection takes over".to_owned());

    let end = named("long_game", play_on(&mut client).await)?;
    passed("long_game", format!("{:?} by {:?} after {} moves", end.result, end.reason, end.moves.len()));

    named("drain", drain(&mut client).await)?;
    passed("drain", "the server closes when all is played".to_owned());
    Ok(())
}

fn named<T>(name: &'static str, result: Result<T, impl Into<StepError>>) -> TestStep<T> {
    result.map_err(|error| (name, error.into()))
}

/// The first message that `pick` wants.
async fn wait_for<T>(
    client: &mut Client,
    what: &'static str,
    mut pick: impl FnMut(ServerMessage) -> Option<T>,
) -> Result<T, StepError> {
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        let received = timeout_at(deadline, client.next()).await.map_err(|_| StepError::Missing(what))??;
        if let Some(picked) = pick(received.message) {
            return Ok(picked);
        }
    }
}

fn is_bot(client: &Client) -> Result<(), StepError> {
    match client.welcome().you.kind {
        PlayerKind::Bot => Ok(()),
        PlayerKind::Human | PlayerKind::Guest => Err(StepError::Wrong("the token is not a bot's".to_owned())),
    }
}

async fn first_turn(client: &mut Client) -> Result<Turn, StepError> {
    let games = wait_for(client, "`synced`", |message| match message {
        ServerMessage::Synced(synced) => Some(synced.games),
        _ => None,
    });
    if games.await? > 0 {
        return Err(StepError::Wrong("the bot has games under way; test it when it has none".to_owned()));
    }
    let invitation = PlayBot {
        bot: OPPONENT.to_owned(),
        time: game_time(TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(MOVE_MS) })?,
        side: SideChoice::First,
        variant: WireVariant(Variant::STANDARD),
        rated: false,
        opening: None,
        pace: BotPace::default(),
    };
    client.send(&ClientMessage::PlayBot(invitation)).await?;
    let turn = wait_for(client, "`turn`", |message| match message {
        ServerMessage::Turn(turn) => Some(Ok(*turn)),
        ServerMessage::Error(error) => Some(Err(StepError::Wrong(error.message.clone()))),
        _ => None,
    });
    turn.await?
}

async fn send_column(client: &mut Client, turn: &Turn, column: u8) -> Result<(), ClientError> {
    let column = ColumnField::Number(column.into());
    let message = Move { game: turn.game.clone(), ply: Bounded::new(turn.ply), column, info: None };
    client.send(&ClientMessage::Move(message)).await
}

async fn expect_refusal(client: &mut Client, expected: ErrorCode) -> Result<(), StepError> {
    let code = wait_for(client, "`error`", |message| match message {
        ServerMessage::Error(error) => Some(error.code),
        _ => None,
    });
    let code = code.await?;
    if code == expected {
        Ok(())
    } else {
        Err(StepError::Wrong(format!("refused by {code:?}, not {expected:?}")))
    }
}

async fn illegal_move(client: &mut Client, turn: &Turn) -> Result<(), StepError> {
    send_column(client, turn, turn.variant.0.width() + 1).await?;
    expect_refusal(client, ErrorCode::IllegalMove).await
}

/// The column that is played in answer to a turn.
fn column_of(turn: &Turn) -> Result<u8, StepError> {
    turn.legal.first().copied().ok_or_else(|| StepError::Wrong("a turn without legal columns".to_owned()))
}

async fn duplicate_move(client: &mut Client, turn: &Turn) -> Result<(), StepError> {
    let column = column_of(turn)?;
    for _ in 0..2 {
        send_column(client, turn, column).await?;
        let after = turn.ply + 1;
        let moved = wait_for(client, "`moved`", |message| match message {
            ServerMessage::Moved(moved) if moved.ply == after => Some(Ok(moved.column)),
            ServerMessage::Error(error) => Some(Err(StepError::Wrong(error.message.clone()))),
            _ => None,
        });
        if moved.await?? != column {
            return Err(StepError::Wrong("another column was played".to_owned()));
        }
    }
    Ok(())
}

async fn late_move(client: &mut Client, turn: &Turn) -> Result<(), StepError> {
    let other = turn.legal.last().copied().unwrap_or_default();
    send_column(client, turn, other).await?;
    expect_refusal(client, ErrorCode::StalePly).await
}

async fn resume(client: &mut Client) -> Result<(), StepError> {
    if client.reconnect().await?.resumed {
        Ok(())
    } else {
        Err(StepError::Wrong("the server did not know the session".to_owned()))
    }
}

async fn take_over(mut older: Client, introduction: Introduction) -> Result<Client, StepError> {
    let newer = Client::connect(introduction).await?;
    loop {
        let received = timeout_at(Instant::now() + ANSWER_WAIT, older.next()).await;
        match received.map_err(|_| StepError::Missing("close of the older connection"))? {
            Ok(_) => {}
            Err(ClientError::Closed { code, .. }) if code == CloseCode::Replaced.number() => {
                return Ok(newer);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

async fn play_on(client: &mut Client) -> Result<GameEnd, StepError> {
    enum ConnectionEvent {
        Turn(Box<Turn>),
        End(Box<GameEnd>),
    }
    loop {
        let event = wait_for(client, "`turn` or `game_end`", |message| match message {
            ServerMessage::Turn(turn) => Some(ConnectionEvent::Turn(turn)),
            ServerMessage::GameEnd(end) => Some(ConnectionEvent::End(end)),
            _ => None,
        });
        match event.await? {
            ConnectionEvent::Turn(turn) => send_column(client, &turn, column_of(&turn)?).await?,
            ConnectionEvent::End(end) => return Ok(*end),
        }
    }
}

async fn drain(client: &mut Client) -> Result<(), StepError> {
    client.send(&ClientMessage::Bye(Bye { drain: true })).await?;
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        match timeout_at(deadline, client.next()).await.map_err(|_| StepError::Missing("close"))? {
            Ok(_) => {}
            Err(ClientError::Closed { code: 1000, .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
