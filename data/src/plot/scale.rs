//! Scales with ticks at round numbers, at dates, or at labels.

use std::ops::Range;

use nomina::Timestamp;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// The texts along an axis.
#[derive(Clone, Debug)]
pub(super) enum Ticks {
    /// Round numbers.
    Numbers,
    /// Dates, of positions in nanoseconds since 1970.
    Times,
    /// Labels by position.
    Texts(Vec<String>),
}

/// A linear scale.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    ticks: Ticks,
    /// The distance between ticks of numbers, in which they are rounded.
    step: f64,
    /// The characters of an ISO date that ticks of times show.
    shown: Range<usize>,
    at: Vec<f64>,
}

/// The maximum number of ticks.
const MOST: usize = 7;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Scale {
    /// Creates a scale; one without extent is widened.
    pub(super) fn new(low: f64, high: f64, ticks: Ticks) -> Self {
        let (low, high) = if low < high {
            (low, high)
        } else {
            let half = (low.abs() * 0.01).max(0.5);
            (low - half, low + half)
        };
        let mut scale = Self {
            low,
            high,
            ticks,
            step: 1.0,
            shown: 0..0,
            at: Vec::new(),
        };
        match &scale.ticks {
            Ticks::Numbers => scale.place_numbers(),
            Ticks::Times => scale.place_times(),
            Ticks::Texts(texts) => {
                let every = texts.len().div_ceil(MOST).max(1);
                scale.at = (0..texts.len())
                    .step_by(every)
                    .map(|at| at as f64)
                    .collect();
            }
        }
        scale
    }

    fn place_numbers(&mut self) {
        let rough = (self.high - self.low) / (MOST as f64 - 1.0);
        let unit = 10_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|factor| factor * unit >= rough);
        self.step = factor.unwrap_or(10.0) * unit;
        let first = (self.low / self.step - 1e-9).ceil();
        self.at = (0..=MOST + 1)
            .map(|at| (first + at as f64) * self.step)
            .filter(|at| *at <= self.high + self.step * 1e-9)
            .collect();
    }

    fn place_times(&mut self) {
        let (low, high) = (self.low as i64, self.high as i64);
        let span = high.saturating_sub(low);
        let fits = |step: &i64| span / step < MOST as i64;
        let months = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
        let seconds = [
            1, 10, 60, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000,
        ];
        // Steps of fixed length up to five days, then months.
        if let Some(step) = seconds
            .map(|count| count * SECOND)
            .iter()
            .copied()
            .find(|step| fits(step))
        {
            self.shown = if step >= DAY { 0..10 } else { 5..16 };
            let first = low.div_euclid(step) + i64::from(low.rem_euclid(step) > 0);
            self.at = (first..)
                .map(|at| (at * step) as f64)
                .take_while(|at| *at <= self.high)
                .collect();
            return;
        }
        let step = months
            .into_iter()
            .find(|step| fits(&(step * 30 * DAY)))
            .unwrap_or(1200);
        self.shown = if step >= 12 { 0..4 } else { 0..7 };
        let start = Timestamp::from_nanoseconds(low);
        let first = (start.year() * 12 + start.month() - 1).div_euclid(step);
        for at in first.. {
            let month = at * step;
            let date = Timestamp::date(
                month.div_euclid(12) as i16,
                month.rem_euclid(12) as i8 + 1,
                1,
            );
            match date.map(Timestamp::nanoseconds) {
                Ok(nanoseconds) if nanoseconds <= high => {
                    self.at
                        .extend(Some(nanoseconds as f64).filter(|at| *at >= self.low));
                }
                _ => break,
            }
        }
    }

    /// Returns the positions of ticks.
    pub(super) fn ticks(&self) -> &[f64] {
        &self.at
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Ticks are those of labels only; there is no finer mesh.
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.at.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        match &self.ticks {
            Ticks::Numbers => {
                let digits = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
                let size = value.abs().max(self.step);
                if (1e-4..1e7).contains(&size) {
                    // No minus sign before zero.
                    format!("{:.digits$}", value + 0.0)
                } else {
                    format!("{value:.2e}")
                }
            }
            Ticks::Times => {
                let text = Timestamp::from_nanoseconds(*value as i64).to_string();
                let text = if text.contains('T') {
                    text
                } else {
                    format!("{text}T00:00")
                };
                let text = text.get(self.shown.clone()).unwrap_or(&text);
                text.replace('T', " ")
            }
            Ticks::Texts(texts) => {
                let text = texts.get(value.round().max(0.0) as usize);
                text.map_or_else(String::new, |text| text.chars().take(16).collect())
            }
        }
    }
}
