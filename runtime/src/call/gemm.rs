//! Matrix products, and products over any dims.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, Scalar};

use super::check::{check_same_kind, refuse, unequal_batches, unequal_sizes};
use crate::call::backend::backend;
use crate::job::{BatchRepeats, FinalOp, Matrix, Product, Repeat};

use crate::raw::Raw;
use crate::shape::{Shape, Strides, broadcast, count};
use crate::tape::record_product;

/// Checks ranks, then matching sizes, then dtypes and devices.
fn check(op: Op, a: &Raw, b: &Raw, ranks: [usize; 2]) -> Result<()> {
    let operands = [a, b];
    for (i, (x, rank)) in operands.iter().zip(ranks).enumerate() {
        if x.rank() != rank {
            let what = format!("operand {} has {} dims, expected {rank}", i + 1, x.rank());
            let hint = match op {
                Op::Mm | Op::Mv | Op::Dot | Op::Bmm => "use `matmul`, which takes any ranks",
                _ => "reshape it",
            };
            return Err(refuse(ErrorKind::Rank, op, &operands, what).hint(hint));
        }
    }
    let (k, l) = (
        a.shape()[a.rank() - 1],
        b.shape()[b.rank().saturating_sub(2)],
    );
    if k != l {
        return Err(meet(op, a, b));
    }
    check_same_kind(op, &operands)
}

#[cold]
fn meet(op: Op, a: &Raw, b: &Raw) -> Error {
    unequal_sizes(
        op,
        &[a, b],
        [(0, a.rank() - 1), (1, b.rank().saturating_sub(2))],
    )
    .hint("the left operand's last size must be the right one's second to last")
}

/// The terms of a product besides its factors: `alpha` is the factor of the sum, `added` a tensor of the result's sizes
/// and its factor, and `after` an operator that is applied to the elements.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) alpha: Scalar,
    pub(super) added: Option<(&'a Raw, Scalar)>,
    pub(super) after: Option<Op>,
}

pub(super) const PLAIN: Terms<'_> = Terms {
    alpha: Scalar::Int(1),
    added: None,
    after: None,
};

/// `a` is `[.., m, k]`, `b` `[.., k, n]` and `out` `[.., m, n]`, with equal dims before.
fn multiply(op: Op, a: &Raw, b: &Raw, out: &mut Raw, terms: Terms<'_>) -> Result<()> {
    let rank = out.rank();
    let (m, n, k) = (
        out.shape()[rank - 2],
        out.shape()[rank - 1],
        a.shape()[rank - 1],
    );
    if out.numel() == 0 {
        return Ok(());
    }
    let matrix = |strides: &[isize], ptr| Matrix {
        ptr,
        rows: strides[rank - 2],
        cols: strides[rank - 1],
    };
    let strides = Strides::from_slice(out.strides());
    let repeats: BatchRepeats = (0..rank - 2)
        .map(|dim| Repeat {
            size: out.shape()[dim],
            a: a.strides()[dim],
            b: b.strides()[dim],
            c: out.strides()[dim],
            d: terms.added.map_or(0, |(added, _)| added.strides()[dim]),
        })
        .collect();
    let product = Product {
        dtype: out.dtype(),
        m,
        k,
        n,
        a: matrix(a.strides(), a.as_ptr().cast_mut()),
        b: matrix(b.strides(), b.as_ptr().cast_mut()),
        c: matrix(&strides, out.fresh_ptr()),
        alpha: terms.alpha,
        beta: terms.added.map(|(_, beta)| beta),
        addend: terms
            .added
            .map(|(added, _)| matrix(added.strides(), added.as_ptr().cast_mut())),
        after: terms.after.map(FinalOp::unary),
    };
    let backend = backend(op.name(), out.device())?;
    // SAFETY: the operands' sizes were checked; the result is fresh, and nothing else shares it.
    unsafe { backend.product(product, &repeats) }.map_err(|error| error.in_op(op.name()))
}

/// Computes a new `[.., m, n]` without recording it.
pub(super) fn fresh(op: Op, a: &Raw, b: &Raw, batch: &[usize], terms: Terms<'_>) -> Result<Raw> {
    let mut shape = Shape::from_slice(batch);
    shape.push(a.shape()[a.rank() - 2]);
    shape.push(b.shape()[b.rank() - 1]);
    let mut out = Raw::empty(op.name(), &shape, a.dtype(), a.device())?;
    multiply(op, a, b, &mut out, terms)?;
    Ok(out)
}

