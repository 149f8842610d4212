//! The game over the whole screen: sets the terminal up, carries events to the game and its effects to the bots, and
//! leaves the terminal as it was, also after a panic or a signal.

mod game;
mod hints;
mod keys;
mod pace;
mod screen;
mod thinker;

use std::io::{self, IsTerminal, Write};

use crate::system::bot_files::BotFileError;
use anyhow::Context;
use crossterm::event::{Event as Input, EventStream};
use fourfold_bots::GameRecord;
use fourfold_engine::{BySide, Position, Side, Variant};
use futures::StreamExt;
use ratatui::DefaultTerminal;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};

use self::game::{BotId, BotOrder, GameEvent, PersonAction, QuestionId, ScreenGame, ScreenSeat, Whom};
use self::hints::Adviser;
use self::pace::TICK;
use self::screen::Palette;
use self::thinker::{Answers, BotAnswer, Thinker, TimedBot};
use super::{SeatOccupant, Setup, print_board, result_line, resume_line};
use crate::app::terminal::signals::Signals;

/// See [`Answers`].
const ANSWERS_MAX: usize = 8;

/// Whether the screen can be drawn on and keys can be read.
pub(super) fn is_able() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// Plays until somebody leaves, then says on standard output how far it came.
pub(super) fn run(setup: Setup) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (answers, inbox) = mpsc::channel(ANSWERS_MAX);
    let (mut state, mut bots) = seat(setup, answers);
    let result = runtime.block_on(async {
        let mut screen = Screen::open(inbox).context("cannot draw on this terminal; try --plain")?;
        anyhow::Ok(screen.play(&mut state, &mut bots).await)
    })?;
    let learnt = bots.finish();
    let farewell = say_goodbye(&state, &mut io::stdout().lock());
    result?; // a broken bot is worse news than a terminal that has gone
    farewell?;
    learnt?;
    Ok(())
}

/// Puts the bots on their threads.
fn seat(setup: Setup, answers: Answers) -> (ScreenGame, Thinkers) {
    let Setup { game, seats, move_limit } = setup;
    let mut players = BySide::default();
    let mut seated = |side: Side, seat: SeatOccupant| match seat {
        SeatOccupant::Human => ScreenSeat::Human,
        SeatOccupant::Bot(seated) => {
            let name = seated.spec.to_string();
            players[side] = Some(Thinker::start(TimedBot { seated, limit: move_limit }, answers.clone()));
            ScreenSeat::Bot { id: BotId(side), name }
        }
    };
    let seats =
        BySide { first: seated(Side::First, seats.first), second: seated(Side::Second, seats.second) };
    (ScreenGame::new(game, seats), Thinkers { players, adviser: None, answers })
}

/// What stays on the terminal.
fn say_goodbye(state: &ScreenGame, out: &mut impl Write) -> io::Result<()> {
    let game = state.game();
    print_board(game, out)?;
    match game.outcome() {
        None => writeln!(out, "{}", resume_line(game)),
        Some(outcome) => {
            let result = result_line(outcome, |side| state.title(side));
            writeln!(out, "{result}\nmoves: {}", game.notation())
        }
    }
}

/// The threads that think.
struct Thinkers {
    players: BySide<Option<Thinker>>,
    /// Started at the first wish for a hint.
    adviser: Option<Thinker>,
    answers: Answers,
}

impl Thinkers {
    fn ask(&mut self, ticket: QuestionId, whom: Whom, position: Position) {
        let thinker = match whom {
            Whom::Player(BotId(side)) => &mut self.players[side],
            Whom::Adviser => self.call_adviser(ticket, position.variant()),
        };
        if let Some(thinker) = thinker {
            thinker.ask(ticket, position);
        }
    }

