//! Tensors with labels along their dims: latitudes, dates, names of stations.
//!
//! | | |
//! |---|---|
//! | [`Labelled`] | a tensor and the labels of those of its dims that have some |
//! | [`DynLabelled`] | the same with names, dtype and label types at run time |
//! | [`Labels`], [`AnyLabels`], [`Coords`] | the labels along one dim, without their type, and of all dims |
//! | [`Timestamp`] | an instant as a label |
//! | [`Selects`], [`at`], [`nearest`], [`Selection`] | what selects among labels |

mod any;
mod arithmetic;
pub mod calculus;
mod calendar;
mod coords;
mod dynamic;
mod format;
mod found;
pub mod groups;
mod join;
mod labels;
pub mod moments;
mod numeric;
mod operand;
pub mod permute;
pub mod reindex;
pub mod rolling;
mod select;
mod selection;
mod time;

use std::sync::Arc;

use nomina_core::dims::{DimOf, DimTuple, Dims, Distinct, HasLabels, LabelType, position};
use nomina_core::{Element, Result};
use nomina_macros::twin;

pub use any::{AnyLabels, Difference, Fill, Located};
pub use calculus::ElementLabel;
pub use calendar::{AsStep, CalendarTime, DatePart, Step};
pub use coords::Coords;
pub use dynamic::{DynLabelled, DynLabelledOperand};
pub use found::Found;
pub use groups::{DynGroups, Groups};
pub use join::{inner, outer, try_inner, try_outer};
pub use labels::Labels;
pub use nomina_core::dims::{Label, LabelValue, Metric};
pub use operand::LabelledOperand;
pub use reindex::concat;
pub use rolling::{Boundary, Coarsened, DynCoarsened, DynRolling, Rolling, RollingOptions};
pub use select::{AsLabel, KeepsDim, SelectedBy, Selects, SelectsPositions};
pub use selection::{AtLabel, NearestLabel, Selection, Tolerance, at, nearest};
pub use time::{AsDate, Timestamp};

use crate::erased::Known;
use crate::erased::compose::{call_dynamic, erase};
use crate::tensor::Tensor;
use coords::error;

/// A tensor and the labels of those of its dims that have some.
///
/// `dims! { Lat: f64 }` gives the labels of a dim their type. Labels follow names through every operator: they stay with a
/// dim that stays, and go with one that is reduced. Operands must have equal labels along the dims that they share; they
/// are never joined or dropped silently. The tensor records gradients as without labels.
///
/// ```
/// use nomina::prelude::*;
/// use nomina::{Labelled, Timestamp, nearest};
/// dims! { Time: Timestamp, Lat: f64 }
///
/// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; Time, Lat);
/// let x = Labelled::new(x)
///     .with(Time, ["2020-01-31", "2020-02-29"].map(|day| day.parse().unwrap()))
///     .with(Lat, [60.0, 45.0, 30.0]);
///
/// let south: Labelled<(Time, Lat)> = x.sel(Lat, ..50.0);         // a range keeps the dim
/// assert_eq!(south.tensor().to_vec(), [2.0, 3.0, 5.0, 6.0]);
/// let berlin: Labelled<(Time,)> = x.sel(Lat, nearest(54.0));     // one label removes it
/// assert_eq!(berlin.tensor().to_vec(), [1.0, 4.0]);
/// let january = x.sel(Time, "2020-01");                          // all labels within a part of a date
/// assert_eq!(january.tensor().shape(), [1, 3]);
///
/// let anomaly = &x - x.mean(Time);
/// assert_eq!(anomaly.labels(Lat).values(), [60.0, 45.0, 30.0]);
/// let error = x.try_sub(&south).unwrap_err().to_string();
/// assert!(error.contains("labels of the operands differ along dim `Lat`"));
/// ```
pub struct Labelled<D: Dims, T: Element = f32> {
    tensor: Tensor<D, T>,
    coords: Coords,
}

impl<D: Dims, T: Element> Clone for Labelled<D, T> {
    fn clone(&self) -> Self {
        Self::from_parts(self.tensor.clone(), self.coords.clone())
    }
}

