//! Sparse tensors from their parts, and on other devices.

use nomina_core::{DType, Error, ErrorKind, Names, Result, rule};

use super::{contiguous, to_device, to_dtype};
use crate::Device;
use crate::raw::{Raw, RawCoo};
use crate::shape::{Shape, numel, product};
use crate::tape::check_unrecorded;

impl RawCoo {
    /// Returns a sparse tensor of `indices`, one row for each sparse dim, and as many `values` as it has columns.
    /// Without sizes, each is the greatest index plus one. Values at equal indices are summed.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] if indices are not integers, [`ErrorKind::Rank`] if they are not a matrix or the numbers of
    /// sizes and dims differ, [`ErrorKind::Shape`] if values and indices or sizes do not match, [`ErrorKind::Index`] if
    /// an index is out of range.
    pub fn new(
        op: &'static str,
        indices: &Raw,
        values: &Raw,
        shape: Option<&[usize]>,
    ) -> Result<Self> {
        let hint = "create a dense tensor, or `detach` the values";
        check_unrecorded(op, [values], hint)?;
        let error = |kind, what: String| {
            let error = Error::new(kind, op, what).operand(&Names::default(), indices.shape());
            error.operand(&Names::default(), values.shape())
        };
        if !indices.dtype().is_integral() || indices.dtype() == DType::Bool {
            let what = format!("indices are integers, not {}", indices.dtype());
            return Err(error(ErrorKind::DType, what).hint("convert them with `to`"));
        }
        let [sparse, count] = *indices.shape() else {
            let what = format!("indices have 2 dims, not {}", indices.rank());
            return Err(error(ErrorKind::Rank, what).hint("give one row per dim"));
        };
        if indices.device() != values.device() {
            let what = "indices and values are on different devices".to_owned();
            return Err(error(ErrorKind::Device, what).hint("move one with `to_device`"));
        }
        // One number is repeated for all entries.
        let values = if values.rank() == 0 {
            values.expand(&[count])?
        } else {
            values.clone()
        };
        if values.shape()[0] != count {
            let what = format!("{count} indices, {} values", values.shape()[0]);
            return Err(error(ErrorKind::Shape, what).hint("give one column per value"));
        }
        let indices = contiguous(&to_dtype(indices, DType::I64)?)?;
        let values = contiguous(&values)?;
        let host = indices.on_host(op)?;
        let at = host.as_slice::<i64>().ok_or_else(|| {
            let what = "the indices are not on the host".to_owned();
            error(ErrorKind::Device, what).hint("move them with `cpu`")
        })?;
        let given = match shape {
            Some(shape) => shape.into(),
            None => {
                rule::rank_limit(op, sparse + values.rank() - 1)?;
                sizes_of(at, sparse, count, &values.shape()[1..])
            }
        };
        if given.len() != sparse + values.rank() - 1 {
            let what = format!(
                "{} sizes for {sparse} sparse and {} dense dims",
                given.len(),
                values.rank() - 1
            );
            return Err(error(ErrorKind::Rank, what).hint("give one size per dim"));
        }
        if given[sparse..] != values.shape()[1..] {
            let what = format!("the last sizes of {given:?} are not those of the values");
            return Err(error(ErrorKind::Shape, what).hint("dense dims come with the values"));
        }
        numel(op, &given)?;
        for (dim, row) in at.chunks_exact(count.max(1)).enumerate() {
            let size = given[dim];
            let outside =
                |index: &&i64| usize::try_from(**index).map_or(true, |index| index >= size);
            if let Some(index) = row.iter().find(outside) {
                let what = format!("index {index} is outside of {size}");
                return Err(Error::new(ErrorKind::Index, op, what)
                    .operand(&Names::default(), &given)
                    .at(0, dim)
                    .hint("indices range from 0 to below the dim's size"));
            }
        }
        Ok(Self::from_parts(given, indices, values, false))
    }

    /// Moves the entries to another device; returns the tensor itself if it is there.
    ///
    /// # Errors
    /// If the device or memory is missing.
    pub fn to_device(&self, device: Device) -> Result<Self> {
        let indices = to_device(self.indices(), device)?;
        let values = to_device(self.values(), device)?;
        let shape = self.shape().into();
        Ok(Self::from_parts(
            shape,
            indices,
            values,
            self.is_coalesced(),
        ))
    }
}

/// Returns the greatest index of each sparse dim plus one, and the sizes of the values.
fn sizes_of(indices: &[i64], sparse: usize, count: usize, dense: &[usize]) -> Shape {
    let size = |dim: usize| {
        let row = &indices[product([dim, count])..][..count];
        row.iter().max().map_or(0, |&greatest| {
            usize::try_from(greatest).map_or(0, |greatest| greatest.saturating_add(1))
        })
    };
    (0..sparse).map(size).chain(dense.iter().copied()).collect()
}
