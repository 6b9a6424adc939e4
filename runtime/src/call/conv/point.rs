//! Convolutions that are matrix products.

use nomina_core::Scalar;

use crate::job::{ConvJob, Matrix, Product, Repeat};
use crate::shape::{product, scaled_stride};

impl ConvJob<'_> {
    /// Computes a kernel of one element as a product with the input in place, one for each batch and group; `None` if
    /// it is not one. The result holds the bias before, if there is one.
    pub(crate) fn as_product(&self) -> Option<(Product, [Repeat; 2])> {
        let [_, d, h, w] = [0, 1, 2, 3].map(|at| self.x_strides[at + 1]);
        let sizes = self.windows.map(|window| window.size);
        // Positions have one stride over all spatial dims with more than one of them.
        let step = if sizes[2] > 1 {
            w
        } else if sizes[1] > 1 {
            h
        } else {
            d
        };
        let flat = (sizes[2] == 1 || w == step)
            && (sizes[1] == 1 || h == scaled_stride(step, sizes[2]))
            && (sizes[0] == 1 || d == scaled_stride(scaled_stride(step, sizes[2]), sizes[1]));
        if !flat || !self.windows.iter().all(|window| window.is_point()) {
            return None;
        }
        let channels = self.channels as isize;
        let [batch, out, place] = self.out_strides;
        let product = Product {
            dtype: self.dtype,
            m: self.outs,
            k: self.channels,
            n: product(self.windows.iter().map(|window| window.out)),
            a: Matrix {
                ptr: self.weight.cast_mut(),
                rows: channels,
                cols: 1,
            },
            b: Matrix {
                ptr: self.x.cast_mut(),
                rows: self.x_strides[1],
                cols: step,
            },
            c: Matrix {
                ptr: self.out,
                rows: out,
                cols: place,
            },
            alpha: Scalar::Int(1),
            beta: self.bias.map(|_| Scalar::Int(1)),
            addend: None,
            after: self.after,
        };
        let repeats = [
            Repeat {
                size: self.batch,
                a: 0,
                b: self.x_strides[0],
                c: batch,
                d: 0,
            },
            Repeat {
                size: self.groups,
                a: scaled_stride(channels, self.outs),
                b: scaled_stride(self.x_strides[1], self.channels),
                c: scaled_stride(out, self.outs),
                d: 0,
            },
        ];
        Some((product, repeats))
    }
}
