//! Conversion of random words to numbers.

use super::function::SampleMath;
use super::philox::{block, blocks};
use super::{Distribution, Draw, Stream};

/// The number of elements computed at a time.
pub(crate) const BLOCK: usize = 256;

/// The number of Philox blocks for that many elements of one word each, and of two words each.
const QUARTER: usize = BLOCK / 4;
const HALF: usize = BLOCK / 2;

const TWO_POW_23: f32 = (1_u32 << 23) as f32;
const TWO_POW_24: f32 = (1_u32 << 24) as f32;
const TWO_POW_32: f64 = (1_u64 << 32) as f64;
const TWO_POW_52: f64 = (1_u64 << 52) as f64;
const TWO_POW_53: f64 = (1_u64 << 53) as f64;

/// Returns the first `bits` bits of a word as an integer.
#[inline(always)]
fn whole32(word: u32, bits: u32) -> f32 {
    // Through i32, which has a vector conversion.
    (word >> (32 - bits)) as i32 as f32
}

/// Returns all 32 bits, rounded to an `f32`.
#[inline(always)]
fn word32(word: u32) -> f32 {
    // Both halves are exact, and the sum rounds once.
    (word >> 16) as i32 as f32 * 65_536.0 + (word & 0xffff) as i32 as f32
}

/// Returns a word as an exact `f64`.
#[inline(always)]
fn word64(word: u32) -> f64 {
    // The word as the last bits of 2^52 + word.
    f64::from_bits(0x4330_0000_0000_0000 | u64::from(word)) - TWO_POW_52
}

/// Returns the first 53 bits of two words as an integer.
#[inline(always)]
fn whole53(high: u32, low: u32) -> f64 {
    word64(high) * 2_097_152.0 + word64(low >> 11)
}

/// Returns the first 52 bits.
#[inline(always)]
fn whole52(high: u32, low: u32) -> f64 {
    word64(high) * 1_048_576.0 + word64(low >> 12)
}

impl Stream {
    /// Returns the blocks for elements of one word from `start`, a multiple of 4, on.
    #[inline(always)]
    fn single(&self, start: usize) -> [[u32; QUARTER]; 4] {
        blocks(self.position.wrapping_add(start as u64 / 4), self.seed)
    }

    /// Returns the blocks for elements of two words from `start`, a multiple of 2, on.
    #[inline(always)]
    fn double(&self, start: usize) -> [[u32; HALF]; 4] {
        blocks(self.position.wrapping_add(start as u64 / 2), self.seed)
    }

    /// Returns the block of one draw of an element.
    #[inline]
    pub(crate) fn draw_block(&self, element: usize, draw: u32) -> [u32; 4] {
        block(self.position.wrapping_add(element as u64), draw, self.seed)
    }

    /// Returns the 64 bits of an element that takes two words.
    #[inline]
    pub(crate) fn bits(&self, element: usize) -> u64 {
        let words = block(self.position.wrapping_add(element as u64 / 2), 0, self.seed);
        let at = 2 * (element % 2);
        u64::from(words[at]) << 32 | u64::from(words[at + 1])
    }

    /// Returns the uniform number, above 0 and up to 1, of an element that takes two words.
    #[inline]
    pub(crate) fn unit(&self, element: usize) -> f64 {
        ((self.bits(element) >> 11) + 1) as f64 / TWO_POW_53
    }

    /// Computes flags, each with its own probability of being set.
    #[inline(always)]
    pub(crate) fn flags_of(&self, p: &[f64; BLOCK], start: usize, out: &mut [bool; BLOCK]) {
        let words = self.single(start);
        for i in 0..QUARTER {
            for (at, words) in words.iter().enumerate() {
                let element = 4 * i + at;
                out[element] = word64(words[i]) < p[element] * TWO_POW_32;
            }
        }
    }
}