/// Whether a dim of the list has words as labels.
const fn has_words(labels: &[Option<LabelType>]) -> bool {
    let mut at = 0;
    while at < labels.len() {
        if let Some(LabelType::Words(_)) = labels[at] {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns the labels of dims whose words rustc knows.
fn words(labels: &[Option<LabelType>]) -> Coords {
    let each = labels.iter().map(|labels| match labels {
        Some(LabelType::Words(words)) => {
            Some(Labels::shared(words.iter().map(|word| (*word).to_owned())))
        }
        _ => None,
    });
    Coords::new(each.collect())
}

/// # Creating labelled tensors, and their parts
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Wraps a tensor whose dims have no labels yet, except those whose words `dims!` declares.
    pub fn new(tensor: Tensor<D, T>) -> Self {
        let coords = if const { has_words(<D as DimTuple>::LABELS) } {
            words(D::LABELS)
        } else {
            Coords::default()
        };
        Self { tensor, coords }
    }

    /// Returns the tensor with labels along a dim, in order of position.
    ///
    /// # Errors
    /// If there is not one label for each element along the dim.
    #[twin]
    pub fn try_with<X: DimOf<D> + HasLabels>(
        self,
        dim: X,
        labels: impl IntoIterator<Item = X::Label>,
    ) -> Result<Self> {
        self.try_with_shared(dim, Arc::new(Labels::new(labels)))
    }

    /// Returns the tensor with labels that other tensors have too. Operators compare shared labels by their address.
    ///
    /// # Errors
    /// If there is not one label for each element along the dim.
    #[twin]
    pub fn try_with_shared<X: DimOf<D> + HasLabels>(
        self,
        dim: X,
        labels: Arc<Labels<X::Label>>,
    ) -> Result<Self> {
        let (at, _) = (position::<X, D>(), dim);
        let (size, count) = (self.tensor.shape()[at], labels.len());
        if count != size {
            let dim = X::NAME.unwrap_or_default();
            return Err(error(
                "with",
                format!("{count} labels for dim `{dim}` of size {size}"),
            )
            .operand(&self.tensor.names(), self.tensor.shape()));
        }
        let coords = self.coords.with(D::RANK, at, Some(labels));
        Ok(Self { coords, ..self })
    }

    /// Returns the tensor without the labels of a dim.
    #[must_use]
    pub fn without_labels<X: DimOf<D>>(self, dim: X) -> Self {
        let _ = dim;
        let coords = self.coords.with(D::RANK, position::<X, D>(), None);
        Self { coords, ..self }
    }

    /// Combines a tensor with labels by position of the dims.
    pub(crate) fn from_parts(tensor: Tensor<D, T>, coords: Coords) -> Self {
        Self { tensor, coords }
    }

    /// Returns the tensor.
    #[must_use]
    pub fn tensor(&self) -> &Tensor<D, T> {
        &self.tensor
    }

    /// Returns the tensor, without its labels.
    #[must_use]
    pub fn into_tensor(self) -> Tensor<D, T> {
        self.tensor
    }

    /// Returns the labels of all dims, by position and without their types.
    #[must_use]
    pub fn coords(&self) -> &Coords {
        &self.coords
    }

    /// Returns a tensor of the same dims and sizes with the labels of this one: `x.with_tensor(f(x.tensor()))`.
    ///
    /// # Errors
    /// If a size differs.
    #[twin]
    pub fn try_with_tensor<U: Element>(&self, tensor: Tensor<D, U>) -> Result<Labelled<D, U>> {
        if tensor.shape() != self.tensor.shape() {
            return Err(
                error("with_tensor", "a tensor of other sizes has other labels")
                    .operand(&self.tensor.names(), self.tensor.shape())
                    .operand(&tensor.names(), tensor.shape()),
            );
        }
        Ok(Labelled::from_parts(tensor, self.coords.clone()))
    }

    /// Returns the labels along a dim.
    ///
    /// # Errors
    /// If the dim has lost its labels, or never had them; if a dim with the same spelling and other labels gave it them.
    #[twin]
    pub fn try_labels<X: DimOf<D> + HasLabels>(&self, dim: X) -> Result<&Labels<X::Label>> {
        let _ = dim;
        typed_labels::<X>("labels", self.coords.get(position::<X, D>()))
    }

    /// Returns the labels along a dim, for other tensors to share.
    ///
    /// # Errors
    /// If the dim has no labels.
    #[twin]
    pub fn try_shared_labels<X: DimOf<D>>(&self, dim: X) -> Result<Arc<dyn AnyLabels>> {
        let _ = dim;
        let labels = self.coords.get(position::<X, D>());
        labels
            .cloned()
            .ok_or_else(|| lost("labels", X::NAME.unwrap_or_default()))
    }

    /// Returns whether a dim has labels.
    #[must_use]
    pub fn has_labels<X: DimOf<D>>(&self, dim: X) -> bool {
        let _ = dim;
        self.coords.get(position::<X, D>()).is_some()
    }

    /// Returns the size of a dim.
    #[must_use]
    pub fn size<X: DimOf<D>>(&self, dim: X) -> usize {
        self.tensor.size(dim)
    }

    /// Returns the sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    /// Copies the elements to a vector in row-major order.
    ///
    /// # Errors
    /// If the tensor's device fails, or memory runs out.
    #[twin]
    pub fn try_to_vec(&self) -> Result<Vec<T>> {
        self.tensor.try_to_vec()
    }

    /// Converts to names, dtype and label types at run time. Free.
    pub fn to_dyn(&self) -> DynLabelled {
        DynLabelled::from_parts(self.tensor.to_dyn(), self.coords.clone())
    }

    /// Converts to names, dtype and label types at run time. Free.
    pub fn into_dyn(self) -> DynLabelled {
        DynLabelled::from_parts(self.tensor.into_dyn(), self.coords)
    }

    /// Computes a result by position of the dims. Names are absent from the operand if rustc knows them all; an error
    /// occurs again with names, and then shows them.
    pub(crate) fn computed<O: Dims, U: Element>(
        &self,
        compute: impl Fn(&DynLabelled) -> Result<DynLabelled>,
    ) -> Result<Labelled<O, U>> {
        let found = call_dynamic(&[self.tensor.erased()], |x| {
            compute(&DynLabelled::from_parts(x[0].clone(), self.coords.clone()))
        })?;
        let (tensor, coords) = found.into_parts();
        let tensor = Tensor::from_erased(erase(tensor, O::STATIC));
        Ok(Labelled::from_parts(tensor, coords))
    }
}

#[cold]
fn lost(op: &'static str, dim: &str) -> nomina_core::Error {
    error(
        op,
        format!("dim `{dim}` has no labels here: it never had them, or an operator removed them"),
    )
    .hint(format!("give it labels: `x.with({dim}, labels)`"))
}

/// Returns the labels along dim `X` with their type.
fn typed_labels<'a, X: HasLabels>(
    op: &'static str,
    labels: Option<&'a Arc<dyn AnyLabels>>,
) -> Result<&'a Labels<X::Label>> {
    let dim = X::NAME.unwrap_or_default();
    let labels = labels.ok_or_else(|| lost(op, dim))?;
    labels.as_any().downcast_ref().ok_or_else(|| {
        let (own, declared) = (labels.label_type(), <X::Label as Label>::TYPE);
        let (own, declared) = (own.name(), declared.name());
        error(
            op,
            format!("labels of dim `{dim}` are of type {own}, and its declaration says {declared}"),
        )
    })
}

