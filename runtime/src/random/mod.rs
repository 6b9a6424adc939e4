//! Random numbers.
//!
//! A [`Generator`] is a seed and a position. Element `i` of a fill is a function of seed, position and `i`, so that a
//! fill is the same for any number of threads, for any strides, and on any device.
//!
//! # The words of each element
//!
//! Philox 4×32-10 turns a counter of four words and a key of two into a block of four random words. The key is the
//! seed, low word first. The counter is a position (words 0 and 1, low word first), the number of a draw (word 2) and
//! zero (word 3).
//!
//! A fill of `n` elements, counted row-major, that begins at position `p` leaves the generator at `p + n`.
//!
//! | elements | words |
//! |---|---|
//! | `f16`, `bf16`, `f32`, and all of [`Distribution::Bernoulli`] | word `i % 4` of the block at `p + i / 4`, draw 0 |
//! | `f64`, integers, [`Distribution::Geometric`] of any dtype, permutations, multinomial samples | words `2 (i % 2)` (high) and `2 (i % 2) + 1` (low) of the block at `p + i / 2`, draw 0 |
//! | a complex number | its two parts, as elements `2 i` and `2 i + 1` |
//! | Poisson | the blocks at `p + i`, draws 0, 1, 2 … until one is accepted |
//!
//! Normal numbers come in pairs, elements `2 k` and `2 k + 1`, from the Box-Muller transform: the first one's words
//! give the radius, the second's the angle. All functions applied to the words round the same way on every device.

mod distribution;
pub(crate) mod function;
pub(crate) mod philox;
pub(crate) mod poisson;
pub(crate) mod replay;
mod sample;

pub use distribution::{Distribution, range_of};
pub(crate) use distribution::{Draw, whole_numbers};
pub(crate) use sample::BLOCK;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt::{self, Formatter};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};

/// A source of random numbers; the same seed gives the same numbers.
///
/// Functions that draw random numbers use the default generator, which [`manual_seed`] seeds; each has a twin with
/// `_from` in its name that uses a given generator.
///
/// ```
/// use nomina_runtime::{DynTensor, Generator};
/// let mut x = DynTensor::zeros(&[2, 3], ["N", "C"])?;
/// x.uniform_from_(0.0, 1.0, &mut Generator::new(7))?;
/// let mut y = x.zeros_like()?;
/// y.uniform_from_(0.0, 1.0, &mut Generator::new(7))?;
/// assert!(x.equal(&y)?);
/// # Ok::<(), nomina_core::Error>(())
/// ```
pub struct Generator(GeneratorState);

/// The state of a generator.
enum GeneratorState {
    Own(Stream),
    /// The state of [`DEFAULT`], which is locked only during the access itself.
    Default,
}

impl Generator {
    /// Creates a generator that starts from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(GeneratorState::Own(Stream { seed, position: 0 }))
    }

    /// Reads or changes the state.
    fn access<R>(&mut self, f: impl FnOnce(&mut Stream) -> R) -> R {
        match &mut self.0 {
            GeneratorState::Own(state) => f(state),
            GeneratorState::Default => access_default(f),
        }
    }

    /// Returns the state.
    fn state(&self) -> Stream {
        match &self.0 {
            GeneratorState::Own(state) => *state,
            GeneratorState::Default => access_default(|state| *state),
        }
    }

    /// Returns the state as a computation sees it, which may be repeated later.
    fn observed(&self) -> Stream {
        if let Some(state) = replay::next() {
            return state;
        }
        let state = self.state();
        replay::note(state);
        state
    }

    /// Creates a generator with a seed from the operating system.
    #[must_use]
    pub fn from_entropy() -> Self {
        // The hash keys of the standard library are the only available source of entropy.
        Self::new(RandomState::new().build_hasher().finish())
    }

    /// Returns the seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.observed().seed
    }

    /// Starts over from `seed`.
    pub fn manual_seed(&mut self, seed: u64) {
        if !replay::is_repeating() {
            self.access(|state| *state = Stream { seed, position: 0 });
        }
    }

    /// Returns the distance from the seed: the number of elements that were drawn.
    #[must_use]
    pub fn get_offset(&self) -> u64 {
        self.observed().position
    }

    /// Sets the distance from the seed: the generator repeats the numbers that a generator of the same seed drew from
    /// there on.
    ///
    /// ```
    /// use nomina_runtime::{DynTensor, Generator};
    /// let (mut x, mut y) = (DynTensor::zeros(&[3], ())?, DynTensor::zeros(&[3], ())?);
    /// let mut one = Generator::new(7);
    /// x.uniform_from_(0.0, 1.0, &mut one)?;
    /// let mut other = Generator::new(7);
    /// other.set_offset(one.get_offset());
    /// x.uniform_from_(0.0, 1.0, &mut one)?;
    /// y.uniform_from_(0.0, 1.0, &mut other)?;
    /// assert!(x.equal(&y)?);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    pub fn set_offset(&mut self, offset: u64) {
        if !replay::is_repeating() {
            self.access(|state| state.position = offset);
        }
    }

    /// Returns the state for a fill of `n` elements, and advances.
    pub(crate) fn stream(&mut self, n: usize) -> Stream {
        if let Some(state) = replay::next() {
            return state;
        }
        let state = self.access(|state| {
            let before = *state;
            // Each element takes at most one block of four words.
            state.position = state.position.wrapping_add(n as u64);
            before
        });
        replay::note(state);
        replay::tell();
        state
    }
}

