//! Where arguments come from: a sequence of pseudo-random numbers, or the bytes that a fuzzer chose.

/// A source of numbers, of which there is always another one.
pub enum Bytes<'a> {
    /// Pseudo-random, from a state.
    Random(u64),
    /// Given ones, then zeros.
    Given(&'a [u8]),
}

impl Bytes<'_> {
    /// Any eight bytes.
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

    /// A number of so many given bytes.
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

    /// A number below `n`; 0 where there is none.
    pub fn below(&mut self, n: usize) -> usize {
        let word = match self {
            Self::Random(_) => self.word() >> 16,
            // A choice among few things takes one byte.
            Self::Given(_) if n <= 1 << 8 => self.given(1),
            Self::Given(_) => self.given(8),
        };
        word.checked_rem(n as u64).unwrap_or(0) as usize
    }

    /// True once in `n` times; never when nothing is left.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
