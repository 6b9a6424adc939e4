//! Sparse tensors: coordinates and values.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, MemoryFormat, Names, Promoter, Result, Scalar};

use super::check::same_device;
use super::device::{by_host, sparse_by_host};
use super::{
    Arg, ReduceOptions, cat, check, contiguous, contiguous_in, copy_into, pointwise, reduce,
    to_dtype,
};
use crate::config::default_dtype;
use crate::cpu::sparse as kernels;
use crate::dispatch::with_dtype;
use crate::memory::NoMemory;
use crate::memory::scratch::{collect, room};
use crate::raw::{Raw, RawCoo};
use crate::shape::{Shape, count, product};
use crate::tape::check_dense_unrecorded;

#[cold]
fn refuse(kind: ErrorKind, op: &'static str, shapes: &[&[usize]], what: String) -> Error {
    let error = Error::new(kind, op, what);
    shapes.iter().fold(error, |error, shape| {
        error.operand(&Names::default(), shape)
    })
}

/// Returns the elements of a contiguous tensor on the host.
pub(super) fn elements<'a, T: nomina_core::Element>(
    op: &'static str,
    x: &'a Raw,
) -> Result<&'a [T]> {
    x.as_slice().ok_or_else(|| {
        let what = "the elements are not on the host".to_owned();
        refuse(ErrorKind::Device, op, &[x.shape()], what).hint("move them with `cpu` first")
    })
}

fn keys(op: &'static str, x: &RawCoo) -> Result<Vec<usize>> {
    let indices = elements(op, x.indices())?;
    kernels::keys(indices, x.nnz(), &x.shape()[..x.sparse_dim()]).map_err(missing(op))
}

pub(super) fn missing(op: &'static str) -> impl Fn(NoMemory) -> Error {
    move |error| error.in_op(op)
}

/// Returns the number of elements of a value's block.
fn block(x: &RawCoo) -> usize {
    count(&x.values().shape()[1..])
}

fn block_shape(count: usize, x: &RawCoo) -> Shape {
    let dense = x.values().shape()[1..].iter().copied();
    std::iter::once(count).chain(dense).collect()
}

fn coordinates(op: &'static str, keys: &[usize], sizes: &[usize]) -> Result<Raw> {
    let indices = kernels::coordinates(keys, sizes).map_err(missing(op))?;
    Raw::from_vec(indices, &[sizes.len(), keys.len()])
}

/// Sorts entries in row-major order and sums values at equal coordinates.
///
/// # Errors
/// If memory is missing.
pub fn coalesce(x: &RawCoo) -> Result<RawCoo> {
    if x.is_coalesced() {
        return Ok(x.clone());
    }
    let op = "coalesce";
    if !x.device().is_cpu() {
        return sparse_by_host(op, &[x], &[], |host, _| coalesce(&host[0]));
    }
    let keys = keys(op, x)?;
    if kernels::is_sorted(&keys) {
        return Ok(x.clone().marked(true));
    }
    let order = kernels::sorted(&keys).map_err(missing(op))?;
    let starts = kernels::runs(&order).map_err(missing(op))?;
    let firsts = starts[..starts.len() - 1].iter();
    let places = collect(firsts.map(|&start| order[start].0)).map_err(missing(op))?;
    let mut values = Raw::zeros(op, &block_shape(places.len(), x), x.dtype(), x.device())?;
    with_dtype!(x.dtype(), T => {
        let source = elements::<T>(op, x.values())?;
        kernels::sum_runs(source, block(x), &order, &starts, values.as_mut_slice::<T>()?);
    });
    let indices = coordinates(op, &places, &x.shape()[..x.sparse_dim()])?;
    Ok(RawCoo::from_parts(x.shape().into(), indices, values, true))
}

