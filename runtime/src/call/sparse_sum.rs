//! Sums of sparse tensors.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::device::{HostResult, sparse_by_host};
use super::sparse::{elements, missing};
use super::{ReduceOptions, check, contiguous, reduce, to_dtype};
use crate::Device;
use crate::config::default_dtype;
use crate::memory::scratch::room;
use crate::raw::{Raw, RawCoo};
use crate::shape::Shape;

/// A sum of a sparse tensor, which is dense if no sparse dim is left.
// Values are short-lived and one at a time; a box would cost an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum SparseSum {
    /// Some sparse dims are left.
    Sparse(RawCoo),
    /// No sparse dim is left.
    Dense(Raw),
}

impl HostResult for SparseSum {
    fn moved(self, device: Device) -> Result<Self> {
        Ok(match self {
            Self::Sparse(x) => Self::Sparse(x.moved(device)?),
            Self::Dense(x) => Self::Dense(x.moved(device)?),
        })
    }
}

/// Sums over dims. Sparse dims are removed from the coordinates, dense dims from the values.
///
/// # Errors
/// If dims are out of range or repeated, or memory is missing.
pub fn sparse_sum(
    x: &RawCoo,
    dims: &[usize],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<SparseSum> {
    check::dims("sum", x.shape(), dims)?;
    let sparse = x.sparse_dim();
    let options = ReduceOptions {
        dtype,
        ..ReduceOptions::default()
    };
    let mut over: Vec<usize> = dims
        .iter()
        .filter(|&&dim| dim >= sparse)
        .map(|dim| dim - sparse + 1)
        .collect();
    let left: Vec<usize> = (0..sparse).filter(|dim| !dims.contains(dim)).collect();
    if left.is_empty() && !keepdim {
        over.push(0);
        // Blocks that are summed to one lose their own dim as well.
        return reduce(Op::Sum, x.values(), &over, false, options).map(SparseSum::Dense);
    }
    // A sum over no dims only converts the dtype.
    let values = if over.is_empty() {
        let wanted = Op::Sum
            .row()
            .dtype
            .resolve(x.dtype(), default_dtype())
            .result;
        to_dtype(x.values(), dtype.unwrap_or(wanted))?
    } else {
        contiguous(&reduce(Op::Sum, x.values(), &over, keepdim, options)?)?
    };
    if !x.device().is_cpu() {
        return sparse_by_host("sparse_sum", &[x], &[], |host, _| {
            sparse_sum(&host[0], dims, keepdim, dtype)
        });
    }
    let rows = elements::<i64>("sum", x.indices())?;
    let mut indices = room([rows.len()]).map_err(missing("sum"))?;
    for (dim, row) in rows.chunks_exact(x.nnz().max(1)).enumerate() {
        if left.contains(&dim) {
            indices.extend_from_slice(row);
        } else if keepdim {
            indices.extend(std::iter::repeat_n(0, row.len()));
        }
    }
    let kept = |dim: usize| !dims.contains(&dim);
    let shape: Shape = (0..x.rank())
        .filter(|&dim| kept(dim) || keepdim)
        .map(|dim| if kept(dim) { x.shape()[dim] } else { 1 })
        .collect();
    let count = shape.len() + 1 - values.rank();
    let indices = Raw::from_vec(indices, &[count, x.nnz()])?;
    let coalesced = x.is_coalesced() && left.len() == sparse;
    Ok(SparseSum::Sparse(RawCoo::from_parts(
        shape, indices, values, coalesced,
    )))
}
