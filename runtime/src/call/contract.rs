//! Products over any dims, as matrix products.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result, Scalar};

use super::check::{check_same_kind, refuse, unequal_sizes};
use super::gemm::{PLAIN, Terms, fresh};
use super::{Arg, contiguous, pointwise};
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::{Shape, count};
use crate::tape::record_product;

/// Multiplies and sums over pairs of dims; the `batch` pairs stay, once each. The result has the dims of `a` that are
/// not contracted, in their order, then those of `b` that are in no pair.
///
/// # Errors
/// If paired sizes or dtypes differ, or memory is missing.
pub fn contract(
    op: Op,
    a: &Raw,
    b: &Raw,
    pairs: &[(usize, usize)],
    batch: &[(usize, usize)],
) -> Result<Raw> {
    contract_and_add(op, [a, b], pairs, batch, None, None)
}

/// Like [`contract`], plus a vector of numbers, one for each element of the result's last dim or one for all, without
/// batch dims and with one remaining dim of `b`. The operator `after`, which returns the operands' dtype, is then
/// applied to the elements.
pub(super) fn contract_and_add(
    op: Op,
    [a, b]: [&Raw; 2],
    pairs: &[(usize, usize)],
    batch: &[(usize, usize)],
    bias: Option<&Raw>,
    after: Option<Op>,
) -> Result<Raw> {
    for &(i, j) in pairs.iter().chain(batch) {
        let (Some(&m), Some(&n)) = (a.shape().get(i), b.shape().get(j)) else {
            let what = format!("dims {i} and {j} are out of range");
            return Err(refuse(ErrorKind::Index, op, &[a, b], what).hint("count dims from 0"));
        };
        if m != n {
            return Err(unequal_sizes(op, &[a, b], [(0, i), (1, j)])
                .hint("a shared dim has one size in both operands"));
        }
    }
    check_same_kind(op, &[a, b])?;
    type DimList = SmallVec<[usize; 8]>;
    let all = || pairs.iter().chain(batch);
    let ms: DimList = (0..a.rank())
        .filter(|d| all().all(|(i, _)| i != d))
        .collect();
    let ns: DimList = (0..b.rank())
        .filter(|d| all().all(|(_, j)| j != d))
        .collect();
    // Any order of the contracted dims gives the same sums; the order of `a` in memory avoids a copy.
    let mut ks: SmallVec<[(usize, usize); 8]> = SmallVec::from_slice(pairs);
    ks.sort_by_key(|&(i, _)| std::cmp::Reverse(a.strides()[i].abs()));
    let (mut left, mut right) = (DimList::new(), DimList::new());
    left.extend(batch.iter().map(|p| p.0));
    right.extend(batch.iter().map(|p| p.1));
    left.extend_from_slice(&ms);
    left.extend(ks.iter().map(|p| p.0));
    right.extend(ks.iter().map(|p| p.1));
    right.extend_from_slice(&ns);
    let sizes = |x: &Raw, dims: &[usize]| -> Shape { dims.iter().map(|&d| x.shape()[d]).collect() };
    let (bs, m, n) = (sizes(a, &left[..batch.len()]), sizes(a, &ms), sizes(b, &ns));
    let k = sizes(a, &left[batch.len() + ms.len()..]);
    let a2 = grouped(&a.permute(&left)?, &bs, &m, &k)?;
    let b2 = grouped(&b.permute(&right)?, &bs, &k, &n)?;
    let repeated = bias.map(|bias| bias.expand(&[a2.shape()[0], b2.shape()[1]]));
    let repeated = repeated.transpose()?;
    let added = repeated.as_ref().map(|bias| (bias, Scalar::Int(1)));
    let operands = [Some(&a2), Some(&b2), bias];
    let records = is_wanted(operands.into_iter().flatten());
    let terms = Terms {
        added,
        after: after.filter(|_| !records),
        ..PLAIN
    };
    let mut out = fresh(op, &a2, &b2, &bs, terms)?;
    if records {
        let bias = bias.map(|bias| (bias, Scalar::Int(1)));
        out = record_product(op, out, [&a2, &b2], PLAIN.alpha, bias)?;
        if let Some(after) = after {
            out = pointwise(after, &[Arg::Tensor(&out)])?;
        }
    }
    // `[batch, m, n]` to the dims of `a`, then of `b`.
    let mut shape = bs;
    shape.extend_from_slice(&m);
    shape.extend_from_slice(&n);
    let out = out.reshape(&shape)?;
    let kept = batch.len() + ms.len();
    let mut order: DimList = (0..kept).collect();
    order.sort_by_key(|&at| left[at]);
    order.extend(kept..shape.len());
    out.permute(&order)
}

/// Returns `[batch, rows, cols]` of a tensor with its dims in this order: a view if each group of dims has one stride
/// in memory, else a copy.
fn grouped(x: &Raw, batch: &[usize], rows: &[usize], cols: &[usize]) -> Result<Raw> {
    let mut shape = Shape::from_slice(batch);
    shape.push(count(rows));
    shape.push(count(cols));
    match x.view(&shape)? {
        Some(view) => Ok(view),
        None => contiguous(x)?.reshape(&shape),
    }
}