/// Returns all elements as a dense tensor.
///
/// # Errors
/// If memory is missing.
pub fn to_dense(x: &RawCoo) -> Result<Raw> {
    if !x.device().is_cpu() {
        return sparse_by_host("to_dense", &[x], &[], |host, _| to_dense(&host[0]));
    }
    let zeros = Raw::zeros("to_dense", x.shape(), x.dtype(), x.device())?;
    add_to("to_dense", zeros, &coalesce(x)?)
}

/// Adds a coalesced sparse tensor to a contiguous dense one of its dtype and sizes.
fn add_to(op: &'static str, mut dense: Raw, x: &RawCoo) -> Result<Raw> {
    let keys = keys(op, x)?;
    with_dtype!(x.dtype(), T => {
        let values = elements::<T>(op, x.values())?;
        kernels::add_at(&keys, values, block(x), dense.as_mut_slice::<T>()?);
    });
    Ok(dense)
}

/// Returns the nonzero elements as a sparse tensor with `sparse_dim` leading sparse dims.
///
/// # Errors
/// If the tensor has fewer dims, or memory is missing.
pub fn to_sparse(x: &Raw, sparse_dim: usize) -> Result<RawCoo> {
    let op = "to_sparse";
    check_dense_unrecorded(op, x)?;
    if sparse_dim > x.rank() {
        let what = format!("{sparse_dim} sparse dims of {}", x.rank());
        return Err(refuse(ErrorKind::Rank, op, &[x.shape()], what).hint("use at most all dims"));
    }
    if !x.device().is_cpu() {
        return by_host(op, &[x], |host| to_sparse(&host[0], sparse_dim));
    }
    let x = contiguous(x)?;
    let zero = Arg::Scalar(Scalar::Int(0));
    let mut mask = pointwise(Op::Ne, &[Arg::Tensor(&x), zero])?;
    if sparse_dim < x.rank() {
        let dense: Vec<usize> = (sparse_dim..x.rank()).collect();
        mask = reduce(Op::Any, &mask, &dense, false, ReduceOptions::default())?;
    }
    let mask = contiguous(&mask)?;
    let places = kernels::positions(elements::<bool>(op, &mask)?).map_err(missing(op))?;
    let (sparse, dense) = x.shape().split_at(sparse_dim);
    let shape: Shape = std::iter::once(places.len())
        .chain(dense.iter().copied())
        .collect();
    let mut values = Raw::zeros(op, &shape, x.dtype(), x.device())?;
    gather(op, &places, &x, count(dense), &mut values)?;
    let indices = coordinates(op, &places, sparse)?;
    Ok(RawCoo::from_parts(x.shape().into(), indices, values, true))
}

fn gather(op: &'static str, places: &[usize], x: &Raw, block: usize, out: &mut Raw) -> Result<()> {
    with_dtype!(x.dtype(), T => {
        kernels::gather(places, elements::<T>(op, x)?, block, out.as_mut_slice::<T>()?);
    });
    Ok(())
}

/// Returns the elements of a dense tensor at the coordinates of a sparse one.
///
/// # Errors
/// If sizes differ, or memory is missing.
pub fn sparse_mask(x: &Raw, mask: &RawCoo) -> Result<RawCoo> {
    let op = "sparse_mask";
    check_dense_unrecorded(op, x)?;
    same_shape(op, x.shape(), mask.shape())?;
    same_device(op, &[x, mask.values()])?;
    if !x.device().is_cpu() {
        return sparse_by_host(op, &[mask], &[x], |mask, x| sparse_mask(&x[0], &mask[0]));
    }
    let mask = coalesce(mask)?;
    let places = keys(op, &mask)?;
    let mut values = Raw::zeros(op, mask.values().shape(), x.dtype(), x.device())?;
    gather(op, &places, &contiguous(x)?, block(&mask), &mut values)?;
    Ok(mask.with_values(values))
}

fn same_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    if a == b {
        return Ok(());
    }
    let what = "the sizes differ, and sparse tensors do not broadcast".to_owned();
    Err(refuse(ErrorKind::Shape, op, &[a, b], what)
        .hint("make the sizes equal, or call `to_dense()` first"))
}

