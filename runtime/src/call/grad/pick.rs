//! Gradients of gathers and scatters.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arithmetic::{apply, choose, conj, div, mul, number, with_number};
use super::{Target, one};
use crate::call::{
    cat, contiguous, duplicate, fill, full, gather, index_select, index_update, scatter, to_dtype,
};
use crate::job::Update;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, is_wanted, no_grad, record};
use crate::shape::Shape;

/// Where an index looks along a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::call) enum Addressing {
    /// The index has the tensor's other dims, too: `gather` and `scatter`.
    Elements,
    /// Whole slices; the index's dims take the place of the dim: `index_select`.
    Slices,
}

/// An index along a dim.
#[derive(Clone, Debug)]
pub(in crate::call) struct At {
    pub(in crate::call) op: Op,
    pub(in crate::call) way: Addressing,
    pub(in crate::call) dim: usize,
    pub(in crate::call) index: Raw,
}

impl At {
    pub(in crate::call) fn picked(&self, x: &Raw) -> Result<Raw> {
        match self.way {
            Addressing::Elements => gather(self.op, x, self.dim, &self.index),
            Addressing::Slices => index_select(self.op, x, self.dim, &self.index),
        }
    }

    /// A tensor with what is put there; recorded where one of both is.
    pub(in crate::call) fn put(&self, x: Raw, src: &Raw, how: Update) -> Result<Raw> {
        let wanted = is_wanted([&x, src]);
        // What was recorded of it stays with what is given in.
        let given = wanted.then(|| x.clone());
        let mut out = x.detach();
        let plain = src.clone().detach();
        let (op, dim, index) = (self.op, self.dim, &self.index);
        let dest = out.as_mut()?;
        match self.way {
            Addressing::Elements => scatter(op, dest, dim, index, &plain, how)?,
            Addressing::Slices => index_update(op, dest, dim, index, &plain, how, false)?,
        }
        let Some(x) = &given else {
            return Ok(out);
        };
        let joined = match how {
            Update::Set | Update::Add => None,
            Update::Mul | Update::Max | Update::Min => Some([x.clone(), src.clone(), out.clone()]),
        };
        let rule = Put {
            at: self.clone(),
            how,
            joined,
            source: Target::of(src),
        };
        record(out, [Some(x), Some(src)], rule)
    }

    /// What of `src` is put: only as much as the index covers.
    fn covered(&self, src: &Raw) -> Result<Raw> {
        let mut part = src.clone();
        if self.way == Addressing::Elements {
            for (dim, &size) in self.index.shape().iter().enumerate() {
                part = part.narrow(dim, 0, size)?;
            }
        }
        Ok(part)
    }
}

/// What an index picked.
pub(in crate::call) struct Picked {
    at: At,
    target: Target,
}

impl Picked {
    pub(in crate::call) fn new(
        op: Op,
        way: Addressing,
        x: &Raw,
        dim: usize,
        index: &Raw,
    ) -> Result<Self> {
        let index = match (way, index.rank()) {
            (Addressing::Slices, 0) => index.unsqueeze(0)?,
            _ => index.clone(),
        };
        let at = At {
            op,
            way,
            dim,
            index,
        };
        let target = Target::of(x);
        Ok(Self { at, target })
    }
}

impl Rule for Picked {
    fn op(&self) -> &'static str {
        self.at.op.name()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let zeros = Raw::zeros("backward", &self.target.shape, grad.dtype(), grad.device())?;
        // An index without dims took the dim away.
        let grad = match grad.rank() < zeros.rank() {
            true => grad.unsqueeze(self.at.dim)?,
            false => grad.clone(),
        };
        let grad = self.at.put(zeros, &grad, Update::Add)?;
        self.target.take(grad).map(one)
    }
}

/// A tensor to which something was added where an index says, or that was overwritten there.
struct Put {
    at: At,
    how: Update,
    /// What was there, what was put and what became of both, where they were multiplied or compared.
    joined: Option<[Raw; 3]>,
    source: Target,
}

impl Put {
    /// Factors: each gets the product of all others at its place.
    fn of_products(&self, [x, src, _]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let src = self.at.covered(src)?;
        let zero = with_number(Op::Eq, &src, 0.0)?;
        let others = choose(&zero, number(1.0), (&src).into())?;
        let ones = full(x.shape(), Scalar::Int(1), x.dtype(), x.device())?;
        let product = self.at.put(ones, &others, Update::Mul)?;
        let none = Raw::zeros("backward", x.shape(), x.dtype(), x.device())?;
        let zeros = self
            .at
            .put(none, &to_dtype(&zero, x.dtype())?, Update::Add)?;
        let whole = with_number(Op::Eq, &zeros, 0.0)?;
        let of_x = mul(
            grad,
            &conj(&choose(&whole, (&product).into(), number(0.0))?)?,
        )?;
        let (product, zeros) = (self.at.picked(&product)?, self.at.picked(&zeros)?);
        let only = with_number(Op::Eq, &zeros, 1.0)?;
        let alone = choose(&only, (&product).into(), number(0.0))?;
        let none = with_number(Op::Eq, &zeros, 0.0)?;
        let rest = choose(&none, (&div(&product, &others)?).into(), number(0.0))?;
        let own = choose(&zero, (&alone).into(), (&rest).into())?;
        let of_src = mul(&self.at.picked(&mul(grad, &conj(x)?)?)?, &conj(&own)?)?;
        Ok([of_x, of_src])
    }

