//! Tensors as text.

use std::fmt;

use nomina_core::Element;
use nomina_core::dims::Dims;
use nomina_runtime::display;

use super::Tensor;

/// The values, cut in the middle when large, and a closing line: `Tensor[N=2, C=3] f32 cpu`.
impl<D: Dims, T: Element> fmt::Display for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::values(f, &self.erased.raw, &self.names())
    }
}

/// As `Display`, with exponents: `[1.0e+00 2.5e-03]`.
impl<D: Dims, T: Element> fmt::LowerExp for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::scientific(f, &self.erased.raw, &self.names())
    }
}

/// One line: `Tensor[N=2, C=3] f32 cpu [[1., 2., 3.], [4., 5., 6.]]`.
impl<D: Dims, T: Element> fmt::Debug for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::line(f, &self.erased.raw, &self.names())
    }
}
