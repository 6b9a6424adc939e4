//! Sets of letters.

use smallvec::SmallVec;

/// A set of small numbers, of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct LetterSet(SmallVec<[u64; 2]>);

impl LetterSet {
    pub(super) fn has(&self, letter: usize) -> bool {
        self.0
            .get(letter / 64)
            .is_some_and(|word| word >> (letter % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, letter: usize) {
        if self.0.len() <= letter / 64 {
            self.0.resize(letter / 64 + 1, 0);
        }
        self.0[letter / 64] |= 1 << (letter % 64);
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() {
            (self, other)
        } else {
            (other, self)
        };
        let mut all = long.clone();
        all.0.iter_mut().zip(&short.0).for_each(|(a, b)| *a |= b);
        all
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() << 6).filter(|&letter| self.has(letter))
    }
}

impl FromIterator<usize> for LetterSet {
    fn from_iter<I: IntoIterator<Item = usize>>(letters: I) -> Self {
        let mut set = Self::default();
        letters.into_iter().for_each(|letter| set.insert(letter));
        set
    }
}
