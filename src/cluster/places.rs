//! Who owns what. Games hash to places; a few more places are roles, which one node alone has. One table says who owns
//! each, and since which term: it is moved by whoever takes over or hands over, and by nobody else.

use std::collections::{BTreeMap, BTreeSet};

use super::Incarnation;
use crate::model::ids::GameId;

/// Places of games: enough that three nodes or ten have nearly the same share, few enough to be read in one go.
const GAME_PLACES: u16 = 256;

/// What one node alone does for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Begins all games, so that limits are exact without a lock.
    Desk,
    /// Numbers and rates all finished games, in one order.
    Registrar,
}

/// A game's place, or that of a role.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place(u16);

impl Place {
    /// Where a game is, for ever.
    pub(crate) fn of(game: &GameId) -> Self {
        let hash = game.as_str().bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193) // FNV-1a
        });
        Self(u16::try_from(hash % u32::from(GAME_PLACES)).unwrap_or(0))
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        Self(match role {
            Role::Desk => GAME_PLACES,
            Role::Registrar => GAME_PLACES + 1,
        })
    }

    /// Whether it is of games, and no role.
    pub(crate) fn is_of_games(self) -> bool {
        self.0 < GAME_PLACES
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..GAME_PLACES + 2).map(Self)
    }

    /// The node that has it if nothing speaks against it: the highest hash wins (rendezvous), so that a node which
    /// comes or goes moves its own share and nothing else.
    fn home(self, living: &BTreeSet<Incarnation>) -> Option<Incarnation> {
        living.iter().copied().max_by_key(|node| (mixed((node.0 << 16) | u64::from(self.0)), *node))
    }
}

/// A number whose bits all depend on all of those of another (the finalizer of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Who has a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tenure {
    pub(crate) owner: Incarnation,
    /// Grows by one whenever the owner changes; what is written carries it.
    pub(crate) term: u32,
    /// To whom the owner is asked to hand it over.
    pub(crate) wanted: Option<Incarnation>,
}

/// The table of places: the database's, or a node's copy of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Places(BTreeMap<Place, Tenure>);

/// Somebody else's place cannot be handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotTheOwner;

impl Places {
    pub(crate) fn tenure(&self, place: Place) -> Option<Tenure> {
        self.0.get(&place).copied()
    }

    pub(crate) fn owner(&self, place: Place) -> Option<Incarnation> {
        Some(self.tenure(place)?.owner)
    }

    pub(crate) fn tenures(&self) -> impl Iterator<Item = (Place, Tenure)> {
        self.0.iter().map(|(place, tenure)| (*place, *tenure))
    }

    /// Gives what nobody alive has to those who live: what was never anybody's, and what the dead had.
    pub(crate) fn take_over(&mut self, living: &BTreeSet<Incarnation>) {
        for place in Place::all() {
            let before = self.tenure(place);
            let Some(owner) = place.home(living) else { return };
            let tenure = match before {
                Some(Tenure { owner, term, wanted }) if living.contains(&owner) => {
                    Tenure { owner, term, wanted: wanted.filter(|wanted| living.contains(wanted)) }
                }
                Some(Tenure { term, .. }) => Tenure { owner, term: term + 1, wanted: None },
                None => Tenure { owner, term: 1, wanted: None },
            };
            self.0.insert(place, tenure);
        }
    }

    /// The owner has heard that its place is another's now.
    pub(crate) fn given(&mut self, place: Place, to: Incarnation) {
        if let Some(tenure) = self.0.get_mut(&place) {
            *tenure = Tenure { owner: to, term: tenure.term + 1, wanted: None };
        }
    }

    /// Asks owners for what is another's share.
    pub(crate) fn balance(&mut self, living: &BTreeSet<Incarnation>) {
        for (place, tenure) in &mut self.0 {
            tenure.wanted = place.home(living).filter(|home| *home != tenure.owner);
        }
    }

