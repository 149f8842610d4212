//! The state of a full-screen game: events in, effects out.
//!
//! Pure: time comes as ticks, bots answer through events, and whoever owns the bots and the terminal performs the
//! effects. What is shown is read off the state by `screen`.

use fourfold_bots::{BotError, Choice, GameRecord, SearchInfo};
use fourfold_engine::search::Score;
use fourfold_engine::{BySide, Column, Game, IllegalMove, Side, SideResult};

use super::super::symbol;
use super::pace::MovePace;

/// What happens to a game.
#[derive(Debug)]
pub(super) enum GameEvent {
    Act(PersonAction),
    Answer {
        ticket: QuestionId,
        report: Result<MoveReport, BotError>,
    },
    /// [`super::pace::TICK`] has passed. Only wanted while [`ScreenGame::wants_ticks`].
    Tick,
}

/// What a person wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PersonAction {
    /// Moves the cursor by this many columns, to the right if positive.
    Choose(isize),
    /// Plays the column of the cursor.
    Drop,
    DropIn(Column),
    Undo,
    Hint,
    NewGame,
    SwapSides,
    /// Shows the keys, or hides them again.
    Help,
    /// Stops two bots, or lets them go on.
    Pause,
    Faster,
    Slower,
    /// One more move of two bots, which then pause.
    Step,
    Leave,
}

/// What the owner of the bots has to do.
#[derive(Debug)]
pub(super) enum BotOrder {
    /// Ask for a move in [`ScreenGame::game`]'s position, and answer with this ticket.
    Think {
        ticket: QuestionId,
        whom: Whom,
    },
    /// Whoever thinks shall stop; its answer is of no interest.
    Stop,
    /// Tell a bot how the game ended.
    Learn {
        bot: BotId,
        record: GameRecord,
    },
    Leave,
}

/// Names a question, so that late answers to others are known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct QuestionId(u64);

/// A bot, named by the side that it was started on: sides may be swapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BotId(pub(super) Side);

/// Who is asked for a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whom {
    Player(BotId),
    /// The one who gives hints.
    Adviser,
}

/// Who plays a side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ScreenSeat {
    Human,
    Bot { id: BotId, name: String },
}

/// A question that is not answered yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PendingQuestion {
    pub(super) ticket: QuestionId,
    pub(super) whom: Whom,
    /// Ticks since it was asked.
    pub(super) ticks: u32,
}

/// A move, and what is known about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MoveReport {
    pub(super) column: Column,
    pub(super) known: MoveKnowledge,
}

/// How much is known about a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MoveKnowledge {
    Nothing,
    /// What a search found, in the unit of the bot that searched.
    Estimate(SearchInfo),
    /// What the position is worth to the side that moves.
    Exactly(Score),
}

impl From<Choice> for MoveReport {
    fn from(Choice { column, info }: Choice) -> Self {
        Self { column, known: info.map_or(MoveKnowledge::Nothing, MoveKnowledge::Estimate) }
    }
}

/// A bot cannot go on; the game ends without a result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error("{name} chose column {column}: {reason}")]
    Illegal { name: String, column: Column, reason: IllegalMove },
}

/// What people can do at the moment; the keys depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// At least one side is a person.
    Playing,
    /// Two bots play.
    Watching,
    /// The keys are explained.
    Help,
}

/// A game on the screen.
#[derive(Debug)]
pub(super) struct ScreenGame {
    game: Game,
    /// Moves before the first of this game: they cannot be taken back.
    opening_plies: u32,
    seats: BySide<ScreenSeat>,
    cursor: Column,
    asked: Option<PendingQuestion>,
    last_ticket: QuestionId,
    /// The last word of each bot.
    reports: BySide<Option<MoveReport>>,
    hint: Option<MoveReport>,
    pace: MovePace,
    shows_help: bool,
    message: Option<String>,
    /// What would give up a game in progress, and waits to be asked for again.
    unconfirmed: Option<PersonAction>,
}

