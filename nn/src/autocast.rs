//! Automatic mixed precision.

use std::cell::Cell;

use nomina::{DType, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::to_dtype;

thread_local! {
    static DTYPE: Cell<Option<DType>> = const { Cell::new(None) };
}

/// Runs `f` with the products of `f32` layers in 16 bits: linear layers, convolutions and attention round their
/// operands to the dtype, multiply them with `f32` sums, and return `f32`. Everything between, such as norms, reductions
/// and losses, stays in `f32`, and so do parameters, gradients and the state of optimizers. The backward pass of these
/// products is in 16 bits, too, wherever it is called.
///
/// `bf16` has the range of `f32`. For `f16`, whose gradients can vanish, use a [`LossScale`](crate::optim::LossScale).
///
/// Applies to this thread. Layers of other dtypes are not affected, nor products that are called as methods of tensors:
/// convert their operands, `x.to::<bf16>()`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Out }
///
/// let layer = Linear::new(In.of(64), Out.of(8));
/// let x = Tensor::<(N, In)>::randn([4, 64]);
/// let y = autocast(DType::BF16, || layer.forward(&x));
/// let error = (y - layer.forward(&x)).abs().max(..).item();
/// assert!(0.0 < error && error < 0.05);
/// ```
///
/// # Panics
/// If the dtype is neither `bf16` nor `f16`.
#[track_caller]
pub fn autocast<R>(dtype: DType, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<DType>);
    impl Drop for Restore {
        fn drop(&mut self) {
            DTYPE.set(self.0);
        }
    }
    assert!(
        matches!(dtype, DType::BF16 | DType::F16),
        "autocast: products are in bf16 or f16, not {dtype}"
    );
    let _restore = Restore(DTYPE.replace(Some(dtype)));
    f()
}

/// Returns the dtype that a product's operands of a dtype are rounded to, within [`autocast`].
pub(crate) fn rounded(own: DType) -> Option<DType> {
    DTYPE.get().filter(|_| own == DType::F32)
}

/// Computes a product of a layer: within [`autocast`] with 16-bit operands, if the first is `f32`.
pub(crate) fn product<const N: usize>(
    operands: [Option<&Raw>; N],
    f: impl FnOnce([Option<&Raw>; N]) -> Result<Raw>,
) -> Result<Raw> {
    let Some(dtype) = operands[0].and_then(|first| rounded(first.dtype())) else {
        return f(operands);
    };
    let mut narrow: [Option<Raw>; N] = [const { None }; N];
    for (narrow, operand) in narrow.iter_mut().zip(operands) {
        *narrow = operand.map(|x| to_dtype(x, dtype)).transpose()?;
    }
    to_dtype(&f(narrow.each_ref().map(Option::as_ref))?, DType::F32)
}

/// [`product`] of an operand, a weight and a bias.
pub(crate) fn weighted(
    x: &Raw,
    weight: &Raw,
    bias: Option<&Raw>,
    f: impl FnOnce(&Raw, &Raw, Option<&Raw>) -> Result<Raw>,
) -> Result<Raw> {
    product([Some(x), Some(weight), bias], |operands| match operands {
        [Some(x), Some(weight), bias] => f(x, weight, bias),
        _ => f(x, weight, bias),
    })
}
