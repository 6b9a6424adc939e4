//! `dims!`, `names!`, `tensor!`, `einsum!` and `fuse!`. Each passes its tokens to the macro crate together with the
//! path of this crate as the caller sees it, so that renaming or re-exporting it works.

/// Declares dims.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C, H, W }
/// dims! {
///     /// Red, green, blue: always three.
///     pub Rgb = 3,
///     Batch = "batch",
/// }
/// let x = Tensor::zeros((Batch.of(2), Rgb));
/// assert_eq!(x.names(), names!["batch", "Rgb"]);
/// assert_eq!(x.shape(), [2, 3]);
/// ```
#[macro_export]
macro_rules! dims {
    ($($t:tt)*) => { $crate::__private::macros::dims! { ($crate) $($t)* } };
}

/// Creates a list of names for [`DynTensor`](crate::DynTensor): `names!["N", _]`, with `_` for a dim without a name.
#[macro_export]
macro_rules! names {
    ($($t:tt)*) => { $crate::__private::macros::names! { ($crate) $($t)* } };
}

/// Creates a tensor from given numbers and dims: `tensor!([[1., 2.], [3., 4.]]; N, C)`. Unsuffixed floats are `f32`,
/// integers `i64`; a dtype after the dims overrides this.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N }
/// let x: Tensor<(N,)> = tensor!([1., 2.]; N);
/// let y: Tensor<(N,), f64> = tensor!([1., 2.]; N; f64);
/// let z: Tensor<()> = tensor!(1.5);
/// assert_eq!((&x + &y).to_vec(), [2.0, 4.0]);
/// assert_eq!(z.item(), 1.5);
/// ```
#[macro_export]
macro_rules! tensor {
    ($($t:tt)*) => { $crate::__private::macros::tensor! { ($crate) $($t)* } };
}

/// Computes a product of tensors by the names of their dims, summed over the names that the result lacks:
/// `einsum!(q[B, T, K] * k[B, S, K] -> [B, T, S])`.
///
/// Each operand lists all its dims in any order, or some and `..` for the others; in the result, `..` is the union of
/// those dims. A name is the same dim in all operands; a second axis of the same kind is
/// [`Prime`](crate::dims::Prime)d. The order of the products is planned by cost. An expression that contains a `*`
/// needs parentheses. Dtypes promote.
///
/// ```
/// use nomina::prelude::*;
/// dims! { B, T, S, K }
/// let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
/// let k = Tensor::<(B, S, K)>::ones([2, 5, 4]);
/// let scores: Tensor<(B, T, S)> = einsum!(q[B, T, K] * k[K, S, B] -> [B, T, S]);
/// let means: Tensor<(B, S)> = einsum!(q[.., T, K] * k[.., K] -> [..]) / 3.0;
/// let total: Tensor<()> = einsum!(q[..] -> []);
/// assert_eq!(scores.shape(), [2, 3, 5]);
/// assert_eq!(means.size(S), 5);
/// assert_eq!(total.item(), 24.0);
/// ```
///
/// # Panics
/// If dims of one name have different sizes, neither of which is 1.
#[macro_export]
macro_rules! einsum {
    ($($t:tt)*) => { $crate::__private::macros::einsum! { ($crate) $($t)* } };
}

/// Like [`einsum!`], but gives a [`Result`](crate::Result).
#[macro_export]
macro_rules! try_einsum {
    ($($t:tt)*) => { $crate::__private::macros::try_einsum! { ($crate) $($t)* } };
}