/// # Selections
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Selects elements by label: one label removes the dim, a range, a list or a part of a date keeps it. A range goes
    /// from low to high also if the labels fall; `..=` includes its end.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina::{Labelled, at, nearest};
    /// dims! { Station: String, Depth: f64, Rgb = { R, G, B } }
    /// let x = Labelled::new(tensor!([[1., 2., 3.], [4., 5., 6.]]; Station, Depth))
    ///     .with(Station, ["a", "b"].map(String::from))
    ///     .with(Depth, [0.0, 10.0, 20.0]);
    /// assert_eq!(x.sel(Station, "b").to_vec(), [4.0, 5.0, 6.0]);
    /// assert_eq!(x.sel(Depth, 5.0..).shape(), [2, 2]);
    /// assert_eq!(x.sel(Depth, [20.0, 0.0]).to_vec(), [3.0, 1.0, 6.0, 4.0]);
    /// assert_eq!(x.sel(Depth, nearest(11.0).within(2.0)).to_vec(), [2.0, 5.0]);
    /// let error = x.try_sel(Depth, 11.0).unwrap_err().to_string();
    /// assert!(error.contains("has no label 11.0; its neighbours are 10.0 and 20.0"));
    ///
    /// let pixel = Labelled::new(tensor!([7., 8., 9.]; Rgb));
    /// assert_eq!(pixel.sel(Rgb, Rgb::G).tensor().item(), 8.0);
    /// assert_eq!(pixel.sel(Rgb, "B").tensor().item(), 9.0);
    /// ```
    ///
    /// # Errors
    /// If a label is missing or repeated, or a range meets labels that neither rise nor fall.
    #[twin]
    pub fn try_sel<X: DimOf<D> + HasLabels, S: Selects<X::Label, X>>(
        &self,
        dim: X,
        labels: S,
    ) -> Result<Labelled<SelectedBy<D, X, S>, T>>
    where
        SelectedBy<D, X, S>: Distinct,
    {
        let _ = dim;
        let at = position::<X, D>();
        let own = typed_labels::<X>("sel", self.coords.get(at))?;
        match labels.find(own) {
            Ok(located) => self.located(at, &located),
            Err(what) => Err(self.unfound("sel", at, what)),
        }
    }

    /// Selects elements by position: a number removes the dim, a range or a list keeps it. Negative positions count from
    /// the end.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 2., 3.]; Lat)).with(Lat, [60.0, 45.0, 30.0]);
    /// assert_eq!(x.isel(Lat, -1).tensor().item(), 3.0);
    /// assert_eq!(x.isel(Lat, 1..).labels(Lat).values(), [45.0, 30.0]);
    /// assert_eq!(x.isel(Lat, [2, 0]).to_vec(), [3.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If a position is out of range.
    #[twin]
    pub fn try_isel<X: DimOf<D>, I: SelectsPositions<X>>(
        &self,
        dim: X,
        index: I,
    ) -> Result<Labelled<I::Out<D>, T>>
    where
        I::Out<D>: Distinct,
    {
        let at = position::<X, D>();
        match index.find(self.tensor.size(dim)) {
            Ok(located) => self.located(at, &located),
            Err(what) => Err(self.unfound("isel", at, what)),
        }
    }

    fn located<O: Dims>(&self, at: usize, located: &Located) -> Result<Labelled<O, T>> {
        self.computed(|x| x.located(at, located))
    }

    #[cold]
    fn unfound(&self, op: &'static str, at: usize, what: String) -> nomina_core::Error {
        let dim = D::NAMES[at].unwrap_or("_");
        error(op, format!("dim `{dim}` {what}")).operand(&self.tensor.names(), self.tensor.shape())
    }
}

include!("generated.rs");