fn common(op: Op, a: DType, b: DType, rank: usize, number: Option<Scalar>) -> Result<DType> {
    let mut promoter = Promoter::new(default_dtype());
    promoter.tensor(a, rank);
    promoter.tensor(b, rank);
    let dtype = promoter.result();
    op.row().check_dtype(dtype)?;
    // The factor of the second operand must not raise the result's category.
    match number {
        Some(number) if number.category() > dtype.category() => {
            let what = format!("alpha {number} for tensors of {dtype}");
            Err(Error::new(ErrorKind::DType, op.name(), what).hint("convert the tensors first"))
        }
        _ => Ok(dtype),
    }
}

fn scaled(values: &Raw, alpha: Option<Scalar>, dtype: DType) -> Result<Raw> {
    let values = to_dtype(values, dtype)?;
    match alpha {
        None => Ok(values),
        Some(alpha) => pointwise(Op::Mul, &[Arg::Tensor(&values), Arg::Scalar(alpha)]),
    }
}

/// Adds `alpha` times `b` to `a`; both are sparse. The sum of coalesced operands is coalesced.
///
/// # Errors
/// If sizes or the numbers of sparse dims differ, or memory is missing.
pub fn add(op: Op, a: &RawCoo, b: &RawCoo, alpha: Option<Scalar>) -> Result<RawCoo> {
    let name = op.name();
    same_shape(name, a.shape(), b.shape())?;
    if a.sparse_dim() != b.sparse_dim() {
        let what = format!("{} and {} dims are sparse", a.sparse_dim(), b.sparse_dim());
        return Err(
            refuse(ErrorKind::Layout, name, &[a.shape(), b.shape()], what)
                .hint("make equally many dims sparse, or call `to_dense()`"),
        );
    }
    same_device(name, &[a.values(), b.values()])?;
    let dtype = common(op, a.dtype(), b.dtype(), a.rank(), alpha)?;
    let values = [
        to_dtype(a.values(), dtype)?,
        scaled(b.values(), alpha, dtype)?,
    ];
    let indices = cat(&[a.indices(), b.indices()], 1)?;
    let values = cat(&[&values[0], &values[1]], 0)?;
    let sum = RawCoo::from_parts(a.shape().into(), indices, contiguous(&values)?, false);
    if a.is_coalesced() && b.is_coalesced() {
        return coalesce(&sum);
    }
    Ok(sum)
}

/// Adds `alpha` times a sparse tensor to a dense one of equal sizes.
///
/// # Errors
/// If sizes differ, or memory is missing.
pub fn add_dense(op: Op, dense: &Raw, b: &RawCoo, alpha: Option<Scalar>) -> Result<Raw> {
    check_dense_unrecorded(op.name(), dense)?;
    same_shape(op.name(), dense.shape(), b.shape())?;
    same_device(op.name(), &[dense, b.values()])?;
    let dtype = common(op, dense.dtype(), b.dtype(), b.rank(), alpha)?;
    if !dense.device().is_cpu() {
        return sparse_by_host("sparse_add", &[b], &[dense], |b, dense| {
            add_dense(op, &dense[0], &b[0], alpha)
        });
    }
    let b = coalesce(&b.with_values(scaled(b.values(), alpha, dtype)?))?;
    let mut out = Raw::empty(op.name(), dense.shape(), dtype, dense.device())?;
    copy_into(out.as_mut()?, dense)?;
    add_to(op.name(), out, &b)
}

