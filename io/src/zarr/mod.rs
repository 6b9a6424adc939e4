//! zarr arrays, version 3: a folder of chunks, larger than memory where it must be.
//!
//! The names of dims are the format's own (`dimension_names`), as xarray has them. An array is opened as what its parts are to
//! be: [`Zarr<Tensor<(Time, Lat)>>`](Zarr), whose names, constant sizes and dtype are checked once, or `Zarr<DynTensor>`.
//! [`narrow`](Zarr::narrow) chooses a box by names, and reads nothing; [`read`](Zarr::read) and [`write`](Zarr::write) touch the
//! chunks that the box meets.

mod store;

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use nomina::dims::{DimOf, Dims, Distinct, OneDim, Resizable, SizeOf, position};
use nomina::{DType, Device, DynTensor, Element, Error, ErrorKind, Name, Names, Result, Tensor};
use nomina_runtime::call::{contiguous, to_device};
use nomina_runtime::shape::{bytes, numel};
use nomina_runtime::{Raw, call};
use zarrs::array::codec::ZstdCodec;
use zarrs::array::{
    Array, ArrayBuilder, ArrayBytes, ArrayError, ArrayMetadata, ArraySubset, FillValue,
};
use zarrs::group::GroupBuilder;

use crate::atomic::failed;
use crate::open::{OpenAs, as_it_is, names_of};
use store::Folder;

/// No chunk is larger, in bytes. What a file says of its chunks is believed up to here.
const LARGEST_CHUNK: usize = 1 << 31;

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
    array: Arc<Array<Folder>>,
    path: PathBuf,
    dtype: DType,
    names: Names,
    /// The box.
    ranges: Vec<Range<u64>>,
    opened_as: PhantomData<fn() -> X>,
}

impl<X> Clone for Zarr<X> {
    fn clone(&self) -> Self {
        Self {
            array: self.array.clone(),
            path: self.path.clone(),
            dtype: self.dtype,
            names: self.names.clone(),
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
            self.names,
            self.dtype,
            self.ranges
        )
    }
}

#[cold]
fn broken(op: &'static str, error: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Parse, op, error.to_string())
}

