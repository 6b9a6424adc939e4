//! zarr arrays: folders of chunks, which can be larger than memory. Version 3 is read and written, version 2 is read.
//!
//! Dim names are part of the format (`dimension_names`), as xarray uses them. Open an array as the type of its parts:
//! [`Zarr<Tensor<(Time, Lat)>>`](Zarr), whose names, constant sizes and dtype are checked once, or `Zarr<DynTensor>`.
//! [`narrow`](Zarr::narrow) selects a box by names, and reads nothing; [`read`](Zarr::read) and [`write`](Zarr::write)
//! access the chunks that the box intersects.

mod array_box;
mod array_json;
mod array_metadata;
mod attributes;
mod blosc;
mod chunks;
mod codec;
mod codec_chain;
mod element;
mod errors;
mod group;
mod members;
mod packed;
mod text;
mod version_2;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nomina::dims::{DimOf, Dims, Distinct, OneDim, Resizable, SizeOf, position};
use nomina::{DType, Device, DynTensor, Element, Error, ErrorKind, Names, Result, Tensor};
use nomina_runtime::call;
use nomina_runtime::shape::numel;

use crate::open::{OpenAs, open_as, refined_names};
use array_metadata::{ArrayMetadata, require_chunk};
pub use attributes::{Attribute, attributes, set_attributes};
pub use group::{create_group, is_group, keys};
use group::{describe, description};
pub use members::{Group, consolidate};
pub use packed::CfPacking;
pub use text::{Texts, read_texts, set_dimension_names, write_text_array, write_texts};

/// The way from the names of a file to those of a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// Every name must be an identifier.
    Checked,
    /// Dims without a name take it from the type.
    Refined,
    /// Names that are no identifiers or repeated are left out.
    Lenient,
}

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
    array: Arc<ArrayMetadata>,
    path: PathBuf,
    /// The box: a range for each dim.
    ranges: Vec<Range<usize>>,
    /// The packing of the elements; `None` if they are read as stored.
    packing: Option<Arc<CfPacking>>,
    /// The dtype of the tensors that are read and written.
    dtype: DType,
    opened_as: PhantomData<fn() -> X>,
}

impl<X> Clone for Zarr<X> {
    fn clone(&self) -> Self {
        Self {
            array: self.array.clone(),
            path: self.path.clone(),
            ranges: self.ranges.clone(),
            packing: self.packing.clone(),
            dtype: self.dtype,
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
            self.dtype,
            self.ranges
        )
    }
}

