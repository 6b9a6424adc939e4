//! The types of fields: labelled tensors, coordinates, single values, and each of them if the file has it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use nomina::dims::{Dim, DimTuple, Dims, Distinct, Label};
use nomina::labelled::{AnyLabels, Located};
use nomina::{DynLabelled, Element, Error, ErrorKind, Labelled, Labels, Result, Timestamp};

use super::reading::Reading;
use super::spec::VariableSpec;
use super::tree::{FieldTree, OneField};
use crate::calendar::CfTime;

/// A field of a dataset: [`Labelled`], under whatever alias, or [`DynLabelled`]; a [`Coordinate`]; a number, a text or a time for a variable
/// without dims; `Option` of these for a variable that may be missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a dataset's field",
    label = "no variable of a file is read as this",
    note = "fields are `Labelled<(Time, Lat), f32>`, `Coordinate<Station, String>`, `f64`, `i64`, `String`, `Timestamp` or `CfTime`, or \
            an `Option` of these; mark another field `#[dataset(skip)]`"
)]
pub trait Field: Sized {
    /// The dims.
    #[doc(hidden)]
    type Dims: Dims;
    /// The field in a tree of fields.
    #[doc(hidden)]
    type Leaf: FieldTree;
    #[doc(hidden)]
    fn into_field(self) -> FieldValue;
    #[doc(hidden)]
    fn from_field(value: FieldValue) -> Result<Self>;
    /// Compares the field with the variable.
    #[doc(hidden)]
    fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec);
    #[doc(hidden)]
    fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self>;
}

/// The value of a field without its type.
#[doc(hidden)]
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each field, for the time of a call"
)]
pub enum FieldValue {
    /// An optional field without a value.
    Absent,
    Tensor(DynLabelled),
    /// Values along a dim.
    Column(String, Arc<dyn AnyLabels>),
    /// One value.
    Single(Arc<dyn AnyLabels>),
}

impl FieldValue {
    /// Returns the dims and their sizes.
    pub(crate) fn sizes(&self) -> Vec<(Option<String>, usize)> {
        match self {
            Self::Absent | Self::Single(_) => Vec::new(),
            Self::Column(dim, labels) => vec![(Some(dim.clone()), labels.len())],
            Self::Tensor(x) => {
                let names = x.names().iter();
                let names = names.map(|name| name.as_ref().map(|name| name.as_str().to_owned()));
                names.zip(x.shape().iter().copied()).collect()
            }
        }
    }

    /// Returns the position of a dim.
    pub(crate) fn position(&self, dim: &str) -> Option<usize> {
        let sizes = self.sizes();
        sizes
            .iter()
            .position(|(own, _)| own.as_deref() == Some(dim))
    }

    /// Returns the labels of the dim at a position. A coordinate has those of its dim if it is named like it.
    pub(crate) fn labels_for(&self, at: usize, spec: &VariableSpec) -> Option<Arc<dyn AnyLabels>> {
        match self {
            Self::Tensor(x) => x.coords().get(at).cloned(),
            Self::Column(dim, labels) if dim == spec.name => Some(labels.clone()),
            _ => None,
        }
    }

    /// Replaces the labels of the dim at a position by equal ones.
    pub(crate) fn set_labels(&mut self, at: usize, labels: Arc<dyn AnyLabels>) {
        match self {
            Self::Tensor(x) => {
                // Their number is the same.
                if let Ok(with) = x.clone().with_shared(at as i64, Some(labels)) {
                    *x = with;
                }
            }
            Self::Column(_, own) => *own = labels,
            _ => {}
        }
    }

    /// Selects positions along the dim at a position; `labels` are those of the positions.
    pub(crate) fn located(
        self,
        at: usize,
        located: &Located,
        labels: Option<&Arc<dyn AnyLabels>>,
        spec: &VariableSpec,
    ) -> Result<Self> {
        match self {
            Self::Tensor(x) => {
                let has_labels = x.coords().get(at).is_some();
                let bare = x.with_shared(at as i64, None)?;
                let part = match located {
                    Located::One(i) => bare.isel(at as i64, vec![*i])?,
                    Located::Range(range) => bare.isel(at as i64, range.clone())?,
                    Located::List(list) => bare.isel(at as i64, list.clone())?,
                };
                let labels = labels.filter(|_| has_labels).cloned();
                part.with_shared(at as i64, labels).map(Self::Tensor)
            }
            Self::Column(dim, own) => {
                let part = match labels {
                    Some(labels) if dim == spec.name => labels.clone(),
                    _ => take_labels(&*own, located),
                };
                Ok(Self::Column(dim, part))
            }
            other => Ok(other),
        }
    }
}

/// Returns the labels at some positions.
pub(crate) fn take_labels(labels: &dyn AnyLabels, located: &Located) -> Arc<dyn AnyLabels> {
    match located {
        Located::One(at) => labels.take(&[*at]),
        Located::Range(range) => labels.slice(range.clone()),
        Located::List(list) => labels.take(list),
    }
}

#[cold]
fn other_kind(wanted: &str) -> Error {
    let what = format!("the value is not {wanted}");
    Error::new(ErrorKind::Argument, "dataset", what)
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Element> Field for Labelled<D, T> {
    type Dims = D;
    type Leaf = OneField<Self>;
    fn into_field(self) -> FieldValue {
        FieldValue::Tensor(self.into_dyn())
    }
    fn from_field(value: FieldValue) -> Result<Self> {
        match value {
            FieldValue::Tensor(x) => x.typed(),
            _ => Err(other_kind("a tensor")),
        }
    }
    fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec) {
        reading.check_tensor(spec, D::NAMES, D::LABELS, T::DTYPE);
    }
    fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self> {
        let found = reading.tensor(spec, D::LABELS, T::DTYPE)?;
        // Names of dims that rustc does not know are those of the file.
        found.typed()
    }
}

