//! The short way of an elementwise operator, for operands that lie as its loop reads them: no
//! broadcasting, no conversion, no plan, one thread. What a small tensor costs is mostly what
//! is left out here.

use nomina_core::op::{Class, Op, Resolved};
use nomina_core::{DType, Result, Scalar};

use super::Arg;
use crate::SmallVec;
use crate::backend::{Dense, Input, Place, backend};
use crate::config::default_dtype;
use crate::cpu::parallel::GRAIN;
use crate::raw::{Raw, Strided};

/// What the short way needs to know of a call that it can take.
struct Direct {
    /// The operator's name.
    name: &'static str,
    dtypes: Resolved,
    /// The number of elements.
    count: usize,
    inputs: SmallVec<[Input; 3]>,
}

impl Direct {
    /// `None` where the operands are not all row-major, of one shape and one float dtype that the
    /// operator takes, or where more threads than one would compute. Numbers that do not change
    /// the common dtype may stand beside them.
    // Moved as seldom as can be: a move of this costs as much as the whole addition.
    #[inline(always)]
    fn new(op: Op, first: &Raw, rest: &[Arg<'_>]) -> Option<Self> {
        let (row, dtype) = (op.row(), first.dtype());
        let arity = match row.class {
            Class::Unary(_) => 1,
            Class::Binary(_) => 2,
            _ => return None,
        };
        let count = first.numel();
        let floats = matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
        if rest.len() + 1 < arity
            || !floats
            || count == 0
            || count > GRAIN
            || !row.dtypes.contains(dtype)
            || !first.layout.is_row_major()
        {
            return None;
        }
        let mut inputs = SmallVec::new();
        inputs.push(Input::Tensor(place(first)));
        for arg in rest {
            inputs.push(match *arg {
                Arg::Tensor(other)
                    if other.dtype() == dtype
                        && other.layout.shape == first.layout.shape
                        && other.layout.is_row_major()
                        && other.device() == first.device() =>
                {
                    Input::Tensor(place(other))
                }
                Arg::Scalar(value @ (Scalar::Int(_) | Scalar::Float(_))) => Input::Scalar(value),
                _ => return None,
            });
        }
        Some(Self {
            name: row.name,
            dtypes: row.dtype.resolve(dtype, default_dtype()),
            count,
            inputs,
        })
    }

    /// Computes into `dest`; false where the device has no such loop.
    ///
    /// # Safety
    /// `dest` has room for the elements of the result, and no input overlaps it, but for the first
    /// one with `in_place`.
    #[inline(always)]
    unsafe fn run(&self, op: Op, dest: *mut u8, first: &Raw, in_place: bool) -> Result<bool> {
        let job = Dense {
            op,
            compute: self.dtypes.compute,
            count: self.count,
            dest: Place {
                ptr: dest,
                dtype: self.dtypes.result,
            },
            inputs: &self.inputs,
            in_place,
        };
        // SAFETY: the inputs were checked to be dense; the rest is the caller's promise.
        Ok(unsafe { backend(self.name, first.device())?.dense(&job) })
    }
}

#[inline]
fn place(raw: &Raw) -> Place {
    Place {
        ptr: raw.as_ptr().cast_mut(),
        dtype: raw.dtype(),
    }
}

/// The operator into a new tensor; `None` where it goes the long way.
#[inline(always)]
pub(super) fn new(op: Op, args: &[Arg<'_>]) -> Result<Option<Raw>> {
    let Some((Arg::Tensor(first), rest)) = args.split_first() else {
        return Ok(None);
    };
    let Some(direct) = Direct::new(op, first, rest) else {
        return Ok(None);
    };
    let dtype = direct.dtypes.result;
    let backend = backend(direct.name, first.device())?;
    let mut storage = backend.allocate(direct.name, direct.count * dtype.size(), false)?;
    let Some(dest) = storage.unique_ptr() else {
        return Ok(None);
    };
    // SAFETY: a new buffer, long enough, which overlaps nothing.
    if !unsafe { direct.run(op, dest, first, false)? } {
        return Ok(None);
    }
    let layout = Strided {
        offset: 0,
        ..first.layout.clone()
    };
    Ok(Some(Raw {
        storage,
        layout,
        dtype,
    }))
}

/// The operator into the buffer of its first operand; false where it goes the long way, and then
/// nothing has changed.
#[inline]
pub(super) fn in_place(op: Op, first: &mut Raw, rest: &[Arg<'_>]) -> Result<bool> {
    let Some(direct) = Direct::new(op, first, rest) else {
        return Ok(false);
    };
    if direct.dtypes.result != first.dtype() {
        return Ok(false);
    }
    let offset = first.offset() * first.dtype().size();
    let Some(base) = first.storage.unique_ptr() else {
        return Ok(false);
    };
    // SAFETY: the first input's own elements, which nobody else shares.
    unsafe { direct.run(op, base.add(offset), first, true) }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