impl ScreenGame {
    /// A game that goes on from here. Call [`ScreenGame::begin`] first.
    pub(super) fn new(game: Game, seats: BySide<ScreenSeat>) -> Self {
        let variant = game.variant();
        let middle = usize::from(variant.width() - 1) / 2;
        let cursor = variant.columns().nth(middle).expect("a board has a middle");
        Self {
            opening_plies: game.ply(),
            game,
            seats,
            cursor,
            asked: None,
            last_ticket: QuestionId::default(),
            reports: BySide::default(),
            hint: None,
            pace: MovePace::default(),
            shows_help: false,
            message: None,
            unconfirmed: None,
        }
    }

    pub(super) fn game(&self) -> &Game {
        &self.game
    }

    pub(super) fn seats(&self) -> &BySide<ScreenSeat> {
        &self.seats
    }

    pub(super) fn cursor(&self) -> Column {
        self.cursor
    }

    pub(super) fn asked(&self) -> Option<PendingQuestion> {
        self.asked
    }

    pub(super) fn reports(&self) -> &BySide<Option<MoveReport>> {
        &self.reports
    }

    pub(super) fn hint(&self) -> Option<&MoveReport> {
        self.hint.as_ref()
    }

    pub(super) fn pace(&self) -> &MovePace {
        &self.pace
    }

    /// Why the last action did nothing, or what it would do.
    pub(super) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    pub(super) fn mode(&self) -> Mode {
        if self.shows_help {
            Mode::Help
        } else if self.is_watched() {
            Mode::Watching
        } else {
            Mode::Playing
        }
    }

    /// Whether two bots play.
    pub(super) fn is_watched(&self) -> bool {
        Side::BOTH.into_iter().all(|side| !self.is_human(side))
    }

    /// Whether a person is to move.
    pub(super) fn is_persons_turn(&self) -> bool {
        self.game.outcome().is_none() && self.is_human(self.game.position().side_to_move())
    }

    /// Whether time matters: somebody thinks, or two bots wait for their next move.
    pub(super) fn wants_ticks(&self) -> bool {
        self.asked.is_some() || (self.game.outcome().is_none() && self.is_watched() && self.pace.is_waiting())
    }

    /// What there is to do before the first event.
    pub(super) fn begin(&mut self) -> Vec<BotOrder> {
        self.go_on()
    }

    /// Follows an event.
    ///
    /// # Errors
    ///
    /// Fails if a bot that plays is broken or breaks the rules.
    pub(super) fn apply(&mut self, event: GameEvent) -> Result<Vec<BotOrder>, Broken> {
        let mut effects = match event {
            GameEvent::Act(action) => self.act(action),
            GameEvent::Answer { ticket, report } => {
                self.hear(ticket, report)?;
                Vec::new()
            }
            GameEvent::Tick => {
                self.tick();
                Vec::new()
            }
        };
        if !matches!(effects.last(), Some(BotOrder::Leave)) {
            effects.extend(self.go_on());
        }
        Ok(effects)
    }

    fn act(&mut self, action: PersonAction) -> Vec<BotOrder> {
        self.message = None;
        let repeated = self.unconfirmed.take() == Some(action);
        match action {
            PersonAction::Choose(by) => self.move_cursor(by),
            PersonAction::Drop => return self.drop_in(self.cursor),
            PersonAction::DropIn(column) => return self.drop_in(column),
            PersonAction::Undo => return self.undo(),
            PersonAction::Hint => return self.ask_adviser(),
            PersonAction::NewGame | PersonAction::SwapSides if !repeated && self.is_in_progress() => {
                self.unconfirmed = Some(action);
                self.message = Some("the same key again gives this game up".to_owned());
            }
            PersonAction::NewGame => return self.restart(),
            PersonAction::SwapSides => {
                let effects = self.restart();
                std::mem::swap(&mut self.seats.first, &mut self.seats.second);
                return effects;
            }
            PersonAction::Help => self.shows_help = !self.shows_help,
            PersonAction::Pause => self.pace.toggle(),
            PersonAction::Faster => self.pace.faster(),
            PersonAction::Slower => self.pace.slower(),
            PersonAction::Step => self.pace.step(),
            PersonAction::Leave => {
                let mut effects = self.stop();
                effects.extend(self.lessons());
                effects.push(BotOrder::Leave);
                return effects;
            }
        }
        Vec::new()
    }