/// A tensor whose dims, dtype and types of labels are those of the file.
#[diagnostic::do_not_recommend]
impl Field for DynLabelled {
    type Dims = ();
    type Leaf = OneField<Self>;
    fn into_field(self) -> FieldValue {
        FieldValue::Tensor(self)
    }
    fn from_field(value: FieldValue) -> Result<Self> {
        match value {
            FieldValue::Tensor(x) => Ok(x),
            _ => Err(other_kind("a tensor")),
        }
    }
    fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec) {
        reading.check_any(spec);
    }
    fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self> {
        reading.any(spec)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Field> Field for Option<F> {
    type Dims = F::Dims;
    type Leaf = OneField<Self>;
    fn into_field(self) -> FieldValue {
        self.map_or(FieldValue::Absent, F::into_field)
    }
    fn from_field(value: FieldValue) -> Result<Self> {
        match value {
            FieldValue::Absent => Ok(None),
            value => F::from_field(value).map(Some),
        }
    }
    fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec) {
        if reading.has(spec) {
            F::check_field(reading, spec);
        }
    }
    fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self> {
        let has = reading.has(spec);
        has.then(|| F::load_field(reading, spec)).transpose()
    }
}

/// The values of a coordinate along dim `X`: numbers, texts or times, which are [`Labels`]. A coordinate with the name of
/// the dim has its labels; another one is beside them.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_data::{Coordinate, Dataset};
/// dims! { Station("station"): String }
///
/// #[derive(Dataset)]
/// struct Stations {
///     station: Coordinate<Station, String>,
///     country: Coordinate<Station, String>,
/// }
/// let all = Stations {
///     station: Coordinate::new(Station, ["Potsdam", "Oslo"].map(String::from)),
///     country: Coordinate::new(Station, ["de", "no"].map(String::from)),
/// };
/// let north = all.sel(Station, ["Oslo"]);
/// assert_eq!(north.country.values(), ["no"]);
/// ```
pub struct Coordinate<X, L> {
    labels: Arc<Labels<L>>,
    dim: std::marker::PhantomData<fn() -> X>,
}

impl<X, L> Clone for Coordinate<X, L> {
    fn clone(&self) -> Self {
        Self::from_shared(self.labels.clone())
    }
}

impl<X, L: Label> fmt::Debug for Coordinate<X, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.labels.fmt(f)
    }
}

impl<X, L> Coordinate<X, L> {
    const fn from_shared(labels: Arc<Labels<L>>) -> Self {
        Self {
            labels,
            dim: std::marker::PhantomData,
        }
    }

    /// Returns the labels, for tensors to share: [`Labelled::with_shared`].
    #[must_use]
    pub fn shared(&self) -> Arc<Labels<L>> {
        self.labels.clone()
    }
}

impl<X: Dim, L: Label> Coordinate<X, L> {
    /// Creates a coordinate from its values, in order of position.
    pub fn new(dim: X, values: impl IntoIterator<Item = L>) -> Self {
        let _ = dim;
        Self::from_shared(Arc::new(Labels::new(values)))
    }
}

impl<X, L> Deref for Coordinate<X, L> {
    type Target = Labels<L>;

    fn deref(&self) -> &Labels<L> {
        &self.labels
    }
}

/// Returns labels with their type. Their text is that of an error of `typed`.
fn downcast<L: Label>(labels: &Arc<dyn AnyLabels>) -> Result<Labels<L>> {
    let own = labels.as_any().downcast_ref::<Labels<L>>();
    own.map(|own| Labels::new(own.values().iter().cloned()))
        .ok_or_else(|| other_kind(L::TYPE.name()))
}

#[diagnostic::do_not_recommend]
impl<X: Dim, L: Label> Field for Coordinate<X, L>
where
    (X,): Dims,
{
    type Dims = (X,);
    type Leaf = OneField<Self>;
    fn into_field(self) -> FieldValue {
        FieldValue::Column(X::NAME.unwrap_or_default().to_owned(), self.labels)
    }
    fn from_field(value: FieldValue) -> Result<Self> {
        match value {
            FieldValue::Column(_, labels) => {
                downcast(&labels).map(|labels| Self::from_shared(Arc::new(labels)))
            }
            _ => Err(other_kind("a coordinate")),
        }
    }
    fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec) {
        reading.check_column(spec, <(X,) as DimTuple>::NAMES, L::TYPE);
    }
    fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self> {
        let labels = reading.column(spec, L::TYPE)?;
        downcast(&labels).map(|labels| Self::from_shared(Arc::new(labels)))
    }
}

macro_rules! singles {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Field for $t {
            type Dims = ();
            type Leaf = OneField<Self>;
            fn into_field(self) -> FieldValue {
                FieldValue::Single(Arc::new(Labels::new([self])))
            }
            fn from_field(value: FieldValue) -> Result<Self> {
                let FieldValue::Single(labels) = value else {
                    return Err(other_kind("a single value"));
                };
                let labels = downcast::<$t>(&labels)?;
                labels.values().first().cloned().ok_or_else(|| other_kind("a single value"))
            }
            fn check_field(reading: &mut Reading<'_>, spec: &VariableSpec) {
                reading.check_column(spec, &[], <$t as Label>::TYPE);
            }
            fn load_field(reading: &mut Reading<'_>, spec: &VariableSpec) -> Result<Self> {
                let labels = reading.column(spec, <$t as Label>::TYPE)?;
                <Self as Field>::from_field(FieldValue::Single(labels))
            }
        }
    )*};
}
singles!(f64 f32 i64 String Timestamp CfTime);
