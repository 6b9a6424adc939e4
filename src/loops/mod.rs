//! Loops along a dim, with gradients: a scan with a carry, a scan by an associative function, and a function of each
//! slice.
//!
//! All are composed of operators that have gradients (`select`, `stack`, `cat`), so that gradients reach the inputs,
//! the first carry and the tensors that a closure captures.
//!
//! | | calls of the closure for `n` slices |
//! |---|---|
//! | [`scan()`] | `n`, one after another, each with the carry of the one before |
//! | [`associative_scan`] | about `2 log2 n`, each with many slices |
//! | [`map_over`] | `n`, independent of each other |
//!
//! [`Batch`] is the trait of results, which are stacked along the dim: tensors, numbers, and tuples of them.

mod batch;
mod slices;

pub use batch::Batch;
use nomina_core::Result;
use nomina_core::dims::OneDim;
/// Implements [`Batch`](trait@Batch) for a struct whose fields are tensors, numbers and structs of them. Declares the
/// struct of batches: `SampleBatch<N>` for a struct `Sample`.
///
/// ```
/// use nomina::loops::Batch;
/// use nomina::prelude::*;
/// dims! { N, H, W }
///
/// #[derive(Batch)]
/// struct Sample {
///     image: Tensor<(H, W)>,
///     label: i64,
/// }
///
/// let samples = (0..4).map(|label| Sample { image: Tensor::ones([8, 8]), label }).collect();
/// let batch: SampleBatch<N> = Batch::try_batch(samples, N)?;
/// let (image, label): (Tensor<(N, H, W)>, Tensor<(N,), i64>) = (batch.image, batch.label);
/// # Ok::<(), Error>(())
/// ```
///
/// `#[batch(name = Samples)]` on the type gives the struct another name. `#[batch(crate = path)]` gives the path of this
/// crate, if it is not `::nomina`.
pub use nomina_macros::Batch;
use nomina_macros::twin;
use nomina_runtime::memory::{list, try_list};
use nomina_runtime::tensor::loops as dynamic;
pub use slices::{Slices, Tensors};

/// Calls a function with a carry and each slice along a dim, in order. Returns the last carry, and the function's
/// second results, stacked along the dim in front of their own dims.
///
/// The carry may be of any type, and keeps it: a tensor, several in a tuple, a struct. A slice lacks the dim in its
/// type. `xs` is a tensor or a tuple of up to 4; the closure then takes a tuple.
///
/// ```
/// use nomina::loops::scan;
/// use nomina::prelude::*;
/// dims! { T, N, C, H }
/// let x = Tensor::<(N, T, C)>::ones([2, 3, 4]);
/// let (w, u) = (Tensor::<(H, C)>::ones([5, 4]), Tensor::<(Prime<H>, H)>::ones([5, 5]).with_grad());
///
/// // A recurrent layer: a state for each sample, without `T`.
/// let start: Tensor<(N, H)> = Tensor::zeros([2, 5]);
/// let (last, states) = scan(T, |h: Tensor<(N, H)>, x: Tensor<(N, C)>| {
///     let h: Tensor<(N, H)> = (x.contract(&w, C) + h.contract(&u, H).rename(Prime(H), H)).tanh();
///     (h.clone(), h)
/// }, start, &x);
/// let states: Tensor<(T, N, H)> = states;
/// assert!(states.select(T, -1).equal(&last));
/// last.sum(..).backward();
/// assert!(u.grad().is_some());
/// ```
///
/// To scan from the end, `flip` the inputs and the results. To save memory in the backward pass, call
/// [`checkpoint`](crate::grad::checkpoint) in the closure.
///
/// # Errors
/// If sizes along the dim differ, results do not stack or there are none, or memory runs out.
#[twin(free)]
pub fn try_scan<N: OneDim, C, X: Slices<N>, Y: Batch<N>>(
    dim: N,
    mut f: impl FnMut(C, X::Slice) -> (C, Y),
    init: C,
    xs: X,
) -> Result<(C, Y::Batched)> {
    let slices = xs.try_slices("scan", dim)?;
    let (mut carry, mut results) = (init, list("scan", [slices.len()])?);
    for slice in slices {
        let (next, result) = f(carry, slice);
        carry = next;
        results.push(result);
    }
    Ok((carry, Y::try_batch(results, dim)?))
}

/// Combines all slices up to each one along a dim by an associative function: like `cumsum`, but for any operation.
///
/// The function takes many slices at once, the earlier ones first: two tensors, or tuples of tensors, of the types of
/// `xs`, with any equal size along the dim. For `n` slices there are about `2 log2 n` calls with fewer than `2 n` slices
/// in all (Blelloch, "Prefix sums and their applications", 1990).
///
/// ```
/// use nomina::loops::associative_scan;
/// use nomina::prelude::*;
/// dims! { T, C }
/// // The linear recurrence h = a * h + b, for all steps at once.
/// let a = tensor!([[0.5], [0.5], [2.0]]; T, C);
/// let b = tensor!([[1.], [1.], [1.]]; T, C);
/// let (_, h) = associative_scan(T, |(a1, b1), (a2, b2)| (&a1 * &a2, &a2 * &b1 + &b2), (&a, &b));
/// assert_eq!(h.to_vec(), [1.0, 1.5, 4.0]);
/// ```
///
/// # Errors
/// If sizes along the dim differ, the function returns other sizes than it is given, or memory runs out.
#[twin(free)]
pub fn try_associative_scan<N: OneDim, X: Slices<N>>(
    dim: N,
    mut f: impl FnMut(X::Whole, X::Whole) -> X::Whole,
    xs: X,
) -> Result<X::Whole> {
    let _ = dim;
    let given = xs.to_dyns();
    let given: Vec<_> = given.iter().collect();
    let name = N::NAME.unwrap_or_default();
    let found = dynamic::associative_scan(
        name,
        |a, b| Ok(f(X::Whole::from_dyns(a), X::Whole::from_dyns(b)).into_dyns()),
        &given,
    )?;
    Ok(X::Whole::from_dyns(&found))
}

/// Calls a function with each slice along a dim, and stacks its results along the dim in front of their own dims:
/// JAX's `vmap` by name.
///
/// The function is written for one sample, and a slice lacks the dim in its type. Where operators can take the dim
/// themselves, call them on the whole tensor: all dims that an operator does not name pass through it, and one call for
/// all slices is faster. This function calls the closure once for each slice, so it takes any closure, but costs a call
/// of each of its operators for each slice.
///
/// ```
/// use nomina::loops::map_over;
/// use nomina::prelude::*;
/// dims! { N, C, K }
/// let x = tensor!([[3., 1., 2.], [5., 6., 4.]]; N, C);
/// // The two largest of each row, by a function that knows no rows.
/// let top: Tensor<(N, K)> = map_over(N, |x: Tensor<(C,)>| x.topk(2, C).0.rename(C, K), &x);
/// assert_eq!(top.to_vec(), [3.0, 2.0, 6.0, 5.0]);
/// ```
///
/// # Errors
/// If sizes along the dim differ, results do not stack or there are none, or memory runs out.
#[twin(free)]
pub fn try_map_over<N: OneDim, X: Slices<N>, Y: Batch<N>>(
    dim: N,
    mut f: impl FnMut(X::Slice) -> Y,
    xs: X,
) -> Result<Y::Batched> {
    let slices = xs.try_slices("map_over", dim)?;
    let results = try_list("map_over", slices.into_iter().map(|slice| Ok(f(slice))))?;
    Y::try_batch(results, dim)
}
