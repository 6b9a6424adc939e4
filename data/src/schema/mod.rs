//! Structs of labelled tensors that share labels: `#[derive(Dataset)]`.

mod agreement;
mod field;
mod reading;
mod spec;
mod tree;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use nomina::dims::{Dim, HasLabels, IsTrue};
use nomina::labelled::{AnyLabels, KeepsDim, Located, Selects, SelectsPositions};
use nomina::{DynLabelled, DynTensor, Error, ErrorKind, Labels, Name, Names, Result};

pub use agreement::fields_agree;
pub use field::{Coordinate, Field, FieldValue};
pub use reading::Reading;
pub use spec::{VariableSpec, dim_name};
pub use tree::{FieldTree, OneField};

use crate::column::Column;
use crate::dataset::DynDataset;
use crate::variable::{Data, Variable};
use agreement::share_labels;
use field::take_labels;

/// A field of dataset `S` has the dim.
#[diagnostic::on_unimplemented(
    message = "no field of dataset `{S}` has dim `{Self}`",
    label = "no field has `{Self}`"
)]
pub trait DimOfSome<S> {}
// Asked of the dim, so that rustc knows it in the message.
#[diagnostic::do_not_recommend]
impl<S: Dataset, X: Dim> DimOfSome<S> for X where <S::Fields as FieldTree>::Has<X>: IsTrue {}

/// A struct of labelled tensors that share labels, and opens from a file: `#[derive(Dataset)]`.
///
/// A field is a variable of the file: a [`Labelled`](nomina::Labelled) tensor; a [`Coordinate`]; a number, a text or a time for
/// a variable without dims; or an `Option` of these. Names, dims, dtypes, units and the types of labels are checked when
/// the file is opened, before its elements are read, and one error has all differences.
///
/// ```
/// use nomina::{Labelled, Timestamp, prelude::*};
/// use nomina_data::Dataset;
/// dims! { Time("time"): Timestamp, Lat("latitude"): f64, Lon("longitude"): f64 }
///
/// #[derive(Dataset, Clone)]
/// struct Sea {
///     #[dataset(name = "surface_temperature", units = "K")]
///     temperature: Labelled<(Time, Lat, Lon)>,
///     ice: Option<Labelled<(Time, Lat, Lon)>>,
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
/// let sea = Sea::open(path)?;
/// let pacific = sea.sel(Lon, 150.0..=210.0).sel(Time, "2007");       // on every field that has the dim
/// assert_eq!(pacific.temperature.shape(), [12, 6, 13]);
/// let mean: Labelled<(Lat, Lon)> = pacific.temperature.nanmean(Time);
/// # assert_eq!(mean.shape(), [6, 13]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Attributes
///
/// | on a field | |
/// |---|---|
/// | `#[dataset(name = "t2m")]` | the name of the variable in the file, if it is not that of the field |
/// | `#[dataset(units = "K")]` | the attribute `units`: checked, and written |
/// | `#[dataset(long_name = "..", standard_name = "..")]` | attributes that are written, and not checked |
/// | `#[dataset(convert)]` | elements of another dtype are converted |
/// | `#[dataset(coordinate)]` | written as a coordinate, as are [`Coordinate`]s and single values |
/// | `#[dataset(skip)]` | not in the file; a value of `Default` when it is opened |
///
/// On the struct, `#[dataset(rename(Model = "model name"))]` gives dims their names in files, where these are no identifiers;
/// `#[dataset(crate = path)]` is the path of this crate, if it is not `nomina_data`.
///
/// # Labels
///
/// The type of a dim's labels is that of `dims!`. Numbers are converted to it if none changes. Two fields that disagree
/// about the type are an error of rustc. [`checked`](Self::checked) checks labels and sizes of a struct that a program
/// builds itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dataset",
    label = "not a dataset",
    note = "a struct of labelled tensors becomes one by `#[derive(Dataset)]`"
)]
pub trait Dataset: Sized {
    /// The types of the fields.
    #[doc(hidden)]
    type Fields: FieldTree;
    /// The name of the struct.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The variables of the fields.
    #[doc(hidden)]
    const VARIABLES: &'static [VariableSpec];
    /// The dims with other names in files, and these.
    #[doc(hidden)]
    const RENAMED: &'static [(&'static str, &'static str)] = &[];
    /// Returns copies of the fields. Tensors share their elements.
    #[doc(hidden)]
    fn fields(&self) -> Self::Fields;
    /// Creates the struct; skipped fields are those of `like`.
    #[doc(hidden)]
    fn with_fields(like: Option<&Self>, fields: Self::Fields) -> Self;

