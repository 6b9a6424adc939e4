//! Products other than matrix products, and products of several matrices.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result, rule};

use super::check::{check_same_kind, refuse, unequal_sizes};
use super::contract::contract;
use super::gemm::matmul;
use super::{Arg, ReduceOptions, eye, pointwise, pointwise_in_place, reduce};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::Shape;
use crate::tape::record_conjugate;

fn times(op: Op, a: &Raw, b: &Raw) -> Result<Raw> {
    pointwise(Op::Mul, &[Arg::Tensor(a), Arg::Tensor(b)]).map_err(|e| e.in_op(op.name()))
}

/// Multiplies every element of one vector by every element of another.
///
/// # Errors
/// If an operand is not a vector, or memory is missing.
pub fn outer(a: &Raw, b: &Raw) -> Result<Raw> {
    rule::outer_shape("outer", a.shape(), b.shape())?;
    times(Op::Outer, &a.unsqueeze(1)?, &b.unsqueeze(0)?)
}

/// Multiplies and sums over the last dim of both; a number multiplies.
///
/// # Errors
/// If the last sizes or the dtypes differ, or memory is missing.
pub fn inner(a: &Raw, b: &Raw) -> Result<Raw> {
    rule::inner_shape("inner", a.shape(), b.shape())?;
    check_same_kind(Op::Inner, &[a, b])?;
    if a.rank() == 0 || b.rank() == 0 {
        return times(Op::Inner, a, b);
    }
    contract(Op::Inner, a, b, &[(a.rank() - 1, b.rank() - 1)], &[])
}

/// Computes the inner product of two vectors, of which the first is conjugated.
///
/// # Errors
/// If an operand is not a vector, sizes or dtypes differ, or memory is missing.
pub fn vdot(a: &Raw, b: &Raw) -> Result<Raw> {
    rule::dot_shape("vdot", a.shape(), b.shape())?;
    contract(Op::Vdot, &conjugated(a)?, b, &[(0, 0)], &[])
}

/// Returns the complex conjugate; the identity for real numbers.
pub(crate) fn conjugated(x: &Raw) -> Result<Raw> {
    if !x.dtype().is_complex() {
        return Ok(x.clone());
    }
    let plain = x.clone().detach();
    let mut parts = super::as_real(&super::duplicate(&plain)?)?;
    let imaginary = parts.as_mut()?.select(x.rank(), 1)?;
    pointwise_in_place(Op::Neg, imaginary, &[])?;
    record_conjugate(super::as_complex(&parts)?, x)
}

/// Computes the inner products of vectors along dim `dim` of the broadcast operands; the first ones are conjugated.
///
/// # Errors
/// If sizes do not broadcast, dtypes differ, or the dim is out of range.
pub fn vecdot(a: &Raw, b: &Raw, dim: usize) -> Result<Raw> {
    let op = Op::Vecdot;
    check_same_kind(op, &[a, b])?;
    let rank = a.rank().max(b.rank());
    if dim >= rank {
        let what = format!("dim {dim} is out of range for {rank} dims");
        return Err(refuse(ErrorKind::Index, op, &[a, b], what).hint("count dims from 0"));
    }
    let letters = |x: &Raw| -> Shape { (rank - x.rank()..rank).collect() };
    let output: Shape = (0..rank).filter(|&at| at != dim).collect();
    let (own, its) = (letters(a), letters(b));
    super::einsum(&[&conjugated(a)?, b], &[&own, &its], &output).map_err(|e| e.in_op(op.name()))
}

/// Computes the Kronecker product.
///
/// # Errors
/// If sizes overflow, or memory is missing.
pub fn kron(a: &Raw, b: &Raw) -> Result<Raw> {
    let shape = rule::kron_shape("kron", a.shape(), b.shape())?;
    let rank = shape.len();
    // `[a0, 1, a1, 1, ..]` times `[1, b0, 1, b1, ..]`.
    let spread = |x: &Raw, behind: bool| -> Result<Raw> {
        let mut x = x.clone();
        while x.rank() < rank {
            x = x.unsqueeze(0)?;
        }
        for dim in (0..rank).rev() {
            x = x.unsqueeze(if behind { dim + 1 } else { dim })?;
        }
        Ok(x)
    };
    times(Op::Kron, &spread(a, true)?, &spread(b, false)?)?.reshape(&shape)
}

/// Sums the diagonal of a matrix.
///
/// # Errors
/// If the operand is not a matrix.
pub fn trace(x: &Raw) -> Result<Raw> {
    if x.rank() != 2 {
        let what = format!("takes a matrix, not a tensor with {} dims", x.rank());
        return Err(refuse(ErrorKind::Rank, Op::Trace, &[x], what)
            .hint("`diagonal` and `sum` do it for more dims"));
    }
    let diagonal = x.diagonal(0, 1, 0)?;
    reduce(Op::Sum, &diagonal, &[0], false, ReduceOptions::default()).map_err(|e| e.in_op("trace"))
}

