//! Random dims for operations. The seed is fixed, so two runs measure the same programs.

/// The markers that a program declares, enough that the same four rarely occur twice in the same
/// order.
pub const MARKERS: [&str; 24] = [
    "N", "C", "H", "W", "Batch", "Time", "Height", "Width", "Channel", "Head", "Key", "Query",
    "Value", "Seq", "Token", "Depth", "Group", "Class", "Layer", "Embed", "Hidden", "Step", "Row",
    "Col",
];

/// Markers that are never drawn, for new names in rename, flatten and similar calls.
pub const NEW: [&str; 2] = ["New1", "New2"];

/// SplitMix64: small, and good enough for shuffling.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap_or(0)
    }

    /// Returns `n` of `items`, in random order.
    pub fn sample<'a>(&mut self, items: &[&'a str], n: usize) -> Vec<&'a str> {
        let mut items = items.to_vec();
        for i in 0..n.min(items.len()) {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
        items.truncate(n);
        items
    }

    pub fn dims(&mut self, rank: usize) -> Vec<&'static str> {
        self.sample(&MARKERS, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_dims_are_distinct_and_repeatable() {
        let (mut one, mut two) = (Rng::new(1), Rng::new(1));
        for rank in 0..8 {
            let mut dims = one.dims(rank);
            assert_eq!(dims, two.dims(rank));
            assert_eq!(dims.len(), rank);
            dims.sort_unstable();
            dims.dedup();
            assert_eq!(dims.len(), rank);
        }
    }
}