/// Multiplies two sparse tensors entry by entry. The result is zero where one of them is.
///
/// # Errors
/// If sizes or the numbers of sparse dims differ, or memory is missing.
pub fn mul(a: &RawCoo, b: &RawCoo) -> Result<RawCoo> {
    let op = "mul";
    same_shape(op, a.shape(), b.shape())?;
    if a.sparse_dim() != b.sparse_dim() {
        let what = format!("{} and {} dims are sparse", a.sparse_dim(), b.sparse_dim());
        return Err(refuse(ErrorKind::Layout, op, &[a.shape(), b.shape()], what)
            .hint("make equally many dims sparse, or call `to_dense()`"));
    }
    same_device(op, &[a.values(), b.values()])?;
    if !a.device().is_cpu() {
        return sparse_by_host("sparse_mul", &[a, b], &[], |both, _| {
            mul(&both[0], &both[1])
        });
    }
    let (a, b) = (coalesce(a)?, coalesce(b)?);
    let places = keys(op, &a)?;
    let both = kernels::common(&places, &keys(op, &b)?);
    let (left, right) = both.map_err(missing(op))?;
    let mut parts = [(&a, &left), (&b, &right)].map(|(x, which)| {
        let shape = block_shape(which.len(), x);
        let mut out = Raw::zeros(op, &shape, x.dtype(), x.device())?;
        gather(op, which, x.values(), block(x), &mut out)?;
        Ok(out)
    });
    let [left_values, right_values] = &mut parts;
    let values = match (left_values, right_values) {
        (Ok(left), Ok(right)) => pointwise(Op::Mul, &[Arg::Tensor(left), Arg::Tensor(right)])?,
        (Err(error), _) | (_, Err(error)) => return Err(Error::clone(error)),
    };
    let kept = collect(left.iter().map(|&at| places[at])).map_err(missing(op))?;
    let indices = coordinates(op, &kept, &a.shape()[..a.sparse_dim()])?;
    Ok(RawCoo::from_parts(a.shape().into(), indices, values, true))
}

/// Multiplies by a dense tensor of equal sizes entry by entry.
///
/// # Errors
/// If sizes differ, or memory is missing.
pub fn mul_dense(a: &RawCoo, dense: &Raw) -> Result<RawCoo> {
    same_shape("mul", a.shape(), dense.shape())?;
    let there = sparse_mask(dense, a)?;
    mul(a, &there)
}

/// Applies an elementwise operator that maps zero to zero to the values; `rest` are numbers.
///
/// # Errors
/// If the operator does not take the dtype, or memory is missing.
pub fn map(op: Op, x: &RawCoo, rest: &[Scalar]) -> Result<RawCoo> {
    // A linear operator may be applied before duplicate coordinates are summed.
    let linear = matches!(op, Op::Mul | Op::Div | Op::Neg);
    let x = if linear { x.clone() } else { coalesce(x)? };
    let mut args: Vec<Arg<'_>> = vec![Arg::Tensor(x.values())];
    args.extend(rest.iter().map(|&number| Arg::Scalar(number)));
    let values = pointwise(op, &args)?;
    Ok(x.with_values(contiguous(&values)?))
}

/// Converts the values to another dtype.
///
/// # Errors
/// If memory is missing.
pub fn sparse_to_dtype(x: &RawCoo, dtype: DType) -> Result<RawCoo> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    // Duplicates are summed first: twice 0.5 is 1, but as integers 0.
    let x = coalesce(x)?;
    Ok(x.with_values(contiguous(&to_dtype(x.values(), dtype)?)?))
}

