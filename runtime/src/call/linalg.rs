//! Linear algebra: matrices along two dims; all other dims are batch dims.

use nomina_core::op::class::Linalg;
use nomina_core::rule::{Pairs, Positions};
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::check;
use super::check::same_device;
use super::device::by_host;
use crate::Device;
use crate::cpu::linalg::{BatchResult, Failure, MatrixJob, execute};
use crate::cpu::parallel::Shared;
use crate::raw::Raw;
use crate::shape::{Shape, count};
use crate::tape::record_linalg;

pub use crate::cpu::linalg::{MatrixNorm, MatrixOptions};

/// A result for each matrix: rows, columns and dtype. Its dims follow those of the batch.
enum Out {
    /// A number.
    Number(DType),
    /// One value for each singular value or eigenvalue.
    Values(DType),
    Matrix(usize, usize, DType),
    /// A matrix whose rows are contiguous in memory.
    ByRow(usize, usize, DType),
}

/// Returns the results of an operator for matrices of these sizes; `columns` are those of the right side.
fn results(op: Linalg, [m, n]: [usize; 2], columns: usize, dtype: DType) -> Vec<Out> {
    use Out::{ByRow, Matrix, Number, Values};
    let (rank, real) = (m.min(n), dtype.to_real());
    let complex = match real {
        DType::F32 => DType::C64,
        _ => DType::C128,
    };
    match op {
        Linalg::Inv | Linalg::Pinv => vec![Matrix(n, m, dtype)],
        Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq => {
            vec![Matrix(n, columns, dtype)]
        }
        Linalg::Det => vec![Number(dtype)],
        Linalg::Slogdet => vec![Number(dtype), Number(real)],
        Linalg::MatrixRank => vec![Number(DType::I64)],
        Linalg::MatrixNorm => vec![Number(real)],
        Linalg::Cholesky => vec![Matrix(n, n, dtype)],
        Linalg::Qr => vec![Matrix(m, rank, dtype), Matrix(rank, n, dtype)],
        Linalg::Svd => vec![Matrix(m, rank, dtype), Values(real), ByRow(rank, n, dtype)],
        Linalg::Svdvals | Linalg::Eigvalsh => vec![Values(real)],
        Linalg::Eigh => vec![Values(real), Matrix(n, n, dtype)],
        Linalg::Eig => vec![Values(complex), Matrix(n, n, complex)],
    }
}

/// Whether an operator solves for a right side.
fn has_right_side(op: Linalg) -> bool {
    matches!(op, Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq)
}

/// Whether an operator takes only square matrices.
fn is_square(op: Linalg) -> bool {
    match op {
        Linalg::Inv
        | Linalg::Solve
        | Linalg::SolveTriangular
        | Linalg::Det
        | Linalg::Slogdet
        | Linalg::Cholesky
        | Linalg::Eigh
        | Linalg::Eigvalsh
        | Linalg::Eig => true,
        Linalg::Pinv
        | Linalg::Lstsq
        | Linalg::MatrixRank
        | Linalg::MatrixNorm
        | Linalg::Qr
        | Linalg::Svd
        | Linalg::Svdvals => false,
    }
}

fn refuse(kind: ErrorKind, op: Linalg, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.op().name(), what).operand(&Names::default(), x.shape())
}

/// Checks the dtype and the sizes.
fn accept(op: Linalg, x: &Raw, at: [usize; 2], options: &MatrixOptions) -> Result<()> {
    let row = op.op().row();
    check::dims(row.name, x.shape(), &at)?;
    let refused = |error: Error| error.operand(&Names::default(), x.shape());
    row.check_dtype(x.dtype()).map_err(refused)?;
    let sizes = at.map(|dim| x.shape()[dim]);
    if is_square(op) && sizes[0] != sizes[1] {
        let what = format!("{} rows and {} columns are not square", sizes[0], sizes[1]);
        return Err(refuse(ErrorKind::Shape, op, x, what)
            .hint("`pinv`, `lstsq` and `svd` take any number of rows and columns"));
    }
    let bounds = matches!(op, Linalg::MatrixNorm)
        && !matches!(options.norm, MatrixNorm::Fro | MatrixNorm::Nuc);
    if bounds && sizes.contains(&0) {
        let what = "an empty matrix has no greatest element";
        return Err(refuse(ErrorKind::Shape, op, x, what).hint("`fro` and `nuc` are 0"));
    }
    Ok(())
}

/// Moves rows and columns behind the batch dims.
fn behind(x: &Raw, at: &[usize]) -> Result<(Raw, Positions)> {
    let outer = (0..x.rank()).filter(|dim| !at.contains(dim));
    let order: Positions = outer.chain(at.iter().copied()).collect();
    Ok((x.permute(&order)?, order))
}