impl<X: OpenAs> Zarr<X> {
    /// Opens an array. Reads only its metadata.
    ///
    /// If the array has one of the attributes `scale_factor`, `add_offset`, `_FillValue` and `missing_value`, its
    /// elements are packed, and are unpacked on reading: a missing element is NaN, another one is its stored value
    /// times the factor plus the offset, computed in `f64` and rounded to the type's dtype, which must be a float. For
    /// a `DynTensor`, the dtype is the stored one if that is a float, otherwise `f64`. [`write`](Self::write) packs the
    /// elements again. [`open_stored`](Self::open_stored) gives the stored elements. Unsigned integers of more than
    /// 8 bits are read as `i64`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// # use nomina_io::zarr::Zarr;
    /// # dims! { Time }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("t");
    /// # Zarr::<Tensor<(Time,), i16>>::create(&path, &[3], &[3])?.write(&tensor!([0_i16, -999, 100]; Time))?;
    /// # let text = std::fs::read_to_string(path.join("zarr.json")).unwrap();
    /// # let packed = r#""attributes":{"scale_factor":0.5,"add_offset":273.0,"_FillValue":-999,"units":"K"}"#;
    /// # std::fs::write(path.join("zarr.json"), text.replace(r#""attributes":{}"#, packed)).unwrap();
    /// let array = Zarr::<Tensor<(Time,), f32>>::open(&path)?;         // i16 in the file
    /// assert_eq!(array.attributes()?["units"].as_str(), Some("K"));
    /// let t = array.read()?.to_vec();
    /// assert!(t[0] == 273.0 && t[1].is_nan() && t[2] == 323.0);
    /// let stored = Zarr::<Tensor<(Time,), i16>>::open_stored(&path)?;
    /// assert_eq!(stored.read()?.to_vec(), [0, -999, 100]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the array cannot be read; [`ErrorKind::Parse`] if it is not an array, or
    /// corrupt, or its chunks have more than 2 GiB or are not boxes;
    /// [`ErrorKind::InvalidName`] if a name is not an identifier; [`ErrorKind::Rank`], [`ErrorKind::NameMismatch`],
    /// [`ErrorKind::UnnamedDim`], [`ErrorKind::Shape`] or [`ErrorKind::DType`] if it does not match the type.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with("open", path.as_ref(), Naming::Checked, true)
    }

    /// Like [`open`](Self::open), but reads and writes elements as stored, even if attributes define a packing.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_stored(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with("open_stored", path.as_ref(), Naming::Checked, false)
    }

    /// Like [`open`](Self::open), but dims without a name take their names from the type, by position.
    ///
    /// # Errors
    /// If the array cannot be read, is corrupt, or its names, sizes or dtype differ from the type.
    pub fn refine(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with("refine", path.as_ref(), Naming::Refined, true)
    }

    fn open_with(op: &'static str, path: &Path, naming: Naming, unpack: bool) -> Result<Self> {
        description(op, path)
            .and_then(|text| Self::described(op, path, &text, naming, unpack))
            .map_err(|error: Error| error.in_op(op).within(path.display()))
    }

    /// Opens the array of these metadata.
    fn described(
        op: &'static str,
        path: &Path,
        text: &str,
        naming: Naming,
        unpack: bool,
    ) -> Result<Self> {
        let lenient = naming == Naming::Lenient;
        let array = ArrayMetadata::read(op, text, lenient)?;
        if array.text.is_some() {
            let error = Error::new(
                ErrorKind::DType,
                op,
                "elements are texts, which no tensor has",
            );
            return Err(error.hint("read them by `zarr::read_texts`"));
        }
        let packing = if unpack {
            CfPacking::read(op, array.read_dtype(), &array.attributes)?
        } else {
            None
        };
        Self::from_metadata(op, path, array, packing, naming == Naming::Refined)
    }

    fn from_metadata(
        op: &'static str,
        path: &Path,
        mut array: ArrayMetadata,
        packing: Option<CfPacking>,
        refine: bool,
    ) -> Result<Self> {
        if refine {
            array.names = refined_names::<X>(&array.names);
        }
        let dtype = match &packing {
            Some(packing) => packing
                .dtype(op, X::DTYPE)
                .map_err(|error| error.operand(&array.names, &array.shape))?,
            None => array.read_dtype(),
        };
        // A single number expanded to the array's sizes, to check the type against.
        let zero = nomina::Scalar::Int(0);
        let stand_in = call::full(&[], zero, dtype, Device::Cpu)?.expand(&array.shape)?;
        open_as::<X>(op, DynTensor::from_parts(stand_in, array.names.clone())?)?;
        Ok(Self {
            ranges: array.shape.iter().map(|&size| 0..size).collect(),
            array: Arc::new(array),
            path: path.to_owned(),
            packing: packing.map(Arc::new),
            dtype,
            opened_as: PhantomData,
        })
    }

    /// Returns an array of texts, of which bytes are read.
    fn texts(path: &Path, array: ArrayMetadata) -> Self {
        Self {
            ranges: array.shape.iter().map(|&size| 0..size).collect(),
            dtype: array.dtype,
            array: Arc::new(array),
            path: path.to_owned(),
            packing: None,
            opened_as: PhantomData,
        }
    }

    fn create_array(
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
            require_chunk(op, chunk, shape, dtype).map_err(|_| {
                let what = format!("chunks of sizes {chunk:?}");
                let refused = Error::new(ErrorKind::Argument, op, what);
                about(refused.hint("give each dim a size of at least 1"))
            })?;
            let text = ArrayMetadata::to_json(dtype, names, shape, chunk).to_string();
            let array = ArrayMetadata::read(op, &text, false)?;
            let array = Self::from_metadata(op, path, array, None, false)?;
            describe(op, path, &text, true).map(|()| array)
        };
        create().map_err(|error: Error| error.within(path.display()))
    }

    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.array.names
    }

    /// Returns the sizes of the box.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.ranges.iter().map(Range::len).collect()
    }

    /// Returns the dtype of the tensors that are read. It differs from the file's if elements are packed.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the attributes of the array, such as `units`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parse`] if they are not an object, or nested too deeply.
    pub fn attributes(&self) -> Result<BTreeMap<String, Attribute>> {
        let attributes = attributes::parse("attributes", &self.array.attributes);
        attributes.map_err(|error| error.within(self.path.display()))
    }

    /// Returns the names of the dims as the file spells them, which may be no identifiers.
    #[must_use]
    pub fn dimension_names(&self) -> &[Option<String>] {
        &self.array.dimension_names
    }

    /// Converts this array into one that is read as a [`DynTensor`] of the same dtype.
    #[must_use]
    pub fn into_dyn(self) -> Zarr<DynTensor> {
        Zarr {
            array: self.array,
            path: self.path,
            ranges: self.ranges,
            packing: self.packing,
            dtype: self.dtype,
            opened_as: PhantomData,
        }
    }

    /// Returns the sizes of the array's chunks, or of its shards if it is sharded. A write replaces whole chunks.
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
            "the range exceeds the dim or is reversed",
        )
        .operand(&self.array.names, &self.shape())
        .at(0, dim)
        .within(self.path.display())
    }
}