/// Computes a chain of elementwise operators in one pass over its tensors: `fuse!(|x, b| (x + b).tanh() * 0.5)`.
///
/// The tensors are given between the bars: variables, or `name = expression` for expressions and other names. Operators
/// and elementwise methods after the bars give the same elements, dims and dtype as on tensors, but intermediate
/// results are never stored. Run-time numbers are in braces, `let` names values that are used twice, and a reduction
/// may be last.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
/// let b = tensor!([0.5, -0.5]; C);
/// let rate = 0.1;
/// let y: Tensor<(N, C)> = fuse!(|x, b| (x + b).relu() * { rate });
/// let z: Tensor<(N,)> = fuse!(|x, s = &b * 2.0| {
///     let h = x * s;
///     (h * h + 1.0).sqrt().sum(C)
/// });
/// assert_eq!(y.to_vec(), ((&x + &b).relu() * 0.1).to_vec());
/// assert_eq!(z.size(N), 2);
/// ```
///
/// # One pass
///
/// Blocks of the operands go through all operators while they are in the first-level cache; a block of the result is
/// then written or reduced. So a chain reads its tensors once and uses no memory besides its result, and a sum over a
/// chain uses next to none. Every step is rounded to its dtype, and a reduction sums in the same order as separately:
/// elements are identical to the bit.
///
/// `sum`, `mean`, `prod`, `amax`, `amin`, `all`, `any`, `var`, `std`, `logsumexp`, `norm`, `nansum` and `nanmean`
/// reduce within the pass; other reductions (`max`, `argmax`, `median` ..) read the stored result of the chain. So do
/// the former over inner dims of fewer than 16 elements, in steps. Programs that must inspect elements before they
/// compute, like integer divisions, are computed operator by operator.
///
/// # Softmax and bias
///
/// The result of a reduction can be an operand of the next chain:
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
/// let top = x.amax(keep(C));
/// let total = fuse!(|x, top| (x - top).exp().sum(keep(C)));
/// let soft: Tensor<(N, C)> = fuse!(|x, top, total| (x - top).exp() / total);
/// assert_eq!(soft.to_vec(), ((&x - &top).exp() / &total).to_vec());
///
/// let (bias, rate) = (tensor!([0.1, 0.2, 0.3]; C), 2.0);
/// let y = fuse!(|x, bias| (x + bias).gelu() * { rate });
/// assert_eq!(y.to_vec(), ((&x + &bias).gelu() * rate).to_vec());
/// ```
///
/// # If [`DynTensor`](crate::DynTensor)s are between the bars, names and dtypes are found at run time, and the macro
/// gives a [`Result`](crate::Result), like the methods of `DynTensor`. Either all tensors are typed, or none.
///
/// With [`DynTensor`](crate::DynTensor)s between the bars, names and dtypes are found when it runs, and the
/// macro gives a [`Result`](crate::Result), as the methods of a `DynTensor` do. All tensors are typed, or
/// none is.
///
/// ```
/// use nomina::prelude::*;
/// # fn main() -> nomina::Result<()> {
/// let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
/// let b = DynTensor::from_vec(vec![0.5_f32, -0.5], &[2], ["C"])?;
/// let y = fuse!(|x, b| ((x + b) * 2.0).sum("C"))?;
/// assert_eq!(y.names().to_string(), "(N,)");
/// assert_eq!(y.to_vec::<f32>()?, [6.0, 14.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// If sizes do not broadcast, a `Wild` dim's name does not fit, or memory runs out; [`try_fuse!`](crate::try_fuse!)
/// returns the error.
#[macro_export]
macro_rules! fuse {
    ($($t:tt)*) => { $crate::__private::macros::fuse! { ($crate) $($t)* } };
}

/// Like [`fuse!`] of typed tensors, but gives a [`Result`](crate::Result). For [`DynTensor`](crate::DynTensor)s,
/// [`fuse!`] already does.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
/// let short = Tensor::<(C,)>::zeros([3]);
/// let error = try_fuse!(|x, short| (x + short).sum(N)).unwrap_err();
/// assert!(error.to_string().contains("`C` has size 2 in the first operand and 3"), "{error}");
/// ```
#[macro_export]
macro_rules! try_fuse {
    ($($t:tt)*) => { $crate::__private::macros::try_fuse! { ($crate) $($t)* } };
}