    /// The owner gives a place to whom it is wanted by; says to whom, if anybody still wants it.
    ///
    /// # Errors
    ///
    /// It is not the owner's to give.
    pub(crate) fn hand_over(
        &mut self,
        place: Place,
        by: Incarnation,
    ) -> Result<Option<Incarnation>, NotTheOwner> {
        let tenure = self.0.get_mut(&place).filter(|tenure| tenure.owner == by).ok_or(NotTheOwner)?;
        let wanted = tenure.wanted;
        if let Some(wanted) = wanted {
            self.given(place, wanted);
        }
        Ok(wanted)
    }
}

mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(numbers: &[u64]) -> BTreeSet<Incarnation> {
        numbers.iter().copied().map(Incarnation).collect()
    }

    fn share(places: &Places, node: u64) -> usize {
        places.tenures().filter(|(_, tenure)| tenure.owner == Incarnation(node)).count()
    }

    #[test]
    fn a_node_that_goes_leaves_its_places_and_moves_no_other() {
        let mut places = Places::default();
        places.take_over(&nodes(&[1, 2, 3]));
        let before = places.clone();
        for node in 1..=3 {
            assert!((60..=115).contains(&share(&places, node)), "{node} has {}", share(&places, node));
        }
        places.take_over(&nodes(&[1, 3]));
        for (place, tenure) in before.tenures() {
            let now = places.tenure(place).unwrap();
            let is_moved = tenure.owner == Incarnation(2);
            assert_eq!((now.owner != tenure.owner, now.term), (is_moved, 1 + u32::from(is_moved)));
        }
        places.take_over(&nodes(&[]));
        assert_eq!(share(&places, 1) + share(&places, 3), 258, "nobody is left to take anything");
    }

    #[test]
    fn a_node_that_comes_asks_for_its_share_and_gets_it_place_by_place() {
        let mut places = Places::default();
        places.take_over(&nodes(&[1]));
        places.balance(&nodes(&[1, 2]));
        let wanted: Vec<Place> =
            places.tenures().filter(|(_, tenure)| tenure.wanted.is_some()).map(|(place, _)| place).collect();
        assert!((90..=170).contains(&wanted.len()), "{}", wanted.len());
        assert_eq!(places.hand_over(wanted[0], Incarnation(2)), Err(NotTheOwner));
        for place in wanted {
            assert_eq!(places.hand_over(place, Incarnation(1)), Ok(Some(Incarnation(2))));
            assert_eq!(places.hand_over(place, Incarnation(1)), Err(NotTheOwner));
            assert_eq!(places.hand_over(place, Incarnation(2)), Ok(None), "nobody wants it now");
        }
        let balanced = places.clone();
        places.balance(&nodes(&[1, 2]));
        assert_eq!(places, balanced);
    }

    #[test]
    fn games_are_spread_over_all_places() {
        let places: BTreeSet<Place> =
            (0..4_000).map(|n| Place::of(&format!("game{n}").parse().unwrap())).collect();
        assert_eq!(places.len(), usize::from(GAME_PLACES));
        assert!(places.iter().all(|place| place.is_of_games()));
    }

    proptest! {
        /// Whoever comes and goes: the living own everything, and a term has one owner.
        #[test]
        fn a_term_has_one_owner_and_the_dead_have_nothing(steps in prop::collection::vec((0..4_u8, 1..6_u64), 1..40)) {
            let mut places = Places::default();
            let mut living = nodes(&[]);
            let mut terms: BTreeMap<(Place, u32), Incarnation> = BTreeMap::new();
            for (step, node) in steps {
                match step {
                    0 => {
                        living.insert(Incarnation(node));
                    }
                    1 => {
                        living.remove(&Incarnation(node));
                    }
                    2 => places.balance(&living),
                    _ => for place in Place::all() {
                        let _theirs = places.hand_over(place, Incarnation(node));
                    },
                }
                places.take_over(&living);
                for (place, tenure) in places.tenures() {
                    prop_assert!(living.is_empty() || living.contains(&tenure.owner));
                    let owner = *terms.entry((place, tenure.term)).or_insert(tenure.owner);
                    prop_assert_eq!(owner, tenure.owner);
                }
            }
        }
    }
}
