//! How a convolution is divided among threads.

use super::BLOCK;
use crate::cpu::gemm::lowered::TileShape;
use crate::shape::product;

/// The cost of writing one vector of the input into a panel, in multiply-adds of a vector.
const LOWERING: usize = 3;
/// The minimum cost of a step of a tile, in multiply-adds of a vector: they are limited by latency, of sums and of
/// loads.
const STEP: usize = 8;
/// The most tasks per thread, because all tasks are of about the same cost.
const TASKS: usize = 8;

/// The sizes of several equal products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The number of products.
    pub units: usize,
    /// Rows of the weight.
    pub outs: usize,
    /// The length of the inner dim.
    pub depth: usize,
    /// Columns.
    pub positions: usize,
    /// Columns that are contiguous in the input, or the parts of a single long line.
    pub line: usize,
    /// Bytes of an element.
    pub element: usize,
}

/// The size of a task: a number of positions and outputs of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tasks {
    /// Whether the input is read in place: positions are then rows of tiles, and outputs columns.
    pub indirect: bool,
    pub positions: usize,
    pub outs: usize,
}

impl Tasks {
    /// Chooses the tasks with the lowest cost on `threads` threads.
    pub(super) fn new(sizes: Sizes, shape: TileShape, threads: usize) -> Self {
        // Tiles that read indirectly are slow in unoptimised builds.
        let ways = [false, true]
            .into_iter()
            .take(if cfg!(unoptimized) || sizes.line == 0 {
                1
            } else {
                2
            });
        let all = ways.flat_map(|indirect| {
            // The granularity of tasks, in positions and outputs.
            let [wide, high] = if indirect {
                [sizes.line, shape.width()]
            } else {
                [shape.width(), shape.rows]
            };
            let fits = BLOCK / product([sizes.depth.clamp(1, shape.depth), sizes.element]);
            let widest = (fits / wide).max(1) * wide;
            let fewest = if indirect {
                1
            } else {
                sizes.positions.div_ceil(widest).max(1)
            };
            let most = fewest.max(TASKS * threads / sizes.units.max(1)) + threads;
            let across = fewest..=most;
            across.flat_map(move |across| {
                let positions = even(sizes.positions, across, wide);
                (1..=threads).map(move |down| Self {
                    indirect,
                    positions,
                    outs: even(sizes.outs, down, high),
                })
            })
        });
        let least = all.min_by_key(|tasks| tasks.cost(sizes, shape, threads));
        least.unwrap_or(Self {
            indirect: false,
            positions: sizes.positions,
            outs: sizes.outs,
        })
    }

    /// Returns the number of tasks along positions and outputs of a product.
    pub(super) fn grid(&self, sizes: Sizes) -> [usize; 2] {
        [
            sizes.positions.div_ceil(self.positions),
            sizes.outs.div_ceil(self.outs),
        ]
    }

    /// Returns the estimated time, in multiply-adds of a vector for each step of the inner dim.
    fn cost(&self, sizes: Sizes, shape: TileShape, threads: usize) -> usize {
        let (positions, outs) = (
            self.positions.min(sizes.positions),
            self.outs.min(sizes.outs),
        );
        let one = match self.indirect {
            // Tiles have multiples of a third of the rows.
            false => {
                let rows = outs.next_multiple_of((shape.rows / 3).max(1));
                product([rows + LOWERING, positions.div_ceil(shape.lanes)])
            }
            true => {
                // The panels, of which the last may have fewer vectors.
                let vectors = outs.div_ceil(shape.lanes);
                let line = |vectors: usize| {
                    let tiles = sizes.line.div_ceil(shape.rows_for(vectors * shape.lanes));
                    product([vectors, sizes.line]).max(product([tiles, STEP]))
                };
                let mut all = product([vectors / shape.vectors, line(shape.vectors)]);
                if !vectors.is_multiple_of(shape.vectors) {
                    all = all.saturating_add(line(vectors % shape.vectors));
                }
                product([positions.div_ceil(sizes.line), all])
            }
        };
        let [across, down] = self.grid(sizes);
        let turns = product([sizes.units, across, down]).div_ceil(threads);
        product([turns, one])
    }
}

/// Returns the length of each of `parts` parts of a whole, rounded up to a multiple.
fn even(whole: usize, parts: usize, multiple: usize) -> usize {
    whole.div_ceil(parts).max(1).next_multiple_of(multiple)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: TileShape = TileShape {
        rows: 6,
        narrow: 12,
        vectors: 4,
        lanes: 16,
        depth: 384,
    };

    #[test]
    fn tasks_fit_the_threads_and_the_cache() {
        let sizes = |units, outs, depth, line| Sizes {
            units,
            outs,
            depth,
            positions: line * line,
            line,
            element: 4,
        };
        for one in [
            sizes(1, 64, 147, 112),
            sizes(1, 64, 576, 56),
            sizes(1, 256, 2304, 14),
            sizes(1, 512, 4608, 7),
            sizes(8, 128, 1152, 28),
            sizes(3, 1, 1, 1),
        ] {
            for threads in [1, 2, 16] {
                let tasks = Tasks::new(one, SHAPE, threads);
                let [wide, high] = if tasks.indirect {
                    [one.line, 64]
                } else {
                    [64, 6]
                };
                assert!(
                    tasks.positions.is_multiple_of(wide) && tasks.outs.is_multiple_of(high),
                    "{tasks:?}"
                );
                assert!(
                    tasks.indirect
                        || tasks.positions == wide
                        || tasks.positions * one.depth.min(384) * 4 <= BLOCK,
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
        // Lowering costs writes, and one of four vectors would have a single column.
        assert!(Tasks::new(sizes(1, 512, 4608, 7), SHAPE, 1).indirect);
        // Tiles of a single row are limited by latency.
        let short = Sizes {
            positions: 128,
            ..sizes(1, 512, 4608, 1)
        };
        assert!(!Tasks::new(short, SHAPE, 1).indirect);
        // Most columns of a panel would be unused.
        assert!(!Tasks::new(sizes(1, 6, 576, 56), SHAPE, 1).indirect);
    }
}
