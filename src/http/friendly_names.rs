//! Names for pupils who choose none: a colour and an animal in the language of the class, from lists that no child can
//! be laughed at for.

use rand::{Rng, RngExt};

use super::texts::Language;

/// Colours and animals alone are drawn so often; then a number goes with them, for a school has more than one class.
pub(super) const PLAIN_MAX: u32 = 6;

/// The largest number: with it a name is as long as a guest's may be.
const NUMBER_MAX: u32 = 99;

/// A name by lot. `attempt` counts those that were taken.
pub(super) fn friendly_name(language: Language, attempt: u32, rng: &mut impl Rng) -> String {
    let mut drawn = |key| {
        let words: Vec<&str> = language.text(key).split(' ').collect();
        words[rng.random_range(0..words.len())]
    };
    let name = named(language, drawn("class.drawn_colors"), drawn("class.drawn_animals"));
    if attempt < PLAIN_MAX { name } else { format!("{name}{}", rng.random_range(2..=NUMBER_MAX)) }
}

/// The first of all such names, as an example.
pub(super) fn example(language: Language) -> String {
    let first = |key| language.text(key).split(' ').next().unwrap_or_default();
    named(language, first("class.drawn_colors"), first("class.drawn_animals"))
}

fn named(language: Language, color: &str, animal: &str) -> String {
    language.fill("class.drawn_name", &[("color", color), ("animal", animal)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng as _;
    use rand::rngs::ChaCha8Rng;

    use super::*;
    use crate::competition::classes::classroom::PUPILS_MAX;
    use crate::model::ids::PlayerName;

    #[test]
    fn all_friendly_names_are_names_of_guests_and_enough_for_a_class() {
        for language in Language::ALL {
            let words = |key| language.text(key).split(' ').collect::<Vec<_>>();
            let (colors, animals) = (words("class.drawn_colors"), words("class.drawn_animals"));
            let names: BTreeSet<String> = colors
                .iter()
                .flat_map(|color| animals.iter().map(|animal| named(language, color, animal)))
                .collect();
            assert_eq!(names.len(), colors.len() * animals.len(), "{language:?}: no word is there twice");
            assert!(names.len() >= 2 * PUPILS_MAX, "{language:?}");
            for name in &names {
                assert!(PlayerName::of_guest(&format!("{name}{NUMBER_MAX}")).is_ok(), "{language:?}: {name}");
            }
            assert!(names.contains(&example(language)));
        }
    }

    #[test]
    fn a_number_goes_with_a_name_when_many_were_taken() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let has_digit = |name: &str| name.contains(|letter: char| letter.is_ascii_digit());
        assert!(!has_digit(&friendly_name(Language::German, 0, &mut rng)));
        assert!(has_digit(&friendly_name(Language::German, PLAIN_MAX, &mut rng)));
    }
}
