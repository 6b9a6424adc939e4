//! Values between labels, derivatives and integrals along labels, fits, positions of extremes.

use std::sync::Arc;

use nomina_core::dims::{
    DimOf, Dims, HasLabels, IndexOf, Label, LabelType, LabelValue, Metric, OneDim, Open, Selected,
    SizeOf, Without, position,
};
use nomina_core::rule::DimRef;
use nomina_core::{DType, Element, Float, Names, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;

use super::any::AnyLabels;
use super::dynamic::{gathered, renamed};
use super::found::Found;
use super::labels::Labels;
use super::numeric::{Between, between, fit_rows};
use super::reindex::along;
use super::time::Timestamp;
use super::{DynLabelled, Labelled, typed_labels};
use crate::InterpOptions;
use crate::types::Real;

/// Returns the distances in the unit of a derivative: those of times in seconds.
fn coordinates(labels: &dyn AnyLabels, origin: Option<&dyn AnyLabels>) -> Found<Vec<f64>> {
    labels.offsets(origin).ok_or_else(|| {
        let name = labels.label_type().name();
        format!("has labels of type {name}, which have no distance")
    })
}

impl DynLabelled {
    fn interpolated(
        &self,
        at: usize,
        labels: &Arc<dyn AnyLabels>,
        options: InterpOptions,
    ) -> Result<Self> {
        let own = self.labels_at("interp", at)?;
        let fail = |what: String| self.unfound("interp", at, &what);
        if own.label_type() != labels.label_type() {
            let (own, wanted) = (own.label_type().name(), labels.label_type().name());
            return Err(fail(format!(
                "has labels of type {own}, and the wanted ones are {wanted}"
            )));
        }
        let order = own.rising();
        let (xs, wanted) = (
            coordinates(&**own, None).map_err(fail)?,
            coordinates(&**labels, Some(&**own)).map_err(fail)?,
        );
        let xs: Vec<f64> = order.iter().map(|i| xs[*i]).collect();
        let places: Vec<Option<Between>> =
            wanted.iter().map(|x| between(&xs, *x, options)).collect();
        let pick = |side: fn(&Between) -> usize| -> Vec<Option<usize>> {
            places
                .iter()
                .map(|place| place.as_ref().map(|place| order[side(place)]))
                .collect()
        };
        let below = self.at_or_nan("interp", at, &pick(|place| place.below))?;
        let shares: Vec<f64> = places
            .iter()
            .map(|place| place.as_ref().map_or(0.0, |place| place.share))
            .collect();
        let tensor = if shares.iter().all(|share| *share == 0.0) {
            below
        } else {
            let above = self.at_or_nan("interp", at, &pick(|place| place.above))?;
            let step = above.sub(&below)?.mul(&along(&below, at, shares)?)?;
            below.add(&step)?
        };
        Ok(Self::from_parts(
            tensor,
            self.coords.with(self.rank(), at, Some(labels.clone())),
        ))
    }

    /// Computes values between labels along a dim; several dims one after the other. NaN beyond the ends, unless the options
    /// extrapolate.
    ///
    /// # Errors
    /// If the dim has no labels, they are of another type, or have no distance.
    pub fn interp<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        labels: Arc<dyn AnyLabels>,
        options: InterpOptions,
    ) -> Result<Self> {
        self.in_floats()?
            .interpolated(self.position("interp", dim)?, &labels, options)
    }

    fn derivative(&self, at: usize) -> Result<Self> {
        let xs = coordinates(&**self.labels_at("differentiate", at)?, None);
        let xs = xs.map_err(|what| self.unfound("differentiate", at, &what))?;
        let n = xs.len();
        if n < 2 {
            return Err(self.unfound("differentiate", at, "needs at least 2 elements"));
        }
        // Second-order differences of uneven steps inside, first-order ones at the ends, like NumPy's `gradient`.
        let mut factors = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for i in 1..n - 1 {
            let (before, after) = (xs[i] - xs[i - 1], xs[i + 1] - xs[i]);
            factors[0][i] = -after / (before * (before + after));
            factors[1][i] = (after - before) / (before * after);
            factors[2][i] = before / (after * (before + after));
        }
        let (first, last) = (1.0 / (xs[1] - xs[0]), 1.0 / (xs[n - 1] - xs[n - 2]));
        (factors[1][0], factors[2][0]) = (-first, first);
        (factors[0][n - 1], factors[1][n - 1]) = (-last, last);
        let [before, own, after] = factors;
        let x = &self.tensor;
        let earlier: Vec<usize> = (0..n).map(|i| i.saturating_sub(1)).collect();
        let later: Vec<usize> = (0..n).map(|i| (i + 1).min(n - 1)).collect();
        let sum = gathered(x, at, &earlier)?
            .mul(&along(x, at, before)?)?
            .add(&x.mul(&along(x, at, own)?)?)?;
        let sum = sum.add(&gathered(x, at, &later)?.mul(&along(x, at, after)?)?)?;
        self.keeping(Ok(sum))
    }

    /// Computes the derivative along the labels of a dim, per unit of the label; of times, per second.
    ///
    /// # Errors
    /// If the dim has no labels, they have no distance, or there are fewer than 2.
    pub fn differentiate<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.in_floats()?
            .derivative(self.position("differentiate", dim)?)
    }

    fn integral(&self, at: usize) -> Result<Self> {
        let xs = coordinates(&**self.labels_at("integrate", at)?, None);
        let xs = xs.map_err(|what| self.unfound("integrate", at, &what))?;
        let mut weights = vec![0.0; xs.len()];
        for i in 1..xs.len() {
            let half = (xs[i] - xs[i - 1]) / 2.0;
            weights[i - 1] += half;
            weights[i] += half;
        }
        let tensor = self
            .tensor
            .mul(&along(&self.tensor, at, weights)?)?
            .sum(at)?;
        let kept = (0..self.rank()).filter(|i| *i != at).map(Some);
        Ok(Self::from_parts(tensor, self.coords.moved(kept)))
    }

    /// Computes the integral along the labels of a dim by the trapezoid rule; of times, in seconds.
    ///
    /// # Errors
    /// If the dim has no labels, or they have no distance.
    pub fn integrate<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.in_floats()?.integral(self.position("integrate", dim)?)
    }

    fn fitted(&self, at: usize, degree: usize, name: Option<&str>) -> Result<Self> {
        let own = self.labels_at("polyfit", at)?;
        let fail = |what: String| self.unfound("polyfit", at, &what);
        // Numbers as they are; times since the first.
        let xs = match own.as_any().downcast_ref::<Labels<f64>>() {
            Some(labels) => labels.values().to_vec(),
            None => coordinates(&**own, None).map_err(fail)?,
        };
        let rows = fit_rows(&xs, degree).map_err(fail)?;
        let x = &self.tensor;
        let each: Result<Vec<DynTensor>> = rows
            .into_iter()
            .map(|row| {
                x.mul(&along(x, at, row)?)?
                    .sum(at)?
                    .unsqueeze(at as i64, name)
            })
            .collect();
        let each = each?;
        let tensor = DynTensor::cat(&each.iter().collect::<Vec<_>>(), at)?;
        let degrees = Labels::shared((0..=degree as i64).rev());
        Ok(Self::from_parts(
            tensor,
            self.coords.with(self.rank(), at, Some(degrees)),
        ))
    }

    /// Fits a polynomial along the labels of a dim by least squares; the coefficients are along a new dim `name`, the greatest
    /// degree first. The variable is the label; of times, the seconds since the first.
    ///
    /// # Errors
    /// If the dim has no labels, they have no distance, or there are too few.
    pub fn polyfit<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        degree: usize,
        name: &str,
    ) -> Result<Self> {
        self.in_floats()?
            .fitted(self.position("polyfit", dim)?, degree, Some(name))
    }

    fn extreme_label(&self, at: usize, greatest: bool) -> Result<Self> {
        let op = if greatest { "idxmax" } else { "idxmin" };
        let labels = self.labels_at(op, at)?;
        let values = (0..labels.len()).map(|i| labels.value(i));
        let n = labels.len();
        let values = match labels.label_type() {
            LabelType::F64 | LabelType::F32 => {
                let each = values.map(|v| {
                    if let LabelValue::Float(v) = v {
                        v
                    } else {
                        f64::NAN
                    }
                });
                let dtype = if labels.label_type() == LabelType::F32 {
                    DType::F32
                } else {
                    DType::F64
                };
                DynTensor::from_vec(each.collect::<Vec<_>>(), &[n], Names::unnamed(1))?
                    .to_dtype(dtype)?
            }
            LabelType::I64 | LabelType::Timestamp => {
                let each = values.map(|v| match v {
                    LabelValue::Int(v) | LabelValue::Nanoseconds(v) => v,
                    _ => 0,
                });
                DynTensor::from_vec(each.collect::<Vec<_>>(), &[n], Names::unnamed(1))?
            }
            other => {
                let what = format!(
                    "has labels of type {}, which are not elements of tensors; use `arg{}`",
                    other.name(),
                    &op[3..]
                );
                return Err(self.unfound(op, at, &what));
            }
        };
        let values = values.to_device(self.tensor.device())?;
        let x = &self.tensor;
        let nan = x.isnan()?;
        let worst = if greatest {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let filled = if x.dtype().is_float() {
            x.masked_fill(&nan, worst)?
        } else {
            x.clone()
        };
        let found = if greatest {
            filled.argmax(at)?
        } else {
            filled.argmin(at)?
        };
        let mut tensor = renamed(values.take(&found.drop_names())?, found.names().clone())?;
        if tensor.dtype().is_float() {
            tensor = tensor.masked_fill(&nan.all(at)?, f64::NAN)?;
        }
        let kept = (0..self.rank()).filter(|i| *i != at).map(Some);
        Ok(Self::from_parts(tensor, self.coords.moved(kept)))
    }

    /// Returns the label of the greatest element along a dim; NaN counts as least. Times in nanoseconds since 1970.
    ///
    /// # Errors
    /// If the dim has no labels, or they are text.
    pub fn idxmax<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.extreme_label(self.position("idxmax", dim)?, true)
    }

    /// Returns the label of the smallest element along a dim; NaN counts as greatest. Times in nanoseconds since 1970.
    ///
    /// # Errors
    /// If the dim has no labels, or they are text.
    pub fn idxmin<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.extreme_label(self.position("idxmin", dim)?, false)
    }
}

