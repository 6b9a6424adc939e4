//! zarr arrays, version 3: a folder of chunks, larger than memory where it must be.
//!
//! The names of dims are the format's own (`dimension_names`), as xarray has them. An array is opened as what its parts are to
//! be: [`Zarr<Tensor<(Time, Lat)>>`](Zarr), whose names, constant sizes and dtype are checked once, or `Zarr<DynTensor>`.
//! [`narrow`](Zarr::narrow) chooses a box by names, and reads nothing; [`read`](Zarr::read) and [`write`](Zarr::write) touch the
//! chunks that the box meets.

mod boxes;
mod chunks;
mod codec;
mod describe;
mod group;
mod shards;

use std::fmt;
use std::fs;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nomina::dims::{DimOf, Dims, Distinct, OneDim, Resizable, SizeOf, position};
use nomina::{DType, Device, DynTensor, Element, Error, ErrorKind, Names, Result, Tensor};
use nomina_runtime::call;
use nomina_runtime::shape::numel;

use crate::open::{OpenAs, as_it_is, names_of};
use chunks::chunk_failed;
use describe::{Described, checked_chunk};
use group::{DESCRIPTION, describe};
pub use group::{create_group, keys};

/// An array on disk, or a box of it.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_io::zarr::Zarr;
/// dims! { Time, Lat, Lon }
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("temperature");
/// let array = Zarr::<Tensor<(Time, Lat, Lon)>>::create(&path, &[1000, 4, 8], &[100, 4, 8])?;
/// let day = array.narrow(Time, 5..6)?;
/// day.write(&Tensor::ones([1, 4, 8]))?;
///
/// let array = Zarr::<Tensor<(Time, Lat, Lon)>>::open(&path)?;
/// let part: Tensor<(Time, Lat, Lon)> = array.narrow(Time, 4..7)?.narrow(Lat, ..1)?.read()?;
/// assert_eq!(part.sum((Lat, Lon)).to_vec(), [0., 8., 0.]);
/// assert!(Zarr::<Tensor<(Time, Lon, Lat)>>::open(&path).is_err());
/// # Ok::<(), Error>(())
/// ```
pub struct Zarr<X> {
    array: Arc<Described>,
    path: PathBuf,
    /// The box.
    ranges: Vec<Range<usize>>,
    opened_as: PhantomData<fn() -> X>,
}

impl<X> Clone for Zarr<X> {
    fn clone(&self) -> Self {
        Self {
            array: self.array.clone(),
            path: self.path.clone(),
            ranges: self.ranges.clone(),
            opened_as: PhantomData,
        }
    }
}

impl<X> fmt::Debug for Zarr<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Zarr {} {} {} {:?}",
            self.path.display(),
            self.array.names,
            self.array.dtype,
            self.ranges
        )
    }
}

