//! Student's distribution: how far a mean of few values may be off.

use super::{normal, real};

/// From here on the normal distribution serves: 95 % intervals differ by less than 1 %.
const DEGREES_MAX: u64 = 300;

/// Halvings of the search interval, more than a double has digits.
const HALVINGS: u32 = 80;

/// Beyond this no quantile is looked for: with one degree of freedom, a share of 1e-6 lies outside.
const T_MAX: f64 = 1e6;

/// The t of a two-sided interval that holds 95 %, for so many degrees of freedom, at least 1.
pub fn t95(degrees: u64) -> f64 {
    if degrees >= DEGREES_MAX {
        return normal::Z95;
    }
    quantile(0.975, degrees)
}

/// The probability of a value of at most `t`, for so many degrees of freedom, at least 1.
pub fn cdf(t: f64, degrees: u64) -> f64 {
    if degrees >= DEGREES_MAX {
        return normal::cdf(t);
    }
    let half = within(t.abs(), degrees) / 2.0;
    if t < 0.0 { 0.5 - half } else { 0.5 + half }
}

/// The value below which a share `p` of at least 1/2 lies, for so many degrees of freedom, at least 1.
pub fn quantile(p: f64, degrees: u64) -> f64 {
    if degrees >= DEGREES_MAX {
        return normal::quantile(p);
    }
    let (mut low, mut high) = (0.0, T_MAX);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if cdf(middle, degrees) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The probability of a value between `-t` and `t`: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn within(t: f64, degrees: u64) -> f64 {
    let angle = (t / real(degrees).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    if degrees.is_multiple_of(2) {
        return sin * powers(1.0, 1, degrees - 2, cos);
    }
    let sum = if degrees == 1 { 0.0 } else { sin * powers(cos, 2, degrees - 2, cos) };
    (angle + sum) * 2.0 / std::f64::consts::PI
}

/// `first`, then each term `k / (k + 1) * cos^2` of the one before it, for `k` from `from` in steps of two below
/// `to`.
fn powers(first: f64, from: u64, to: u64, cos: f64) -> f64 {
    let (mut sum, mut term, mut k) = (first, first, from);
    while k <= to {
        term *= cos * cos * real(k) / real(k + 1);
        sum += term;
        k += 2;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_agree_with_tables() {
        for (degrees, t) in [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (4, 2.7764),
            (9, 2.2622),
            (10, 2.2281),
            (49, 2.0096),
            (120, 1.9799),
            (1_000_000, 1.9600),
        ] {
            assert!((t95(degrees) - t).abs() < 6e-5, "{degrees}: {}", t95(degrees));
        }
    }

    #[test]
    fn the_distribution_agrees_with_tables() {
        // One degree of freedom: 1/2 + atan(t) / pi.
        for (t, degrees, p) in [
            (0.0, 3, 0.5),
            (1.0, 1, 0.75),
            (-1.0, 1, 0.25),
            (2.9200, 2, 0.95),
            (-2.9200, 2, 0.05),
            (2.8214, 9, 0.99),
            (1.0, 1_000, 0.841_344_7),
        ] {
            assert!((cdf(t, degrees) - p).abs() < 1e-5, "{t}, {degrees}: {}", cdf(t, degrees));
        }
        for (degrees, t) in [(1, 31.8205), (2, 6.9646), (5, 3.3649), (1_000, 2.3263)] {
            assert!((quantile(0.99, degrees) - t).abs() < 6e-5, "{degrees}: {}", quantile(0.99, degrees));
        }
    }
}