/// Applies an operator to the matrices along two dims, rows and columns. Results have the batch dims first, then their
/// own dims; a single matrix with the operand's dims has them at the operand's positions.
///
/// # Errors
/// If the operator does not take the dtype or sizes, a matrix has no result, or memory is missing.
pub fn matrices(op: Linalg, x: &Raw, at: [usize; 2], options: MatrixOptions) -> Result<Vec<Raw>> {
    if has_right_side(op) {
        return Err(check::wrong_entry(op.op(), "matrices"));
    }
    accept(op, x, at, &options)?;
    if !x.device().is_cpu() {
        return by_host("linalg", &[x], |host| matrices(op, &host[0], at, options));
    }
    let (a, order) = behind(x, &at)?;
    let mut made =
        compute(op, &a, None, options).map_err(|failed| matrix_error(op, x, &a, failed))?;
    record_linalg(op, &mut made, (&a, None), options)?;
    if matches!(op, Linalg::Inv | Linalg::Pinv | Linalg::Cholesky) {
        let mut back = Positions::from_elem(0, order.len());
        (0..order.len()).for_each(|dim| back[order[dim]] = dim);
        for made in &mut made {
            *made = made.permute(&back)?;
        }
    }
    Ok(made)
}

/// Solves for `b`, whose dim `rows` are the rows of `a`; `batch` are pairs of shared dims. The result has the batch
/// dims that only `a` has, then the dims of `b`, with the columns of `a` in the place of the rows.
///
/// # Errors
/// Like [`matrices`]; also if operands differ in dtype, device or the sizes of shared dims.
pub fn solve(
    op: Linalg,
    a: &Raw,
    at: [usize; 2],
    (b, rows): (&Raw, usize),
    batch: &[(usize, usize)],
    options: MatrixOptions,
) -> Result<Raw> {
    if !has_right_side(op) {
        return Err(check::wrong_entry(op.op(), "solve"));
    }
    accept(op, a, at, &options)?;
    check::check_same_kind(op.op(), &[a, b])?;
    let meets: Pairs = batch.iter().copied().chain([(at[0], rows)]).collect();
    let (of_a, of_b): (Positions, Positions) = meets.iter().copied().unzip();
    let of_a: Positions = of_a.into_iter().chain([at[1]]).collect();
    check::dims(op.op().name(), a.shape(), &of_a)?;
    check::dims(op.op().name(), b.shape(), &of_b)?;
    for &(i, j) in &meets {
        if a.shape()[i] != b.shape()[j] {
            let dims = [(0, i), (1, j)];
            return Err(check::unequal_sizes(op.op(), &[a, b], dims)
                .hint("a shared dim has one size in both operands"));
        }
    }
    same_device(op.op().name(), &[a, b])?;
    if !a.device().is_cpu() {
        return by_host("linalg", &[a, b], |host| {
            solve(op, &host[0], at, (&host[1], rows), batch, options)
        });
    }
    let shared = |dim: usize| batch.iter().any(|&(i, _)| i == dim);
    let outer = (0..a.rank()).filter(|dim| !at.contains(dim));
    let lead: Positions = outer.filter(|&dim| !shared(dim)).collect();
    let order = lead.iter().copied().chain(batch.iter().map(|&(i, _)| i));
    let order: Positions = order.chain(at).collect();
    let matrix = a.permute(&order)?;
    // All dims that only the right side has are columns.
    let met = |dim: usize| meets.iter().any(|&(_, j)| j == dim);
    let columns: Positions = (0..b.rank()).filter(|&dim| !met(dim)).collect();
    let order = meets.iter().map(|&(_, j)| j);
    let order: Positions = order.chain(columns.iter().copied()).collect();
    let own: Shape = columns.iter().map(|&dim| b.shape()[dim]).collect();
    let mut shape: Shape = order[..meets.len()]
        .iter()
        .map(|&dim| b.shape()[dim])
        .collect();
    shape.push(count(&own));
    let mut right = b.permute(&order)?.reshape(&shape)?;
    let mut full: Shape = lead.iter().map(|&dim| a.shape()[dim]).collect();
    full.extend_from_slice(&shape);
    for _ in &lead {
        right = right.unsqueeze(0)?;
    }
    let right = right.expand(&full)?;
    let mut made = compute(op, &matrix, Some(&right), options)
        .map_err(|failed| matrix_error(op, a, &matrix, failed))?;
    record_linalg(op, &mut made, (&matrix, Some(&right)), options)?;
    let [made] = &made[..] else {
        unreachable!("a solution is one tensor")
    };
    let outer = lead.len() + batch.len();
    let mut shape: Shape = made.shape()[..=outer].into();
    shape.extend_from_slice(&own);
    let place = |dim: usize| match meets.iter().position(|&(_, j)| j == dim) {
        Some(meet) => lead.len() + meet,
        None => outer + 1 + columns.iter().filter(|&&column| column < dim).count(),
    };
    let order: Positions = (0..lead.len()).chain((0..b.rank()).map(place)).collect();
    made.reshape(&shape)?.permute(&order)
}