/// Labels that are elements of tensors.
#[diagnostic::on_unimplemented(
    message = "labels of type `{Self}` are not elements of tensors",
    label = "numbers and times are",
    note = "use `argmax` and select the labels by position"
)]
pub trait ElementLabel: Label {
    /// The dtype of the elements; `i64` nanoseconds for times.
    type Element: Element;
}
macro_rules! element_labels {
    ($($label:ty => $element:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ElementLabel for $label {
            type Element = $element;
        }
    )*};
}
element_labels! {
    f64 => f64;
    f32 => f32;
    i64 => i64;
    Timestamp => i64;
}

/// # Values between labels, derivatives and integrals
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Computes values between labels along a dim, linearly; several dims one after the other. NaN beyond the ends, and
    /// beside NaN. The labels may have any order.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 2., 4.]; Lat)).with(Lat, [60.0, 45.0, 30.0]);
    /// let y = x.interp(Lat, [33.75, 60.0, 75.0]);
    /// assert_eq!(y.fill(0.0).to_vec(), [3.5, 1.0, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_interp<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
        labels: impl IntoIterator<Item = X::Label>,
    ) -> Result<Self>
    where
        X::Label: Metric,
        T: Float,
    {
        self.try_interp_with(dim, labels, InterpOptions::default())
    }

    /// Like [`interp`](Self::interp), but with the nearest label's value, or beyond the ends.
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_interp_with<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
        labels: impl IntoIterator<Item = X::Label>,
        options: InterpOptions,
    ) -> Result<Self>
    where
        X::Label: Metric,
        T: Float,
    {
        let (at, _) = (position::<X, D>(), dim);
        let labels: Arc<dyn AnyLabels> = Arc::new(Labels::new(labels));
        self.computed(|x| x.interpolated(at, &labels, options))
    }

    /// Computes the derivative along the labels of a dim, per unit of the label; of times, per second. Differences of second
    /// order inside and of first order at the ends, like NumPy's `gradient`.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Depth: f64 }
    /// let x = Labelled::new(tensor!([0., 1., 4.]; Depth)).with(Depth, [0.0, 1.0, 2.0]);
    /// assert_eq!(x.differentiate(Depth).to_vec(), [1.0, 2.0, 3.0]);
    /// assert_eq!(x.integrate(Depth).tensor().item(), 3.0);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels, or there are fewer than 2.
    #[twin]
    pub fn try_differentiate<X: DimOf<D> + HasLabels>(&self, dim: X) -> Result<Self>
    where
        X::Label: Metric,
        T: Float,
    {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.derivative(at))
    }

    /// Computes the integral along the labels of a dim by the trapezoid rule; of times, in seconds.
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_integrate<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
    ) -> Result<Labelled<Without<D, X>, T>>
    where
        X::Label: Metric,
        T: Float,
    {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.integral(at))
    }

    /// Fits a polynomial along the labels of a dim by least squares. The coefficients take the dim's place, along `degrees`,
    /// whose labels are the degrees, the greatest first. The variable is the label; of times, the seconds since the first.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Depth: f64, Degree: i64 }
    /// let x = Labelled::new(tensor!([1., 3., 5.]; Depth)).with(Depth, [0.0, 1.0, 2.0]);
    /// let line = x.polyfit(Depth, Degree, 1);
    /// assert!((line.sel(Degree, 1).tensor().item() - 2.0).abs() < 1e-6);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels, or there are too few for the degree.
    #[twin]
    pub fn try_polyfit<X: DimOf<D> + HasLabels, G: OneDim + HasLabels<Label = i64>>(
        &self,
        dim: X,
        degrees: G,
        degree: usize,
    ) -> Result<Labelled<Selected<D, X, (G,)>, T>>
    where
        X::Label: Metric,
        (G,): Dims + IndexOf<D, X>,
        SizeOf<G>: Open<G>,
        T: Float,
    {
        let (at, _) = (position::<X, D>(), (dim, degrees));
        let name = if D::HAS_WILD { G::NAME } else { None };
        self.computed(|x| x.fitted(at, degree, name))
    }

    /// Returns the label of the greatest element along a dim; NaN counts as least, and is the result if all are. Times in
    /// nanoseconds since 1970.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 7., 4.]; Lat)).with(Lat, [60.0, 45.0, 30.0]);
    /// assert_eq!(x.idxmax(Lat).tensor().item(), 45.0);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_idxmax<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
    ) -> Result<Labelled<Without<D, X>, <X::Label as ElementLabel>::Element>>
    where
        X::Label: ElementLabel,
        T: Real,
    {
        let at = position::<X, D>();
        let _ = (typed_labels::<X>("idxmax", self.coords.get(at))?, dim);
        self.computed(|x| x.extreme_label(at, true))
    }

    /// Returns the label of the smallest element along a dim; NaN counts as greatest, and is the result if all are.
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_idxmin<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
    ) -> Result<Labelled<Without<D, X>, <X::Label as ElementLabel>::Element>>
    where
        X::Label: ElementLabel,
        T: Real,
    {
        let at = position::<X, D>();
        let _ = (typed_labels::<X>("idxmin", self.coords.get(at))?, dim);
        self.computed(|x| x.extreme_label(at, false))
    }
}
