//! The house bots.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_bots::{Bot, BotSpec, Choice, MoveBudget, registry, think};
use fourfold_engine::Variant;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::position::{PyPosition, numbers};

/// A house bot with its settings, such as `negamax:depth=6`. Settings that name files are not read here.
#[pyclass(name = "Bot", module = "fourfold", frozen)]
pub(crate) struct PyBot {
    spec: BotSpec,
    variant: Variant,
    /// One question at a time: a bot remembers.
    bot: Mutex<Box<dyn Bot>>,
}

#[pymethods]
impl PyBot {
    /// `seed` is for bots that draw and have none in their settings.
    #[new]
    #[pyo3(signature = (spec, variant = "7x6", seed = 0))]
    fn new(spec: &str, variant: &str, seed: u64) -> PyResult<Self> {
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let spec: BotSpec = spec.parse().map_err(|error| wrong(&error))?;
        let spec = spec.with_default_seed(seed);
        let variant: Variant = variant.parse().map_err(|error| wrong(&error))?;
        let bot = registry::build(&spec, variant).map_err(|error| wrong(&error))?;
        Ok(Self { spec, variant, bot: Mutex::new(bot) })
    }

    /// The column that it plays. It is stopped after so many nodes or seconds; without, it takes what its settings say.
    #[pyo3(signature = (position, nodes = None, seconds = None))]
    fn choose(
        &self,
        py: Python<'_>,
        position: &PyPosition,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<u8> {
        Ok(self.think(py, position, nodes, seconds)?.column.number())
    }

    /// The same with what it thinks: column, score in its own unit, depth, nodes, and the line that it expects.
    #[pyo3(signature = (position, nodes = None, seconds = None))]
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn analyse(
        &self,
        py: Python<'_>,
        position: &PyPosition,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<(u8, Option<i32>, Option<u32>, Option<u64>, Vec<u32>)> {
        let choice = self.think(py, position, nodes, seconds)?;
        let info = choice.info.as_ref();
        let line = info.map(|info| numbers(info.pv.iter().copied()));
        Ok((
            choice.column.number(),
            info.map(|info| info.score),
            info.map(|info| info.depth),
            info.map(|info| info.nodes),
            line.unwrap_or_default(),
        ))
    }

    fn __repr__(&self) -> String {
        format!("Bot('{}', variant='{}')", self.spec, self.variant)
    }
}

impl PyBot {
    fn think(
        &self,
        py: Python<'_>,
        position: &PyPosition,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Choice> {
        let position = *position.game.position();
        if position.variant() != self.variant {
            let message =
                format!("the bot plays {}, the position is of {}", self.variant, position.variant());
            return Err(PyValueError::new_err(message));
        }
        let limit = seconds.map(Duration::try_from_secs_f64).transpose();
        let limit = limit.map_err(|error| PyValueError::new_err(format!("seconds: {error}")))?;
        py.detach(|| {
            let mut bot =
                self.bot.lock().map_err(|_| PyRuntimeError::new_err("the bot has panicked before"))?;
            let budget = MoveBudget { nodes, time: limit };
            let choice = think::choose_unless_stopped(&mut **bot, &position, budget, &AtomicBool::new(false));
            choice.map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }
}

/// The house bots: name and a line on how each plays.
#[pyfunction]
pub(crate) fn bots() -> Vec<(&'static str, &'static str)> {
    registry::entries().iter().map(|entry| (entry.name, entry.about)).collect()
}