    /// Opens a file of netCDF or a folder of zarr, and reads the variables that are fields.
    ///
    /// # Errors
    /// Returns [`ErrorKind::File`] or [`ErrorKind::Parse`] if it cannot be read; [`ErrorKind::Argument`] with all
    /// differences if it does not fit the struct.
    fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = DynDataset::open_lazy(path)?;
        let found = Self::from_dyn(&file);
        found.map_err(|error| error.in_op("open").within(path.display()))
    }

    /// Converts from a dataset by name. Only the variables that are fields are read, and of them only what was selected.
    ///
    /// ```
    /// # use nomina::{Labelled, prelude::*};
    /// # use nomina_data::{Dataset, DynDataset};
    /// # dims! { Lat("latitude"): f64, Lon("longitude"): f64 }
    /// #[derive(Dataset)]
    /// struct Day {
    ///     surface_temperature: Labelled<(Lat, Lon)>,
    /// }
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let last = Day::from_dyn(&DynDataset::open_lazy(path)?.isel("time", -1)?)?;
    /// # assert_eq!(last.surface_temperature.shape(), [6, 72]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    fn from_dyn(dataset: &DynDataset) -> Result<Self> {
        let mut renamed = Cow::Borrowed(dataset);
        for (name, in_file) in Self::RENAMED {
            // Without it, the fields with the dim say so.
            if renamed.sizes().iter().any(|(dim, _)| dim == in_file) {
                renamed = Cow::Owned(renamed.rename_dim(in_file, name)?);
            }
        }
        let mut reading = Reading::new(&renamed);
        Self::Fields::check(&mut reading, Self::VARIABLES);
        reading.finish(Self::NAME, "from_dyn")?;
        let fields = Self::Fields::load(&mut reading, Self::VARIABLES)?;
        Self::with_fields(None, fields).checked()
    }

    /// Converts to a dataset by name, with labels as coordinates, to print, reduce or write it.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Label`] if the fields disagree, as in [`checked`](Self::checked);
    /// [`ErrorKind::UnnamedDim`] if a dim has no name.
    fn to_dyn(&self) -> Result<DynDataset> {
        let values = agreeing(self, "to_dyn")?;
        let mut out = DynDataset::new();
        let mut coordinates = Vec::new();
        for (value, spec) in values.into_iter().zip(Self::VARIABLES) {
            let variable = match value {
                FieldValue::Absent => continue,
                FieldValue::Tensor(x) => {
                    out.insert_labelled(spec.name, &x)?;
                    if spec.is_coordinate {
                        coordinates.push(spec.name);
                    }
                    None
                }
                FieldValue::Column(dim, labels) => Some((vec![dim], labels)),
                FieldValue::Single(labels) => Some((Vec::new(), labels)),
            };
            if let Some((dims, labels)) = variable {
                let shape: Vec<usize> = dims.iter().map(|_| labels.len()).collect();
                let data = elements(Column::from_labels(&*labels), &dims, &shape)?;
                out.insert(Variable::from_data(spec.name, dims, shape, data))?;
                coordinates.push(spec.name);
            }
            let mut all = out.variables.iter_mut();
            if let Some(own) = all.find(|one| one.name() == spec.name) {
                let units = spec.units.map(|units| ("units", units));
                for (name, text) in units.iter().chain(spec.attributes) {
                    own.attributes_mut().set(name, *text);
                }
            }
        }
        out.set_coordinates(coordinates)?;
        for (name, in_file) in Self::RENAMED {
            if out.sizes().iter().any(|(dim, _)| dim == name) {
                out = out.rename_dim(name, in_file)?;
            }
        }
        Ok(out)
    }

    /// Writes a new group of zarr, version 3, which xarray opens with its coordinates.
    ///
    /// # Errors
    /// Returns the errors of [`to_dyn`](Self::to_dyn) and [`DynDataset::write_zarr`].
    fn write_zarr(&self, path: impl AsRef<Path>) -> Result<()> {
        self.to_dyn()?.write_zarr(path)
    }

    /// Returns the dataset if its fields agree in sizes and labels along the dims that they share. A struct that a
    /// program builds itself is checked by it, and equal labels become one object.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// use nomina_data::Dataset;
    /// dims! { Lat: f64 }
    /// #[derive(Dataset)]
    /// struct Pair {
    ///     a: Labelled<(Lat,)>,
    ///     b: Labelled<(Lat,)>,
    /// }
    /// let x = Labelled::new(tensor!([1., 2.]; Lat));
    /// let pair = Pair { a: x.clone().with(Lat, [50.0, 60.0]), b: x.with(Lat, [50.0, 61.0]) };
    /// let error = pair.checked().err().unwrap().to_string();
    /// assert!(error.contains("dim `Lat` has other labels in `a` than in `b`: the first difference is at 1: 60.0 and 61.0"));
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Label`] with all disagreements.
    fn checked(self) -> Result<Self> {
        let values = agreeing(&self, "checked")?;
        rebuilt(&self, values)
    }

    /// Selects elements by label on every field that has the dim: ranges, lists and parts of a date, which keep the dim.
    ///
    /// A single label removes it and changes the types of fields: select it on a field, or in a dataset by name before
    /// [`from_dyn`](Self::from_dyn).
    ///
    /// # Panics
    /// If a label is missing, or the fields disagree about the labels.
    #[track_caller]
    #[must_use]
    fn sel<X: DimOfSome<Self> + HasLabels, S: Selects<X::Label, X> + KeepsDim>(
        &self,
        dim: X,
        labels: S,
    ) -> Self {
        ok(self.try_sel(dim, labels))
    }

    /// Selects elements by label, see [`sel`](Self::sel).
    ///
    /// # Errors
    /// Returns [`ErrorKind::Label`] if a label is missing, or the fields disagree about the labels.
    fn try_sel<X: DimOfSome<Self> + HasLabels, S: Selects<X::Label, X> + KeepsDim>(
        &self,
        dim: X,
        labels: S,
    ) -> Result<Self> {
        let (op, name, _) = ("sel", X::NAME.unwrap_or_default(), dim);
        let values = agreeing(self, op)?;
        let Some(own) = labels_along(&values, Self::VARIABLES, name) else {
            let what = format!(
                "dim `{name}` has no labels in any field of `{}`",
                Self::NAME
            );
            return Err(refused(op, what).hint("select by position: `isel`"));
        };
        let Some(typed) = own.as_any().downcast_ref::<Labels<X::Label>>() else {
            let what = format!(
                "labels of dim `{name}` are of type {}",
                own.label_type().name()
            );
            return Err(refused(op, what).hint("its declaration has another type"));
        };
        let located = labels
            .find(typed)
            .map_err(|what| refused(op, format!("dim `{name}` {what}")))?;
        take(self, values, name, &located)
    }

    /// Selects elements by position on every field that has the dim: ranges and lists, which keep it.
    ///
    /// # Panics
    /// If a position is out of range, or the fields disagree about the labels.
    #[track_caller]
    #[must_use]
    fn isel<X: Dim + DimOfSome<Self>, I: SelectsPositions<X> + KeepsDim>(
        &self,
        dim: X,
        index: I,
    ) -> Self {
        ok(self.try_isel(dim, index))
    }

    /// Selects elements by position, see [`isel`](Self::isel).
    ///
    /// # Errors
    /// Returns [`ErrorKind::Label`] if a position is out of range, or the fields disagree about the labels.
    fn try_isel<X: Dim + DimOfSome<Self>, I: SelectsPositions<X> + KeepsDim>(
        &self,
        dim: X,
        index: I,
    ) -> Result<Self> {
        let (op, name, _) = ("isel", X::NAME.unwrap_or_default(), dim);
        let values = agreeing(self, op)?;
        let sizes = values.iter().find_map(|value| {
            let sizes = value.sizes().into_iter();
            sizes.rev().find(|(own, _)| own.as_deref() == Some(name))
        });
        // All such fields are optional and absent.
        let Some((_, size)) = sizes else {
            return rebuilt(self, values);
        };
        let located = index
            .find(size)
            .map_err(|what| refused(op, format!("dim `{name}` {what}")))?;
        take(self, values, name, &located)
    }

    /// Replaces every tensor that has the dim by a function of it, which keeps its dims and its dtype.
    ///
    /// ```
    /// # use nomina::{Labelled, Timestamp, prelude::*};
    /// # use nomina_data::Dataset;
    /// # dims! { Time("time"): Timestamp, Lat("latitude"): f64, Lon("longitude"): f64 }
    /// # #[derive(Dataset, Clone)]
    /// # struct Sea { surface_temperature: Labelled<(Time, Lat, Lon)> }
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// # let sea = Sea::open(path)?;
    /// let years = sea.map_along(Time, |x| x.resample("time", "YS")?.nanmean());
    /// assert_eq!(years.surface_temperature.shape(), [5, 6, 72]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Panics
    /// If the function fails, or changes dims or the dtype, or the results disagree.
    #[track_caller]
    #[must_use]
    fn map_along<X: Dim + DimOfSome<Self>>(
        &self,
        dim: X,
        function: impl FnMut(DynLabelled) -> Result<DynLabelled>,
    ) -> Self {
        ok(self.try_map_along(dim, function))
    }

    /// Replaces every tensor that has the dim, see [`map_along`](Self::map_along).
    ///
    /// # Errors
    /// Returns the errors of the function; [`ErrorKind::Label`] if the results disagree, or a [`Coordinate`] beside the
    /// labels of the dim has another size; and those of [`DynLabelled::typed`].
    fn try_map_along<X: Dim + DimOfSome<Self>>(
        &self,
        dim: X,
        mut function: impl FnMut(DynLabelled) -> Result<DynLabelled>,
    ) -> Result<Self> {
        let (op, name, _) = ("map_along", X::NAME.unwrap_or_default(), dim);
        let mut values = agreeing(self, op)?;
        for (value, spec) in values.iter_mut().zip(Self::VARIABLES) {
            if value.position(name).is_none() {
                continue;
            }
            if let FieldValue::Tensor(x) = value {
                let result = function(x.clone());
                *x =
                    result.map_err(|error| error.within(format_args!("field `{}`", spec.field)))?;
            }
        }
        // The labels of the dim itself follow the tensors.
        let tensors = values
            .iter()
            .filter(|value| matches!(value, FieldValue::Tensor(_)));
        let tensors: Vec<FieldValue> = tensors.cloned().collect();
        let own = labels_along(&tensors, Self::VARIABLES, name);
        for (value, spec) in values.iter_mut().zip(Self::VARIABLES) {
            if let (FieldValue::Column(dim, labels), Some(own)) = (value, &own)
                && *dim == name
                && spec.name == name
            {
                labels.clone_from(own);
            }
        }
        rebuilt(self, values)?.checked()
    }
}

