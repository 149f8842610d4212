//! The normal distribution with mean 0 and deviation 1.

/// Beyond this, the distribution is 0 or 1 to the last digit of a double.
const TAIL: f64 = 8.3;

/// Halvings of an interval of width `2 * TAIL` until nothing of it is left in a double.
const HALVINGS: u32 = 60;

/// The z of a two-sided interval that holds 95 %.
pub const Z95: f64 = 1.959_963_984_540_054;

/// The probability of a value of at most `x`.
///
/// The Taylor series of Marsaglia, "Evaluating the normal distribution" (2004), whose terms are all of one sign.
pub fn cdf(x: f64) -> f64 {
    if x.abs() > TAIL {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut sum, mut term, mut odd) = (x, x, 1.0);
    loop {
        odd += 2.0;
        term *= x * x / odd;
        let next = sum + term;
        if next.to_bits() == sum.to_bits() {
            return 0.5 + sum * density(x);
        }
        sum = next;
    }
}

/// The density at `x`.
pub fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The value below which a share `p` lies; for 0 and 1 the last value that can be told from infinity.
pub fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-TAIL, TAIL);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn the_distribution_agrees_with_tables() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (1.96, 0.975_002_104_851_780),
            (-3.0, 0.001_349_898_031_630),
            (6.0, 0.999_999_999_013_412),
        ] {
            check(cdf(x), p, 1e-14);
        }
        assert_eq!((cdf(9.0), cdf(-40.0)), (1.0, 0.0));
    }

    #[test]
    fn quantiles_turn_the_distribution_round() {
        check(quantile(0.975), Z95, 1e-12);
        check(quantile(0.5), 0.0, 1e-12);
        assert!(quantile(0.0).is_finite() && quantile(1.0).is_finite());
    }
}
