//! `dims!`, `names!`, `tensor!`, `einsum!` and `fuse!`: each hands its tokens to the macro crate, with the path by
//! which the caller reaches this crate, so that they work however it is renamed or re-exported.

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

/// A list of names for [`DynTensor`](crate::DynTensor): `names!["N", _]`, `_` for a dim without a
/// name.
#[macro_export]
macro_rules! names {
    ($($t:tt)*) => { $crate::__private::macros::names! { ($crate) $($t)* } };
}

/// A tensor of given numbers and dims: `tensor!([[1., 2.], [3., 4.]]; N, C)`. Unsuffixed floats
/// are `f32`, integers `i64`; a dtype behind the dims overrides.
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

/// A product of tensors by the names of their dims, summed over the names that the result lacks:
/// `einsum!(q[B, T, K] * k[B, S, K] -> [B, T, S])`.
///
/// Each operand lists all its dims, in any order, or some and `..` for the others; in the result,
/// `..` stands for what it stood for in the operands. A name is one dim in all operands; a second
/// axis of the same meaning is [`Prime`](crate::dims::Prime)d. The order of the products is planned
/// by what they cost. An expression with a `*` of its own stands in parentheses. Dtypes promote.
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
/// When dims of one name have different sizes, neither of which is 1.
#[macro_export]
macro_rules! einsum {
    ($($t:tt)*) => { $crate::__private::macros::einsum! { ($crate) $($t)* } };
}

/// [`einsum!`] that gives a [`Result`](crate::Result).
#[macro_export]
macro_rules! try_einsum {
    ($($t:tt)*) => { $crate::__private::macros::try_einsum! { ($crate) $($t)* } };
}

/// A chain of elementwise operators, computed in one pass over its tensors:
/// `fuse!(|x, b| (x + b).tanh() * 0.5)`.
///
/// Between the bars stand the tensors: variables, or `name = expression` for what has no name, or
/// another one. Behind them, operators and elementwise methods mean what they mean on tensors, and
/// give the same elements, dims and dtype; but what lies between them is never stored. Numbers of
/// the run time stand in braces, `let` names what is used twice, and a reduction may come last.
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
/// Blocks of the operands go through all operators while they are in the first-level cache; a block of
/// the result is then written, or goes into the reduction. So a chain reads its tensors once and takes no
/// memory beside its result, and a sum over a chain takes next to none. Every step is rounded to its own
/// dtype, and a reduction adds up in the order in which it does anyway: elements are the same to the bit.
///
/// `sum`, `mean`, `prod`, `amax`, `amin`, `all`, `any`, `var`, `std`, `logsumexp`, `norm`, `nansum` and
/// `nanmean` reduce within the pass; other reductions (`max`, `argmax`, `median` ..) read the stored result
/// of the chain. So they do where the dims that go are inner ones of fewer than 16 elements, in steps.
/// Programs that must look at elements before they compute, as integer divisions do, are computed operator
/// by operator.
///
/// # Softmax and bias
///
/// What a reduction gives may be an operand of the next chain:
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
/// # Tensors without types
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
/// When sizes do not broadcast, a `Wild` dim's name does not fit, or memory is short; [`try_fuse!`](crate::try_fuse!)
/// returns the error.
#[macro_export]
macro_rules! fuse {
    ($($t:tt)*) => { $crate::__private::macros::fuse! { ($crate) $($t)* } };
}

/// [`fuse!`] of typed tensors that gives a [`Result`](crate::Result). Of
/// [`DynTensor`](crate::DynTensor)s, [`fuse!`] gives one itself.
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
