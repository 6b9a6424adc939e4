//! Tiles of complex numbers, computed as real tiles with twice the rows and columns.
//!
//! A row of the right operand is a vector of pairs. For each row of the left operand, one sum multiplies it by the real
//! parts and another by the imaginary parts. After the last step, the product is the first sum plus `i` times the
//! second.

/// Defines the complex kernels for the given numbers of vectors and of rows, each with twice as many real rows. Uses the
/// types and functions at the place of invocation.
macro_rules! complex {
    ($($features:literal)?: $($vectors:literal [$($rows:literal $parts:literal)*];)*) => {
        type Pair = num_complex::Complex<Elem>;

        /// Returns the pairs times a number.
        $(#[target_feature(enable = $features)])?
        #[inline]
        fn scaled(by: Pair, x: Sums) -> Sums {
            add_sub(times(all(by.re), x), times(all(by.im), swapped(x)))
        }

        /// # Safety
        /// The processor has the features; the tile's matrices are in bounds, and nobody else uses its part of `c`
        /// meanwhile.
        $(#[target_feature(enable = $features)])?
        unsafe fn tile<
            const M: usize,
            const PARTS: usize,
            const V: usize,
            const MASKED: bool,
            const LEFT: usize,
        >(
            t: &Tile<Pair, Pair>,
        ) {
            const ONE: Pair = Pair { re: 1.0, im: 0.0 };
            let parts = Tile {
                rows: PARTS,
                cols: 2 * t.cols,
                depth: t.depth,
                a: t.a.cast(),
                a_row: 2 * t.a_row,
                a_step: 2 * t.a_step,
                steps: t.steps,
                b: t.b.cast(),
                b_step: 2 * t.b_step,
                c: t.c.cast::<Elem>(),
                c_row: 2 * t.c_row,
                alpha: 1.0,
                beta: None,
                d: t.d.cast(),
                d_row: 2 * t.d_row,
                d_one: t.d_one,
                end: t.end,
                ahead: t.ahead,
            };
            let mut masks = [mask(parts.cols, 0); V];
            for v in 1..V {
                masks[v] = mask(parts.cols, v);
            }
            if LEFT == PACKED {
                prefetch_result(t);
            }
            // SAFETY: guaranteed by the caller.
            let sums = unsafe { sums::<PARTS, V, MASKED, LEFT, true>(&parts, masks) };
            for i in 0..M {
                if LEFT == PACKED && i == t.rows {
                    break;
                }
                let c = parts.c.wrapping_offset(i as isize * parts.c_row);
                let d = parts.d.wrapping_offset(i as isize * parts.d_row);
                for v in 0..V {
                    let mut sum = add_sub(sums[2 * i][v], swapped(sums[2 * i + 1][v]));
                    // Skipped for one: multiplying an infinity by 1 + 0i would give NaN in the other part.
                    if t.alpha != ONE {
                        sum = scaled(t.alpha, sum);
                    }
                    // SAFETY: `c` and `d` have the columns of the mask.
                    unsafe {
                        if let Some(beta) = t.beta {
                            let mut d = if t.d_one {
                                whole([[d.read(), d.add(1).read()]; LANES / 2].as_ptr().cast())
                            } else {
                                read(masks[v], d.wrapping_add(v * LANES))
                            };
                            if beta != ONE {
                                d = scaled(beta, d);
                            }
                            sum = fused(all(1.0), d, sum);
                        }
                        write(masks[v], c.wrapping_add(v * LANES), sum);
                    }
                }
            }
        }

        const fn kernels<const MASKED: bool>() -> [Shapes<Pair, Pair>; 2] {
            [
                &[$(&[$(tile::<$rows, $parts, $vectors, MASKED, AS_IT_LIES>),*]),*],
                &[$(&[$(tile::<$rows, $parts, $vectors, MASKED, PACKED>),*]),*],
            ]
        }

        pub(crate) const KERNELS: Kernels<Pair, Pair> = Kernels {
            tiles: [kernels::<false>(), kernels::<true>()],
            indirect: &[$(&[$(tile::<$rows, $parts, $vectors, false, INDIRECT>),*]),*],
            sliding: &[],
            sliding_row: &[],
        };
    };
}

pub(super) use complex;
