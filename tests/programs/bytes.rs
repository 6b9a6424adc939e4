//! The source of arguments: pseudo-random numbers, or bytes chosen by a fuzzer.

/// An endless source of numbers.
pub enum Bytes<'a> {
    /// A pseudo-random generator, with its state.
    Random(u64),
    /// Given bytes, then zeros.
    Given(&'a [u8]),
}

impl Bytes<'_> {
    /// Returns any eight bytes.
    pub fn word(&mut self) -> u64 {
        match self {
            Self::Random(state) => {
                // SplitMix64.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            }
            Self::Given(_) => self.given(8),
        }
    }

    /// Returns a number made from `count` given bytes.
    fn given(&mut self, count: usize) -> u64 {
        let Self::Given(left) = self else {
            return 0;
        };
        let (taken, rest) = left.split_at(count.min(left.len()));
        *left = rest;
        taken
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let word = match self {
            Self::Random(_) => self.word() >> 16,
            // A choice among few items takes one byte.
            Self::Given(_) if n <= 1 << 8 => self.given(1),
            Self::Given(_) => self.given(8),
        };
        word.checked_rem(n as u64).unwrap_or(0) as usize
    }

    /// Returns true once in `n` times; never when the given bytes are used up.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// Returns a random item.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
