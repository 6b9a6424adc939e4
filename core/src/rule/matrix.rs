//! Rows and columns by name.

use alloc::format;

use super::Positions;
use super::arg::DimArg;
use super::contract::Pairs;
use super::item::distinct;
use super::lookup::find;
use super::remove::{remove, unsqueeze};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the positions of the rows and the columns of matrices; all other dims are batch dims.
///
/// # Errors
/// If a dim does not exist, and [`ErrorKind::Argument`] if there are not two dims.
pub fn matrix(op: &'static str, names: &Names, dims: &DimArg<'_>) -> Result<[usize; 2]> {
    match dims.listed(op, names)?[..] {
        [rows, columns] => Ok([rows, columns]),
        ref dims => {
            let what = format!("{} dims are not rows and columns", dims.len());
            Err(Error::new(ErrorKind::Argument, op, what)
                .operand(names, &[])
                .hint(format!("name two: `x.{op}((Row, Col))`")))
        }
    }
}

/// Returns the names of the factors of matrices, with a new dim `rank` between them: batch, rows, rank; batch, rank;
/// batch, rank, columns.
///
/// # Errors
/// If the tensor has the new dim already.
pub fn factors(
    op: &'static str,
    names: &Names,
    [rows, columns]: [usize; 2],
    rank: Option<&str>,
) -> Result<[Names; 3]> {
    let (_, joined) = unsqueeze(op, names, -1, rank)?;
    let batch = remove(names, &[rows, columns]);
    let with = |dims: [Option<usize>; 2]| {
        let dims = dims.into_iter().flatten().map(|dim| joined[dim].clone());
        batch.iter().cloned().chain(dims).collect()
    };
    let rank = names.len();
    Ok([
        with([Some(rows), Some(rank)]),
        with([Some(rank), None]),
        with([Some(rank), Some(columns)]),
    ])
}

/// The plan of solving matrices for a right side by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solving {
    /// The positions of rows and columns in the matrices.
    pub matrix: [usize; 2],
    /// The position of the rows in the right side.
    pub rows: usize,
    /// Batch dims that both have.
    pub batch: Pairs,
    /// The names of the result: the matrices' batch dims that the right side lacks, then the right side's with the rows
    /// replaced by the columns.
    pub names: Names,
}

/// Plans solving matrices `a` for the right side `b`, which has their rows; other names that both have are batch dims.
///
/// ```
/// use nomina_core::{Names, rule};
/// let a = Names::from_static(&[Some("N"), Some("Row"), Some("Col")]);
/// let b = Names::from_static(&[Some("Row"), Some("K")]);
/// let plan = rule::solve("solve", &a, &b, &["Row", "Col"].into())?;
/// assert_eq!(plan.names, Names::from_static(&[Some("N"), Some("Col"), Some("K")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::UnnamedDim`] if a dim of an operand is unnamed, [`ErrorKind::NameNotFound`] if an operand lacks a dim,
/// [`ErrorKind::DuplicateNames`] if the right side has the columns already.
pub fn solve(op: &'static str, a: &Names, b: &Names, dims: &DimArg<'_>) -> Result<Solving> {
    super::contract::all_named(op, a, b)?;
    let matrix = matrix(op, a, dims).map_err(|e| e.operand(b, &[]))?;
    let [row, column] = matrix.map(|dim| a[dim].as_ref());
    let (Some(row), Some(column)) = (row, column) else {
        unreachable!("every dim has a name")
    };
    let rows = super::lookup::position(op, b, row.as_str().into())?;
    let place = |dim: usize| a[dim].as_ref().and_then(|name| find(b, name.as_str()));
    let outer: Positions = (0..a.len()).filter(|dim| !matrix.contains(dim)).collect();
    let batch = outer.iter().filter_map(|&dim| Some((dim, place(dim)?)));
    let lead = outer.iter().filter(|&&dim| place(dim).is_none());
    let lead = lead.map(|&dim| a[dim].clone());
    let own = b.iter().enumerate().map(|(dim, name)| {
        if dim == rows {
            Some(column.clone())
        } else {
            name.clone()
        }
    });
    Ok(Solving {
        matrix,
        rows,
        batch: batch.collect(),
        names: distinct(op, lead.chain(own).collect())?,
    })
}
