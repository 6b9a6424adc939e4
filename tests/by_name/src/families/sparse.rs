//! Sparse tensors: constructors, queries, and conversion to dense ones.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::value;
use crate::bind::Bound;
use crate::generated::Sparse;
use crate::read::names;
use crate::read::sizes;
use crate::value::{Value, wrong};
use crate::{Form, data};
use nomina_runtime::tensor::{DynSparse, DynTensor};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Sparse, op: Op, form: Form, args: Bound) -> Result<Value> {
    value(op, form, &args, |a| match which {
        Sparse::SparseCooTensor => build(a).map(Value::Sparse),
        Sparse::Coalesce => sparse(op, a)?.coalesce().map(Value::Sparse),
        Sparse::IsCoalesced => Ok(sparse(op, a)?.is_coalesced().into()),
        Sparse::Indices => sparse(op, a)?.indices().map(Value::Tensor),
        Sparse::Values => sparse(op, a)?.values().map(Value::Tensor),
        Sparse::Nnz => Ok(Value::Int(sparse(op, a)?.nnz() as i64)),
        Sparse::SparseDim => Ok(Value::Int(sparse(op, a)?.sparse_dim() as i64)),
        Sparse::DenseDim => Ok(Value::Int(sparse(op, a)?.dense_dim() as i64)),
        Sparse::ToDense => to_dense(a).map(Value::Tensor),
        Sparse::ToSparse => to_sparse(a).map(Value::Sparse),
        Sparse::SparseMask => {
            let mask = a.sparse("mask")?;
            a.tensor("self")?.sparse_mask(mask).map(Value::Sparse)
        }
    })
}

/// Returns `self`, which must be sparse.
fn sparse(op: Op, args: &Bound) -> Result<&DynSparse> {
    if let Some(Value::Tensor(x)) = args.get("self") {
        let error = Error::new(ErrorKind::Layout, op.name(), "the operand is dense");
        return Err(error
            .operand(x.names(), x.shape())
            .hint("call `to_sparse()` first"));
    }
    args.sparse("self")
}

fn build(args: &Bound) -> Result<DynSparse> {
    let op = "sparse_coo_tensor";
    let mut indices = numbers(args, "indices")?;
    if indices.numel() == 0 {
        // An empty list has no numbers to infer a dtype from.
        indices = indices.to_dtype(DType::I64)?;
    }
    let mut values = numbers(args, "values")?;
    if let Some(dtype) = args.dtype()? {
        values = values.to_dtype(dtype)?;
    }
    let device = args.device("device")?.unwrap_or(values.device());
    let (indices, values) = (indices.to_device(device)?, values.to_device(device)?);
    let names = names(args)?;
    let x = match args.given("size") {
        None => match &names {
            Some(names) => DynSparse::from_coo_inferred(&indices, &values, &names[..])?,
            None => DynSparse::from_coo_inferred(&indices, &values, ())?,
        },
        Some(_) => {
            let size = sizes(op, &args.sizes("size")?)?;
            match &names {
                Some(names) => DynSparse::from_coo(&indices, &values, &size, &names[..])?,
                None => DynSparse::from_coo(&indices, &values, &size, ())?,
            }
        }
    };
    // The caller's claim to be coalesced may be wrong; checking it is cheap.
    if args.flag("is_coalesced")? {
        x.coalesce()
    } else {
        Ok(x)
    }
}

/// Returns a tensor, or converts nested lists of numbers.
fn numbers(args: &Bound, param: &'static str) -> Result<DynTensor> {
    match args.get(param) {
        Some(Value::Tensor(x)) => Ok(x.clone()),
        Some(list @ (Value::List(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_))) => {
            data::nested("sparse_coo_tensor", param, list, None)
        }
        other => Err(wrong(
            "sparse_coo_tensor",
            param,
            "a tensor",
            other.unwrap_or(&Value::None),
        )),
    }
}

fn to_dense(args: &Bound) -> Result<DynTensor> {
    let x = match args.get("self") {
        Some(Value::Tensor(x)) => x.clone(),
        _ => args.sparse("self")?.to_dense()?,
    };
    x.to_dtype(args.dtype()?.unwrap_or(x.dtype()))
}

fn to_sparse(args: &Bound) -> Result<DynSparse> {
    if let Some(Value::Sparse(x)) = args.get("self") {
        return Ok(x.clone());
    }
    let x = args.tensor("self")?;
    let wanted = args.int_or("sparse_dim", x.rank() as i64)?;
    let sparse_dim = usize::try_from(wanted).map_err(|_| {
        let what = format!("{wanted} sparse dims");
        Error::new(ErrorKind::Rank, "to_sparse", what).hint("zero or more of the dims are sparse")
    })?;
    x.to_sparse_with(sparse_dim)
}
