//! Random numbers.
//!
//! A generator is a seed and a counter. Element `i` of a fill is a function of seed, counter and
//! `i`, so a fill is the same for any number of threads, and on any device.

mod philox;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};

use philox::philox;

/// A source of random numbers; the same seed gives the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    counter: u64,
}

impl Generator {
    /// A generator that starts from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, counter: 0 }
    }

    /// A generator that starts from a seed of the operating system's.
    #[must_use]
    pub fn from_entropy() -> Self {
        // The standard library's hash keys are the one source of entropy at hand.
        Self::new(RandomState::new().build_hasher().finish())
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Starts over from `seed`.
    pub fn manual_seed(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    /// The next numbers for a fill of `n` elements of a distribution.
    pub(crate) fn stream(&mut self, n: usize, kind: Kind) -> Stream {
        let stream = Stream {
            seed: self.seed,
            counter: self.counter,
            kind,
        };
        // A block of four words makes one element at the least, a pair of doubles.
        self.counter = self.counter.wrapping_add(n as u64);
        stream
    }
}

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From 0 to before 1, in steps of 2 to the power of minus this for `f32`.
    Uniform(u32),
    /// Mean 0, standard deviation 1.
    Normal,
    /// Mean 0, standard deviation of the square root of a half: the parts of a complex number.
    NormalPart,
}

/// The random numbers of one fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    seed: u64,
    counter: u64,
    kind: Kind,
}

impl Stream {
    fn block(&self, index: usize) -> [u32; 4] {
        philox(self.counter.wrapping_add(index as u64), self.seed)
    }

    fn scale(&self) -> f64 {
        if self.kind == Kind::NormalPart {
            std::f64::consts::FRAC_1_SQRT_2
        } else {
            1.0
        }
    }

    /// Elements from `start`, a multiple of 4, on: four per block.
    pub(crate) fn floats(&self, start: usize, out: &mut [f32]) {
        let scale = self.scale() as f32;
        for (i, out) in out.chunks_mut(4).enumerate() {
            let words = self.block(start / 4 + i);
            let values = match self.kind {
                Kind::Uniform(bits) => {
                    let step = 1.0 / (1_u32 << bits) as f32;
                    words.map(|word| (word >> (32 - bits)) as f32 * step)
                }
                Kind::Normal | Kind::NormalPart => {
                    // Towards 1, since the logarithm of zero is infinite.
                    let unit = words.map(|word| ((word >> 8) + 1) as f32 / (1 << 24) as f32);
                    let [a, b] = [[unit[0], unit[1]], [unit[2], unit[3]]].map(|[u, v]| {
                        let radius = (-2.0 * u.ln()).sqrt() * scale;
                        let (sin, cos) = (std::f32::consts::TAU * v).sin_cos();
                        [radius * cos, radius * sin]
                    });
                    [a[0], a[1], b[0], b[1]]
                }
            };
            out.copy_from_slice(&values[..out.len()]);
        }
    }

    /// Elements from `start`, a multiple of 2, on: two per block.
    pub(crate) fn doubles(&self, start: usize, out: &mut [f64]) {
        let scale = self.scale();
        for (i, out) in out.chunks_mut(2).enumerate() {
            let [a, b, c, d] = self.block(start / 2 + i).map(u64::from);
            let words = [a << 32 | b, c << 32 | d].map(|word| word >> 11);
            const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
            let values = match self.kind {
                Kind::Uniform(_) => words.map(|word| word as f64 * STEP),
                Kind::Normal | Kind::NormalPart => {
                    let [u, v] = words.map(|word| (word + 1) as f64 * STEP);
                    let radius = (-2.0 * u.ln()).sqrt() * scale;
                    let (sin, cos) = (std::f64::consts::TAU * v).sin_cos();
                    [radius * cos, radius * sin]
                }
            };
            out.copy_from_slice(&values[..out.len()]);
        }
    }
}

static DEFAULT: Mutex<Option<Generator>> = Mutex::new(None);

/// Seeds the default generator, which all threads share.
pub fn manual_seed(seed: u64) {
    with_default_generator(|generator| generator.manual_seed(seed));
}

/// Calls `f` with the default generator. Other threads that want it wait; `f` must not ask for it
/// a second time.
pub fn with_default_generator<R>(f: impl FnOnce(&mut Generator) -> R) -> R {
    // A panic of another thread leaves seed and counter whole.
    let mut default = DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    f(default.get_or_insert_with(Generator::from_entropy))
}