/// Permutes the sparse dims among each other, and the dense dims.
///
/// # Errors
/// [`ErrorKind::Layout`] if a sparse dim and a dense one change places.
pub fn sparse_permute(op: &'static str, x: &RawCoo, order: &[usize]) -> Result<RawCoo> {
    let sparse = x.sparse_dim();
    check::dims(op, x.shape(), order)?;
    if order.len() != x.rank() {
        let what = format!("{order:?} does not list every dim once");
        return Err(refuse(ErrorKind::Rank, op, &[x.shape()], what).hint("list all dims"));
    }
    if order[..sparse].iter().any(|&dim| dim >= sparse) {
        let what = "a sparse and a dense dim cannot change places".to_owned();
        return Err(refuse(ErrorKind::Layout, op, &[x.shape()], what)
            .hint("swap two sparse or two dense dims, or call `to_dense()` first"));
    }
    let same = order[..sparse].iter().enumerate().all(|(i, &dim)| i == dim);
    if !x.device().is_cpu() {
        return sparse_by_host("sparse_permute", &[x], &[], |host, _| {
            sparse_permute(op, &host[0], order)
        });
    }
    let rows = elements::<i64>(op, x.indices())?;
    let mut indices = room([rows.len()]).map_err(missing(op))?;
    for &dim in &order[..sparse] {
        indices.extend_from_slice(&rows[product([dim, x.nnz()])..][..x.nnz()]);
    }
    let blocks = order[sparse..].iter().map(|dim| dim - sparse + 1);
    let blocks: Vec<usize> = std::iter::once(0).chain(blocks).collect();
    let values = contiguous(&x.values().permute(&blocks)?)?;
    let shape = order.iter().map(|&dim| x.shape()[dim]).collect();
    let indices = Raw::from_vec(indices, &[sparse, x.nnz()])?;
    Ok(RawCoo::from_parts(
        shape,
        indices,
        values,
        x.is_coalesced() && same,
    ))
}

/// Multiplies a sparse matrix by a dense matrix or vector. The result is dense.
///
/// # Errors
/// If `a` is not a matrix or has dense dims, inner sizes or dtypes differ, or memory is missing.
pub fn sparse_product(op: &'static str, a: &RawCoo, b: &Raw) -> Result<Raw> {
    check_dense_unrecorded(op, b)?;
    let both = [a.shape(), b.shape()];
    if a.rank() != 2 || a.dense_dim() > 0 || !matches!(b.rank(), 1 | 2) {
        let what = format!(
            "takes a matrix with 2 sparse dims and a matrix or a vector, not {} sparse and {} dense dims and {} dims",
            a.sparse_dim(),
            a.dense_dim(),
            b.rank()
        );
        return Err(refuse(ErrorKind::Rank, op, &both, what).hint("or call `to_dense()` first"));
    }
    let inner = (a.shape()[1], b.shape()[0]);
    if inner.0 != inner.1 {
        let what = format!("the inner sizes {} and {} differ", inner.0, inner.1);
        return Err(refuse(ErrorKind::Shape, op, &both, what)
            .hint("columns on the left must equal rows on the right"));
    }
    if a.dtype() != b.dtype() {
        let what = format!("dtypes {} and {} differ", a.dtype(), b.dtype());
        return Err(refuse(ErrorKind::DType, op, &both, what).hint("convert one with `to`"));
    }
    if a.dtype() == DType::Bool {
        let what = "bool has no products".to_owned();
        return Err(refuse(ErrorKind::DType, op, &both, what).hint("convert with `to` first"));
    }
    same_device(op, &[a.values(), b])?;
    if !b.device().is_cpu() {
        return sparse_by_host("sparse_product", &[a], &[b], |a, b| {
            sparse_product(op, &a[0], &b[0])
        });
    }
    let a = coalesce(a)?;
    let b = contiguous_in(b, MemoryFormat::Contiguous)?;
    let columns = b.shape().get(1).copied().unwrap_or(1);
    let shape: Shape = std::iter::once(a.shape()[0])
        .chain(b.shape()[1..].iter().copied())
        .collect();
    let mut out = Raw::zeros(op, &shape, a.dtype(), a.device())?;
    let indices = elements::<i64>(op, a.indices())?;
    let (rows, places) = indices.split_at(a.nnz());
    let starts = kernels::row_starts(rows, a.shape()[0]).map_err(missing(op))?;
    with_dtype!(a.dtype(), T => {
        let rows = kernels::SparseRows {
            starts: &starts,
            columns: places,
            values: elements::<T>(op, a.values())?,
        };
        kernels::product(&rows, elements::<T>(op, &b)?, columns, out.as_mut_slice::<T>()?)
            .map_err(missing(op))?;
    });
    Ok(out)
}
