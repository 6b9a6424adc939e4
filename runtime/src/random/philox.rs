//! Philox 4×32 with 10 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3", 2011.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns four random words: a function of a position, a number that separates draws at one
/// position, and a key.
#[inline]
pub(crate) fn block(position: u64, draw: u32, key: u64) -> [u32; 4] {
    let counter = [position as u32, (position >> 32) as u32, draw, 0];
    rounds(counter.map(|word| [word]), key).map(|[word]| word)
}

/// Returns the blocks of `N` positions from `first` on: word `w` of block `i` is at `[w][i]`.
// Indexing several arrays with one variable vectorises; iterators over them do not.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
pub(crate) fn blocks<const N: usize>(first: u64, key: u64) -> [[u32; N]; 4] {
    let mut counter = [[0; N]; 4];
    for i in 0..N {
        let position = first.wrapping_add(i as u64);
        counter[0][i] = position as u32;
        counter[1][i] = (position >> 32) as u32;
    }
    rounds(counter, key)
}

/// Computes the rounds, on many counters at once, so that vector registers are full.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
pub(super) fn rounds<const N: usize>(mut counter: [[u32; N]; 4], key: u64) -> [[u32; N]; 4] {
    let mut key = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        for i in 0..N {
            let a = u64::from(MULTIPLIERS[0]) * u64::from(counter[0][i]);
            let b = u64::from(MULTIPLIERS[1]) * u64::from(counter[2][i]);
            counter[0][i] = (b >> 32) as u32 ^ counter[1][i] ^ key[0];
            counter[1][i] = b as u32;
            counter[2][i] = (a >> 32) as u32 ^ counter[3][i] ^ key[1];
            counter[3][i] = a as u32;
        }
        key = [
            key[0].wrapping_add(KEY_STEPS[0]),
            key[1].wrapping_add(KEY_STEPS[1]),
        ];
    }
    counter
}