/// What went wrong with chunks: the system's doing, or the file's.
#[cold]
fn chunks(op: &'static str, error: &ArrayError) -> Error {
    match error {
        ArrayError::StorageError(error) => Error::new(ErrorKind::File, op, error.to_string()),
        other => broken(op, other),
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
            // The crate says "missing", whatever kept it from reading.
            std::fs::read_dir(path).map_err(|error| failed(op, &error))?;
            let array = Array::open(Arc::new(Folder::new(path)), "/");
            Self::of(op, path, array.map_err(|error| broken(op, error))?, refine)
        };
        open().map_err(|error: Error| error.within(path.display()))
    }

    fn of(op: &'static str, path: &Path, array: Array<Folder>, refine: bool) -> Result<Self> {
        let ArrayMetadata::V3(described) = array.metadata() else {
            return Err(broken(
                op,
                "an array of version 2, of which version 3 is read",
            ));
        };
        let dtype = DType::from_str(described.data_type.name()).map_err(|_| {
            let what = format!(
                "elements of `{}`, which no tensor here has",
                described.data_type.name()
            );
            Error::new(ErrorKind::DType, op, what)
        })?;
        let shape: Vec<usize> = array.shape().iter().map(|&size| size as usize).collect();
        numel(op, &shape)?;
        let names = match array.dimension_names() {
            None => Names::unnamed(shape.len()),
            Some(names) => {
                let names: Result<Vec<_>> = names
                    .iter()
                    .map(|name| name.as_deref().map(Name::new).transpose())
                    .collect();
                Names::new(names?)?
            }
        };
        let names = if refine { names_of::<X>(&names) } else { names };
        if shape.iter().all(|&size| size > 0) {
            let first = vec![0; shape.len()];
            let chunk = array
                .chunk_shape_usize(&first)
                .map_err(|error| chunks(op, &error))?;
            let chunk_bytes = bytes(op, &chunk, dtype)?;
            if chunk_bytes > LARGEST_CHUNK {
                return Err(broken(
                    op,
                    format!("chunks of sizes {chunk:?} have more than 2 GiB"),
                ));
            }
            if array.metadata().to_string_pretty().contains("\"zstd\"") {
                array.storage().expect(chunk_bytes);
            }
        }
        // One number in the place of all elements, for what the type asks of them.
        let stand_in =
            call::full(&[], nomina::Scalar::Int(0), dtype, Device::Cpu)?.expand(&shape)?;
        as_it_is::<X>(op, DynTensor::from_parts(stand_in, names.clone())?)?;
        Ok(Self {
            ranges: array.shape().iter().map(|&size| 0..size).collect(),
            array: Arc::new(array),
            path: path.to_owned(),
            dtype,
            names,
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
            let refused =
                |what: String| Error::new(ErrorKind::Argument, op, what).operand(names, shape);
            numel(op, shape).map_err(|error| error.with_names([names]))?;
            if chunk.len() != shape.len()
                || chunk.contains(&0)
                || bytes(op, chunk, dtype)? > LARGEST_CHUNK
            {
                return Err(refused(format!("chunks of sizes {chunk:?}"))
                    .hint("give each dim a size of at least 1, with at most 2 GiB in all"));
            }
            if path.join("zarr.json").exists() {
                return Err(
                    Error::new(ErrorKind::File, op, "there is one already").hint("remove it first")
                );
            }
            let wide =
                |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect::<Vec<u64>>();
            let zero = FillValue::new(vec![0; dtype.size()]);
            let mut builder = ArrayBuilder::new(wide(shape), wide(chunk), dtype.torch_name(), zero);
            builder.bytes_to_bytes_codecs(vec![Arc::new(ZstdCodec::new(0, false))]);
            if names.has_names() {
                builder.dimension_names(Some(
                    names.iter().map(|name| name.as_ref().map(Name::as_str)),
                ));
            }
            let array = builder.build(Arc::new(Folder::new(path)), "/");
            let array = array.map_err(|error| refused(error.to_string()))?;
            let array = Self::of(op, path, array, false)?;
            let stored = array.array.store_metadata();
            stored.map_err(|error| Error::new(ErrorKind::File, op, error.to_string()))?;
            Ok(array)
        };
        create().map_err(|error: Error| error.within(path.display()))
    }

    /// The names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The sizes of the box.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        // Within the sizes of the array, which were checked.
        self.ranges
            .iter()
            .map(|range| (range.end - range.start) as usize)
            .collect()
    }

    /// The dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The box, read. Chunks that were never written are the array's fill value.
    ///
    /// # Errors
    /// [`ErrorKind::File`] when a chunk cannot be read, [`ErrorKind::Parse`] when one is broken, [`ErrorKind::Memory`].
    pub fn read(&self) -> Result<X> {
        let op = "read";
        let read = || {
            let shape = self.shape();
            let expected = bytes(op, &shape, self.dtype)?;
            let no_memory = |_| {
                Error::new(
                    ErrorKind::Memory,
                    op,
                    format!("{expected} bytes could not be had"),
                )
            };
            // The crate ends the process where there is not so much.
            Vec::<u8>::new()
                .try_reserve_exact(expected)
                .map_err(no_memory)?;
            let elements: ArrayBytes<'static> = match expected {
                0 => ArrayBytes::new_flen(Vec::new()),
                _ => self
                    .array
                    .retrieve_array_subset(&self.subset())
                    .map_err(|error| chunks(op, &error))?,
            };
            let elements = elements.into_fixed().map_err(|error| broken(op, error))?;
            let raw = Raw::from_bytes(op, self.dtype, &shape, &elements)?;
            as_it_is(op, DynTensor::from_parts(raw, self.names.clone())?)
        };
        read().map_err(|error: Error| error.within(self.path.display()))
    }

    /// Writes all of the box. Each chunk is there as a whole or as it was; of those that the box meets in part, the rest is
    /// read first.
    ///
    /// # Errors
    /// [`ErrorKind::NameMismatch`], [`ErrorKind::Shape`] or [`ErrorKind::DType`] when the tensor is another than the box;
    /// [`ErrorKind::File`] when the system cannot write, [`ErrorKind::Parse`] when a chunk that is there is broken. Chunks
    /// that were written before stay so.
    pub fn write(&self, tensor: &X) -> Result<()> {
        let op = "write";
        let write = || {
            let tensor = tensor.dynamic();
            self.check(op, &tensor)?;
            let raw = contiguous(&to_device(&tensor.into_parts().0.detach(), Device::Cpu)?)?;
            let elements = raw.as_bytes().unwrap_or_default();
            if elements.is_empty() {
                return Ok(());
            }
            let stored = self
                .array
                .store_array_subset(&self.subset(), ArrayBytes::new_flen(elements));
            stored.map_err(|error| chunks(op, &error))
        };
        write().map_err(|error: Error| error.within(self.path.display()))
    }

    fn check(&self, op: &'static str, tensor: &DynTensor) -> Result<()> {
        let shape = self.shape();
        let refused = |kind, what: &str| {
            Err(Error::new(kind, op, what)
                .operand(tensor.names(), tensor.shape())
                .operand(&self.names, &shape))
        };
        let other = |(ours, theirs): (&Option<Name>, &Option<Name>)| {
            ours.is_some() && theirs.is_some() && ours != theirs
        };
        if tensor.dtype() != self.dtype {
            let what = format!(
                "elements of {} into an array of {}",
                tensor.dtype(),
                self.dtype
            );
            return refused(ErrorKind::DType, &what);
        }
        if tensor.shape() != shape {
            return refused(ErrorKind::Shape, "a tensor of other sizes than the box");
        }
        match tensor.names().iter().zip(&self.names).any(other) {
            true => refused(
                ErrorKind::NameMismatch,
                "a tensor of other dims than the array",
            ),
            false => Ok(()),
        }
    }

    fn subset(&self) -> ArraySubset {
        ArraySubset::new_with_ranges(&self.ranges)
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
        narrowed.ranges[dim] = first + start as u64..first + end as u64;
        Ok(narrowed)
    }

    #[cold]
    fn outside(&self, dim: usize) -> Error {
        Error::new(
            ErrorKind::Index,
            "narrow",
            "the range leaves the dim, or ends before it starts",
        )
        .operand(&self.names, &self.shape())
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
            .names
            .iter()
            .position(|name| name.as_ref().is_some_and(|name| name == dim));
        let Some(at) = at else {
            let what = format!("dim `{dim}` not found");
            return Err(Error::new(ErrorKind::NameNotFound, "narrow", what)
                .operand(&self.names, &self.shape())
                .within(self.path.display()));
        };
        self.narrowed(at, range)
    }
}

/// Makes a folder a group, whose arrays are folders within it: what `xarray.open_zarr` opens.
///
/// # Errors
/// [`ErrorKind::File`] when the system cannot write.
pub fn create_group(path: impl AsRef<Path>) -> Result<()> {
    let (op, path) = ("create_group", path.as_ref());
    let create = || {
        let group = GroupBuilder::new().build(Arc::new(Folder::new(path)), "/");
        let group = group.map_err(|error| broken(op, error))?;
        let stored = group.store_metadata();
        stored.map_err(|error| Error::new(ErrorKind::File, op, error.to_string()))
    };
    create().map_err(|error: Error| error.within(path.display()))
}