    fn move_cursor(&mut self, by: isize) {
        let last = usize::from(self.game.variant().width()) - 1;
        let index = self.cursor.index().saturating_add_signed(by).min(last);
        self.cursor = Column::from_index(index).expect("it is on the board");
    }

    /// A person drops a stone.
    fn drop_in(&mut self, column: Column) -> Vec<BotOrder> {
        let refusal = if self.game.outcome().is_some() {
            Some("the game is over: n for a new one".to_owned())
        } else if self.is_persons_turn() {
            self.game.position().play(column).err().map(|illegal| illegal.to_string())
        } else {
            Some("it is not your turn".to_owned())
        };
        if refusal.is_some() {
            self.message = refusal;
            return Vec::new();
        }
        let effects = self.stop();
        self.cursor = column;
        self.play(column).expect("the move has just been tried");
        effects
    }

    fn play(&mut self, column: Column) -> Result<(), IllegalMove> {
        self.game.play(column)?;
        self.hint = None;
        Ok(())
    }

    /// Takes back the last move of a person and whatever followed it; the last move of all if two bots play.
    fn undo(&mut self) -> Vec<BotOrder> {
        let is_watched = self.is_watched();
        let mut earlier = (self.opening_plies..self.game.ply()).rev();
        let Some(target) = earlier.find(|&ply| is_watched || self.is_human(Side::to_move_at(ply))) else {
            self.message = Some("there is no move to take back".to_owned());
            return Vec::new();
        };
        let effects = self.stop();
        while self.game.ply() > target {
            self.game.undo();
        }
        self.reports = BySide::default();
        self.hint = None;
        if is_watched {
            self.pace.pause();
        }
        effects
    }

    fn ask_adviser(&mut self) -> Vec<BotOrder> {
        if !self.is_persons_turn() {
            self.message = Some("hints are for your own turn".to_owned());
            return Vec::new();
        }
        if self.asked.is_some() || self.hint.is_some() {
            return Vec::new();
        }
        vec![self.ask(Whom::Adviser)]
    }

    fn restart(&mut self) -> Vec<BotOrder> {
        let mut effects = self.stop();
        effects.extend(self.lessons());
        while self.game.ply() > self.opening_plies {
            self.game.undo();
        }
        self.reports = BySide::default();
        self.hint = None;
        self.pace.rest();
        effects
    }

    /// What the bots are told about a finished game. Only when it is left for good: until then its end may be taken
    /// back.
    fn lessons(&self) -> Vec<BotOrder> {
        let Some(outcome) = self.game.outcome() else { return Vec::new() };
        if self.game.ply() == self.opening_plies {
            return Vec::new(); // nobody played
        }
        let lesson = |side: Side| match self.seats[side] {
            ScreenSeat::Human => None,
            ScreenSeat::Bot { id, .. } => {
                let record = GameRecord {
                    game: self.game.clone(),
                    side,
                    result: SideResult::of(side, outcome.winner()),
                };
                Some(BotOrder::Learn { bot: id, record })
            }
        };
        Side::BOTH.into_iter().filter_map(lesson).collect()
    }

    fn hear(&mut self, ticket: QuestionId, report: Result<MoveReport, BotError>) -> Result<(), Broken> {
        let Some(asked) = self.asked.take_if(|asked| asked.ticket == ticket) else { return Ok(()) };
        match (asked.whom, report) {
            (Whom::Adviser, Ok(report)) => self.hint = Some(report),
            (Whom::Adviser, Err(error)) => self.message = Some(format!("no hint: {error}")),
            (Whom::Player(_), Ok(report)) => self.play_for_bot(report)?,
            (Whom::Player(_), Err(error)) => return Err(error.into()),
        }
        Ok(())
    }

