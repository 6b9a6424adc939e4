//! Distances between the rows of two matrices.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result, Scalar};

use super::check::{check_same_kind, refuse, unequal_batches, unequal_sizes};
use super::{
    Arg, ReduceOptions, add_product, clamp, contiguous, pointwise, pointwise_owned, reduce,
};
use crate::call::backend::backend;
use crate::job::DistanceJob;
use crate::raw::Raw;
use crate::shape::{Shape, broadcast};
use crate::tape::record_distances;

/// How Euclidean distances are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CdistMode {
    /// By a matrix product if either side has more than 25 rows.
    #[default]
    IfNecessary,
    /// By a matrix product: faster, but less exact for close rows.
    Always,
    /// By differences.
    Never,
}

/// The number of rows from which a matrix product computes Euclidean distances.
const MANY: usize = 25;

/// Computes the distance of every row of `a` from every row of `b`: the `p`-norm of their difference. Batch dims
/// broadcast.
///
/// # Errors
/// If an operand has fewer than two dims, the last sizes or the dtypes differ, `p` is negative, or memory is missing.
pub fn cdist(a: &Raw, b: &Raw, p: f64, mode: CdistMode) -> Result<Raw> {
    let op = Op::Cdist;
    if a.rank() < 2 || b.rank() < 2 {
        let what = "takes tensors with at least 2 dims";
        return Err(refuse(ErrorKind::Rank, op, &[a, b], what).hint("add a dim with `unsqueeze`"));
    }
    let (m, depth) = (a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]);
    let (n, other) = (b.shape()[b.rank() - 2], b.shape()[b.rank() - 1]);
    if depth != other {
        let dims = [(0, a.rank() - 1), (1, b.rank() - 1)];
        return Err(unequal_sizes(op, &[a, b], dims).hint("both need rows of one length"));
    }
    check_same_kind(op, &[a, b])?;
    if p.is_nan() || p < 0.0 {
        let what = format!("the norm's exponent {p} is negative or NaN");
        return Err(refuse(ErrorKind::Argument, op, &[a, b], what).hint("give 0 or more"));
    }
    let batch = broadcast(
        op.name(),
        &[&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]],
    )
    .map_err(|e| unequal_batches(e, &[a, b]))?;
    let count = crate::shape::count(&batch);
    let rows = |x: &Raw, rows: usize| -> Result<Raw> {
        let mut shape = batch.clone();
        shape.extend_from_slice(&[rows, depth]);
        contiguous(&x.expand(&shape)?)?.reshape(&[count, rows, depth])
    };
    let mut shape = Shape::from_slice(&batch);
    shape.extend_from_slice(&[m, n]);
    // Sizes that overflow are refused before anything is copied.
    let results = crate::shape::numel(op.name(), &shape)?;
    let (a, b) = (rows(a, m)?, rows(b, n)?);
    let by_product = match mode {
        CdistMode::IfNecessary => m > MANY || n > MANY,
        CdistMode::Always => true,
        CdistMode::Never => false,
    };
    let exact = a.dtype() == DType::F32 || a.dtype() == DType::F64;
    if p == 2.0 && by_product && exact && results > 0 && has_squares(&a)? && has_squares(&b)? {
        let made = euclidean(&a.clone().detach(), &b.clone().detach())?;
        return record_distances(made, [&a, &b], p, true)?.reshape(&shape);
    }
    let mut out = Raw::empty(op.name(), &[count, m, n], a.dtype(), a.device())?;
    if out.numel() > 0 {
        let to = out.fresh_ptr();
        let backend = backend(op.name(), a.device())?;
        let job = DistanceJob {
            op: op.name(),
            dtype: a.dtype(),
            p,
            batch: count,
            m,
            n,
            depth,
            a: a.as_ptr(),
            b: b.as_ptr(),
            out: to,
        };
        // SAFETY: both operands are row-major and have these sizes; the result is fresh, and nothing else shares it.
        unsafe { backend.distance(&job)? };
    }
    record_distances(out, [&a, &b], p, false)?.reshape(&shape)
}

/// Whether the squares of the elements are in range; a device is not waited for.
fn has_squares(x: &Raw) -> Result<bool> {
    if !x.device().is_cpu() || x.numel() == 0 {
        return Ok(true);
    }
    let sizes = pointwise(Op::Abs, &[Arg::Tensor(&x.clone().detach())])?;
    let most = reduce(
        Op::Amax,
        &sizes,
        &[0, 1, 2],
        false,
        ReduceOptions::default(),
    )?;
    let most = most.item()?.to_f64();
    let ends = if x.dtype() == DType::F64 {
        1e-120..1e140
    } else {
        1e-12..1e15
    };
    Ok(most == 0.0 || ends.contains(&most))
}

