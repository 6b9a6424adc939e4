//! The shortest way of an elementwise operator: of one or two small tensors on the host, row-major
//! and of one dtype. Two are of one shape, or the other one repeats and is so short that it is first
//! written as often as it is read; a number does, too.
//!
//! Nothing here asks for more than it needs to tell that a call is of this kind. Elements are made
//! first, and the caller puts the tensor together where it is to stand: what a small tensor costs is
//! mostly what is moved.

use nomina_core::DType;
use nomina_core::op::Op;

use super::arg::Arg;
use super::direct::{keeps, larger, looks_at_elements, repeated, short};
use crate::job::Constant;

use crate::cpu::pointwise::{Inputs, Kernel, SMALL, StackBlock, over, repeat, spread};
use crate::raw::{Raw, Strided};
use crate::shape::product;
use crate::storage::Storage;

/// New elements, and their dtype.
pub(crate) type Computed = (Storage, DType);

/// The loop of an operator on so many operands of a dtype.
#[inline(always)]
fn find(op: Op, dtype: DType, operands: usize) -> Option<&'static Kernel> {
    let kernel = short(op, dtype)?;
    let fits = kernel.reads_only(dtype)
        && kernel.arity == operands
        && !(dtype.is_integral() && looks_at_elements(op, dtype));
    fits.then_some(kernel)
}

/// What a loop reads no more than two of.
#[inline(always)]
fn inputs(x: *const u8, y: *const u8) -> Inputs {
    [x, y, y, y]
}

/// A tensor of new elements with the strides of `like`.
///
/// # Safety
/// That is row-major, of as many elements, and its lists own no allocation.
#[inline(always)]
pub(crate) unsafe fn put((storage, dtype): Computed, like: &Strided) -> Raw {
    // SAFETY: the caller's promise.
    unsafe { Raw::like_small(storage, dtype, like) }
}

/// The number of elements of a row-major tensor whose lists own no allocation.
#[inline(always)]
pub(crate) fn count(layout: &Strided) -> Option<usize> {
    if layout.is_spilled() {
        return None;
    }
    layout.dense_count()
}

/// An operator on one tensor; `None` where the call must go another way.
#[must_use]
#[inline(always)]
pub fn of_one(op: Op, x: &Raw) -> Option<Raw> {
    let made = one::<false>(op, x)?;
    // SAFETY: `one` looked at it.
    Some(unsafe { put(made, x.layout()) })
}

/// An operator on two operands; `None` where the call must go another way.
#[must_use]
#[inline(always)]
pub fn of_two(op: Op, x: Arg<'_>, y: Arg<'_>) -> Option<Raw> {
    if let (Arg::Tensor(x), Arg::Tensor(y)) = (x, y)
        && let Some(raw) = of_alike(op, x, y)
    {
        return Some(raw);
    }
    of_unlike(op, x, y)
}

/// [`of_two`] that are of one shape.
#[must_use]
#[inline(always)]
pub fn of_alike(op: Op, x: &Raw, y: &Raw) -> Option<Raw> {
    if x.shape().len() != y.shape().len() {
        return None;
    }
    let made = alike::<false>(op, x, y)?;
    // SAFETY: `alike` looked at it.
    Some(unsafe { put(made, x.layout()) })
}

/// [`of_two`] that are not of one shape.
#[must_use]
#[inline(always)]
pub fn of_unlike(op: Op, x: Arg<'_>, y: Arg<'_>) -> Option<Raw> {
    let (made, like) = unlike::<false>(op, x, y)?;
    // SAFETY: `unlike` looked at it.
    Some(unsafe { put(made, like) })
}

/// What [`of_one`] and [`of_two`] give, also of operands that nodes computed; it is not recorded.
pub(crate) fn of_recorded(op: Op, args: &[Arg<'_>]) -> Option<Raw> {
    let (made, like) = match *args {
        [Arg::Tensor(x)] => (one::<true>(op, x)?, x.layout()),
        [Arg::Tensor(x), Arg::Tensor(y)] if x.shape() == y.shape() => {
            (alike::<true>(op, x, y)?, x.layout())
        }
        [x, y] => unlike::<true>(op, x, y)?,
        _ => return None,
    };
    // SAFETY: the function that made the elements looked at it.
    Some(unsafe { put(made, like) })
}

/// An operator into the buffer of its only operand; false, and nothing has happened, where the call
/// must go another way.
#[must_use]
pub fn into_one(op: Op, own: &mut Raw) -> bool {
    try_one(op, own).is_some()
}

/// As [`of_two`], into the buffer of `own`, which stands before the other operand or behind it;
/// false, and nothing has happened, where the call must go another way.
#[must_use]
pub fn into_own(op: Op, own: &mut Raw, other: Arg<'_>, behind: bool) -> bool {
    try_own(op, own, other, behind).is_some()
}

/// The elements of [`of_one`], whatever computed the operand where `ANY` holds, as below.
#[inline(never)]
fn one<const ANY: bool>(op: Op, x: &Raw) -> Option<Computed> {
    if !ANY && x.requires_grad() {
        return None;
    }
    let input = x.on_host_ptr()?;
    let count = count(x.layout())?;
    let kernel = find(op, x.dtype(), 1)?;
    // SAFETY: the elements of `x`, which are that many and of the dtype that the loop reads.
    unsafe { make(kernel, count, inputs(input, input)) }
}

#[inline(never)]
fn alike<const ANY: bool>(op: Op, x: &Raw, y: &Raw) -> Option<Computed> {
    let fits = match ANY {
        false => x.is_plain_as(y),
        true => x.dtype() == y.dtype(),
    };
    if !fits || x.layout().is_spilled() {
        return None;
    }
    let inputs = inputs(x.on_host_ptr()?, y.on_host_ptr()?);
    let count = x.layout().dense_alike(y.layout())?;
    let kernel = find(op, x.dtype(), 2)?;
    // SAFETY: as in `one`, for both.
    unsafe { make(kernel, count, inputs) }
}

#[inline(never)]
fn unlike<'a, const ANY: bool>(op: Op, x: Arg<'a>, y: Arg<'a>) -> Option<(Computed, &'a Strided)> {
    let recorded = |arg: &Arg<'_>| matches!(arg, Arg::Tensor(raw) if raw.requires_grad());
    if !ANY && (recorded(&x) || recorded(&y)) {
        return None;
    }
    let (whole, other, behind) = match (x, y) {
        (Arg::Tensor(a), Arg::Tensor(b))
            if std::ptr::eq(larger(b.layout(), a.layout()), b.layout()) =>
        {
            (b, &x, true)
        }
        (Arg::Tensor(a), _) => (a, &y, false),
        (_, Arg::Tensor(b)) => (b, &x, true),
        _ => return None,
    };
    let (input, dtype) = (whole.on_host_ptr()?, whole.dtype());
    let count = count(whole.layout())?;
    let kernel = find(op, dtype, 2)?;
    let mut block = StackBlock::NEW;
    let other = beside(other, whole, count, &mut block)?;
    let inputs = if behind {
        inputs(other, input)
    } else {
        inputs(input, other)
    };
    // SAFETY: as in `one`, for both.
    let made = unsafe { make(kernel, count, inputs) }?;
    Some((made, whole.layout()))
}

