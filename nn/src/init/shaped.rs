//! Weights that are not drawn number by number.

use nomina::dims::{Dims, Distinct};
use nomina::{DType, DynTensor, Element, Error, ErrorKind, Float, Names, Result, Tensor, Typed};
use nomina_runtime::tensor::Operand;

use crate::call;

/// Returns a weight of these elements, in row-major order.
fn from_elements<D: Dims + Distinct, T: Element>(
    elements: Vec<f64>,
    sizes: &[usize],
) -> Result<Tensor<D, T>> {
    let found = DynTensor::from_vec(elements, sizes, Names::from_static(D::NAMES))?;
    let found = found.to_dtype(T::DTYPE)?;
    found.typed()
}

fn wrong_rank(op: &'static str, sizes: &[usize], hint: &str) -> Error {
    let what = format!("a weight of {} dims has no rows and columns", sizes.len());
    Error::new(ErrorKind::Rank, op, what).hint(hint)
}

pub(super) fn eye<D: Dims + Distinct, T: Float>(sizes: &[usize]) -> Result<Tensor<D, T>> {
    let &[_, columns] = sizes else {
        return Err(wrong_rank("eye", sizes, "give it two dims"));
    };
    if call::is_unset() {
        return call::full(sizes, 0.0);
    }
    let found = call::full::<D, T>(sizes, 0.0)?.into_dyn();
    let mut elements = found.to_dtype(DType::F64)?.to_vec::<f64>()?;
    let diagonal = elements.iter_mut().step_by(columns.saturating_add(1));
    diagonal.take(columns).for_each(|x| *x = 1.0);
    from_elements(elements, sizes)
}

/// Draws by the inverse of the distribution function, like PyTorch.
pub(super) fn trunc_normal<D: Dims + Distinct, T: Float>(
    sizes: &[usize],
    (mean, std): (f64, f64),
    (from, to): (f64, f64),
) -> Result<Tensor<D, T>> {
    if call::is_unset() {
        return call::full(sizes, 0.0);
    }
    let root = std * 2_f64.sqrt();
    let bounds = vec![(from - mean) / root, (to - mean) / root];
    // Twice the distribution function, less 1.
    let masses = DynTensor::from_vec(bounds, &[2], ())?
        .erf()?
        .to_vec::<f64>()?;
    let drawn = call::uniform::<D, T>(sizes, masses[0], masses[1])?.into_dyn();
    let found = drawn.erfinv()?.mul(root)?.add(mean)?;
    let found = found.clamp(Operand::from(from), Operand::from(to))?;
    found.typed()
}

pub(super) fn orthogonal<D: Dims + Distinct, T: Float>(
    sizes: &[usize],
    gain: f64,
) -> Result<Tensor<D, T>> {
    let [rows, others @ ..] = sizes else {
        return Err(wrong_rank("orthogonal", sizes, "give it two dims or more"));
    };
    if others.is_empty() {
        return Err(wrong_rank("orthogonal", sizes, "give it two dims or more"));
    }
    let drawn = call::normal::<D, T>(sizes, 0.0, 1.0)?;
    if call::is_unset() || drawn.numel() == 0 {
        return Ok(drawn);
    }
    let drawn = drawn.into_dyn().to_dtype(DType::F64)?.to_vec::<f64>()?;
    let (rows, columns) = (*rows, drawn.len() / rows);
    let turned = rows > columns;
    let row = |at: usize| -> Vec<f64> {
        if turned {
            drawn.iter().skip(at).step_by(columns).copied().collect()
        } else {
            drawn[at * columns..][..columns].to_vec()
        }
    };
    let mut basis: Vec<Vec<f64>> = (0..rows.min(columns)).map(row).collect();
    orthonormalize(&mut basis);
    let element = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        gain * if turned {
            basis[column][row]
        } else {
            basis[row][column]
        }
    };
    from_elements((0..drawn.len()).map(element).collect(), sizes)
}

/// The modified Gram-Schmidt process, twice, so that rounding leaves no projection.
fn orthonormalize(basis: &mut [Vec<f64>]) {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for at in 0..basis.len() {
        let (before, rest) = basis.split_at_mut(at);
        let own = &mut rest[0];
        for _ in 0..2 {
            for other in before.iter() {
                let shared = dot(own, other);
                own.iter_mut()
                    .zip(other)
                    .for_each(|(x, y)| *x -= shared * y);
            }
            let length = dot(own, own).sqrt();
            own.iter_mut().for_each(|x| *x /= length);
        }
    }
}