    /// Like [`Put::of_products`], but without a choice by elements, which would have no slope beside zeros: the product of all
    /// factors before each one, and of all behind it, slice by slice of the index, which meets each place once.
    fn of_products_recorded(&self, [x, src, _]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let covered = self.at.covered(src)?;
        let sizes = Shape::from_slice(covered.shape());
        let (index, src, axis) = match self.at.way {
            Addressing::Elements => (self.at.index.clone(), covered, self.at.dim),
            Addressing::Slices => {
                let index = self.at.index.reshape(&[self.at.index.numel()])?;
                let mut shape = Shape::from_slice(x.shape());
                shape[self.at.dim] = index.numel();
                (index, covered.reshape(&shape)?, 0)
            }
        };
        let count = index.shape()[axis];
        let slice = |at: usize| -> Result<(At, Raw)> {
            let index = index.narrow(axis, at, 1)?;
            let own = At {
                index,
                ..self.at.clone()
            };
            Ok((own, src.narrow(self.at.dim, at, 1)?))
        };
        let mut before = Vec::with_capacity(count);
        let mut product = x.clone();
        for at in 0..count {
            let (own, factor) = slice(at)?;
            let found = own.picked(&product)?;
            product = own.put(product, &mul(&found, &factor)?, Update::Set)?;
            before.push(found);
        }
        let mut product = full(x.shape(), Scalar::Int(1), x.dtype(), x.device())?;
        let mut grads = Vec::with_capacity(count);
        for at in (0..count).rev() {
            let (own, factor) = slice(at)?;
            let behind = own.picked(&product)?;
            product = own.put(product, &mul(&behind, &factor)?, Update::Set)?;
            let others = conj(&mul(&before[at], &behind)?)?;
            grads.push(mul(&own.picked(grad)?, &others)?);
        }
        let of_src = if grads.is_empty() {
            Raw::zeros("backward", src.shape(), src.dtype(), src.device())?
        } else {
            cat(&grads.iter().rev().collect::<Vec<_>>(), self.at.dim)?
        };
        let of_src = of_src.reshape(&sizes)?;
        Ok([mul(grad, &conj(&product)?)?, of_src])
    }

    /// Extremes: shared evenly by all that are equal to the one that is left.
    fn of_extremes(&self, [x, src, out]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let src = self.at.covered(src)?;
        let own = apply(Op::Eq, [x.into(), out.into()])?;
        let put = apply(Op::Eq, [(&src).into(), (&self.at.picked(out)?).into()])?;
        let (own, put) = (to_dtype(&own, x.dtype())?, to_dtype(&put, x.dtype())?);
        let count = self.at.put(own.clone(), &put, Update::Add)?;
        // None is equal where NaN is left, and NaN is what all get.
        let share = div(grad, &count)?;
        Ok([mul(&share, &own)?, mul(&self.at.picked(&share)?, &put)?])
    }
}

/// A gradient of the elements that were covered, with zeros for those that were not.
fn uncovered(grad: Raw, shape: &[usize]) -> Result<Raw> {
    if grad.shape() == shape || grad.rank() != shape.len() {
        return Ok(grad);
    }
    let mut grad = grad;
    for (dim, &size) in shape.iter().enumerate() {
        let missing = size.saturating_sub(grad.shape()[dim]);
        if missing == 0 {
            continue;
        }
        let mut rest = Shape::from_slice(grad.shape());
        rest[dim] = missing;
        let rest = Raw::zeros("backward", &rest, grad.dtype(), grad.device())?;
        grad = cat(&[&grad, &rest], dim)?;
    }
    Ok(grad)
}

impl Rule for Put {
    fn op(&self) -> &'static str {
        self.at.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let Some(Some(grad)) = given.first() else {
            return Ok(found);
        };
        if let Some(joined) = &self.joined {
            let [of_x, of_src] = match self.how {
                Update::Mul if run.records() && self.at.index.rank() > 0 => {
                    self.of_products_recorded(joined, grad)?
                }
                Update::Mul => self.of_products(joined, grad)?,
                _ => self.of_extremes(joined, grad)?,
            };
            let of_src = uncovered(of_src, &self.source.shape)?;
            found.push(run.wants(0).then_some(of_x));
            found.push(Some(self.source.take(of_src)?));
            return Ok(found);
        }
        found.push(match (run.wants(0), self.how) {
            (false, _) => None,
            (true, Update::Add) => Some(grad.clone()),
            (true, _) => {
                let picked = self.at.picked(grad)?;
                let mut zeros = no_grad(|| contiguous(&picked.detach()))?;
                zeros = no_grad(|| duplicate(&zeros))?;
                fill(zeros.as_mut()?, Scalar::Int(0))?;
                Some(self.at.put(grad.clone(), &zeros, Update::Set)?)
            }
        });
        found.push(match run.wants(1) {
            true => {
                let picked = uncovered(self.at.picked(grad)?, &self.source.shape)?;
                Some(self.source.take(picked)?)
            }
            false => None,
        });
        Ok(found)
    }
}
