//! Labelled tensors whose names, dtype and label types are known at run time.

mod generated;
mod operand;

use std::sync::Arc;

use nomina_core::dims::{Dims, Distinct, Label, LabelType};
use nomina_core::rule::DimRef;
use nomina_core::{Element, Error, Names, Result};
use nomina_runtime::DynTensor;

use super::any::{AnyLabels, Located};
use super::coords::{Coords, error};
use super::labels::Labels;
use super::selection::Selection;
use super::{Labelled, lost};
use crate::tensor::dynamic::Typed;

pub use operand::DynLabelledOperand;

/// A labelled tensor whose names, dtype and label types are known at run time: [`Labelled`] where they arrive as data.
///
/// ```
/// use nomina::prelude::*;
/// use nomina::{DynLabelled, Labelled, Labels, nearest};
/// dims! { Lat: f64 }
/// let x = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0], &[3], names!["Lat"])?;
/// let x = DynLabelled::new(x).with("Lat", Labels::new([60.0, 45.0, 30.0]))?;
/// assert_eq!(x.sel("Lat", 30.0..50.0)?.tensor().to_vec::<f32>()?, [2.0, 3.0]);
/// assert_eq!(x.sel("Lat", nearest(50.0))?.tensor().item()?.to_f64(), 2.0);
/// let typed: Labelled<(Lat,)> = x.typed()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct DynLabelled {
    pub(super) tensor: DynTensor,
    pub(super) coords: Coords,
}

impl DynLabelled {
    /// Wraps a tensor whose dims have no labels yet.
    pub fn new(tensor: DynTensor) -> Self {
        Self::from_parts(tensor, Coords::default())
    }

    /// Combines a tensor with labels by position of the dims, whose numbers the caller has checked.
    pub(crate) fn from_parts(tensor: DynTensor, coords: Coords) -> Self {
        Self { tensor, coords }
    }

    /// Returns the tensor and its labels by position.
    pub(crate) fn into_parts(self) -> (DynTensor, Coords) {
        (self.tensor, self.coords)
    }