/// Multiplies two matrices of matching sizes with as little overhead as possible, which dominates small products.
fn matrices(op: Op, a: &Raw, b: &Raw) -> Result<Raw> {
    let (m, k, n) = (a.shape()[0], a.shape()[1], b.shape()[1]);
    let mut out = Raw::empty(op.name(), &[m, n], a.dtype(), a.device())?;
    if m == 0 || n == 0 {
        return record_product(op, out, [a, b], PLAIN.alpha, None);
    }
    let matrix = |x: &Raw| Matrix {
        ptr: x.as_ptr().cast_mut(),
        rows: x.strides()[0],
        cols: x.strides()[1],
    };
    let product = Product {
        dtype: a.dtype(),
        m,
        k,
        n,
        a: matrix(a),
        b: matrix(b),
        c: Matrix {
            ptr: out.fresh_ptr(),
            rows: n as isize,
            cols: 1,
        },
        alpha: Scalar::Int(1),
        beta: None,
        addend: None,
        after: None,
    };
    let backend = backend(op.name(), a.device())?;
    // SAFETY: the sizes were checked; the result is fresh, and nothing else shares it.
    unsafe { backend.product(product, &[]) }.map_err(|error| error.in_op(op.name()))?;
    record_product(op, out, [a, b], PLAIN.alpha, None)
}

/// Multiplies two matrices.
///
/// # Errors
/// If an operand is not a matrix, sizes or dtypes do not match, or memory is missing.
pub fn mm(a: &Raw, b: &Raw) -> Result<Raw> {
    check(Op::Mm, a, b, [2, 2])?;
    matrices(Op::Mm, a, b)
}

/// Multiplies a matrix by a vector.
///
/// # Errors
/// Like [`mm`].
pub fn mv(a: &Raw, b: &Raw) -> Result<Raw> {
    check(Op::Mv, a, b, [2, 1])?;
    matrices(Op::Mv, a, &b.unsqueeze(1)?)?.squeeze(1)
}

/// Computes the inner product of two vectors.
///
/// # Errors
/// Like [`mm`].
pub fn dot(a: &Raw, b: &Raw) -> Result<Raw> {
    check(Op::Dot, a, b, [1, 1])?;
    matrices(Op::Dot, &a.unsqueeze(0)?, &b.unsqueeze(1)?)?
        .squeeze(1)?
        .squeeze(0)
}

/// Multiplies two batches of matrices.
///
/// # Errors
/// Like [`mm`].
pub fn bmm(a: &Raw, b: &Raw) -> Result<Raw> {
    check(Op::Bmm, a, b, [3, 3])?;
    if a.shape()[0] != b.shape()[0] {
        return Err(batch_sizes(Op::Bmm, a, b));
    }
    let out = fresh(Op::Bmm, a, b, &a.shape()[..1], PLAIN)?;
    record_product(Op::Bmm, out, [a, b], PLAIN.alpha, None)
}

#[cold]
fn batch_sizes(op: Op, a: &Raw, b: &Raw) -> Error {
    unequal_sizes(op, &[a, b], [(0, 0), (1, 0)]).hint("use `matmul`, whose batch dims broadcast")
}

/// Multiplies matrices along the last two dims; the others broadcast. An operand of one dim is a row on the left or a
/// column on the right, and its dim is removed from the result.
///
/// # Errors
/// Like [`mm`]; also if an operand has no dim, or batch dims do not broadcast.
pub fn matmul(a: &Raw, b: &Raw) -> Result<Raw> {
    let op = Op::Matmul;
    if a.rank() == 0 || b.rank() == 0 {
        let what = "a tensor without dims is not a matrix";
        return Err(refuse(ErrorKind::Rank, op, &[a, b], what).hint("use `mul`"));
    }
    let (k, l) = (
        a.shape()[a.rank() - 1],
        b.shape()[b.rank().saturating_sub(2)],
    );
    if k != l {
        return Err(meet(op, a, b));
    }
    check_same_kind(op, &[a, b])?;
    if a.rank() == 2 && b.rank() == 2 {
        return matrices(op, a, b);
    }
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let a2 = if row { a.unsqueeze(0)? } else { a.clone() };
    let b2 = if column { b.unsqueeze(1)? } else { b.clone() };
    let batch = |x: &Raw| Shape::from_slice(&x.shape()[..x.rank() - 2]);
    let common = broadcast(op.name(), &[&batch(&a2), &batch(&b2)])
        .map_err(|error| unequal_batches(error, &[a, b]))?;
    let stretch = |x: &Raw| {
        let mut shape = common.clone();
        shape.extend_from_slice(&x.shape()[x.rank() - 2..]);
        if x.shape() == &shape[..] {
            Ok(x.clone())
        } else {
            x.expand(&shape)
        }
    };
    let (a2, b2) = (stretch(&a2)?, stretch(&b2)?);
    let out = fresh(op, &a2, &b2, &common, PLAIN)?;
    let mut out = record_product(op, out, [&a2, &b2], PLAIN.alpha, None)?;
    if column {
        out = out.squeeze(out.rank() - 1)?;
    }
    if row {
        let last = out.rank() - if column { 1 } else { 2 };
        out = out.squeeze(last)?;
    }
    Ok(out)
}

