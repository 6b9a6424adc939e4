//! Poisson numbers.

use super::Stream;
use super::function::{SampleMath, ln_factorial};

/// The smallest mean for which numbers are found by rejection; below it, by multiplication.
const MANY: f64 = 10.0;
/// The smallest mean for which the normal distribution agrees in all visible digits.
const VERY_MANY: f64 = 1e9;

/// The uniform numbers of one element.
struct Units<'a> {
    words: &'a Stream,
    element: usize,
    draw: u32,
    left: Option<f64>,
}

impl Units<'_> {
    /// Returns the next number, above 0 and up to 1.
    fn next(&mut self) -> f64 {
        if let Some(unit) = self.left.take() {
            return unit;
        }
        let [a, b, c, d] = self
            .words
            .draw_block(self.element, self.draw)
            .map(u64::from);
        self.draw = self.draw.wrapping_add(1);
        let unit = |bits: u64| ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        self.left = Some(unit(c << 32 | d));
        unit(a << 32 | b)
    }
}

/// Returns element `element` of a fill, with mean `rate`, which is zero or greater.
pub(crate) fn poisson(words: &Stream, element: usize, rate: f64) -> f64 {
    let mut units = Units {
        words,
        element,
        draw: 0,
        left: None,
    };
    if rate < MANY {
        by_product(rate, &mut units)
    } else if rate < VERY_MANY {
        by_rejection(rate, &mut units)
    } else {
        let radius = (-2.0 * units.next().natural_log()).sqrt();
        let (_, cos) = units.next().sin_cos_turn();
        (rate + rate.sqrt() * radius * cos).floor()
    }
}

/// Counts the uniform numbers that can be multiplied before the product falls to exp(-rate).
fn by_product(rate: f64, units: &mut Units<'_>) -> f64 {
    let limit = (-rate).exponential();
    let (mut count, mut product) = (0.0, units.next());
    while product > limit {
        count += 1.0;
        product *= units.next();
    }
    count
}

/// Draws by rejection: W. Hörmann, "The transformed rejection method for generating Poisson random
/// variables", 1993, algorithm PTRS, with the constants given there.
fn by_rejection(rate: f64, units: &mut Units<'_>) -> f64 {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let quick = 0.9277 - 3.6224 / (b - 2.0);
    let ln_rate = rate.natural_log();
    loop {
        let u = units.next() - 0.5;
        let v = units.next();
        let near = 0.5 - u.abs();
        // The transform has no value for this number.
        if near <= 0.0 {
            continue;
        }
        let k = ((2.0 * a / near + b) * u + rate + 0.43).floor();
        if near >= 0.07 && v <= quick {
            return k;
        }
        if k < 0.0 || (near < 0.013 && v > near) {
            continue;
        }
        let left =
            v.natural_log() + inverse_alpha.natural_log() - (a / (near * near) + b).natural_log();
        if left <= k * ln_rate - rate - ln_factorial(k) {
            return k;
        }
    }
}