    /// Returns the tensor with labels along a dim, in order of position.
    ///
    /// # Errors
    /// If there is no such dim, or not one label for each element along it.
    pub fn with<'a, X: Label>(self, dim: impl Into<DimRef<'a>>, labels: Labels<X>) -> Result<Self> {
        self.with_shared(dim, Some(Arc::new(labels)))
    }

    /// Returns the tensor with labels that other tensors have too, or without labels along a dim.
    ///
    /// # Errors
    /// If there is no such dim, or not one label for each element along it.
    pub fn with_shared<'a>(
        self,
        dim: impl Into<DimRef<'a>>,
        labels: Option<Arc<dyn AnyLabels>>,
    ) -> Result<Self> {
        let at = self.position("with", dim)?;
        let size = self.tensor.shape()[at];
        if let Some(labels) = &labels
            && labels.len() != size
        {
            let what = format!(
                "{} labels for dim `{}` of size {size}",
                labels.len(),
                self.dim_name(at)
            );
            return Err(self.blame(error("with", what)));
        }
        let coords = self.coords.with(self.rank(), at, labels);
        Ok(Self { coords, ..self })
    }

    /// Returns the tensor.
    pub fn tensor(&self) -> &DynTensor {
        &self.tensor
    }

    /// Returns the tensor, without its labels.
    pub fn into_tensor(self) -> DynTensor {
        self.tensor
    }

    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.tensor.names()
    }

    /// Returns the sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    /// Returns the labels of all dims, by position.
    #[must_use]
    pub fn coords(&self) -> &Coords {
        &self.coords
    }

    /// Returns the labels along a dim, or `None` if it has none.
    ///
    /// # Errors
    /// If there is no such dim.
    pub fn labels<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Option<&Arc<dyn AnyLabels>>> {
        Ok(self.coords.get(self.position("labels", dim)?))
    }

    /// Returns the tensor with dims `D` and dtype `T`. Checks names, constant sizes, the dtype and the types of labels.
    ///
    /// # Errors
    /// If one of them differs.
    pub fn typed<D: Dims + Distinct, T: Element>(&self) -> Result<Labelled<D, T>> {
        let tensor = self.tensor.typed::<D, T>()?;
        for (at, declared) in D::LABELS.iter().enumerate() {
            let Some(labels) = self.coords.get(at) else {
                continue;
            };
            let own = labels.label_type();
            let same = |declared: LabelType| declared.name() == own.name();
            if let Some(declared) = declared.filter(|declared| !same(*declared)) {
                let what = format!(
                    "labels of dim `{}` are of type {}, and its declaration says {}",
                    self.dim_name(at),
                    own.name(),
                    declared.name()
                );
                return Err(self.blame(error("typed", what)));
            }
        }
        Ok(Labelled::from_parts(tensor, self.coords.clone()))
    }

    /// Selects elements by label: one label removes the dim; a range, a list or a part of a date keeps it.
    ///
    /// # Errors
    /// If there is no such dim or label, or labels are of another type.
    pub fn sel<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        labels: impl Into<Selection>,
    ) -> Result<Self> {
        let at = self.position("sel", dim)?;
        let located = self.labels_at("sel", at)?.find(&labels.into());
        self.located(at, &located.map_err(|what| self.unfound("sel", at, &what))?)
    }

    /// Selects elements by position: a number removes the dim, a range or a list keeps it.
    ///
    /// # Errors
    /// If there is no such dim, or a position is out of range.
    pub fn isel<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        index: impl super::SelectsPositions<nomina_core::dims::Wild>,
    ) -> Result<Self> {
        let at = self.position("isel", dim)?;
        let located = index.find(self.tensor.shape()[at]);
        self.located(
            at,
            &located.map_err(|what| self.unfound("isel", at, &what))?,
        )
    }

    /// Returns the elements at these positions along a dim.
    pub(super) fn located(&self, at: usize, located: &Located) -> Result<Self> {
        let tensor = match located {
            Located::One(i) => self.tensor.select(at, *i as i64)?,
            Located::Range(range) => self.tensor.narrow(at, range.start as i64, range.len())?,
            Located::List(positions) => gathered(&self.tensor, at, positions)?,
        };
        Ok(Self::from_parts(
            tensor,
            self.coords.selected(self.rank(), at, located),
        ))
    }

    pub(super) fn rank(&self) -> usize {
        self.tensor.shape().len()
    }

    pub(super) fn position<'a>(
        &self,
        op: &'static str,
        dim: impl Into<DimRef<'a>>,
    ) -> Result<usize> {
        dim.into()
            .position(op, self.tensor.names())
            .map_err(|e| self.blame(e))
    }

    pub(super) fn dim_name(&self, at: usize) -> &str {
        self.tensor.names()[at]
            .as_ref()
            .map_or("_", |name| name.as_str())
    }

    pub(super) fn labels_at(&self, op: &'static str, at: usize) -> Result<&Arc<dyn AnyLabels>> {
        let labels = self.coords.get(at);
        labels.ok_or_else(|| self.blame(lost(op, self.dim_name(at))))
    }

    #[cold]
    pub(super) fn unfound(&self, op: &'static str, at: usize, what: &str) -> Error {
        self.blame(error(op, format!("dim `{}` {what}", self.dim_name(at))))
    }

    /// Adds the names and sizes to an error.
    #[cold]
    pub(super) fn blame(&self, error: Error) -> Error {
        if error.operands().is_empty() {
            error.operand(self.tensor.names(), self.tensor.shape())
        } else {
            error
        }
    }
}

/// Returns the elements at positions along a dim; all names stay.
pub(super) fn gathered(x: &DynTensor, at: usize, positions: &[usize]) -> Result<DynTensor> {
    let index: Vec<i64> = positions.iter().map(|i| *i as i64).collect();
    let index =
        DynTensor::from_vec(index, &[positions.len()], Names::unnamed(1))?.to_device(x.device())?;
    let bare = x.drop_names().index_select(at, &index)?;
    renamed(bare, x.names().clone())
}

/// Gives a tensor other names.
pub(super) fn renamed(x: DynTensor, names: Names) -> Result<DynTensor> {
    DynTensor::from_parts(x.into_parts().0, names)
}