impl<X: OpenAs> Zarr<X> {
    /// Opens an array. Only what describes it is read.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when it cannot be read; [`ErrorKind::Parse`] when it is no array or a broken one, its chunks are
    /// of more than 2 GiB, or of another shape than a box; [`ErrorKind::InvalidName`] when a name is no identifier;
    /// [`ErrorKind::Rank`], [`ErrorKind::NameMismatch`], [`ErrorKind::UnnamedDim`], [`ErrorKind::Shape`] or
    /// [`ErrorKind::DType`] when it is another array than the type says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::opened("open", path.as_ref(), false)
    }

    /// As [`open`](Self::open), but that dims without a name take the one which the type says, by position.
    ///
    /// # Errors
    /// When the array cannot be read, is broken, or has other names, sizes or another dtype than the type says.
    pub fn refine(path: impl AsRef<Path>) -> Result<Self> {
        Self::opened("refine", path.as_ref(), true)
    }

    fn opened(op: &'static str, path: &Path, refine: bool) -> Result<Self> {
        let open = || {
            let text = fs::read_to_string(path.join(DESCRIPTION));
            let text = text.map_err(|error| chunk_failed(op, &error))?;
            Self::of(op, path, Described::read(op, &text)?, refine)
        };
        open().map_err(|error: Error| error.in_op(op).within(path.display()))
    }

    fn of(op: &'static str, path: &Path, mut array: Described, refine: bool) -> Result<Self> {
        if refine {
            array.names = names_of::<X>(&array.names);
        }
        // One number in the place of all elements, for what the type asks of them.
        let zero = nomina::Scalar::Int(0);
        let stand_in = call::full(&[], zero, array.dtype, Device::Cpu)?.expand(&array.shape)?;
        as_it_is::<X>(op, DynTensor::from_parts(stand_in, array.names.clone())?)?;
        Ok(Self {
            ranges: array.shape.iter().map(|&size| 0..size).collect(),
            array: Arc::new(array),
            path: path.to_owned(),
            opened_as: PhantomData,
        })
    }

    fn created(
        path: &Path,
        dtype: DType,
        names: &Names,
        shape: &[usize],
        chunk: &[usize],
    ) -> Result<Self> {
        let op = "create";
        let create = || {
            let about = |error: Error| error.operand(names, shape);
            numel(op, shape).map_err(|error| error.with_names([names]))?;
            checked_chunk(op, chunk, shape, dtype).map_err(|_| {
                let what = format!("chunks of sizes {chunk:?}");
                let refused = Error::new(ErrorKind::Argument, op, what);
                about(refused.hint("give each dim a size of at least 1"))
            })?;
            let text = Described::written(dtype, names, shape, chunk).to_string();
            let array = Self::of(op, path, Described::read(op, &text)?, false)?;
            describe(op, path, &text).map(|()| array)
        };
        create().map_err(|error: Error| error.within(path.display()))
    }

    /// The names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.array.names
    }

    /// The sizes of the box.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.ranges.iter().map(Range::len).collect()
    }

    /// The dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.array.dtype
    }

    /// The sizes of the array's chunks; of a sharded array, those of its shards. A chunk is what a write replaces.
    #[must_use]
    pub fn chunks(&self) -> &[usize] {
        &self.array.chunk
    }

    fn narrowed(&self, dim: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        let size = self.shape()[dim];
        let start = match range.start_bound() {
            Bound::Included(&start) => Some(start),
            Bound::Excluded(&start) => start.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => end.checked_add(1),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => Some(size),
        };
        let (Some(start), Some(end)) = (start, end.filter(|&end| end <= size)) else {
            return Err(self.outside(dim));
        };
        if start > end {
            return Err(self.outside(dim));
        }
        let mut narrowed = self.clone();
        let first = self.ranges[dim].start;
        narrowed.ranges[dim] = first + start..first + end;
        Ok(narrowed)
    }

    #[cold]
    fn outside(&self, dim: usize) -> Error {
        Error::new(
            ErrorKind::Index,
            "narrow",
            "the range leaves the dim, or ends before it starts",
        )
        .operand(&self.array.names, &self.shape())
        .at(0, dim)
        .within(self.path.display())
    }
}

impl<D: Dims + Distinct, T: Element> Zarr<Tensor<D, T>> {
    /// Creates an array of zeros, in chunks of so many elements along each dim. Only what describes it is written. A `Wild` has
    /// no name in the file.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when there is one already, or the system cannot write; [`ErrorKind::Rank`] or [`ErrorKind::Shape`]
    /// when the sizes are none of the type; [`ErrorKind::Argument`] when those of chunks are wrong.
    pub fn create(path: impl AsRef<Path>, shape: &[usize], chunks: &[usize]) -> Result<Self> {
        let names = Names::from_static(D::NAMES);
        if shape.len() != names.len() {
            let what = format!("{} sizes for dims {names}", shape.len());
            return Err(Error::new(ErrorKind::Rank, "create", what));
        }
        Self::created(path.as_ref(), T::DTYPE, &names, shape, chunks)
    }

    /// A range of a dim, within the box.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when it leaves the dim, or ends before it starts.
    pub fn narrow<A: DimOf<D> + OneDim>(
        &self,
        dim: A,
        range: impl RangeBounds<usize>,
    ) -> Result<Self>
    where
        SizeOf<A>: Resizable<A>,
    {
        let _ = dim;
        self.narrowed(position::<A, D>(), range)
    }
}

impl Zarr<DynTensor> {
    /// Creates an array of zeros, in chunks of so many elements along each dim. Only what describes it is written.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when there is one already, or the system cannot write; [`ErrorKind::NamesLen`] when there is not one
    /// name per dim; [`ErrorKind::Argument`] when the sizes of chunks are wrong.
    pub fn create(
        path: impl AsRef<Path>,
        dtype: DType,
        names: &Names,
        shape: &[usize],
        chunks: &[usize],
    ) -> Result<Self> {
        if shape.len() != names.len() {
            let what = format!("{} names for {} dims", names.len(), shape.len());
            return Err(Error::new(ErrorKind::NamesLen, "create", what));
        }
        Self::created(path.as_ref(), dtype, names, shape, chunks)
    }

    /// A range of a dim, within the box.
    ///
    /// # Errors
    /// [`ErrorKind::NameNotFound`] when no dim has this name; [`ErrorKind::Index`] when the range leaves the dim, or ends
    /// before it starts.
    pub fn narrow(&self, dim: &str, range: impl RangeBounds<usize>) -> Result<Self> {
        let at = self
            .array
            .names
            .iter()
            .position(|name| name.as_ref().is_some_and(|name| name == dim));
        let Some(at) = at else {
            let what = format!("dim `{dim}` not found");
            return Err(Error::new(ErrorKind::NameNotFound, "narrow", what)
                .operand(&self.array.names, &self.shape())
                .within(self.path.display()));
        };
        self.narrowed(at, range)
    }
}
