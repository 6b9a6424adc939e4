//! Sparse tensors without names.

use crate::Device;
use nomina_core::{DType, Error, ErrorKind, Names, Result, rule};

use super::Raw;
use crate::call;
use crate::shape::{Shape, numel};

/// A sparse tensor without names: the coordinates of what is not zero, and the values there.
///
/// The first dims are sparse, the others dense: a value is a block of them. Invariants: indices
/// are `i64`, one row per sparse dim and one column per value, each below its dim's size; both
/// parts are row-major; the product of the sizes is a position. *Coalesced* entries stand in
/// row-major order, each at a place of its own.
#[derive(Clone, Debug)]
pub struct RawCoo {
    shape: Shape,
    indices: Raw,
    values: Raw,
    coalesced: bool,
}

impl RawCoo {
    /// A sparse tensor of `indices`, one row per sparse dim, and as many `values` as it has
    /// columns. Without sizes, each is one more than the greatest index. A place that stands twice
    /// holds the sum.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for indices that are no integers, [`ErrorKind::Rank`] when they are no
    /// matrix or sizes and dims differ in number, [`ErrorKind::Shape`] when values and indices or
    /// sizes differ, [`ErrorKind::Index`] when an index is out of range.
    pub fn new(
        op: &'static str,
        indices: &Raw,
        values: &Raw,
        shape: Option<&[usize]>,
    ) -> Result<Self> {
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
        // One number stands everywhere.
        let values = if values.rank() == 0 {
            values.expand(&[count])?
        } else {
            values.clone()
        };
        if values.shape()[0] != count {
            let what = format!("{count} indices, {} values", values.shape()[0]);
            return Err(error(ErrorKind::Shape, what).hint("give one column per value"));
        }
        let indices = call::contiguous(&call::to_dtype(indices, DType::I64)?)?;
        let values = call::contiguous(&values)?;
        let host = indices.on_host(op)?;
        let at = host.as_slice::<i64>().ok_or_else(|| {
            let what = "the indices are not on the host".to_owned();
            error(ErrorKind::Device, what).hint("move them with `cpu`")
        })?;
        let given = match shape {
            Some(shape) => shape.into(),
            None => {
                rule::rank_limit(op, sparse + values.rank() - 1)?;
                inferred(at, sparse, count, &values.shape()[1..])
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
                let what = format!("index {index} where there are {size}");
                return Err(Error::new(ErrorKind::Index, op, what)
                    .operand(&Names::default(), &given)
                    .at(0, dim)
                    .hint("indices are zero or greater and smaller than the dim's size"));
            }
        }
        Ok(Self {
            shape: given,
            indices,
            values,
            coalesced: false,
        })
    }

    /// What a kernel made, whose invariants it kept.
    pub(crate) fn from_parts(shape: Shape, indices: Raw, values: Raw, coalesced: bool) -> Self {
        debug_assert_eq!(shape.len() + 1, indices.shape()[0] + values.rank());
        debug_assert_eq!(indices.shape()[1], values.shape()[0]);
        debug_assert!(indices.is_contiguous() && values.is_contiguous());
        Self {
            shape,
            indices,
            values,
            coalesced,
        }
    }

    /// The same places with other values, of any dtype.
    pub(crate) fn with_values(&self, values: Raw) -> Self {
        Self::from_parts(
            self.shape.clone(),
            self.indices.clone(),
            values,
            self.coalesced,
        )
    }

    /// The same entries, which the caller knows to stand in order, each at a place of its own.
    pub(crate) fn marked(self, coalesced: bool) -> Self {
        Self { coalesced, ..self }
    }

    /// Sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of sparse dims, which come first.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        self.indices.shape()[0]
    }

    /// The number of dense dims.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        self.values.rank() - 1
    }

    /// The number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.shape()[0]
    }

    /// The coordinates: one row per sparse dim, one column per entry.
    #[must_use]
    pub fn indices(&self) -> &Raw {
        &self.indices
    }

    /// The values: one block per entry.
    #[must_use]
    pub fn values(&self) -> &Raw {
        &self.values
    }

    /// Whether entries stand in row-major order, each at a place of its own.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.coalesced
    }

    /// The dtype of the values.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// The same entries on another device; itself when they are there.
    ///
    /// # Errors
    /// When the device or memory is missing.
    pub fn to_device(&self, device: Device) -> Result<Self> {
        let indices = call::to_device(&self.indices, device)?;
        let values = call::to_device(&self.values, device)?;
        let shape = self.shape.clone();
        Ok(Self::from_parts(shape, indices, values, self.coalesced))
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.values.device()
    }
}

/// One more than the greatest index of each dim, and the sizes of the values.
fn inferred(indices: &[i64], sparse: usize, count: usize, dense: &[usize]) -> Shape {
    let size = |dim: usize| {
        let row = &indices[dim * count..][..count];
        row.iter().max().map_or(0, |&greatest| {
            usize::try_from(greatest).map_or(0, |greatest| greatest.saturating_add(1))
        })
    };
    (0..sparse).map(size).chain(dense.iter().copied()).collect()
}