impl<D: Dims + Distinct, T: Element> Zarr<Tensor<D, T>> {
    /// Creates an array of zeros, in chunks of the given size along each dim. Writes only the metadata. A `Wild` dim
    /// has no name in the file. If several threads or processes create one array, exactly one succeeds. Nothing is
    /// overwritten: remove the folder of an old array first.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the array exists, the folder is not empty, or it cannot be written;
    /// [`ErrorKind::Rank`] or [`ErrorKind::Shape`] if the sizes do not match the type; [`ErrorKind::Argument`] if the
    /// sizes of the chunks are invalid.
    pub fn create(path: impl AsRef<Path>, shape: &[usize], chunks: &[usize]) -> Result<Self> {
        let names = Names::from_static(D::NAMES);
        if shape.len() != names.len() {
            let what = format!("{} sizes for dims {names}", shape.len());
            return Err(Error::new(ErrorKind::Rank, "create", what));
        }
        Self::create_array(path.as_ref(), T::DTYPE, &names, shape, chunks)
    }

    /// Selects a range of a dim, within the box.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Index`] if the range is out of bounds, or ends before it starts.
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
    /// Like [`open_stored`](Self::open_stored), but a dim has no name if the file's is no identifier, such as
    /// `model name`, or repeated. [`dimension_names`](Self::dimension_names) returns the names of the file.
    ///
    /// # Errors
    /// If the array cannot be read or is corrupt.
    pub fn open_lenient(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with("open_lenient", path.as_ref(), Naming::Lenient, false)
    }

    /// Selects a box by a range for each dim.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Rank`] if there is not one range per dim; [`ErrorKind::Index`] if a range is out of bounds,
    /// or ends before it starts.
    pub fn narrow_to(&self, ranges: &[Range<usize>]) -> Result<Self> {
        if ranges.len() != self.ranges.len() {
            let what = format!("{} ranges for {} dims", ranges.len(), self.ranges.len());
            return Err(Error::new(ErrorKind::Rank, "narrow_to", what));
        }
        let mut narrowed = self.clone();
        for (dim, range) in ranges.iter().enumerate() {
            narrowed = narrowed.narrowed(dim, range.clone())?;
        }
        Ok(narrowed)
    }

    /// Creates an array of zeros, in chunks of the given size along each dim. Writes only the metadata. If several
    /// threads or processes create one array, exactly one succeeds. Nothing is overwritten: remove the folder of an old
    /// array first.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] if the array exists, the folder is not empty, or it cannot be written;
    /// [`ErrorKind::NamesLen`] if there is not one name per dim; [`ErrorKind::Argument`] if the sizes of the chunks are
    /// invalid.
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
        Self::create_array(path.as_ref(), dtype, names, shape, chunks)
    }

    /// Selects a range of a dim, within the box.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if no dim has this name; [`ErrorKind::Index`] if the range is out of bounds,
    /// or ends before it starts.
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