    fn play_for_bot(&mut self, report: MoveReport) -> Result<(), Broken> {
        let side = self.game.position().side_to_move();
        let column = report.column;
        self.play(column).map_err(|reason| Broken::Illegal { name: self.name(side), column, reason })?;
        self.reports[side] = Some(report);
        self.pace.moved();
        Ok(())
    }

    fn tick(&mut self) {
        match &mut self.asked {
            Some(asked) => asked.ticks = asked.ticks.saturating_add(1),
            None => self.pace.tick(),
        }
    }

    /// Asks the bot to move, if it is a bot's turn and time for it.
    fn go_on(&mut self) -> Vec<BotOrder> {
        if self.asked.is_some() || self.game.outcome().is_some() {
            return Vec::new();
        }
        if self.is_watched() && !self.pace.is_due() {
            return Vec::new();
        }
        match self.seats[self.game.position().side_to_move()] {
            ScreenSeat::Human => Vec::new(),
            ScreenSeat::Bot { id, .. } => vec![self.ask(Whom::Player(id))],
        }
    }

    fn ask(&mut self, whom: Whom) -> BotOrder {
        self.last_ticket.0 += 1;
        let ticket = self.last_ticket;
        self.asked = Some(PendingQuestion { ticket, whom, ticks: 0 });
        BotOrder::Think { ticket, whom }
    }

    fn stop(&mut self) -> Vec<BotOrder> {
        self.asked.take().map(|_| BotOrder::Stop).into_iter().collect()
    }

    /// Whether a person would lose something if the game ended now.
    fn is_in_progress(&self) -> bool {
        !self.is_watched() && self.game.outcome().is_none() && self.game.ply() > self.opening_plies
    }

    fn is_human(&self, side: Side) -> bool {
        matches!(self.seats[side], ScreenSeat::Human)
    }

    /// What a side's player is called: `you` if only one is a person.
    pub(super) fn name(&self, side: Side) -> String {
        match &self.seats[side] {
            ScreenSeat::Bot { name, .. } => name.clone(),
            ScreenSeat::Human if self.is_human(side.opponent()) => format!("{side} player"),
            ScreenSeat::Human => "you".to_owned(),
        }
    }

