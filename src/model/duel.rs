//! Duels: series that a bot's owner asks for, and when they end before their time. Pure.

use rand::Rng;

use super::ids::PairId;

/// Differences in Elo points that a test may be about: beyond these, a handful of games tells.
pub(crate) const DUEL_ELO_MAX: i32 = 500;

/// Stands between the drawn part of a duel's id and its rule. Drawn ids have no `-`.
const MARK: &str = "-d";

/// Between the two hypotheses.
const AND: char = 'x';

/// A sequential test between two differences in strength; it ends a duel as soon as it is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DuelTest {
    pub(crate) elo0: i32,
    pub(crate) elo1: i32,
}

impl DuelTest {
    /// `None` unless the second is above the first, and both are within bounds.
    pub(crate) fn new(elo0: i32, elo1: i32) -> Option<Self> {
        let fits = |elo: i32| (-DUEL_ELO_MAX..=DUEL_ELO_MAX).contains(&elo);
        (fits(elo0) && fits(elo1) && elo0 < elo1).then_some(Self { elo0, elo1 })
    }
}

/// What the id of a series says about the duel that it is. A series is known by its id after a restart too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DuelRule {
    pub(crate) test: Option<DuelTest>,
}

impl DuelRule {
    /// A fresh id of a duel by this rule.
    pub(crate) fn draw_id(self, rng: &mut impl Rng) -> PairId {
        let drawn = PairId::random(rng);
        let rule = self.test.map_or_else(String::new, |DuelTest { elo0, elo1 }| {
            format!("{}{AND}{}", elo0 + DUEL_ELO_MAX, elo1 + DUEL_ELO_MAX)
        });
        // Letters and digits and a dash, and far shorter than the longest.
        format!("{drawn}{MARK}{rule}").parse().unwrap_or(drawn)
    }

    /// The rule in the id of a duel; `None` of other series.
    pub(crate) fn of(id: &PairId) -> Option<Self> {
        let (_, rule) = id.as_str().split_once(MARK)?;
        if rule.is_empty() {
            return Some(Self { test: None });
        }
        let (elo0, elo1) = rule.split_once(AND)?;
        let read = |text: &str| text.parse::<i32>().ok()?.checked_sub(DUEL_ELO_MAX);
        Some(Self { test: Some(DuelTest::new(read(elo0)?, read(elo1)?)?) })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_rule_is_read_back_from_the_id() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for test in [None, DuelTest::new(0, 30), DuelTest::new(-500, 500), DuelTest::new(-10, -5)] {
            let rule = DuelRule { test };
            let id = rule.draw_id(&mut rng);
            assert_eq!(DuelRule::of(&id), Some(rule), "{id}");
            assert_eq!(id.of_tournament(), None);
        }
    }

    #[test]
    fn other_series_are_no_duels() {
        for id in [
            "Ab3",
            "Ab3-t12",
            "Ab3-d1",
            "Ab3-dx",
            "Ab3-d10x5",
            "Ab3-d0x99999999999",
            "Ab3-d0x1001",
            "Ab3-d-1x5",
        ] {
            assert_eq!(DuelRule::of(&id.parse().unwrap()), None, "{id}");
        }
    }

    #[test]
    fn tests_are_between_two_differences_within_bounds() {
        for (elo0, elo1) in [(0, 0), (5, 0), (-501, 0), (0, 501), (i32::MIN, i32::MAX)] {
            assert_eq!(DuelTest::new(elo0, elo1), None, "{elo0} {elo1}");
        }
    }
}
