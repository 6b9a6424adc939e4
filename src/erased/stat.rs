//! Statistics.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, rule};
use nomina_runtime::DynTensor;
use nomina_runtime::call::ReduceOptions;
use nomina_runtime::tensor::{CovOptions, DiffOptions, NormOptions, TrapezoidOptions, VarOptions};

use super::compose::{call_dynamic, call_for_pair, call_for_tensor};
use super::reduce::Picked;
use super::{Erased, ErasedRef, Static, compose, reduce};

/// Returns the options for a dtype to compute in.
pub(crate) fn in_dtype(dtype: DType) -> ReduceOptions {
    ReduceOptions {
        dtype: Some(dtype),
        ..ReduceOptions::default()
    }
}

/// Computes a reduction with a correction other than 1.
pub(crate) fn corrected(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    options: VarOptions,
    out: &'static Static,
) -> Result<Erased> {
    only_types(op, options.keepdim, false)?;
    let options = ReduceOptions {
        correction: options.correction,
        ..ReduceOptions::default()
    };
    reduce::new(op, x, picked, options, out)
}

/// Refuses options that types determine: the kept dims and the dtype of the result.
pub(crate) fn only_types(op: Op, keepdim: bool, dtype: bool) -> Result<()> {
    let (what, hint) = match (keepdim, dtype) {
        (false, false) => return Ok(()),
        (true, _) => (
            "the type says which dims stay, not `keepdim`",
            "write `keep(..)`",
        ),
        (_, true) => (
            "the type says the dtype, not an option",
            "convert the operand with `to` first",
        ),
    };
    Err(Error::new(ErrorKind::Argument, op.name(), what).hint(hint))
}

/// Computes the deviation or the variance, and the mean.
pub(crate) fn moments(
    op: Op,
    x: ErasedRef<'_>,
    picked: Picked,
    options: VarOptions,
    out: &'static Static,
) -> Result<(Erased, Erased)> {
    only_types(op, options.keepdim, false)?;
    call_for_pair(&[x], out, |x| match op {
        Op::StdMean => x[0].std_mean_with(picked.arg(), options),
        _ => x[0].var_mean_with(picked.arg(), options),
    })
}

/// Returns the smallest and the greatest element.
pub(crate) fn aminmax(
    x: ErasedRef<'_>,
    picked: Picked,
    out: &'static Static,
) -> Result<(Erased, Erased)> {
    call_for_pair(&[x], out, |x| x[0].aminmax(picked.arg()))
}

/// Computes a norm of a degree.
pub(crate) fn norm(
    x: ErasedRef<'_>,
    picked: Picked,
    options: NormOptions,
    out: &'static Static,
) -> Result<Erased> {
    only_types(Op::Norm, options.keepdim, options.dtype.is_some())?;
    call_for_tensor(&[x], out, |x| x[0].norm_with(picked.arg(), options))
}

/// Computes the norm of a difference.
pub(crate) fn dist(x: ErasedRef<'_>, other: ErasedRef<'_>, options: NormOptions) -> Result<Erased> {
    only_types(Op::Dist, options.keepdim, options.dtype.is_some())?;
    let found = call_dynamic(&[x, other], |x| x[0].dist_with(&x[1], options))?;
    Ok(compose::erase(found, <() as super::Known>::STATIC))
}

/// Computes differences of neighbours.
pub(crate) fn diff(x: ErasedRef<'_>, dim: usize, options: DiffOptions) -> Result<Erased> {
    call_for_tensor(&[x], x.of, |x| x[0].diff_with(dim, options))
}

/// Computes an integral, total or running.
pub(crate) fn integral(
    op: Op,
    y: ErasedRef<'_>,
    places: Option<ErasedRef<'_>>,
    dim: usize,
    options: TrapezoidOptions,
    out: &'static Static,
) -> Result<Erased> {
    match (op, places) {
        (Op::Trapezoid, None) => call_for_tensor(&[y], out, |x| x[0].trapezoid_with(dim, options)),
        (Op::Trapezoid, Some(at)) => {
            call_for_tensor(&[y, at], out, |x| x[0].trapezoid_at(&x[1], dim))
        }
        (_, None) => call_for_tensor(&[y], out, |x| x[0].cumulative_trapezoid_with(dim, options)),
        (_, Some(at)) => {
            call_for_tensor(&[y, at], out, |x| x[0].cumulative_trapezoid_at(&x[1], dim))
        }
    }
}

/// Scales slices down.
pub(crate) fn renorm(x: ErasedRef<'_>, p: f64, dim: usize, maxnorm: f64) -> Result<Erased> {
    call_for_tensor(&[x], x.of, |x| x[0].renorm(p, dim, maxnorm))
}

/// Computes the covariance of rows.
pub(crate) fn cov(
    x: ErasedRef<'_>,
    correction: f64,
    (fweights, aweights): (Option<ErasedRef<'_>>, Option<ErasedRef<'_>>),
    out: &'static Static,
) -> Result<Erased> {
    let operands: Vec<ErasedRef<'_>> = [x].into_iter().chain(fweights).chain(aweights).collect();
    call_for_tensor(&operands, out, |x| {
        let mut rest = x[1..].iter();
        let found = x[0].cov_with(CovOptions {
            correction,
            fweights: fweights.and_then(|_| rest.next()),
            aweights: aweights.and_then(|_| rest.next()),
        });
        as_matrix(&x[0], found?)
    })
}

/// Computes the correlation of rows.
pub(crate) fn corrcoef(x: ErasedRef<'_>, out: &'static Static) -> Result<Erased> {
    call_for_tensor(&[x], out, |x| as_matrix(&x[0], x[0].corrcoef()?))
}

/// Types give a matrix for one row too, where the dynamic form gives a number.
fn as_matrix(rows: &DynTensor, found: DynTensor) -> Result<DynTensor> {
    if found.rank() == 2 {
        return Ok(found);
    }
    let (raw, _) = found.into_parts();
    DynTensor::from_parts(raw.reshape(&[1, 1])?, rule::cov(rows.names(), 2))
}
