//! The six numbers that the threat analyst plays by.

use std::fmt;
use std::str::FromStr;

/// What each thing in a position is worth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EvolvedWeights {
    /// For each open line with one stone, more than the opponent has.
    pub num1: i32,
    /// The same with two stones.
    pub num2: i32,
    /// For a line of three that can be completed at once.
    pub atari: i32,
    /// If the threats, played out, win.
    pub prob_win: i32,
    pub prob_draw: i32,
    pub prob_lose: i32,
}

impl EvolvedWeights {
    /// No weight is greater, nor less than its negative.
    pub const MAX: i32 = 1000;
    /// The primary configuration that was published with the readme.
    pub const DEFAULT: [i32; 6] = [29, -237, 126, 936, -21, -884];

    pub const fn from_array([num1, num2, atari, prob_win, prob_draw, prob_lose]: [i32; 6]) -> Self {
        Self { num1, num2, atari, prob_win, prob_draw, prob_lose }
    }

    /// In the order of the file.
    pub const fn to_array(self) -> [i32; 6] {
        [self.num1, self.num2, self.atari, self.prob_win, self.prob_draw, self.prob_lose]
    }

    /// How far two sets lie apart (Euclidean).
    pub fn distance(self, other: Self) -> f64 {
        let square = |(one, other): (i32, i32)| f64::from(one - other) * f64::from(one - other);
        self.to_array().into_iter().zip(other.to_array()).map(square).sum::<f64>().sqrt()
    }
}

impl Default for EvolvedWeights {
    fn default() -> Self {
        Self::from_array(Self::DEFAULT)
    }
}

/// Prints the line of a weights file, such as `29,-237,126,936,-21,-884`.
impl fmt::Display for EvolvedWeights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.to_array().iter().map(ToString::to_string).collect();
        formatter.pad(&numbers.join(","))
    }
}

/// Reads a weights file: one line of six whole numbers.
impl FromStr for EvolvedWeights {
    type Err = WeightsError;

    fn from_str(text: &str) -> Result<Self, WeightsError> {
        let error = || WeightsError { text: text.trim().to_owned() };
        let parse = |number: &str| {
            let number: i32 = number.trim().parse().ok()?;
            (-Self::MAX..=Self::MAX).contains(&number).then_some(number)
        };
        let numbers: Vec<i32> = text.split(',').map(parse).collect::<Option<_>>().ok_or_else(error)?;
        Ok(Self::from_array(numbers.try_into().map_err(|_| error())?))
    }
}

/// The text is no set of weights.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not six whole numbers from -1000 to 1000 with commas between")]
pub struct WeightsError {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_one_line_of_six_numbers() {
        let text = "29,-237,126,936,-21,-884";
        assert_eq!(text.parse(), Ok(EvolvedWeights::default()));
        assert_eq!(EvolvedWeights::default().to_string(), text);
        assert_eq!(" 1, 2,3,4,5,6\n".parse(), Ok(EvolvedWeights::from_array([1, 2, 3, 4, 5, 6])));
        for text in ["", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,2,3,4,5,x", "1,2,3,4,5,1001", "1,2,3,4,5,6.0"] {
            assert!(text.parse::<EvolvedWeights>().is_err(), "{text}");
        }
    }

    #[test]
    fn distances_are_euclidean() {
        let [one, other] = [[0; 6], [3, 0, 0, 4, 0, 0]].map(EvolvedWeights::from_array);
        assert!((one.distance(other) - 5.0).abs() < 1e-9);
    }
}
