//! Gradients of views: elements are put where the view took them from.

use nomina_core::Result;
use nomina_core::op::Op;

use super::target::only_operand;
use crate::SmallVec;
use crate::call::{
    Arg, ReduceOptions, contiguous, copy_into, pointwise_in_place, pointwise_owned, reduce,
    to_dtype,
};
use crate::dispatch::accumulator;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, View, is_wanted, record};
use crate::raw::{Raw, RawMut, Strided};
use crate::shape::product as numel;

impl Rule for View {
    fn op(&self) -> &'static str {
        self.op()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => placed(grad, self).map(only_operand),
            _ => Ok(OperandGrads::new()),
        }
    }

    fn part(&self) -> Option<&View> {
        (self.layout().numel() < numel(self.shape().iter().copied())).then_some(self)
    }
}

/// Adds the gradient of a view to the gradient of its tensor. It is added in place, so that many small views do not each cost the
/// size of the tensor.
pub(crate) fn add_part(before: Raw, grad: &Raw, view: &View) -> Result<Raw> {
    let (grad, view) = sum_repeated(grad.clone().detach(), view)?;
    let mut sum = before.detach();
    if !view.layout().is_disjoint() {
        // An element with several summands is rounded once.
        let own = placed(&grad, &view)?;
        return pointwise_owned(Op::Add, sum, &[Arg::Tensor(&own)]);
    }
    if !sum.is_contiguous() {
        sum = contiguous(&sum)?;
    }
    add(sum.as_mut()?.through(&view), &grad)?;
    Ok(sum)
}

/// Places the elements of a view's gradient at their positions in the tensor: zeros elsewhere, sums if the view has an element
/// several times.
fn placed(grad: &Raw, view: &View) -> Result<Raw> {
    let plain = grad.clone().detach();
    let out = match permuted(&plain, view)? {
        Some(out) => out,
        None => {
            let (plain, view) = sum_repeated(plain, view)?;
            match permuted(&plain, &view)? {
                Some(out) => out,
                None => {
                    // An element with several summands is rounded once.
                    let dtype = if view.layout().is_disjoint() {
                        plain.dtype()
                    } else {
                        accumulator(plain.dtype())
                    };
                    let mut out = Raw::zeros("backward", view.shape(), dtype, plain.device())?;
                    add(out.as_mut()?.through(&view), &plain)?;
                    to_dtype(&out, plain.dtype())?
                }
            }
        }
    };
    if is_wanted([grad]) {
        record(out, [Some(grad)], Placed(view.clone()))
    } else {
        Ok(out)
    }
}

/// Sums over the dims along which a view repeats elements; they have size 1 afterwards.
fn sum_repeated(grad: Raw, view: &View) -> Result<(Raw, View)> {
    let layout = view.layout();
    let dims = layout.shape().iter().zip(layout.strides()).enumerate();
    let repeated = dims.filter(|(_, (size, stride))| **size > 1 && **stride == 0);
    let repeated: SmallVec<[usize; 8]> = repeated.map(|(dim, _)| dim).collect();
    if repeated.is_empty() {
        return Ok((grad, view.clone()));
    }
    let sum = reduce(Op::Sum, &grad, &repeated, true, ReduceOptions::default())?;
    let first = |layout: &Strided| {
        let mut dims = repeated.iter();
        dims.try_fold(layout.clone(), |layout, &dim| layout.narrow(dim, 0, 1))
    };
    Ok((sum, view.then(view.op(), &first)?))
}

/// Returns a gradient with its elements at their positions if the view has each element of the tensor once: the gradient's own
/// elements if their order in memory allows it, otherwise a copy.
fn permuted(grad: &Raw, view: &View) -> Result<Option<Raw>> {
    let (shape, layout) = (view.shape(), view.layout());
    if layout.offset() != 0 || layout.numel() != numel(shape.iter().copied()) {
        return Ok(None);
    }
    // The view's dims in the order of the tensor's memory; dims of size 1 may have any position.
    let mut order: SmallVec<[usize; 8]> = (0..layout.shape().len()).collect();
    order.sort_by_key(|&dim| (layout.shape()[dim] == 1, -layout.strides()[dim]));
    let mut step = 1;
    for &dim in order.iter().rev() {
        match layout.shape()[dim] {
            1 => {}
            size if layout.strides()[dim] == step => step *= size as isize,
            _ => return Ok(None),
        }
    }
    grad.permute(&order)?.reshape(shape).map(Some)
}

/// Adds a tensor to elements that may alias each other.
fn add(to: RawMut<'_>, grad: &Raw) -> Result<()> {
    if to.layout().is_disjoint() {
        return pointwise_in_place(Op::Add, to, &[Arg::Tensor(grad)]);
    }
    add_slices(to, grad)
}

/// Adds slice by slice of the last dim, along which windows and repetitions alias.
fn add_slices(mut to: RawMut<'_>, grad: &Raw) -> Result<()> {
    let Some(last) = to.rank().checked_sub(1) else {
        return copy_into(to, grad);
    };
    for at in 0..to.shape()[last] {
        add(to.reborrow().select(last, at)?, &grad.select(last, at)?)?;
    }
    Ok(())
}

/// The backward pass of a [`View`], whose own gradient is the view again.
struct Placed(View);

impl Rule for Placed {
    fn op(&self) -> &'static str {
        self.0.op()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => contiguous(grad)?.through(&self.0).map(only_operand),
            _ => Ok(OperandGrads::new()),
        }
    }
}