impl Draw {
    /// Computes elements of one word each from `start`, a multiple of [`BLOCK`], on.
    #[inline(always)]
    pub(crate) fn floats(&self, start: usize, out: &mut [f32; BLOCK]) {
        let words = self.words.single(start);
        let (low, high) = (self.low as f32, self.high as f32);
        let values: [[f32; QUARTER]; 4] = match self.what {
            Distribution::Uniform { from, to } => {
                let (from, step) = (
                    from as f32,
                    (to - from) as f32 / (1_u32 << self.bits) as f32,
                );
                each(&words, |w| {
                    within(whole32(w, self.bits) * step + from, low, high)
                })
            }
            Distribution::Normal { mean, std } => {
                let (mean, std) = (mean as f32, std as f32);
                normal32(&words, |z| z * std + mean)
            }
            Distribution::LogNormal { mean, std } => {
                let (mean, std) = (mean as f32, std as f32);
                normal32(&words, |z| (z * std + mean).exponential())
            }
            Distribution::Exponential { lambd } => {
                let lambd = lambd as f32;
                each(&words, |w| {
                    let unit = (word32(w) + 0.5) / TWO_POW_32 as f32;
                    let unit = if unit < 1.0 {
                        unit
                    } else {
                        1.0 - f32::EPSILON / 2.0
                    };
                    within(-unit.natural_log() / lambd, low, high)
                })
            }
            Distribution::Cauchy { median, sigma } => {
                let (median, sigma) = (median as f32, sigma as f32);
                each(&words, |w| {
                    // Between 0 and 1, symmetric, and exact.
                    let unit = (whole32(w, 23) + 0.5) / TWO_POW_23;
                    let near = if unit < 0.5 { unit } else { 1.0 - unit };
                    let (sin, cos) = (near * 0.5).sin_cos_turn();
                    let far = cos / sin;
                    (if unit < 0.5 { -far } else { far }) * sigma + median
                })
            }
            // Computed elsewhere: see `doubles`, `flags`, `integers`.
            Distribution::Geometric { .. }
            | Distribution::Bernoulli { .. }
            | Distribution::Integers { .. } => [[0.0; QUARTER]; 4],
        };
        for i in 0..QUARTER {
            for (word, values) in values.iter().enumerate() {
                out[4 * i + word] = values[i];
            }
        }
    }

    /// Computes elements of two words each from `start`, a multiple of [`BLOCK`], on.
    #[inline(always)]
    pub(crate) fn doubles(&self, start: usize, out: &mut [f64; BLOCK]) {
        let words = self.words.double(start);
        let (low, high) = (self.low, self.high);
        let values: [[f64; HALF]; 2] = match self.what {
            Distribution::Uniform { from, to } => {
                let step = (to - from) / TWO_POW_53;
                pairs(&words, |a, b| {
                    within(whole53(a, b) * step + from, low, high)
                })
            }
            Distribution::Normal { mean, std } => normal64(&words, |z| z * std + mean),
            Distribution::LogNormal { mean, std } => {
                normal64(&words, |z| (z * std + mean).exponential())
            }
            Distribution::Exponential { lambd } => pairs(&words, |a, b| {
                let unit = (whole53(a, b) + 1.0) / TWO_POW_53;
                let unit = if unit < 1.0 {
                    unit
                } else {
                    1.0 - f64::EPSILON / 2.0
                };
                within(-unit.natural_log() / lambd, low, high)
            }),
            Distribution::Cauchy { median, sigma } => pairs(&words, |a, b| {
                let unit = (whole52(a, b) + 0.5) / TWO_POW_52;
                let near = if unit < 0.5 { unit } else { 1.0 - unit };
                let (sin, cos) = (near * 0.5).sin_cos_turn();
                let far = cos / sin;
                (if unit < 0.5 { -far } else { far }) * sigma + median
            }),
            Distribution::Geometric { p } => {
                let fails = (-p).ln_1p();
                pairs(&words, |a, b| {
                    let unit = (whole53(a, b) + 1.0) / TWO_POW_53;
                    within((unit.natural_log() / fails).ceil(), low, high)
                })
            }
            // Computed elsewhere: see `flags`, `integers`.
            Distribution::Bernoulli { .. } | Distribution::Integers { .. } => [[0.0; HALF]; 2],
        };
        for i in 0..HALF {
            for (pair, values) in values.iter().enumerate() {
                out[2 * i + pair] = values[i];
            }
        }
    }

