//! Histograms with the bucket limits of TensorFlow: each is a tenth above the one before, on both sides of 0.

use std::sync::LazyLock;

use super::message::Message;

/// The upper limits of all buckets.
static LIMITS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut positive = Vec::new();
    let mut limit = 1e-12;
    while limit < 1e20 {
        positive.push(limit);
        limit *= 1.1;
    }
    positive.push(f64::MAX);
    let negative = positive.iter().rev().map(|limit| -limit);
    negative
        .chain([0.0])
        .chain(positive.iter().copied())
        .collect()
});

/// Counts of numbers by buckets.
pub(super) struct Histogram {
    min: f64,
    max: f64,
    count: f64,
    sum: f64,
    squares: f64,
    limits: Vec<f64>,
    counts: Vec<f64>,
}

impl Histogram {
    /// Counts the finite numbers.
    pub(super) fn count(values: &[f64]) -> Self {
        let mut counts = vec![0.0; LIMITS.len()];
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for &value in values.iter().filter(|value| value.is_finite()) {
            (min, max) = (min.min(value), max.max(value));
            sum += value;
            squares += value * value;
            count += 1.0;
            let bucket = LIMITS.partition_point(|&limit| limit <= value);
            counts[bucket.min(LIMITS.len() - 1)] += 1.0;
        }
        // The buckets with numbers, and an empty one below, whose limit is the first bucket's lower end.
        let first = counts.iter().position(|&count| count > 0.0);
        let last = counts.iter().rposition(|&count| count > 0.0);
        let range = match first.zip(last) {
            Some((first, last)) => first.saturating_sub(1)..last + 1,
            None => 0..0,
        };
        if range.is_empty() {
            (min, max) = (0.0, 0.0);
        }
        Self {
            min,
            max,
            count,
            sum,
            squares,
            limits: LIMITS[range.clone()].to_vec(),
            counts: counts[range].to_vec(),
        }
    }

    pub(super) fn message(&self) -> Message {
        let mut message = Message::default();
        let numbers = [self.min, self.max, self.count, self.sum, self.squares];
        for (field, number) in (1..).zip(numbers) {
            message.double(field, number);
        }
        message.doubles(6, &self.limits).doubles(7, &self.counts);
        message
    }
}
