//! Top-k of a line, by two passes over its keys.
//!
//! Each lane keeps the smallest key it meets. The k-th smallest of these is a bound: at least k
//! elements are within it, and on a line without a pattern, few more.

use super::key::{KeyBits, KeyKind};
use super::packed::PackedKey;
use crate::cpu::reduce::simd::{Kernel, dispatch};

/// The number of lanes; a line should be much longer.
const LANES: usize = 64;

/// The number of elements that are checked together.
const STEP: usize = 16;

/// Returns whether `count` elements are few for a line of `len`.
pub(super) fn is_few(count: usize, len: usize) -> bool {
    0 < count && count <= LANES / 2 && len >= 8 * LANES
}

/// Fills `packed` with some elements of a line, including the first `count` of the sorted line;
/// `count` is [few](is_few). With `descending`, keys are sorted in reverse order. `keys` is a
/// buffer.
pub(super) fn candidates<B: KeyBits, P: PackedKey>(
    line: &[B],
    kind: KeyKind,
    descending: bool,
    count: usize,
    keys: &mut Vec<B>,
    packed: &mut Vec<P>,
) {
    keys.clear();
    keys.resize(line.len(), B::default());
    let turn = B::narrow(if descending { B::ALL } else { 0 });
    let mut first = [B::narrow(B::ALL); LANES];
    dispatch(Keys {
        line,
        kind,
        turn,
        keys,
        first: &mut first,
    });
    let bound = *first.select_nth_unstable(count - 1).1;
    packed.clear();
    dispatch(Within {
        keys,
        bound,
        packed,
    });
}

/// A kernel that computes the keys of a line, and the smallest of each lane.
struct Keys<'a, B> {
    line: &'a [B],
    kind: KeyKind,
    turn: B,
    keys: &'a mut [B],
    first: &'a mut [B; LANES],
}

impl<B: KeyBits> Keys<'_, B> {
    #[inline(always)]
    fn each(self, key: impl Fn(B) -> B) {
        let mut first = *self.first;
        let (line, rest) = self.line.as_chunks::<LANES>();
        let (keys, rest_keys) = self.keys.as_chunks_mut::<LANES>();
        for (line, keys) in line.iter().zip(keys) {
            for lane in 0..LANES {
                let key = key(line[lane]) ^ self.turn;
                keys[lane] = key;
                first[lane] = first[lane].min(key);
            }
        }
        for ((&x, place), first) in rest.iter().zip(rest_keys).zip(&mut first) {
            let key = key(x) ^ self.turn;
            *place = key;
            *first = (*first).min(key);
        }
        *self.first = first;
    }
}

impl<B: KeyBits> Kernel for Keys<'_, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        // One loop for each kind, so that the kind is not tested per element.
        match self.kind {
            KeyKind::Unsigned => self.each(|x| x),
            KeyKind::Signed => self.each(B::of_signed),
            KeyKind::Float(infinity) => {
                let infinity = B::narrow(infinity);
                self.each(|x| x.of_float(infinity));
            }
        }
    }
}

/// A kernel that collects the elements whose keys are within a bound.
struct Within<'a, B, P> {
    keys: &'a [B],
    bound: B,
    packed: &'a mut Vec<P>,
}

impl<B: KeyBits, P: PackedKey> Kernel for Within<'_, B, P> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for (step, keys) in self.keys.chunks(STEP).enumerate() {
            // Most steps have none, which is checked by a vectorised loop.
            if !keys
                .iter()
                .fold(false, |any, &key| any | (key <= self.bound))
            {
                continue;
            }
            for (i, &key) in keys.iter().enumerate() {
                if key <= self.bound {
                    self.packed.push(P::new(key.wide(), step * STEP + i));
                }
            }
        }
    }
}
