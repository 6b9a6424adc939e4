//! Linear algebra and Fourier transforms.

use nomina_core::DType;
use nomina_runtime::Raw;

use super::draw::Draw;
use super::given::Given;

impl<'a> Draw<'a, '_> {
    /// Returns mostly a tensor of a supported dtype.
    pub fn floats(&mut self) -> &'a Raw {
        if !self.bytes.once_in(8) {
            let dtypes = [DType::F32, DType::F64, DType::C64, DType::C128];
            self.dtype = self.bytes.pick(&dtypes);
        }
        self.x()
    }
}

#[cfg(feature = "fft")]
pub mod fft {
    use nomina_core::op::Op;
    use nomina_runtime::call::{self, FftNorm};

    use super::{Draw, Given};

    calls! { call:
        transform(op(&[Op::Fft, Op::Ifft, Op::Fftn, Op::Ifftn]), floats(), _, _, _);
        rfft(op(&[Op::Rfft]), floats(), _, _);
        irfft(op(&[Op::Irfft]), floats(), _, size(), _);
        rfftn(floats(), _, _);
        irfftn(floats(), _, size(), _);
        convolve(op(&[Op::FftConvolve]), floats(), _, _);
    }

    impl<'a> Given<'a> for FftNorm {
        fn given(d: &mut Draw<'a, '_>) -> Self {
            d.bytes.pick(&[Self::Backward, Self::Ortho, Self::Forward])
        }
    }
}

#[cfg(feature = "linalg")]
pub mod matrices {
    use nomina_core::op::class::Linalg;
    use nomina_runtime::call::{self, MatrixNorm, MatrixOptions};

    use super::{Draw, Given, Raw};

    calls! { call:
        matrices(_, floats(), rows_and_columns(), _);
        solve(solver(), floats(), rows_and_columns(), right_side(), batch(), _);
    }

    impl<'a> Draw<'a, '_> {
        fn right_side(&mut self) -> (&'a Raw, usize) {
            let b = self.x();
            (b, self.rows_and_columns()[0])
        }

        /// Returns mostly the last two dims.
        fn rows_and_columns(&mut self) -> [usize; 2] {
            let rank = self.base.len();
            match self.bytes.below(4) {
                0 => [Given::given(self), Given::given(self)],
                _ => [rank.saturating_sub(2), rank.saturating_sub(1)],
            }
        }

        fn solver(&mut self) -> Linalg {
            match self.bytes.below(8) {
                0 => Given::given(self),
                _ => self
                    .bytes
                    .pick(&[Linalg::Solve, Linalg::SolveTriangular, Linalg::Lstsq]),
            }
        }

        /// Returns mostly all dims but the last two.
        fn batch(&mut self) -> &'a [(usize, usize)] {
            if self.bytes.once_in(3) {
                return self.pairs();
            }
            let outer = self.base.len().saturating_sub(2);
            self.own
                .dims
                .lend((0..outer).map(|dim| (dim, dim)).collect())
        }
    }

    impl<'a> Given<'a> for Linalg {
        fn given(d: &mut Draw<'a, '_>) -> Self {
            d.bytes.pick(Self::ALL)
        }
    }

    impl<'a> Given<'a> for MatrixNorm {
        fn given(d: &mut Draw<'a, '_>) -> Self {
            d.bytes
                .pick(&[Self::Fro, Self::Nuc, Self::One, Self::Two, Self::Inf])
        }
    }

    impl<'a> Given<'a> for MatrixOptions {
        fn given(d: &mut Draw<'a, '_>) -> Self {
            Self {
                atol: Given::given(d),
                rtol: Given::given(d),
                upper: Given::given(d),
                unitriangular: Given::given(d),
                norm: Given::given(d),
            }
        }
    }
}