/// Computes `|x - y|² = |x|² - 2 x·y + |y|²`.
fn euclidean(a: &Raw, b: &Raw) -> Result<Raw> {
    let squares = |x: &Raw| -> Result<Raw> {
        let each = pointwise(Op::Mul, &[Arg::Tensor(x), Arg::Tensor(x)])?;
        reduce(Op::Sum, &each, &[2], false, ReduceOptions::default())
    };
    let (left, right) = (squares(a)?.unsqueeze(2)?, squares(b)?.unsqueeze(1)?);
    let both = pointwise(Op::Add, &[Arg::Tensor(&left), Arg::Tensor(&right)])?;
    let (one, minus_two) = (Scalar::Int(1), Scalar::Int(-2));
    let squared = add_product(Op::Baddbmm, &both, a, &b.transpose(1, 2)?, one, minus_two)?;
    let squared = clamp(&squared, Some(Arg::Scalar(Scalar::Float(0.0))), None)?;
    pointwise_owned(Op::Sqrt, squared, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(shape: &[usize], seed: usize) -> Raw {
        let count: usize = shape.iter().product();
        let data = (0..count).map(|i| ((i * 37 + seed * 101) % 29) as f64 / 10.0 - 1.4);
        Raw::from_vec(data.collect(), shape).unwrap()
    }

    /// Computes the distances one at a time.
    fn plain(a: &Raw, b: &Raw, p: f64) -> Vec<f64> {
        let depth = a.shape()[1];
        let (x, y) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
        let mut all = Vec::new();
        for x in x.chunks(depth) {
            for y in y.chunks(depth) {
                let apart = x.iter().zip(y).map(|(x, y)| (x - y).abs());
                all.push(if p == 0.0 {
                    apart.filter(|d| *d != 0.0).count() as f64
                } else if p == f64::INFINITY {
                    apart.fold(0.0, f64::max)
                } else {
                    apart.map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p)
                });
            }
        }
        all
    }

    #[test]
    fn every_norm_and_way() {
        let (a, b) = (sample(&[40, 21], 1), sample(&[33, 21], 2));
        for p in [0.0, 0.5, 1.0, 2.0, 3.5, f64::INFINITY] {
            let want = plain(&a, &b, p);
            for mode in [CdistMode::Never, CdistMode::IfNecessary, CdistMode::Always] {
                let got = cdist(&a, &b, p, mode).unwrap().to_vec::<f64>().unwrap();
                for (got, want) in got.iter().zip(&want) {
                    assert!(
                        (got - want).abs() < 1e-6 * want.max(1.0),
                        "{p}: {got}, {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn halves_and_batches() {
        let (a, b) = (sample(&[2, 1, 5, 3], 1), sample(&[4, 6, 3], 2));
        let whole = cdist(&a, &b, 1.0, CdistMode::Never).unwrap();
        assert_eq!(whole.shape(), [2, 4, 5, 6]);
        let half = |x: &Raw| crate::call::to_dtype(x, DType::F16).unwrap();
        let got = cdist(&half(&a), &half(&b), 1.0, CdistMode::Never).unwrap();
        assert_eq!(got.dtype(), DType::F16);
        let got = crate::call::to_dtype(&got, DType::F64).unwrap();
        let pairs = got.to_vec::<f64>().unwrap();
        for (got, want) in pairs.iter().zip(whole.to_vec::<f64>().unwrap()) {
            assert!((got - want).abs() < 0.02, "{got}, {want}");
        }
    }

    #[test]
    fn what_makes_no_sense() {
        let a = sample(&[2, 3], 1);
        for p in [-1.0, f64::NAN] {
            let error = cdist(&a, &a, p, CdistMode::Never).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument);
        }
        let other = sample(&[2, 4], 1);
        let error = cdist(&a, &other, 2.0, CdistMode::Never).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        let nan = Raw::from_vec(vec![f64::NAN, 0.0, 0.0], &[1, 3]).unwrap();
        let max = cdist(&nan, &a, f64::INFINITY, CdistMode::Never).unwrap();
        assert!(max.to_vec::<f64>().unwrap().iter().all(|d| d.is_nan()));
    }
}
