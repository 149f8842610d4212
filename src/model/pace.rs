//! How fast bots of the house answer people: pure, time and chance come as arguments.
//!
//! A program answers within a hundredth of a second, while the disc that it answers is still falling on the page.
//! Nobody feels an opponent then, so bots may be asked to keep to the pace of people. Their clocks run meanwhile, as
//! anybody's.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rating::level::Level;

/// How fast a bot of the house answers in one game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BotPace {
    /// As fast as it thinks.
    #[default]
    Swift,
    /// Like a person across the table: not before the other disc has landed.
    Human,
}

impl BotPace {
    /// Whether nothing need be said of it on the wire.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A disc that falls n cells takes the root of n times this on the page, as `web/static/board.js` has it.
const FALL: Duration = Duration::from_millis(165);
/// What a fall takes beside that, until the disc lies still.
const SETTLES: Duration = Duration::from_millis(160);
/// Between that and the earliest answer: one sees first, then one thinks.
const BREATH: Duration = Duration::from_millis(250);
/// How long the easiest opponent seems to think, and the hardest.
const THOUGHT: (Duration, Duration) = (Duration::from_millis(400), Duration::from_millis(1_200));
/// A thought is longer or shorter than that by up to this part: nobody thinks by a metronome.
const SWAY: f64 = 0.25;

/// The earliest answer to a disc that fell `cells`, 0 if none did, after it was played. `sway` is from 0 to 1, by
/// chance.
pub(crate) fn human(cells: u8, level: Option<Level>, sway: f64) -> Duration {
    let (quick, slow) = THOUGHT;
    // Bots without a level think as long as those in the middle.
    let height = level.map_or(0.5, Level::height);
    let thought = quick + slow.saturating_sub(quick).mul_f64(height);
    let thought = thought.mul_f64(1.0 + SWAY * (2.0 * sway.clamp(0.0, 1.0) - 1.0));
    if cells == 0 { thought } else { FALL.mul_f64(f64::from(cells).sqrt()) + SETTLES + BREATH + thought }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(number: u8) -> Level {
        Level::try_from(number).unwrap()
    }

    #[test]
    fn the_other_disc_has_landed_before_the_answer_whoever_answers() {
        for cells in 1..=9 {
            let landed = FALL.mul_f64(f64::from(cells).sqrt()) + SETTLES;
            for sway in [-1.0, 0.0, 1.0, f64::MAX] {
                let answer = human(cells, Some(level(1)), sway);
                assert!(answer >= landed + BREATH + THOUGHT.0.mul_f64(1.0 - SWAY), "{cells} {sway}");
                assert!(
                    human(cells, Some(level(8)), sway) <= landed + BREATH + THOUGHT.1.mul_f64(1.0 + SWAY)
                );
            }
        }
    }

    #[test]
    fn stronger_ones_think_longer() {
        let thoughts = (1..=8).map(|n| human(0, Some(level(n)), 0.5));
        assert!(thoughts.is_sorted());
        assert_eq!([1, 8].map(|n| human(0, Some(level(n)), 0.5)), [THOUGHT.0, THOUGHT.1]);
        assert_eq!(human(0, None, 0.5), Duration::from_millis(800));
    }

    #[test]
    fn nobody_falls_when_the_bot_begins() {
        assert_eq!(human(0, Some(level(1)), 0.0), Duration::from_millis(300));
        assert_eq!(human(1, Some(level(1)), 0.0), Duration::from_millis(300 + 165 + 160 + 250));
    }
}
