//! Views and what goes back through them: elements of a gradient are put where the view took them from.

use nomina_core::Result;
use nomina_core::op::Op;

use super::one;
use crate::SmallVec;
use crate::call::analysis::accumulator;
use crate::call::{
    Arg, ReduceOptions, contiguous, copy_into, pointwise_in_place, pointwise_owned, reduce,
    to_dtype,
};
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, View, is_wanted, record};
use crate::raw::{Raw, RawMut, Strided};
use crate::shape::{product as numel, row_major};

impl Rule for View {
    fn op(&self) -> &'static str {
        self.op()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => placed(grad, self).map(one),
            _ => Ok(OperandGrads::new()),
        }
    }

    fn part(&self) -> Option<&View> {
        (self.layout().numel() < numel(self.shape().iter().copied())).then_some(self)
    }
}

/// The sum of a tensor's gradient and of one of a view of it, put where the view has its elements: written into the first, so that
/// many small parts cost what they have, and not the whole tensor each.
pub(crate) fn add_part(before: Raw, grad: &Raw, view: &View) -> Result<Raw> {
    let (grad, view) = once(grad.clone().detach(), view)?;
    let mut sum = before.detach();
    if !view.layout().is_disjoint() {
        // An element that gets several summands is rounded once.
        let own = placed(&grad, &view)?;
        return pointwise_owned(Op::Add, sum, &[Arg::Tensor(&own)]);
    }
    if !sum.is_contiguous() {
        sum = contiguous(&sum)?;
    }
    add(sum.as_mut()?.through(&view), &grad)?;
    Ok(sum)
}

/// A gradient's elements in a tensor of which `view` is a view, each where the view has it; zeros elsewhere, sums where the
/// view has an element several times.
fn placed(grad: &Raw, view: &View) -> Result<Raw> {
    let plain = grad.clone().detach();
    let out = match turned(&plain, view)? {
        Some(out) => out,
        None => {
            let (plain, view) = once(plain, view)?;
            match turned(&plain, &view)? {
                Some(out) => out,
                None => {
                    // An element that gets several summands is rounded once.
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
    match is_wanted([grad]) {
        true => record(out, [Some(grad)], Placed(view.clone())),
        false => Ok(out),
    }
}

/// Sums over the dims along which a view repeats elements, which then have size 1.
fn once(grad: Raw, view: &View) -> Result<(Raw, View)> {
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
    Ok((sum, view.then(view.op(), first)?))
}

/// The view of a gradient that has its elements where they belong, where all of a tensor was viewed, each element once, in
/// another order of its dims.
fn turned(grad: &Raw, view: &View) -> Result<Option<Raw>> {
    let (shape, layout) = (view.shape(), view.layout());
    let strides = row_major(shape);
    if layout.offset() != 0 || layout.numel() != grad.numel() {
        return Ok(None);
    }
    // The dims of the tensor in order: where each one stands in the view.
    let mut order = SmallVec::<[usize; 8]>::new();
    for (dim, &size) in shape.iter().enumerate().filter(|(_, size)| **size != 1) {
        let same =
            |at: &usize| layout.shape()[*at] == size && layout.strides()[*at] == strides[dim];
        match (0..layout.shape().len()).find(|at| same(at) && !order.contains(at)) {
            Some(at) => order.push(at),
            None => return Ok(None),
        }
    }
    let ones = (0..layout.shape().len()).filter(|at| !order.contains(at));
    let ones: SmallVec<[usize; 8]> = ones.collect();
    if ones.iter().any(|&at| layout.shape()[at] != 1) {
        return Ok(None);
    }
    order.extend(ones);
    // Only dims of size 1 are left, which any order of the elements allows.
    grad.permute(&order)?.view(shape)
}

/// Adds a tensor to elements some of which may be one.
fn add(to: RawMut<'_>, grad: &Raw) -> Result<()> {
    if to.layout().is_disjoint() {
        return pointwise_in_place(Op::Add, to, &[Arg::Tensor(grad)]);
    }
    add_each(to, grad)
}

/// Goes along the last dim, from which windows and repetitions come.
fn add_each(mut to: RawMut<'_>, grad: &Raw) -> Result<()> {
    let Some(last) = to.rank().checked_sub(1) else {
        return copy_into(to, grad);
    };
    for at in 0..to.shape()[last] {
        add(to.reborrow().select(last, at)?, &grad.select(last, at)?)?;
    }
    Ok(())
}

/// What goes back through a [`View`], whose own way back is the view.
struct Placed(View);

impl Rule for Placed {
    fn op(&self) -> &'static str {
        self.0.op()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => contiguous(grad)?.through(&self.0).map(one),
            _ => Ok(OperandGrads::new()),
        }
    }
}
