//! Learning rate schedules: factors as functions of the step number, which starts at 0.
//!
//! `optimizer.options.lr = 1e-3 * schedule::cosine(step, 100, 10_000)`.

/// Rises from 0 to 1 over the first `warmup` steps, then falls to 0 at `total` along half a cosine.
#[must_use]
pub fn cosine(step: u64, warmup: u64, total: u64) -> f64 {
    match warmup_factor(step, warmup) {
        Some(factor) => factor,
        None => 0.5 * (1.0 + (std::f64::consts::PI * progress(step, warmup, total)).cos()),
    }
}

/// Rises from 0 to 1 over the first `warmup` steps, then falls to 0 at `total` linearly.
#[must_use]
pub fn linear(step: u64, warmup: u64, total: u64) -> f64 {
    warmup_factor(step, warmup).unwrap_or_else(|| 1.0 - progress(step, warmup, total))
}

/// Multiplies by `gamma` at each step.
#[must_use]
pub fn exponential(step: u64, gamma: f64) -> f64 {
    gamma.powf(step as f64)
}

/// Multiplies by `gamma` every `every` steps; constant if that is 0.
#[must_use]
pub fn steps(step: u64, every: u64, gamma: f64) -> f64 {
    exponential(step.checked_div(every).unwrap_or(0), gamma)
}

fn warmup_factor(step: u64, warmup: u64) -> Option<f64> {
    (step < warmup).then(|| (step + 1) as f64 / warmup as f64)
}

/// Returns the fraction of the steps after the warmup that have passed, at most 1.
fn progress(step: u64, warmup: u64, total: u64) -> f64 {
    let whole = total.saturating_sub(warmup).max(1) as f64;
    ((step - warmup) as f64 / whole).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_rise_and_fall() {
        assert_eq!([0, 1, 3].map(|step| cosine(step, 4, 12)), [0.25, 0.5, 1.0]);
        assert!((cosine(8, 4, 12) - 0.5).abs() < 1e-12);
        assert_eq!([12, 100].map(|step| cosine(step, 4, 12)), [0.0, 0.0]);
        assert_eq!([0, 5, 10].map(|step| linear(step, 0, 10)), [1.0, 0.5, 0.0]);
        assert_eq!(
            [0, 9, 10, 25].map(|step| steps(step, 10, 0.5)),
            [1.0, 1.0, 0.5, 0.25]
        );
        assert_eq!(steps(7, 0, 0.5), 1.0);
        assert_eq!(cosine(0, 0, 0), 1.0);
    }
}
