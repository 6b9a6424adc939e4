//! Sparse tensors.

use nomina_core::rule::NameItem;
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_runtime::{DynSparse, DynTensor};

use super::Static;
use super::view::check_sizes;

/// Creates a sparse tensor from coordinates and values, with the dims of a type.
pub(crate) fn build(
    indices: &DynTensor,
    values: &DynTensor,
    shape: &[usize],
    of: &'static Static,
) -> Result<DynSparse> {
    check_sizes("sparse_coo_tensor", shape, of)?;
    DynSparse::from_coo(indices, values, shape, of.names)
}

/// Creates a sparse tensor from coordinates, one array per entry, and values.
pub(crate) fn entries<T: nomina_core::Element, const K: usize>(
    entries: &[([usize; K], T)],
    shape: &[usize],
    of: &'static Static,
) -> Result<DynSparse> {
    let index = |dim: usize| entries.iter().map(move |(at, _)| at[dim] as i64);
    let indices: Vec<i64> = (0..K).flat_map(index).collect();
    let values: Vec<T> = entries.iter().map(|&(_, value)| value).collect();
    let indices = DynTensor::from_vec(indices, &[K, entries.len()], ())?;
    let values = DynTensor::from_vec(values, &[entries.len()], ())?;
    build(&indices, &values, shape, of)
}

/// Returns the names of a view with dims `out`: from the type if it knows them, else from `x`.
fn names<'a>(x: &'a DynSparse, out: &'static Static) -> Vec<NameItem<'a>> {
    let both = out.names.iter().zip(x.names());
    both.map(|(new, own)| match (new, own) {
        (Some(new), _) => NameItem::Name(new),
        (None, Some(own)) => NameItem::Name(own.as_str()),
        (None, None) => NameItem::Unnamed,
    })
    .collect()
}

/// Renames dims.
pub(crate) fn rename(x: &DynSparse, out: &'static Static) -> Result<DynSparse> {
    check_sizes("rename", x.shape(), out)?;
    x.rename(names(x, out))
}

/// Names dims that have no name in types.
pub(crate) fn refine(x: &DynSparse, out: &'static Static) -> Result<DynSparse> {
    check_sizes("refine_names", x.shape(), out)?;
    x.refine_names(names(x, out))
}

/// Reorders dims, given the old position of each.
pub(crate) fn permute(x: &DynSparse, places: &[Option<usize>]) -> Result<DynSparse> {
    let order: Vec<i64> = places.iter().flatten().map(|&at| at as i64).collect();
    x.permute(&order[..])
}

/// Refuses a sparse tensor with dense dims: types do not distinguish them.
pub(crate) fn all_sparse(x: &DynSparse) -> Result<()> {
    if x.dense_dim() == 0 {
        return Ok(());
    }
    let what = format!("{} of the dims are dense", x.dense_dim());
    Err(Error::new(ErrorKind::Layout, "typed", what)
        .operand(x.names(), x.shape())
        .hint("keep it as a `DynSparse`"))
}

/// Returns whether a sparse tensor has the dims and the dtype of a type.
pub(crate) fn fits(x: &DynSparse, of: &'static Static, dtype: nomina_core::DType) -> bool {
    let known = |names: &Names| {
        of.names
            .iter()
            .zip(names)
            .all(|(known, own)| known.is_none() || own.as_ref().map(|own| own.as_str()) == *known)
    };
    x.dtype() == dtype && x.dense_dim() == 0 && x.rank() == of.names.len() && known(x.names())
}