    /// A side's symbol, with the bot that plays it if one does.
    pub(super) fn title(&self, side: Side) -> String {
        match &self.seats[side] {
            ScreenSeat::Human => symbol(side).to_string(),
            ScreenSeat::Bot { name, .. } => format!("{} ({name})", symbol(side)),
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    fn bot(side: Side) -> ScreenSeat {
        ScreenSeat::Bot { id: BotId(side), name: format!("{side} bot") }
    }

    /// A game in which these sides are bots.
    fn state(moves: &str, bots: &[Side]) -> ScreenGame {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let seats = BySide::from_fn(|side| if bots.contains(&side) { bot(side) } else { ScreenSeat::Human });
        ScreenGame::new(game, seats)
    }

    fn column(number: u8) -> Column {
        Column::from_number(number).unwrap()
    }

    fn act(state: &mut ScreenGame, action: PersonAction) -> Vec<BotOrder> {
        state.apply(GameEvent::Act(action)).unwrap()
    }

    fn drop_in(state: &mut ScreenGame, number: u8) -> Vec<BotOrder> {
        act(state, PersonAction::DropIn(column(number)))
    }

    /// Answers the open question with this column.
    fn answer(state: &mut ScreenGame, number: u8) -> Result<Vec<BotOrder>, Broken> {
        let ticket = state.asked().expect("somebody was asked").ticket;
        state.apply(GameEvent::Answer { ticket, report: Ok(Choice::from(column(number)).into()) })
    }

    #[track_caller]
    fn check_thinks(effects: &[BotOrder], expected: Whom) {
        let Some(BotOrder::Think { whom, .. }) = effects.last() else { panic!("{effects:?}") };
        assert_eq!(*whom, expected);
    }

    #[test]
    fn a_person_and_a_bot_take_turns() {
        let mut state = state("", &[Side::Second]);
        assert!(state.begin().is_empty() && !state.wants_ticks());
        check_thinks(&drop_in(&mut state, 4), Whom::Player(BotId(Side::Second)));
        assert!(state.wants_ticks());
        assert!(drop_in(&mut state, 4).is_empty());
        assert_eq!(state.message(), Some("it is not your turn"));
        answer(&mut state, 3).unwrap();
        assert_eq!(state.game().notation(), "43");
        assert!(state.is_persons_turn() && !state.wants_ticks());
    }

    #[test]
    fn the_cursor_stays_on_the_board_and_drops() {
        let mut state = state("", &[]);
        act(&mut state, PersonAction::Choose(-64));
        act(&mut state, PersonAction::Drop);
        act(&mut state, PersonAction::Choose(64));
        act(&mut state, PersonAction::Choose(1));
        act(&mut state, PersonAction::Choose(-1));
        act(&mut state, PersonAction::Drop);
        assert_eq!(state.game().notation(), "16");
    }

    #[test]
    fn a_full_column_is_explained() {
        let mut state = state("444444", &[]);
        assert!(drop_in(&mut state, 4).is_empty());
        assert_eq!(state.message(), Some("column 4 is full"));
        drop_in(&mut state, 9);
        assert_eq!(state.message(), Some("column 9 is not on a board of 7 columns"));
        drop_in(&mut state, 1);
        assert_eq!((state.message(), state.game().ply()), (None, 7));
    }

    #[test]
    fn undo_goes_back_to_ones_own_turn() {
        let mut state = state("44", &[Side::Second]);
        drop_in(&mut state, 5);
        answer(&mut state, 5).unwrap();
        act(&mut state, PersonAction::Undo);
        assert_eq!(state.game().notation(), "44");
        act(&mut state, PersonAction::Undo);
        assert_eq!(state.message(), Some("there is no move to take back"), "the opening stays");
    }

    #[test]
    fn undo_while_the_bot_thinks_stops_it() {
        let mut state = state("", &[Side::Second]);
        drop_in(&mut state, 4);
        let ticket = state.asked().unwrap().ticket;
        assert!(matches!(act(&mut state, PersonAction::Undo)[..], [BotOrder::Stop]));
        // Its answer comes nevertheless, and late: the next question is another one.
        drop_in(&mut state, 1);
        let late = GameEvent::Answer { ticket, report: Ok(Choice::from(column(7)).into()) };
        assert!(state.apply(late).unwrap().is_empty());
        assert_eq!(state.game().notation(), "1");
    }

    #[test]
    fn a_bot_that_begins_is_not_taken_back_alone() {
        let mut state = state("", &[Side::First]);
        check_thinks(&state.begin(), Whom::Player(BotId(Side::First)));
        answer(&mut state, 4).unwrap();
        act(&mut state, PersonAction::Undo);
        assert_eq!(state.game().notation(), "4");
    }

    #[test]
    fn a_finished_game_may_be_taken_back_and_teaches_only_when_left() {
        let mut state = state("121212", &[Side::Second]);
        assert!(drop_in(&mut state, 1).is_empty());
        assert!(drop_in(&mut state, 1).is_empty());
        assert_eq!(state.message(), Some("the game is over: n for a new one"));
        act(&mut state, PersonAction::Undo);
        assert_eq!(state.game().outcome(), None);
        drop_in(&mut state, 1);
        let effects = act(&mut state, PersonAction::NewGame);
        let [BotOrder::Learn { bot: BotId(Side::Second), record }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!((record.side, record.result), (Side::Second, SideResult::Loss));
        assert_eq!(state.game().notation(), "121212", "the opening is played again");
    }

    #[test]
    fn a_game_in_progress_is_given_up_at_the_second_wish_only() {
        let mut state = state("", &[]);
        drop_in(&mut state, 4);
        act(&mut state, PersonAction::NewGame);
        act(&mut state, PersonAction::Choose(1));
        act(&mut state, PersonAction::NewGame);
        assert_eq!(state.game().ply(), 1);
        act(&mut state, PersonAction::NewGame);
        assert_eq!(state.game().ply(), 0);
    }

    #[test]
    fn swapped_bots_keep_their_threads() {
        let mut state = state("", &[Side::Second]);
        check_thinks(&act(&mut state, PersonAction::SwapSides), Whom::Player(BotId(Side::Second)));
        assert_eq!((state.name(Side::First), state.name(Side::Second)), ("second bot".into(), "you".into()));
    }

    #[test]
    fn hints_are_for_the_position_on_the_board() {
        let mut state = state("", &[Side::Second]);
        check_thinks(&act(&mut state, PersonAction::Hint), Whom::Adviser);
        assert!(act(&mut state, PersonAction::Hint).is_empty(), "it is being looked for");
        answer(&mut state, 4).unwrap();
        assert_eq!(state.hint().map(|hint| hint.column), Some(column(4)));
        assert_eq!(state.game().ply(), 0);
        drop_in(&mut state, 5);
        assert_eq!(state.hint(), None);
        act(&mut state, PersonAction::Hint);
        assert_eq!(state.message(), Some("hints are for your own turn"));
    }

    #[test]
    fn a_move_does_not_wait_for_a_hint() {
        let mut state = state("", &[Side::Second]);
        act(&mut state, PersonAction::Hint);
        let effects = drop_in(&mut state, 4);
        assert!(matches!(effects[..], [BotOrder::Stop, BotOrder::Think { whom: Whom::Player(_), .. }]));
    }

    #[test]
    fn watched_bots_keep_their_pace() {
        let mut state = state("", &Side::BOTH);
        check_thinks(&state.begin(), Whom::Player(BotId(Side::First)));
        assert!(answer(&mut state, 4).unwrap().is_empty() && state.wants_ticks());
        for _ in 0..9 {
            assert!(state.apply(GameEvent::Tick).unwrap().is_empty());
        }
        check_thinks(&state.apply(GameEvent::Tick).unwrap(), Whom::Player(BotId(Side::Second)));
        act(&mut state, PersonAction::Pause);
        answer(&mut state, 4).unwrap();
        assert!(!state.wants_ticks(), "nothing happens by itself");
        check_thinks(&act(&mut state, PersonAction::Step), Whom::Player(BotId(Side::First)));
        assert!(answer(&mut state, 4).unwrap().is_empty());
        act(&mut state, PersonAction::Undo);
        assert_eq!(state.game().notation(), "44");
    }

    #[test]
    fn a_broken_bot_ends_the_game() {
        let mut state = state("444444", &[Side::First]);
        state.begin();
        let error = answer(&mut state, 4).unwrap_err();
        assert_eq!(error.to_string(), "first bot chose column 4: column 4 is full");
        let ticket = state
            .asked
            .insert(PendingQuestion { ticket: QuestionId(9), whom: Whom::Adviser, ticks: 0 })
            .ticket;
        let no_hint = GameEvent::Answer { ticket, report: Err(BotError::GameOver) };
        state.apply(no_hint).unwrap();
        assert_eq!(state.message(), Some("no hint: the game is over: there is nothing to choose"));
    }

    #[test]
    fn leaving_stops_whoever_thinks() {
        let mut state = state("", &[Side::First]);
        state.begin();
        assert!(matches!(act(&mut state, PersonAction::Leave)[..], [BotOrder::Stop, BotOrder::Leave]));
    }
}