/// Returns the exponents of the powers of two by which matrices, which are the last dims, are divided before the
/// operator's gradient is computed; `None` if no matrix needs scaling.
///
/// # Errors
/// If memory is missing.
pub(crate) fn exponents(op: Linalg, a: &Raw) -> Result<Option<Vec<i64>>> {
    if a.numel() == 0 || !a.device().is_cpu() {
        return Ok(None);
    }
    // SAFETY: an operand on the host, of a dtype that the operator takes.
    let found = unsafe { crate::cpu::linalg::exponents(op, a) };
    found.map_err(|missing| missing.in_op(op.op().name()))
}

type Failed = (usize, Failure);

/// Computes the results of matrices in the last dims.
fn compute(
    op: Linalg,
    a: &Raw,
    b: Option<&Raw>,
    options: MatrixOptions,
) -> Result<Vec<Raw>, Result<Failed, Error>> {
    let (outer, name) = (a.rank() - 2, op.op().name());
    let matrix = [a.shape()[outer], a.shape()[outer + 1]];
    let columns = b.map_or(0, |b| b.shape()[outer + 1]);
    let mut made = Vec::new();
    let mut targets = Vec::new();
    for out in results(op, matrix, columns, a.dtype()) {
        let mut shape: Shape = a.shape()[..outer].into();
        let (rows, columns, dtype) = match out {
            Out::Number(dtype) => (1, 1, dtype),
            Out::Values(dtype) => {
                shape.push(matrix[0].min(matrix[1]));
                (matrix[0].min(matrix[1]), 1, dtype)
            }
            // Columns are contiguous in memory.
            Out::Matrix(rows, columns, dtype) => {
                shape.extend_from_slice(&[columns, rows]);
                (rows, columns, dtype)
            }
            Out::ByRow(rows, columns, dtype) => {
                shape.extend_from_slice(&[rows, columns]);
                (columns, rows, dtype)
            }
        };
        let mut raw = Raw::zeros(name, &shape, dtype, Device::Cpu).map_err(Err)?;
        targets.push(BatchResult {
            ptr: Shared(raw.fresh_ptr()),
            rows,
            columns,
            dtype,
        });
        made.push(match out {
            Out::Matrix(..) => raw.transpose(outer, outer + 1).map_err(Err)?,
            _ => raw,
        });
    }
    let job = MatrixJob {
        op,
        a,
        b,
        out: &targets,
        options,
    };
    // SAFETY: operands on the host of one dtype that the operator takes; the results are fresh and of the sizes that
    // the operator writes.
    unsafe { execute(&job) }.map_err(Ok)?;
    Ok(made)
}

/// Returns the error of a matrix without result; `a` is `x` with the batch dims first.
#[cold]
fn matrix_error(op: Linalg, x: &Raw, a: &Raw, failed: Result<Failed, Error>) -> Error {
    let (mut i, failure) = match failed {
        Ok(failed) => failed,
        Err(error) => return error,
    };
    let batch = &a.shape()[..a.rank() - 2];
    let mut index: Vec<usize> = batch
        .iter()
        .rev()
        .map(|&size| {
            let at = i % size;
            i /= size;
            at
        })
        .collect();
    index.reverse();
    let which = match &index[..] {
        [] => "the matrix".to_owned(),
        index => format!("the matrix at {index:?} of the batch"),
    };
    let (what, hint) = match failure {
        Failure::Memory(missing) => return missing.in_op(op.op().name()),
        Failure::Singular(at) => (
            format!("{which} is singular: pivot {at} is zero"),
            "`pinv` and `lstsq` take singular matrices too",
        ),
        Failure::NotPositive(order) => (
            format!(
                "{which} is not positive definite: its leading minor of order {order} is not positive"
            ),
            "`eigh` takes every symmetric or Hermitian matrix",
        ),
        Failure::NotFinite => (
            format!("{which} has an element that is NaN or infinite"),
            "`isfinite` finds it",
        ),
        Failure::NoConvergence => (
            format!("the iteration on {which} did not converge"),
            if x.dtype().to_real() == DType::F64 {
                "scale rows or columns whose elements differ much in magnitude"
            } else {
                "use a more precise dtype: `x.to::<f64>()`"
            },
        ),
    };
    refuse(ErrorKind::Matrix, op, x, what).hint(hint)
}