/// Adds `beta` times `bias`, which broadcasts, to `alpha` times a product; `op` is one of addmm, addmv, baddbmm and
/// addbmm. A `beta` of 0 ignores `bias`, including NaN.
///
/// # Errors
/// Like [`mm`], [`mv`] and [`bmm`]; also if `bias` does not broadcast to the product.
pub fn add_product(
    op: Op,
    bias: &Raw,
    a: &Raw,
    b: &Raw,
    beta: Scalar,
    alpha: Scalar,
) -> Result<Raw> {
    let ranks = match op {
        Op::Addmv => [2, 1],
        Op::Baddbmm | Op::Addbmm => [3, 3],
        _ => [2, 2],
    };
    check(op, a, b, ranks)?;
    if a.rank() == 3 && a.shape()[0] != b.shape()[0] {
        return Err(batch_sizes(op, a, b));
    }
    check_same_kind(op, &[a, bias])?;
    check_factors(op, &[bias, a, b], &[alpha, beta])?;
    let (a2, b2) = match op {
        Op::Addmv => (a.clone(), b.unsqueeze(1)?),
        // One product over the batch and inner dims.
        Op::Addbmm => {
            let (batch, m, k) = (a.shape()[0], a.shape()[1], a.shape()[2]);
            let inner = count(&[batch, k]);
            let rows = a.permute(&[1, 0, 2])?.reshape(&[m, inner])?;
            (rows, b.reshape(&[inner, b.shape()[2]])?)
        }
        _ => (a.clone(), b.clone()),
    };
    let mut shape = Shape::from_slice(&a2.shape()[..a2.rank() - 1]);
    if op != Op::Addmv {
        shape.push(b2.shape()[b2.rank() - 1]);
    }
    let own = bias;
    let bias = bias
        .broadcast_to(op.name(), &shape)
        .map_err(|_| unlike_product(op, [bias, a, b], &shape))?;
    let mut out = Raw::empty(op.name(), &shape, a.dtype(), a.device())?;
    let mut bias = bias;
    if op == Op::Addmv {
        out = out.unsqueeze(1)?;
        bias = bias.unsqueeze(1)?;
    }
    let added = beta.to_bool().then_some((&bias, beta));
    let terms = Terms {
        alpha,
        added,
        ..PLAIN
    };
    multiply(op, &a2, &b2, &mut out, terms)?;
    // A column of one number each.
    let own = match op {
        Op::Addmv if own.rank() > 0 => own.unsqueeze(own.rank())?,
        _ => own.clone(),
    };
    let out = record_product(op, out, [&a2, &b2], alpha, Some((&own, beta)))?;
    if op == Op::Addmv {
        return out.squeeze(1);
    }
    Ok(out)
}

/// Returns the error of a bias, with the dim of a factor that it does not match.
#[cold]
fn unlike_product(op: Op, operands: [&Raw; 3], shape: &[usize]) -> Error {
    const HINT: &str = "a bias size is the product's, or 1";
    let [bias, a, b] = operands;
    let new = shape.len().saturating_sub(bias.rank());
    let differs = |&i: &usize| ![1, shape[new + i]].contains(&bias.shape()[i]);
    let apart = (0..bias.rank().min(shape.len())).find(differs);
    let Some(i) = apart.filter(|_| bias.rank() <= shape.len()) else {
        let what = format!("self does not broadcast to the product's sizes {shape:?}");
        return refuse(ErrorKind::Shape, op, &operands, what).hint(HINT);
    };
    let factor = match new + i {
        at if op != Op::Addmv && at + 1 == shape.len() => (2, b.rank() - 1),
        // The batch dim is summed over.
        at => (1, at + usize::from(op == Op::Addbmm && a.rank() == 3)),
    };
    unequal_sizes(op, &operands, [(0, i), factor]).hint(HINT)
}

/// Checks that factors are of no higher category than the operands: integers take integers.
pub(super) fn check_factors(op: Op, operands: &[&Raw], factors: &[Scalar]) -> Result<()> {
    let dtype = operands[0].dtype();
    let too_much = |factor: &&Scalar| factor.category() > dtype.category();
    let Some(factor) = factors.iter().find(too_much) else {
        return Ok(());
    };
    let what = format!("the factor {factor} does not fit {dtype}");
    Err(refuse(ErrorKind::DType, op, operands, what)
        .hint("convert the operands to another dtype first"))
}

#[cfg(test)]
#[path = "gemm_tests.rs"]
mod tests;
