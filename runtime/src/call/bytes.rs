//! Elements that arrive as bytes from other processes.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use crate::Device;
use crate::call::backend::backend;
use crate::job::{Input, Place, Pointwise};
use crate::plan::Plan;
use crate::raw::check_elements;

/// Applies a binary elementwise operator whose result has the operands' dtype: `first[i] = op(first[i], second[i])`,
/// for contiguous elements.
///
/// # Errors
/// [`ErrorKind::DType`] if the operator does not take this dtype, or returns another; [`ErrorKind::Shape`] if the
/// numbers of bytes differ, or are not whole elements; [`ErrorKind::Argument`] if elements are not aligned;
/// [`ErrorKind::Parse`] if a bool is neither 0 nor 1. `first` is unchanged then.
pub fn combine_bytes(op: Op, dtype: DType, first: &mut [u8], second: &[u8]) -> Result<()> {
    combines(op, dtype)?;
    let refuse = |kind, what: String| Err(Error::new(kind, op.name(), what));
    if first.len() != second.len() || !first.len().is_multiple_of(dtype.size()) {
        let what = format!(
            "{} and {} bytes as elements of {dtype}",
            first.len(),
            second.len()
        );
        return refuse(ErrorKind::Shape, what);
    }
    // A complex number has the alignment of its parts.
    let aligned = |address: usize| address.is_multiple_of(dtype.to_real().size());
    if !aligned(first.as_ptr().addr()) || !aligned(second.as_ptr().addr()) {
        return refuse(
            ErrorKind::Argument,
            format!("bytes not aligned for {dtype}"),
        );
    }
    check_elements(op.name(), dtype, first)?;
    check_elements(op.name(), dtype, second)?;
    let place = |ptr| Place { ptr, dtype };
    let dest = place(first.as_mut_ptr());
    let operands: [(&[isize], usize); 3] = [(&[1], dtype.size()); 3];
    let job = Pointwise {
        op,
        compute: dtype,
        plan: &Plan::new(&[first.len() / dtype.size()], &operands),
        dest,
        inputs: &[
            Input::Tensor(dest),
            Input::Tensor(place(second.as_ptr().cast_mut())),
        ],
        in_place: true,
    };
    // SAFETY: that many valid elements of this dtype on either side; the first are exclusive and are the result's
    // place.
    unsafe { backend(op.name(), Device::Cpu)?.pointwise(&job) }
}

/// Checks that [`combine_bytes`] takes the operator and dtype.
///
/// # Errors
/// [`ErrorKind::DType`] if the operator does not take this dtype, or returns another.
pub fn combines(op: Op, dtype: DType) -> Result<()> {
    let known = match op {
        Op::Add | Op::Mul | Op::Maximum | Op::Minimum => op.row().dtypes.contains(dtype),
        Op::LogicalAnd | Op::LogicalOr => dtype == DType::Bool,
        _ => false,
    };
    if known {
        return Ok(());
    }
    let what = format!("elements of {dtype} do not combine");
    Err(Error::new(ErrorKind::DType, op.name(), what).hint("convert them with `to` first"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Raw;
    use crate::call::pointwise;

    #[test]
    fn bytes_are_combined_as_tensors_are() {
        let operators = [
            Op::Add,
            Op::Mul,
            Op::Maximum,
            Op::Minimum,
            Op::LogicalAnd,
            Op::LogicalOr,
            Op::Sub,
        ];
        let mut taken = 0;
        for dtype in DType::ALL {
            for op in operators {
                // More elements than one block of a kernel holds.
                let bytes = |step: usize| -> Vec<u8> {
                    let mask = if dtype == DType::Bool { 1 } else { 127 };
                    (0..5000 * dtype.size())
                        .map(|i| (i * step) as u8 & mask)
                        .collect()
                };
                let raw = |bytes: &[u8]| Raw::from_bytes("open", dtype, &[5000], bytes).unwrap();
                let (x, y) = (raw(&bytes(7)), raw(&bytes(11)));
                let mut first = x.as_bytes().unwrap().to_vec();
                let done = combine_bytes(op, dtype, &mut first, y.as_bytes().unwrap());
                match combines(op, dtype) {
                    Ok(()) => {
                        done.unwrap();
                        let wanted = pointwise(op, &[(&x).into(), (&y).into()]).unwrap();
                        assert_eq!(wanted.dtype(), dtype, "{op:?}");
                        assert_eq!(Some(&first[..]), wanted.as_bytes(), "{op:?} of {dtype}");
                        taken += 1;
                    }
                    Err(_) => {
                        assert_eq!(done.unwrap_err().kind(), ErrorKind::DType);
                        assert_eq!(Some(&first[..]), x.as_bytes());
                    }
                }
            }
        }
        assert!(taken >= 12 * 2 + 9 * 2 + 2, "{taken}");
    }

    #[test]
    fn bytes_that_are_no_elements_are_refused() {
        let mut first = [0; 16];
        let kind = |dtype, first: &mut [u8], second: &[u8]| {
            let op = if dtype == DType::Bool {
                Op::LogicalOr
            } else {
                Op::Add
            };
            combine_bytes(op, dtype, first, second).unwrap_err().kind()
        };
        assert_eq!(
            kind(DType::F64, &mut first[..8], &[0; 16]),
            ErrorKind::Shape
        );
        assert_eq!(kind(DType::F64, &mut first[..4], &[0; 4]), ErrorKind::Shape);
        assert_eq!(kind(DType::Bool, &mut first[..1], &[2]), ErrorKind::Parse);
        let odd = usize::from(first.as_ptr().addr() % 2 == 0);
        let second = [0_u8; 2];
        assert_eq!(
            kind(DType::I16, &mut first[odd..odd + 2], &second),
            ErrorKind::Argument
        );
    }
}