/// As many elements of an operand as a row-major tensor has, side by side, where both are short: it
/// repeats along the tensor and is written to `block`, or lies so.
#[inline(always)]
fn beside(
    other: &Arg<'_>,
    whole: &Raw,
    count: usize,
    block: &mut StackBlock<SMALL>,
) -> Option<*const u8> {
    let dtype = whole.dtype();
    if product([count, dtype.size()]) > SMALL {
        return None;
    }
    let lane = match *other {
        Arg::Scalar(value) if keeps(value, dtype) => {
            let number = Constant::new(value, dtype);
            let block = block.as_mut_ptr();
            // SAFETY: the number is of this dtype, and there is room for it so many times.
            unsafe { repeat(number.as_ptr(), dtype.size(), block, count) };
            return Some(block);
        }
        Arg::Tensor(other) if other.dtype() == dtype => {
            repeated(other.on_host_ptr()?, other.layout(), whole.layout(), count)?
        }
        Arg::Scalar(_) | Arg::Tensor(_) => return None,
    };
    // SAFETY: there is room for so many elements, which are whole periods of the operand's.
    Some(unsafe { spread(&lane, dtype, count, block.as_mut_ptr()) })
}

/// New elements, which a loop makes of those at these places.
///
/// # Safety
/// There are `count` of them, of the dtype that the loop reads.
#[inline(always)]
unsafe fn make(kernel: &Kernel, count: usize, inputs: Inputs) -> Option<Computed> {
    if kernel.is_shared(count) {
        return None;
    }
    let dtype = kernel.output;
    let (storage, dest) = Storage::small(product([count, dtype.size()]))?;
    // SAFETY: the caller's promise; a new buffer is long enough and overlaps nothing.
    unsafe { (kernel.pick())(count, dest, inputs) };
    Some((storage, dtype))
}

/// The elements of a tensor that result of `kernel` may take the place of: of its dtype, nobody
/// else's, and all of the buffer, since a small part of a large one would keep all of it alive.
#[inline(always)]
fn own_place(own: &mut Raw, kernel: &Kernel, count: usize) -> Option<*mut u8> {
    if !own.fills_buffer(count) || kernel.output != own.dtype() {
        return None;
    }
    own.unique_on_host()
}

fn try_one(op: Op, own: &mut Raw) -> Option<()> {
    if own.requires_grad() {
        return None;
    }
    let count = own.layout().dense_count()?;
    let kernel = find(op, own.dtype(), 1)?;
    let place = own_place(own, kernel, count)?;
    // SAFETY: the elements of `own`, which nobody else shares.
    unsafe { over(kernel, count, place, inputs(place, place), true) }.then_some(())
}

#[inline(never)]
fn try_own(op: Op, own: &mut Raw, other: Arg<'_>, behind: bool) -> Option<()> {
    if own.requires_grad() || matches!(other, Arg::Tensor(other) if other.requires_grad()) {
        return None;
    }
    let mut block = StackBlock::NEW;
    let (kernel, count, input) = match other {
        Arg::Tensor(other)
            if other.dtype() == own.dtype()
                && let Some(count) = own.layout().dense_alike(other.layout()) =>
        {
            (find(op, own.dtype(), 2)?, count, other.on_host_ptr()?)
        }
        _ => {
            let count = own.layout().dense_count()?;
            let kernel = find(op, own.dtype(), 2)?;
            (kernel, count, beside(&other, own, count, &mut block)?)
        }
    };
    let place = own_place(own, kernel, count)?;
    let inputs = if behind {
        inputs(input, place)
    } else {
        inputs(place, input)
    };
    // SAFETY: the elements of `own`, which nobody else shares, and those of the other one, which
    // therefore lie elsewhere, or of the block.
    unsafe { over(kernel, count, place, inputs, !behind) }.then_some(())
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;
