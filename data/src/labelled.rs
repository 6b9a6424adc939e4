//! Conversion to tensors with labels.

use std::cmp::Ordering;
use std::sync::Arc;

use nomina::dims::{LabelType, LabelValue};
use nomina::labelled::{AnyLabels, Label as TypedLabel, Metric};
use nomina::{DynLabelled, DynTensor, Labels, Name, Result, Timestamp};

use crate::calendar::{Calendar, CfTime};
use crate::column::Column;
use crate::dataset::{DynDataset, is_index};
use crate::variable::Variable;

/// Labels of a dim: `dims! { Time: CfTime }`. Times are ordered by calendar, then by time.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_data::{CfTime, DynDataset};
/// dims! { Time("time"): CfTime, Lat("latitude"): f64, Lon("longitude"): f64 }
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/a1b_cut.nc");
/// let file = DynDataset::open(path)?;
/// let air = file.labelled("air_temperature")?.typed::<(Time, Lat, Lon), f32>()?;
/// let south = air.sel(Lat, ..=40.0);
/// # assert_eq!(south.labels(Time).values()[0].to_string(), "1860-06-01 00:00:00");
/// # Ok::<(), Error>(())
/// ```
impl TypedLabel for CfTime {
    const TYPE: LabelType = LabelType::Other("CfTime");

    const DERIVATIVE_UNIT: f64 = 1e-9;

    fn compare(&self, other: &Self) -> Ordering {
        let by_time = || self.partial_cmp(other).unwrap_or(Ordering::Equal);
        self.calendar().cmp(&other.calendar()).then_with(by_time)
    }

    fn to_text(&self) -> String {
        self.to_string()
    }

    /// Returns the time and its calendar as a text.
    fn to_value(&self) -> LabelValue {
        LabelValue::Text(format!("{self} {}", self.calendar()))
    }

    fn from_value(value: &LabelValue) -> Option<Self> {
        let LabelValue::Text(text) = value else {
            return None;
        };
        let (time, calendar) = text.rsplit_once(' ')?;
        let calendar: Calendar = calendar.parse().ok()?;
        Self::parse(calendar, time).ok()
    }

    /// Returns the nanoseconds between two times of one calendar.
    fn difference(&self, origin: &Self) -> Option<f64> {
        let same = self.calendar() == origin.calendar();
        same.then(|| (*self - *origin).as_nanos() as f64)
    }
}

impl Metric for CfTime {}

impl Column {
    /// Converts to labels of a type that is known at run time.
    #[must_use]
    pub fn to_labels(&self) -> Arc<dyn AnyLabels> {
        match self {
            Self::F64(values) => Arc::new(Labels::new(values.iter().copied())),
            Self::I64(values) => Arc::new(Labels::new(values.iter().copied())),
            Self::Text(values) => Arc::new(Labels::new(values.iter().cloned())),
            Self::Time(values) => Arc::new(Labels::new(values.iter().copied())),
            Self::CfTime(values) => Arc::new(Labels::new(values.iter().copied())),
        }
    }

    /// Converts from labels; those of types that no file has become texts.
    #[must_use]
    pub fn from_labels(labels: &dyn AnyLabels) -> Self {
        fn values<X: TypedLabel>(labels: &dyn AnyLabels) -> Option<Vec<X>> {
            let labels = labels.as_any().downcast_ref::<Labels<X>>()?;
            Some(labels.values().to_vec())
        }
        if let Some(values) = values::<f64>(labels) {
            Self::F64(values)
        } else if let Some(values) = values::<f32>(labels) {
            Self::F64(values.into_iter().map(crate::column::widen).collect())
        } else if let Some(values) = values::<i64>(labels) {
            Self::I64(values)
        } else if let Some(values) = values::<Timestamp>(labels) {
            Self::Time(values)
        } else if let Some(values) = values::<CfTime>(labels) {
            Self::CfTime(values)
        } else if let Some(values) = values::<String>(labels) {
            Self::Text(values)
        } else {
            Self::Text((0..labels.len()).map(|at| labels.text(at)).collect())
        }
    }
}

impl DynDataset {
    /// Reads a variable as a tensor with the labels of its dims. [`DynLabelled::typed`] checks it against a type.
    ///
    /// The variables of a dataset share labels, so that operators compare one pointer.
    ///
    /// ```
    /// use nomina::{Timestamp, prelude::*};
    /// use nomina_data::DynDataset;
    /// dims! { Time("time"): Timestamp, Lat("latitude"): f64, Lon("longitude"): f64 }
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let sea = DynDataset::open_lazy(path)?.sel("time", "2007")?;
    /// let t = sea.labelled("surface_temperature")?.typed::<(Time, Lat, Lon), f32>()?;
    /// let january = t.sel(Time, "2007-01");
    /// assert_eq!(january.tensor().shape(), [1, 6, 72]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`variable`](Self::variable) and [`Variable::tensor`].
    pub fn labelled(&self, name: &str) -> Result<DynLabelled> {
        let variable = self.variable(name)?;
        let mut labelled = DynLabelled::new(variable.tensor()?);
        for (at, name) in variable.names().iter().enumerate() {
            let index = self
                .variables
                .iter()
                .find(|one| is_index(one) && name.is_some() && one.name() == variable.dims()[at]);
            if let Some(index) = index {
                labelled = labelled.with_shared(at as i64, Some(index.shared_labels()?))?;
            }
        }
        Ok(labelled)
    }

    /// Adds a tensor with labels as a variable, and its labels as coordinates. Labels that the dataset has already must
    /// be equal.
    ///
    /// # Errors
    /// Returns [`ErrorKind::UnnamedDim`](nomina::ErrorKind::UnnamedDim) if a dim has no name;
    /// [`ErrorKind::Shape`](nomina::ErrorKind::Shape) if a dim has another size in the dataset;
    /// [`ErrorKind::Argument`](nomina::ErrorKind::Argument) if it has other labels.
    pub fn insert_labelled(&mut self, name: &str, labelled: &DynLabelled) -> Result<()> {
        let mut with = self.clone();
        let tensor: DynTensor = labelled.tensor().clone();
        let dims: Vec<Option<Name>> = tensor.names().iter().cloned().collect();
        with.insert(Variable::new(name, tensor)?)?;
        for (at, dim) in dims.iter().flatten().enumerate() {
            let Some(labels) = labelled.coords().get(at) else {
                continue;
            };
            let dim = dim.as_str();
            match with.labels(dim) {
                Ok(own) if *own == Column::from_labels(&**labels) => {}
                Ok(_) => {
                    let what = "has other labels in the dataset";
                    return Err(crate::select::refused("insert_labelled", dim, what)
                        .hint("select or reindex them first"));
                }
                Err(_) => {
                    let labels = Column::from_labels(&**labels);
                    with.insert(Variable::from_column(dim, labels))?;
                }
            }
        }
        *self = with;
        Ok(())
    }
}
