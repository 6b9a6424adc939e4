//! `dims!`, `names!` and `tensor!`: each hands its tokens to the macro crate, with the path by
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
