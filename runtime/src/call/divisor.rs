//! The check for integer division by zero.

use nomina_core::op::class::Reduce;
use nomina_core::op::{Op, Resolved};
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::arg::OperandSource;
use crate::call::backend::backend;
use crate::job::{ReduceJob, Reducing};
use crate::raw::Raw;
use crate::shape::Strides;
use crate::{Device, SmallVec};

/// Checks that an integer division has no zeros among its divisors. Floats have infinities and NaN instead.
pub(super) fn check(
    op: Op,
    sources: &[OperandSource<'_>],
    dtypes: Resolved,
    results: usize,
) -> Result<()> {
    if !checks_zeros(op, dtypes.compute) {
        return Ok(());
    }
    let Some(&divisor) = sources.get(1) else {
        return Ok(());
    };
    if results == 0 || none_is_zero(op, divisor)? {
        return Ok(());
    }
    let error = Error::new(
        ErrorKind::Argument,
        op.name(),
        "an integer is divided by zero",
    );
    let error = sources.iter().fold(error, |error, source| match source {
        OperandSource::Tensor { layout, .. } => error.operand(&Names::default(), layout.shape()),
        OperandSource::Scalar(_) => error,
    });
    Err(error.hint("mask zeros out of the divisor, or convert to a float dtype"))
}

/// Whether the operator checks its divisors for zeros before it computes in `compute`.
pub(super) fn checks_zeros(op: Op, compute: DType) -> bool {
    let divides = matches!(
        op,
        Op::FloorDivide | Op::DivTrunc | Op::Fmod | Op::Remainder
    );
    divides && compute.is_integral()
}

fn none_is_zero(op: Op, divisor: OperandSource<'_>) -> Result<bool> {
    let (ptr, layout, dtype, device) = match divisor {
        OperandSource::Scalar(value) => {
            return Ok(!matches!(value, Scalar::Int(0) | Scalar::Bool(false)));
        }
        OperandSource::Tensor {
            ptr,
            layout,
            dtype,
            device,
        } => (ptr, layout, dtype, device),
    };
    // A bool of this call on the host, or a buffer on the device.
    let mut on_host = true;
    let mut there = match device {
        Device::Cpu => None,
        _ => Some(Raw::empty(op.name(), &[], DType::Bool, device)?),
    };
    let values = match &mut there {
        None => (&raw mut on_host).cast(),
        Some(raw) => raw.fresh_ptr(),
    };
    let rank = layout.shape().len();
    let job = ReduceJob {
        op: Op::All,
        by: Reducing::Values(Reduce::All),
        compute: dtype,
        number: 0.0,
        shape: layout.shape(),
        strides: layout.strides(),
        x: ptr,
        dtype,
        reduced: &SmallVec::<[bool; 8]>::from_elem(true, rank),
        out: &Strides::from_elem(0, rank),
        values,
        values_dtype: DType::Bool,
        positions: std::ptr::null_mut(),
    };
    // SAFETY: the operand's own positions are read; one bool is written, and outlives the call.
    unsafe { backend(op.name(), device)?.reduce(&job)? };
    match there {
        None => Ok(on_host),
        Some(raw) => Ok(raw.item()?.to_bool()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Raw;
    use crate::call::{Arg, pointwise, pointwise_in_place};

    fn kind(result: Result<Raw>) -> Option<ErrorKind> {
        result.err().map(|error| error.kind())
    }

    #[test]
    fn zeros_are_refused_where_they_divide_integers() {
        let x = Raw::from_vec(vec![7_i32, -7, 5, 0], &[2, 2]).unwrap();
        let good = Raw::from_vec(vec![2_i32, -3], &[2]).unwrap();
        let bad = Raw::from_vec(vec![2_i32, 0], &[2]).unwrap();
        let floats = Raw::from_vec(vec![0.0_f32, 1.0], &[2]).unwrap();
        for op in [Op::FloorDivide, Op::Fmod, Op::Remainder] {
            let call = |y: Arg<'_>| kind(pointwise(op, &[(&x).into(), y]));
            assert_eq!(call((&good).into()), None);
            assert_eq!(call((&bad).into()), Some(ErrorKind::Argument));
            assert_eq!(call(Scalar::Int(0).into()), Some(ErrorKind::Argument));
            assert_eq!(call((&floats).into()), None);
            // The zero is not among what the view shows.
            assert_eq!(call((&bad.narrow(0, 0, 1).unwrap()).into()), None);
        }
        let empty = Raw::from_vec(Vec::<i64>::new(), &[0]).unwrap();
        assert_eq!(
            kind(pointwise(
                Op::Fmod,
                &[(&empty).into(), Scalar::Int(0).into()]
            )),
            None
        );
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut x = Raw::from_vec(vec![7_u8, 8], &[2]).unwrap();
        let divided = pointwise_in_place(
            Op::FloorDivide,
            x.as_mut().unwrap(),
            &[Scalar::Int(0).into()],
        );
        assert_eq!(divided.unwrap_err().kind(), ErrorKind::Argument);
        pointwise_in_place(
            Op::FloorDivide,
            x.as_mut().unwrap(),
            &[Scalar::Int(2).into()],
        )
        .unwrap();
        assert_eq!(x.to_vec::<u8>().unwrap(), [3, 4]);
    }
}