/// Raises a square matrix, or a batch of them, to the power `n`.
///
/// # Errors
/// If it is not square, `n` is negative, or memory is missing.
pub fn matrix_power(x: &Raw, n: i64) -> Result<Raw> {
    let op = Op::MatrixPower;
    op.row().check_dtype(x.dtype())?;
    let square = match x.shape() {
        [.., rows, cols] => rows == cols,
        _ => false,
    };
    if !square {
        let what = "takes square matrices";
        return Err(
            refuse(ErrorKind::Shape, op, &[x], what).hint("the last two sizes are the same")
        );
    }
    let Ok(mut left) = u64::try_from(n) else {
        let what = format!("the power {n} is negative");
        return Err(refuse(ErrorKind::Argument, op, &[x], what)
            .hint("there is no inverse yet: give 0 or more"));
    };
    if left == 0 {
        let size = x.shape()[x.rank() - 1];
        let one = eye(size, size, x.dtype(), x.device())?.expand(x.shape())?;
        return super::contiguous(&one);
    }
    let mut square = x.clone();
    let mut result: Option<Raw> = None;
    loop {
        if left & 1 == 1 {
            result = Some(match result {
                None => square.clone(),
                Some(power) => matmul(&power, &square).map_err(|e| e.in_op(op.name()))?,
            });
        }
        left >>= 1;
        match (left, result) {
            (0, Some(power)) if power.shares_storage(x) => return super::duplicate(&power),
            (0, Some(power)) => return Ok(power),
            (_, power) => result = power,
        }
        square = matmul(&square, &square).map_err(|e| e.in_op(op.name()))?;
    }
}

/// Multiplies a chain of matrices in the order with the fewest multiplications. The first and the last operand may be
/// vectors.
///
/// # Errors
/// If the chain is empty, sizes or dtypes do not match, or memory is missing.
pub fn multi_dot(chain: &[&Raw]) -> Result<Raw> {
    let op = Op::MultiDot;
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return Err(refuse(ErrorKind::Argument, op, chain, "no tensor is given").hint("give one"));
    };
    let (row, column) = (first.rank() == 1, last.rank() == 1 && chain.len() > 1);
    let mut matrices: Vec<Raw> = chain.iter().map(|&x| x.clone()).collect();
    if row && chain.len() > 1 {
        matrices[0] = first.unsqueeze(0)?;
    }
    if column {
        matrices[chain.len() - 1] = last.unsqueeze(1)?;
    }
    if matrices.iter().any(|x| x.rank() != 2) {
        let what = "takes matrices; first and last may be vectors";
        return Err(refuse(ErrorKind::Rank, op, chain, what).hint("use `matmul` for more dims"));
    }
    check_same_kind(op, chain)?;
    for (at, pair) in matrices.windows(2).enumerate() {
        let (k, l) = (pair[0].shape()[1], pair[1].shape()[0]);
        if k != l {
            let dims = [(at, chain[at].rank() - 1), (at + 1, 0)];
            return Err(
                unequal_sizes(op, chain, dims).hint("each last size must be the next first size")
            );
        }
    }
    let splits = cheapest(&matrices);
    let mut out = multiplied(&matrices, &splits, 0, matrices.len() - 1)?;
    if column {
        out = out.squeeze(1)?;
    }
    if row && chain.len() > 1 {
        out = out.squeeze(0)?;
    }
    // The product of one matrix is a copy of it.
    if chain.len() == 1 {
        out = super::duplicate(&out)?;
    }
    Ok(out)
}

/// Returns for each part of the chain the position of its last product: the classic table by length.
fn cheapest(chain: &[Raw]) -> Vec<Vec<usize>> {
    let n = chain.len();
    let size = |at: usize| -> f64 {
        let (matrix, dim) = if at == 0 { (0, 0) } else { (at - 1, 1) };
        chain[matrix].shape()[dim] as f64
    };
    let mut cost = vec![vec![0.0_f64; n]; n];
    let mut split = vec![vec![0; n]; n];
    for length in 1..n {
        for from in 0..n - length {
            let to = from + length;
            let of = |at: usize| {
                cost[from][at] + cost[at + 1][to] + size(from) * size(at + 1) * size(to + 1)
            };
            let (mut best, mut least) = (from, of(from));
            for at in from + 1..to {
                if of(at) < least {
                    (best, least) = (at, of(at));
                }
            }
            cost[from][to] = least;
            split[from][to] = best;
        }
    }
    split
}

fn multiplied(chain: &[Raw], split: &[Vec<usize>], from: usize, to: usize) -> Result<Raw> {
    if from == to {
        return Ok(chain[from].clone());
    }
    let at = split[from][to];
    let left = multiplied(chain, split, from, at)?;
    let right = multiplied(chain, split, at + 1, to)?;
    matmul(&left, &right).map_err(|e| e.in_op("multi_dot"))
}