    /// The adviser, started if need be; if there is none, the question is answered with the reason.
    fn call_adviser(&mut self, ticket: QuestionId, variant: Variant) -> &mut Option<Thinker> {
        if self.adviser.is_none() {
            match Adviser::new(variant) {
                Ok(adviser) => self.adviser = Some(Thinker::start(adviser, self.answers.clone())),
                Err(error) => {
                    let answer = BotAnswer { ticket, report: Err(error) };
                    let _ = self.answers.try_send(answer); // without room for it the hint never comes
                }
            }
        }
        &mut self.adviser
    }

    fn stop(&self) {
        self.all().for_each(Thinker::stop);
    }

    fn learn(&self, BotId(side): BotId, record: GameRecord) {
        if let Some(thinker) = &self.players[side] {
            thinker.learn(record);
        }
    }

    fn all(&self) -> impl Iterator<Item = &Thinker> {
        let Self { players, adviser, answers: _ } = self;
        [&players.first, &players.second, adviser].into_iter().flatten()
    }

    /// Ends all threads; an error if what a bot learnt could not be kept.
    fn finish(self) -> Result<(), BotFileError> {
        self.stop();
        let Self { players, adviser, answers: _ } = self;
        let thinkers = [players.first, players.second, adviser].into_iter().flatten();
        thinkers.map(Thinker::finish).fold(Ok(()), Result::and)
    }
}

/// The terminal while the game has it. Dropping it gives it back; after a panic the hook that ratatui sets has done so
/// before the message is printed.
struct Screen {
    terminal: DefaultTerminal,
    palette: Palette,
    input: EventStream,
    answers: mpsc::Receiver<BotAnswer>,
    signals: Signals,
    ticks: Interval,
}

impl Drop for Screen {
    fn drop(&mut self) {
        // After a panic this has been done, and to do it again would put the cursor onto the message.
        if crossterm::terminal::is_raw_mode_enabled().unwrap_or(true) {
            ratatui::restore();
        }
    }
}

impl Screen {
    fn open(answers: mpsc::Receiver<BotAnswer>) -> io::Result<Self> {
        let signals = Signals::listen()?;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        let palette = Palette::from_no_color(std::env::var_os("NO_COLOR").as_deref());
        Ok(Self { terminal, palette, input: EventStream::new(), answers, signals, ticks })
    }

    async fn play(&mut self, state: &mut ScreenGame, bots: &mut Thinkers) -> anyhow::Result<()> {
        let mut effects = state.begin();
        loop {
            for effect in effects {
                match effect {
                    BotOrder::Think { ticket, whom } => bots.ask(ticket, whom, *state.game().position()),
                    BotOrder::Stop => bots.stop(),
                    BotOrder::Learn { bot, record } => bots.learn(bot, record),
                    BotOrder::Leave => return Ok(()),
                }
            }
            self.terminal.draw(|frame| screen::draw(frame, state, self.palette))?;
            effects = match self.next(state).await? {
                Some(event) => state.apply(event)?,
                None => Vec::new(),
            };
        }
    }

    /// Waits for something to happen. `None` if all there is to do is to draw again.
    async fn next(&mut self, state: &ScreenGame) -> io::Result<Option<GameEvent>> {
        if !state.wants_ticks() {
            self.ticks.reset(); // what went by before it mattered does not count
        }
        tokio::select! {
            input = self.input.next() => match input {
                Some(Ok(Input::Key(key))) => Ok(keys::action(key, state.mode()).map(GameEvent::Act)),
                Some(Ok(_)) => Ok(None),
                Some(Err(error)) => Err(error),
                None => Ok(Some(GameEvent::Act(PersonAction::Leave))),
            },
            Some(BotAnswer { ticket, report }) = self.answers.recv() => {
                Ok(Some(GameEvent::Answer { ticket, report }))
            }
            // All of them end a game as `q` does.
            _ = self.signals.next() => Ok(Some(GameEvent::Act(PersonAction::Leave))),
            _ = self.ticks.tick(), if state.wants_ticks() => Ok(Some(GameEvent::Tick)),
        }
    }
}
