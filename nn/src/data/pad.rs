//! Sequences of several lengths in one tensor.

use nomina::dims::{DimOf, Dims, Distinct, Insert, Inserted, OneDim, SizesFor, position};
use nomina::loops::Batch;
use nomina::{DynTensor, Element, Names, Result, Tensor};
use nomina_macros::twin;

/// Pads sequences at the end of a dim to the length of the longest one, and stacks them along a new dim. Returns the
/// tensor and the lengths.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, T, C }
/// let sequences = [Tensor::<(T, C)>::ones([2, 3]), Tensor::ones([4, 3])];
/// let (x, lengths) = pad_sequences(N, T, &sequences, 0.0);
/// let (x, lengths): (Tensor<(N, T, C)>, Tensor<(N,), i64>) = (x, lengths);
/// assert_eq!((x.shape(), lengths.to_vec()), (&[2, 4, 3][..], vec![2, 4]));
/// let mask: Tensor<(N, T), bool> = length_mask(&lengths, T.of(4));
/// assert_eq!(mask.sum(T).to_vec(), [2, 4]);
/// ```
///
/// # Errors
/// If there are no sequences, sizes of other dims differ, or memory runs out.
#[twin(free)]
pub fn try_pad_sequences<N, X, D, T>(
    dim: N,
    along: X,
    sequences: &[Tensor<D, T>],
    value: T,
) -> Result<(Tensor<Inserted<D, N>, T>, Tensor<(N,), i64>)>
where
    N: OneDim + Insert<D>,
    X: OneDim + DimOf<D>,
    D: Dims + Distinct,
    T: Element,
{
    let lengths: Vec<usize> = sequences.iter().map(|x| x.size(along)).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let padded = sequences.iter().zip(&lengths).map(|(x, &length)| {
        if length == longest {
            return Ok(x.clone());
        }
        let x = x.to_dyn();
        let mut shape = x.shape().to_vec();
        shape[position::<X, D>()] = longest - length;
        let options = DynTensor::options().dtype(T::DTYPE).device(x.device());
        let fill = options.full(&shape, value.to_scalar(), Names::from_static(D::NAMES))?;
        DynTensor::cat(&[&x, &fill], along)?.try_into()
    });
    let padded = padded.collect::<Result<Vec<Tensor<D, T>>>>()?;
    let lengths = lengths.into_iter().map(|length| length as i64).collect();
    Ok((
        Batch::try_batch(padded, dim)?,
        Batch::try_batch(lengths, dim)?,
    ))
}

/// Returns a mask of padded sequences: true at the positions below each length.
///
/// # Errors
/// If a length is below zero or above the size, or memory runs out.
#[twin(free)]
pub fn try_length_mask<N: OneDim, X: OneDim>(
    lengths: &Tensor<(N,), i64>,
    of: impl SizesFor<X>,
) -> Result<Tensor<(N, X), bool>>
where
    (N, X): Distinct,
{
    let size = of.sizes()[0];
    let lengths = lengths.try_to_vec()?;
    let mut mask = Vec::with_capacity(lengths.len() * size);
    for &length in &lengths {
        let within = usize::try_from(length)
            .ok()
            .filter(|&length| length <= size);
        let Some(length) = within else {
            let what = format!("a length of {length} in {size} positions");
            let error = nomina::Error::new(nomina::ErrorKind::Argument, "length_mask", what);
            return Err(error.hint("give the size of the padded dim"));
        };
        mask.extend((0..size).map(|at| at < length));
    }
    Tensor::from_vec(mask, [lengths.len(), size])
}