/// Returns the value, or panics at the user's line.
#[track_caller]
fn ok<V>(result: Result<V>) -> V {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

#[cold]
fn refused(op: &'static str, what: String) -> Error {
    Error::new(ErrorKind::Label, op, what)
}

/// Returns the values of the fields, which share labels, or an error about all that they disagree about.
fn agreeing<S: Dataset>(dataset: &S, op: &'static str) -> Result<Vec<FieldValue>> {
    let mut values = Vec::with_capacity(S::Fields::LEN);
    dataset.fields().push_values(&mut values);
    let problems = share_labels(&mut values, S::VARIABLES);
    if problems.is_empty() {
        return Ok(values);
    }
    let what = format!("fields of `{}` disagree: {}", S::NAME, problems.join("; "));
    Err(refused(op, what)
        .hint("labels never join silently: `y.reindex_like(&x)`, or `inner(&x, &y)`"))
}

/// Returns the dataset with other values.
fn rebuilt<S: Dataset>(like: &S, values: Vec<FieldValue>) -> Result<S> {
    let fields = S::Fields::from_values(&mut values.into_iter(), S::VARIABLES)?;
    Ok(S::with_fields(Some(like), fields))
}

/// Returns the labels of a dim in the first field that has some.
fn labels_along(
    values: &[FieldValue],
    specs: &[VariableSpec],
    dim: &str,
) -> Option<Arc<dyn AnyLabels>> {
    let mut all = values.iter().zip(specs);
    all.find_map(|(value, spec)| value.labels_for(value.position(dim)?, spec))
}

/// Selects positions of a dim on every field that has it. They share the new labels.
fn take<S: Dataset>(
    like: &S,
    mut values: Vec<FieldValue>,
    dim: &str,
    located: &Located,
) -> Result<S> {
    let labels = labels_along(&values, S::VARIABLES, dim);
    let labels = labels.map(|labels| take_labels(&*labels, located));
    for (value, spec) in values.iter_mut().zip(S::VARIABLES) {
        if let Some(at) = value.position(dim) {
            let whole = std::mem::replace(value, FieldValue::Absent);
            *value = whole.located(at, located, labels.as_ref(), spec)?;
        }
    }
    rebuilt(like, values)
}

/// Returns the elements of a variable: numbers as a tensor, texts and times as they are.
fn elements(column: Column, dims: &[String], shape: &[usize]) -> Result<Data> {
    let names: Names = dims.iter().map(|dim| Name::new(dim).ok()).collect();
    Ok(match column {
        Column::F64(values) => Data::Tensor(DynTensor::from_vec(values, shape, names)?),
        Column::I64(values) => Data::Tensor(DynTensor::from_vec(values, shape, names)?),
        column => Data::Column(Arc::new(column)),
    })
}
