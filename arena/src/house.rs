//! House bots as entrants, in this process.
//!
//! Bots enter as they are: a learner does not learn during a match, so that the rating belongs to one strength and the
//! results do not depend on the order of the games.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use fourfold_bots::{Bot, BotError, MoveBudget, Recipe};

use crate::entrant::{Answer, Entrant, EntrantFault, GameStart, Player, Turn};
use crate::watchdog::{FlagAlarm, Watchdog};

/// A house bot with settings.
#[derive(Debug)]
pub struct HouseEntrant {
    name: String,
    recipe: Recipe,
    watchdog: Watchdog,
}

impl HouseEntrant {
    pub fn new(name: String, recipe: Recipe, watchdog: &Watchdog) -> Self {
        Self { name, recipe, watchdog: watchdog.clone() }
    }
}

impl Entrant for HouseEntrant {
    fn name(&self) -> &str {
        &self.name
    }

    fn player(&self) -> Result<Box<dyn Player>, EntrantFault> {
        let bot = self.recipe.build(0).map_err(broken)?;
        let recipe = self.recipe.draws().then(|| self.recipe.clone());
        Ok(Box::new(HousePlayer { bot, alarm: self.watchdog.alarm(), recipe }))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn broken(error: BotError) -> EntrantFault {
    EntrantFault::Broken(error.to_string())
}

struct HousePlayer {
    bot: Box<dyn Bot>,
    alarm: FlagAlarm,
    /// What a bot that draws is made from anew for each game.
    recipe: Option<Recipe>,
}

impl HousePlayer {
    /// When the bot is to be stopped: after the time it wants by its own settings, or the clock's if that is less.
    /// Limits by nodes alone are exact, so there its own time does not count.
    fn time(&self, turn: &Turn<'_>) -> Option<Duration> {
        match (self.bot.move_time(), turn.allotment) {
            (Some(own), Some(allotted)) => Some(own.min(allotted)),
            (own, None) => own.filter(|_| turn.nodes.is_none()),
            (None, allotted) => allotted,
        }
    }
}

impl Player for HousePlayer {
    fn begin(&mut self, start: &GameStart) -> Result<(), EntrantFault> {
        if let Some(recipe) = &self.recipe {
            self.bot = recipe.build(start.seed).map_err(broken)?;
        }
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let time = self.time(turn);
        let asked = Instant::now();
        if let Some(time) = time {
            self.alarm.set(asked + time);
        }
        let budget = MoveBudget { nodes: turn.nodes, time };
        // A bot that panics is broken and is not used again, so what it leaves behind does not matter.
        let think = AssertUnwindSafe(|| self.bot.choose(turn.game.position(), budget, self.alarm.flag()));
        let choice = catch_unwind(think);
        let spent = asked.elapsed();
        if time.is_some() {
            self.alarm.clear();
        }
        let choice = choice.map_err(|_| EntrantFault::Broken("it panicked".to_owned()))?;
        Ok(Answer { column: choice.map_err(broken)?.column, spent })
    }
}
