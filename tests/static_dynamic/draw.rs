//! Random lists of names.

use nomina::{Name, Names};

const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// A random generator (splitmix64); a seed gives the same choices everywhere.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn name(&mut self) -> &'static str {
        NAMES[self.below(NAMES.len())]
    }

    /// Returns distinct names; one in eight dims is unnamed.
    pub fn names(&mut self, rank: usize) -> Names {
        let mut left = NAMES.to_vec();
        (0..rank)
            .map(|_| {
                let name = left.swap_remove(self.below(left.len()));
                (!self.chance(12)).then(|| Name::from_static(name))
            })
            .collect()
    }

    /// Returns distinct names, without unnamed dims.
    pub fn known(&mut self, rank: usize) -> Vec<&'static str> {
        let mut left = NAMES.to_vec();
        (0..rank)
            .map(|_| left.swap_remove(self.below(left.len())))
            .collect()
    }

    /// Returns the same names with some dims left out on the left, unnamed or swapped: an operand
    /// that often matches.
    pub fn alike(&mut self, names: &Names) -> Names {
        let skip = if self.chance(40) {
            self.below(names.len() + 1)
        } else {
            0
        };
        let mut alike: Names = names[skip..].iter().cloned().collect();
        for i in 0..alike.len() {
            match self.below(12) {
                0 => alike[i] = None,
                1 => {
                    let other = Name::from_static(self.name());
                    if alike.position(&other).is_none() {
                        alike[i] = Some(other);
                    }
                }
                2 => {
                    let j = self.below(alike.len());
                    alike.swap(i, j);
                }
                _ => {}
            }
        }
        alike
    }

    /// Returns a name, usually one of the list.
    pub fn of(&mut self, names: &Names) -> &'static str {
        let known: Vec<&'static str> = NAMES
            .into_iter()
            .filter(|n| names.iter().flatten().any(|own| own == n))
            .collect();
        if known.is_empty() || self.chance(20) {
            return self.name();
        }
        known[self.below(known.len())]
    }
}
