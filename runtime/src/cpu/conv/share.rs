//! How a convolution is split among threads.

use super::BLOCK;
use crate::cpu::gemm::lowered::Shape;
use crate::shape::product;

/// What a vector of the input costs to be written into a panel, in multiply-adds of a vector.
const LOWERING: usize = 3;
/// Tasks that a thread is given at most because they are alike.
const TASKS: usize = 8;

/// The sizes of products that are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Products.
    pub units: usize,
    /// Rows of the weight.
    pub outs: usize,
    /// The inner dim.
    pub depth: usize,
    /// Columns.
    pub positions: usize,
    /// Bytes of an element.
    pub element: usize,
}

/// Tasks: so many positions and outputs of a product each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tasks {
    /// Whether positions are rows of tiles, and outputs columns.
    pub flipped: bool,
    pub positions: usize,
    pub outs: usize,
}

impl Tasks {
    /// Those that are done first on so many threads.
    pub(super) fn new(sizes: Sizes, shape: Shape, threads: usize) -> Self {
        let all = [false, true].into_iter().flat_map(|flipped| {
            // What tasks start at, in positions and outputs.
            let [wide, high] = match flipped {
                false => [shape.width(), shape.rows],
                true => [shape.rows, shape.width()],
            };
            let fits = BLOCK / product([sizes.depth.clamp(1, shape.depth), sizes.element]);
            let widest = (fits / wide).max(1) * wide;
            let fewest = sizes.positions.div_ceil(widest).max(1);
            let most = fewest.max(TASKS * threads / sizes.units.max(1)) + threads;
            let across = fewest..=most;
            across.flat_map(move |across| {
                let positions = even(sizes.positions, across, wide);
                (1..=threads).map(move |down| Self {
                    flipped,
                    positions,
                    outs: even(sizes.outs, down, high),
                })
            })
        });
        let least = all.min_by_key(|tasks| tasks.cost(sizes, shape, threads));
        least.unwrap_or(Self {
            flipped: false,
            positions: sizes.positions,
            outs: sizes.outs,
        })
    }

    /// Tasks along positions and outputs of a product.
    pub(super) fn grid(&self, sizes: Sizes) -> [usize; 2] {
        [
            sizes.positions.div_ceil(self.positions),
            sizes.outs.div_ceil(self.outs),
        ]
    }

    /// How long it takes, in multiply-adds of a vector for each step of the inner dim.
    fn cost(&self, sizes: Sizes, shape: Shape, threads: usize) -> usize {
        let (positions, outs) = (
            self.positions.min(sizes.positions),
            self.outs.min(sizes.outs),
        );
        let (rows, cols) = match self.flipped {
            false => (outs, positions),
            true => (positions, outs),
        };
        // Tiles have thirds of their rows; sums that are transposed at the end go one by one.
        let sums = product([
            rows.next_multiple_of((shape.rows / 3).max(1)),
            cols.div_ceil(shape.lanes),
        ]);
        let lowering = product([LOWERING, positions.div_ceil(shape.lanes)]);
        let transposing = match self.flipped {
            false => 0,
            true => product([rows, cols]) / sizes.depth.max(1),
        };
        let [across, down] = self.grid(sizes);
        let turns = product([sizes.units, across, down]).div_ceil(threads);
        product([turns, sums + lowering + transposing])
    }
}

/// The length of `parts` parts of a whole, in multiples of something.
fn even(whole: usize, parts: usize, multiple: usize) -> usize {
    whole.div_ceil(parts).max(1).next_multiple_of(multiple)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        rows: 12,
        vectors: 2,
        lanes: 16,
        depth: 384,
    };

    #[test]
    fn tasks_fit_the_threads_and_the_cache() {
        let sizes = |units, outs, depth, positions| Sizes {
            units,
            outs,
            depth,
            positions,
            element: 4,
        };
        for one in [
            sizes(1, 64, 147, 112 * 112),
            sizes(1, 64, 576, 56 * 56),
            sizes(1, 256, 2304, 14 * 14),
            sizes(1, 512, 4608, 7 * 7),
            sizes(8, 128, 1152, 28 * 28),
            sizes(3, 1, 1, 1),
        ] {
            for threads in [1, 2, 16] {
                let tasks = Tasks::new(one, SHAPE, threads);
                let [wide, high] = match tasks.flipped {
                    false => [32, 12],
                    true => [12, 32],
                };
                assert!(
                    tasks.positions.is_multiple_of(wide) && tasks.outs.is_multiple_of(high),
                    "{tasks:?}"
                );
                assert!(
                    tasks.positions == wide || tasks.positions * one.depth.min(384) * 4 <= BLOCK,
                    "{tasks:?}"
                );
                let [across, down] = tasks.grid(one);
                let all = one.units * across * down;
                assert!(
                    all >= threads.min(2) || one.positions == 1,
                    "{one:?} {tasks:?}"
                );
            }
        }
        // Of four vectors one would have a single column, where of five rows of tiles four are full.
        assert!(Tasks::new(sizes(1, 512, 4608, 49), SHAPE, 1).flipped);
        assert!(!Tasks::new(sizes(1, 64, 576, 56 * 56), SHAPE, 1).flipped);
    }
}