impl Clone for Generator {
    fn clone(&self) -> Self {
        Self(GeneratorState::Own(self.state()))
    }
}

impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        self.state() == other.state()
    }
}

impl Eq for Generator {}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Stream { seed, position } = self.state();
        let mut shown = f.debug_struct("Generator");
        shown.field("seed", &seed).field("position", &position);
        shown.finish()
    }
}

/// The random words of one fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) seed: u64,
    pub(crate) position: u64,
}

static DEFAULT: Mutex<Option<Stream>> = Mutex::new(None);

thread_local! {
    /// The state of this thread's default generator within [`with_seed`], instead of [`DEFAULT`].
    static OWN: Cell<Option<Stream>> = const { Cell::new(None) };
}

/// Reads or changes the state of the default generator. Other threads wait meanwhile, so `f` must not compute anything.
fn access_default<R>(f: impl FnOnce(&mut Stream) -> R) -> R {
    if let Some(mut own) = OWN.get() {
        let result = f(&mut own);
        OWN.set(Some(own));
        return result;
    }
    // A panic of another thread leaves seed and position consistent.
    let mut default = DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    f(default.get_or_insert_with(|| Generator::from_entropy().state()))
}

/// Seeds the default generator, which all threads share outside of [`with_seed`].
pub fn manual_seed(seed: u64) {
    with_default_generator(|generator| generator.manual_seed(seed));
}

/// Calls `f` with a default generator of this thread's own, which starts from `seed`. Draws of other threads neither
/// change the numbers nor get any of them; the previous generator returns afterwards, where it was, also if `f` panics.
///
/// Rust's tests run on several threads, which share one default generator: a test that expects certain numbers draws
/// them within this function. PyTorch's `torch.random.fork_rng` is similar, but does not separate threads.
///
/// ```
/// use nomina_runtime::{DynTensor, with_seed};
/// let draw = || with_seed(7, || DynTensor::rand(&[2, 3], ["N", "C"]));
/// assert!(draw()?.equal(&draw()?)?);
/// # Ok::<(), nomina_core::Error>(())
/// ```
pub fn with_seed<R>(seed: u64, f: impl FnOnce() -> R) -> R {
    struct RestoreOwn(Option<Stream>);
    impl Drop for RestoreOwn {
        fn drop(&mut self) {
            OWN.set(self.0);
        }
    }
    let _restore = RestoreOwn(OWN.replace(Some(Generator::new(seed).state())));
    f()
}

/// Seeds the default generator from the operating system, and returns the seed.
pub fn seed() -> u64 {
    // A recorded computation sees the seed, and gets the same one when it is repeated.
    let seed = Generator::from_entropy().seed();
    manual_seed(seed);
    seed
}

/// Returns the seed of the default generator.
#[must_use]
pub fn initial_seed() -> u64 {
    with_default_generator(|generator| generator.seed())
}

/// Calls `f` with the default generator, which all threads share outside of [`with_seed`]: a draw of another thread may
/// come between two of `f`.
/// No lock is held while `f` runs, or while a kernel computes the numbers.
pub fn with_default_generator<R>(f: impl FnOnce(&mut Generator) -> R) -> R {
    f(&mut Generator(GeneratorState::Default))
}

/// Calls `f` with the given generator, or with the default one.
pub fn with_generator<R>(
    generator: Option<&mut Generator>,
    f: impl FnOnce(&mut Generator) -> R,
) -> R {
    match generator {
        Some(generator) => f(generator),
        None => with_default_generator(f),
    }
}