/// Multiplies and sums over pairs of dims; the other dims stay, those of `a` first. A dim of size 1 broadcasts to its
/// partner.
///
/// # Errors
/// If paired sizes or dtypes differ, or memory is missing.
pub fn tensordot(a: &Raw, b: &Raw, pairs: &[(usize, usize)]) -> Result<Raw> {
    let op = Op::Tensordot;
    check_same_kind(op, &[a, b])?;
    let (mut shape_a, mut shape_b) = (Shape::from_slice(a.shape()), Shape::from_slice(b.shape()));
    for &(i, j) in pairs {
        match (shape_a.get(i).copied(), shape_b.get(j).copied()) {
            (Some(1), Some(n)) => shape_a[i] = n,
            (Some(n), Some(1)) => shape_b[j] = n,
            _ => {}
        }
    }
    contract(op, &a.expand(&shape_a)?, &b.expand(&shape_b)?, pairs, &[])
}

/// Computes the cross product of vectors along dim `dim` of the broadcast operands.
///
/// # Errors
/// If sizes do not broadcast, or the dim does not have size 3.
pub fn cross(a: &Raw, b: &Raw, dim: usize) -> Result<Raw> {
    let op = Op::Cross;
    let shape = crate::shape::broadcast(op.name(), &[a.shape(), b.shape()])?;
    let from_end = shape.len() - dim.min(shape.len());
    let three =
        |x: &Raw| from_end > 0 && x.rank() >= from_end && x.shape()[x.rank() - from_end] == 3;
    if !three(a) || !three(b) {
        let what = format!("dim {dim} is not 3 in both");
        return Err(
            refuse(ErrorKind::Shape, op, &[a, b], what).hint("the vectors have three elements")
        );
    }
    let common = super::result_dtype(Op::Mul, &[Arg::Tensor(a), Arg::Tensor(b)])?.result;
    op.row().check_dtype(common)?;
    let (a, b) = (a.expand(&shape)?, b.expand(&shape)?);
    let mut out = Raw::empty(op.name(), &shape, common, a.device())?;
    for i in 0..3 {
        let of = |x: &Raw, at: usize| x.narrow(dim, at % 3, 1);
        let first = times(op, &of(&a, i + 1)?, &of(&b, i + 2)?)?;
        let second = times(op, &of(&a, i + 2)?, &of(&b, i + 1)?)?;
        let pair = [Arg::Tensor(&first), Arg::Tensor(&second)];
        let dest = out.as_mut()?.narrow(dim, i, 1)?;
        if is_wanted([&first, &second]) {
            super::copy_into(dest, &super::pointwise(Op::Sub, &pair)?)?
        } else {
            super::pointwise_into(Op::Sub, dest, &pair)?
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(shape: &[usize]) -> Raw {
        let count: usize = shape.iter().product();
        Raw::from_vec((0..count).map(|i| i as f64).collect(), shape).unwrap()
    }

    #[test]
    fn a_chain_is_multiplied_in_the_cheapest_order() {
        let chain = [range(&[10, 1]), range(&[1, 10]), range(&[10, 1])];
        let splits = cheapest(&chain);
        assert_eq!(splits[0][2], 0, "the last two first");
        let chain = [range(&[1, 10]), range(&[10, 10]), range(&[10, 2])];
        assert_eq!(cheapest(&chain)[0][2], 1, "the first two first");
        let product = multi_dot(&chain.iter().collect::<Vec<_>>()).unwrap();
        let plain = matmul(&matmul(&chain[0], &chain[1]).unwrap(), &chain[2]).unwrap();
        assert_eq!(product.to_vec::<f64>(), plain.to_vec::<f64>());
    }

    #[test]
    fn powers() {
        let x = Raw::from_vec(vec![1_i64, 1, 1, 0], &[2, 2]).unwrap();
        let fibonacci = matrix_power(&x, 10).unwrap();
        assert_eq!(fibonacci.to_vec::<i64>().unwrap(), [89, 55, 55, 34]);
        let one = matrix_power(&x, 0).unwrap();
        assert_eq!(one.to_vec::<i64>().unwrap(), [1, 0, 0, 1]);
        assert!(!matrix_power(&x, 1).unwrap().shares_storage(&x));
        assert_eq!(
            matrix_power(&x, -1).unwrap_err().kind(),
            ErrorKind::Argument
        );
    }

    #[test]
    fn the_first_of_vdot_is_conjugated() {
        use num_complex::Complex;
        let x = Raw::from_vec(
            vec![Complex::new(1.0_f32, 2.0), Complex::new(0.0, 1.0)],
            &[2],
        );
        let x = x.unwrap();
        let got = vdot(&x, &x).unwrap().to_vec::<Complex<f32>>().unwrap();
        assert_eq!(got, [Complex::new(6.0, 0.0)]);
        let kept = x.to_vec::<Complex<f32>>().unwrap();
        assert_eq!(kept[0], Complex::new(1.0, 2.0), "the operand stays");
    }

    #[test]
    fn kron_of_unequal_ranks() {
        let (a, b) = (range(&[2]), range(&[2, 2]));
        let got = kron(&a, &b).unwrap();
        assert_eq!(got.shape(), [2, 4]);
        assert_eq!(
            got.to_vec::<f64>().unwrap(),
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 3.0]
        );
    }
}