    /// Computes flags that are set with probability `p`, of one word each.
    #[inline(always)]
    pub(crate) fn flags(&self, p: f64, start: usize, out: &mut [bool; BLOCK]) {
        let words = self.words.single(start);
        // Up to 2^32: one more than any word.
        let limit = (p * TWO_POW_32).ceil() as u64;
        for i in 0..QUARTER {
            for (at, words) in words.iter().enumerate() {
                out[4 * i + at] = u64::from(words[i]) < limit;
            }
        }
    }

    /// Computes integers from `low` to `high`, of two words each.
    #[inline(always)]
    pub(crate) fn integers(&self, low: i64, high: i64, start: usize, out: &mut [i64; BLOCK]) {
        let words = self.words.double(start);
        // The number of integers; 0 for 2^64.
        let count = (high.wrapping_sub(low) as u64).wrapping_add(1);
        for i in 0..HALF {
            for pair in 0..2 {
                let (high, rest) = (words[2 * pair][i], words[2 * pair + 1][i]);
                let bits = u64::from(high) << 32 | u64::from(rest);
                let offset = if count == 0 {
                    bits
                } else {
                    ((u128::from(bits) * u128::from(count)) >> 64) as u64
                };
                out[2 * i + pair] = low.wrapping_add(offset as i64);
            }
        }
    }
}

/// Clamps a number.
#[inline(always)]
fn within<T: PartialOrd>(x: T, low: T, high: T) -> T {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

#[inline(always)]
fn each(words: &[[u32; QUARTER]; 4], value: impl Fn(u32) -> f32) -> [[f32; QUARTER]; 4] {
    let mut out = [[0.0; QUARTER]; 4];
    for (out, words) in out.iter_mut().zip(words) {
        for i in 0..QUARTER {
            out[i] = value(words[i]);
        }
    }
    out
}

#[inline(always)]
fn pairs(words: &[[u32; HALF]; 4], value: impl Fn(u32, u32) -> f64) -> [[f64; HALF]; 2] {
    let mut out = [[0.0; HALF]; 2];
    for (pair, out) in out.iter_mut().enumerate() {
        for i in 0..HALF {
            out[i] = value(words[2 * pair][i], words[2 * pair + 1][i]);
        }
    }
    out
}

/// Applies the Box-Muller transform to words 0 and 1, and to words 2 and 3.
#[inline(always)]
fn normal32(words: &[[u32; QUARTER]; 4], value: impl Fn(f32) -> f32) -> [[f32; QUARTER]; 4] {
    let mut out = [[0.0; QUARTER]; 4];
    for pair in [0, 2] {
        for i in 0..QUARTER {
            // Above 0, because the logarithm of zero is infinite.
            let unit = (word32(words[pair][i]) + 1.0) / TWO_POW_32 as f32;
            let radius = (-2.0 * unit.natural_log()).sqrt();
            let (sin, cos) = (whole32(words[pair + 1][i], 24) / TWO_POW_24).sin_cos_turn();
            out[pair][i] = value(radius * cos);
            out[pair + 1][i] = value(radius * sin);
        }
    }
    out
}

/// Like `normal32`, but of the two pairs of words.
#[inline(always)]
fn normal64(words: &[[u32; HALF]; 4], value: impl Fn(f64) -> f64) -> [[f64; HALF]; 2] {
    let mut out = [[0.0; HALF]; 2];
    for i in 0..HALF {
        let unit = (whole53(words[0][i], words[1][i]) + 1.0) / TWO_POW_53;
        let radius = (-2.0 * unit.natural_log()).sqrt();
        let (sin, cos) = (whole53(words[2][i], words[3][i]) / TWO_POW_53).sin_cos_turn();
        out[0][i] = value(radius * cos);
        out[1][i] = value(radius * sin);
    }
    out
}
