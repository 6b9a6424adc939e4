//! Windows that slide along a dim, and blocks of a dim.

use std::sync::Arc;

use nomina_core::dims::{DimOf, Dims, Resizable, SizeOf, position};
use nomina_core::rule::DimRef;
use nomina_core::{DType, Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::{DynTensor, tensor};

use super::any::AnyLabels;
use super::coords::error;
use super::labels::Labels;
use super::time::Timestamp;
use super::{DynLabelled, Labelled};

/// Which window belongs to an element, and how many values it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollingOptions {
    /// Whether the element is in the middle of its window instead of at the end.
    pub centered: bool,
    /// The least number of values that are not NaN, for the `nan` forms; others give NaN.
    pub min_count: usize,
}

impl Default for RollingOptions {
    fn default() -> Self {
        Self {
            centered: false,
            min_count: 1,
        }
    }
}

/// Windows of a [`Labelled`], one for each element: labels and size stay, like xarray's `rolling`. An incomplete window at an
/// end gives NaN, except in the `nan` forms.
#[derive(Clone)]
pub struct Rolling<D: Dims, T: Element> {
    x: Labelled<D, T>,
    windows: WindowsAlong,
}

/// Windows of a [`DynLabelled`], one for each element.
#[derive(Clone, Debug)]
pub struct DynRolling {
    x: DynLabelled,
    windows: WindowsAlong,
}

#[derive(Clone, Copy, Debug)]
struct WindowsAlong {
    at: usize,
    size: usize,
    options: RollingOptions,
}

/// The least number of values of reductions that need whole windows.
const WHOLE: usize = usize::MAX;

type Reduction = fn(&tensor::Windows) -> Result<DynTensor>;

impl DynLabelled {
    /// Reduces windows; the reduction itself gives NaN for fewer than `least` values.
    fn rolled(&self, windows: WindowsAlong, least: usize, reduce: Reduction) -> Result<Self> {
        let windowed = self.windowed(windows)?;
        let mut found = reduce(&windowed)?;
        let wanted = windows.options.min_count.max(1);
        if wanted > least {
            let count = windowed.count()?;
            found = found.masked_fill(&count.lt(wanted as i64)?, f64::NAN)?;
        }
        self.keeping(Ok(found))
    }

    fn windowed(&self, windows: WindowsAlong) -> Result<tensor::Windows> {
        let WindowsAlong { at, size, options } = windows;
        if size == 0 {
            return Err(self.blame(error("rolling", "a window has at least one element")));
        }
        self.tensor.rolling_around(at, size, options.centered)
    }
}

macro_rules! reductions {
    ($($name:ident $tried:ident $least:expr, $doc:literal;)*) => {
        impl<D: Dims, T: Float> Rolling<D, T> {$(
            #[doc = $doc]
            ///
            /// # Panics
            /// If memory runs out.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Labelled<D, T>  {
                crate::erased::ok(self.$tried())
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If memory runs out.
            pub fn $tried(&self) -> Result<Labelled<D, T>> {
                self.x.computed(|x| x.rolled(self.windows, $least, tensor::Windows::$name))
            }
        )*
            /// Counts the elements of each window that are not NaN.
            ///
            /// # Errors
            /// If memory runs out.
            #[twin]
            pub fn try_count(&self) -> Result<Labelled<D, i64>> {
                self.x.computed(|x| x.keeping(x.windowed(self.windows)?.count()))
            }
        }
        impl DynRolling {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If memory runs out.
            pub fn $name(&self) -> Result<DynLabelled> {
                self.x.rolled(self.windows, $least, tensor::Windows::$name)
            }
        )*
            /// Counts the elements of each window that are not NaN.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn count(&self) -> Result<DynLabelled> {
                self.x.keeping(self.x.windowed(self.windows)?.count())
            }
        }
    };
}
reductions! {
    sum try_sum WHOLE, "Computes the sum of each window.";
    mean try_mean WHOLE, "Computes the mean of each window.";
    max try_max WHOLE, "Returns the greatest element of each window.";
    min try_min WHOLE, "Returns the smallest element of each window.";
    var try_var WHOLE, "Computes the variance of each window, with a correction of 1.";
    std try_std WHOLE, "Computes the standard deviation of each window, with a correction of 1.";
    nansum try_nansum 0, "Computes the sum of the elements of each window that are not NaN.";
    nanmean try_nanmean 1, "Computes the mean of the elements of each window that are not NaN.";
    nanmax try_nanmax 1, "Returns the greatest element of each window that is not NaN.";
    nanmin try_nanmin 1, "Returns the smallest element of each window that is not NaN.";
    nanvar try_nanvar 1, "Computes the variance of the elements of each window that are not NaN.";
    nanstd try_nanstd 1, "Computes the standard deviation of the elements of each window that are not NaN.";
}

/// The treatment of elements that fill no whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Boundary {
    /// They are an error.
    #[default]
    Exact,
    /// They are left out.
    Trim,
    /// NaN completes the block.
    Pad,
}

/// Returns the mean label of each block of `size`; the first for labels without a mean.
fn block_labels(labels: &dyn AnyLabels, size: usize, blocks: usize) -> Arc<dyn AnyLabels> {
    fn each<X: nomina_core::dims::Label>(
        labels: &Labels<X>,
        size: usize,
        blocks: usize,
        mean: impl Fn(&[X]) -> X,
    ) -> Arc<dyn AnyLabels> {
        Labels::shared(labels.values().chunks(size).take(blocks).map(mean))
    }
    let any = labels.as_any();
    if let Some(labels) = any.downcast_ref::<Labels<f64>>() {
        return each(labels, size, blocks, |block| {
            block.iter().sum::<f64>() / block.len() as f64
        });
    }
    if let Some(labels) = any.downcast_ref::<Labels<f32>>() {
        let mean =
            |block: &[f32]| block.iter().map(|v| f64::from(*v)).sum::<f64>() / block.len() as f64;
        return each(labels, size, blocks, |block| mean(block) as f32);
    }
    if let Some(labels) = any.downcast_ref::<Labels<Timestamp>>() {
        return each(labels, size, blocks, |block| {
            let sum: i128 = block.iter().map(|at| i128::from(at.nanoseconds())).sum();
            Timestamp::from_nanoseconds((sum / block.len() as i128) as i64)
        });
    }
    labels.take(&(0..blocks).map(|block| block * size).collect::<Vec<_>>())
}

impl DynLabelled {
    fn blocks(
        &self,
        at: usize,
        size: usize,
        boundary: Boundary,
    ) -> Result<(tensor::Windows, super::Coords)> {
        let count = self.shape()[at];
        let size = size.max(1);
        let (blocks, rest) = match boundary {
            Boundary::Pad => (count.div_ceil(size), 0),
            _ => (count / size, count % size),
        };
        if boundary == Boundary::Exact && rest > 0 {
            let what = format!(
                "dim `{}` of size {count} is not a multiple of {size}",
                self.dim_name(at)
            );
            return Err(
                self.blame(error("coarsen", what).hint("use `Boundary::Trim` or `Boundary::Pad`"))
            );
        }
        let from: Vec<_> = (0..blocks * size)
            .map(|i| Some(i).filter(|i| *i < count))
            .collect();
        let whole = if from.len() == count {
            self.tensor.clone()
        } else {
            self.at_or_nan("coarsen", at, &from)?
        };
        let labels = self
            .coords
            .get(at)
            .map(|labels| block_labels(&**labels, size, blocks));
        Ok((
            whole.resample(at, size)?,
            self.coords.with(self.rank(), at, labels),
        ))
    }
}

/// Blocks of a [`Labelled`]: consecutive elements of a dim, each of which a reduction turns into one element, whose label is
/// the mean of its labels.
#[derive(Clone)]
pub struct Coarsened<D: Dims, T: Element> {
    x: Labelled<D, T>,
    at: usize,
    size: usize,
    boundary: Boundary,
}

/// Blocks of a [`DynLabelled`].
#[derive(Clone, Debug)]
pub struct DynCoarsened {
    x: DynLabelled,
    at: usize,
    size: usize,
    boundary: Boundary,
}

macro_rules! block_reductions {
    ($($name:ident $tried:ident, $doc:literal;)*) => {
        impl<D: Dims, T: Float> Coarsened<D, T> {$(
            #[doc = $doc]
            ///
            /// # Panics
            /// If the dim is not a multiple of the block.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Labelled<D, T>  {
                crate::erased::ok(self.$tried())
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If the dim is not a multiple of the block.
            pub fn $tried(&self) -> Result<Labelled<D, T>> {
                self.x.computed(|x| {
                    let (blocks, coords) = x.blocks(self.at, self.size, self.boundary)?;
                    Ok(DynLabelled::from_parts(blocks.$name()?, coords))
                })
            }
        )*}
        impl DynCoarsened {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If the dim is not a multiple of the block.
            pub fn $name(&self) -> Result<DynLabelled> {
                let (blocks, coords) = self.x.blocks(self.at, self.size, self.boundary)?;
                Ok(DynLabelled::from_parts(blocks.$name()?, coords))
            }
        )*}
    };
}
block_reductions! {
    sum try_sum, "Computes the sum of each block.";
    mean try_mean, "Computes the mean of each block.";
    max try_max, "Returns the greatest element of each block.";
    min try_min, "Returns the smallest element of each block.";
    std try_std, "Computes the standard deviation of each block, with a correction of 1.";
    nansum try_nansum, "Computes the sum of the elements of each block that are not NaN.";
    nanmean try_nanmean, "Computes the mean of the elements of each block that are not NaN.";
    nanmax try_nanmax, "Returns the greatest element of each block that is not NaN.";
    nanmin try_nanmin, "Returns the smallest element of each block that is not NaN.";
    nanstd try_nanstd, "Computes the standard deviation of the elements of each block that are not NaN.";
}

/// # Windows and blocks
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Returns a window of `size` elements for each element, which it ends; like xarray's `rolling`, the dim keeps its size.
    ///
    /// ```
    /// use nomina::{Labelled, labelled::RollingOptions, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 3., 5., 1.]; Lat)).with(Lat, [60.0, 45.0, 30.0, 15.0]);
    /// let mean = x.rolling(Lat, 2).mean();
    /// assert_eq!(mean.fill(0.0).to_vec(), [0.0, 2.0, 4.0, 3.0]);
    /// let options = RollingOptions { centered: true, ..default() };
    /// assert_eq!(x.rolling_with(Lat, 3, options).nanmax().to_vec(), [3.0, 5.0, 5.0, 5.0]);
    /// ```
    #[must_use]
    pub fn rolling<X: DimOf<D>>(&self, dim: X, size: usize) -> Rolling<D, T> {
        self.rolling_with(dim, size, RollingOptions::default())
    }

    /// Like [`rolling`](Self::rolling), but centered, or with another least number of values.
    #[must_use]
    pub fn rolling_with<X: DimOf<D>>(
        &self,
        dim: X,
        size: usize,
        options: RollingOptions,
    ) -> Rolling<D, T> {
        let (at, _) = (position::<X, D>(), dim);
        let windows = WindowsAlong { at, size, options };
        Rolling {
            x: self.clone(),
            windows,
        }
    }

    /// Returns blocks of `size` elements along a dim.
    ///
    /// ```
    /// use nomina::{Labelled, labelled::Boundary, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 3., 5.]; Lat)).with(Lat, [60.0, 50.0, 30.0]);
    /// let pairs = x.coarsen(Lat, 2, Boundary::Trim).mean();
    /// assert_eq!((pairs.to_vec()[0], pairs.labels(Lat).values()[0]), (2.0, 55.0));
    /// ```
    #[must_use]
    pub fn coarsen<X: DimOf<D>>(&self, dim: X, size: usize, boundary: Boundary) -> Coarsened<D, T>
    where
        SizeOf<X>: Resizable<X>,
    {
        let (at, _) = (position::<X, D>(), dim);
        Coarsened {
            x: self.clone(),
            at,
            size,
            boundary,
        }
    }
}

impl DynLabelled {
    /// Returns a window of `size` elements for each element; see [`Labelled::rolling`]. Integers become `f64`.
    ///
    /// # Errors
    /// If there is no such dim.
    pub fn rolling<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        size: usize,
        options: RollingOptions,
    ) -> Result<DynRolling> {
        let at = self.position("rolling", dim)?;
        let windows = WindowsAlong { at, size, options };
        Ok(DynRolling {
            x: self.in_floats()?,
            windows,
        })
    }

    /// Returns blocks of `size` elements along a dim; see [`Labelled::coarsen`]. Integers become `f64`.
    ///
    /// # Errors
    /// If there is no such dim.
    pub fn coarsen<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        size: usize,
        boundary: Boundary,
    ) -> Result<DynCoarsened> {
        let at = self.position("coarsen", dim)?;
        Ok(DynCoarsened {
            x: self.in_floats()?,
            at,
            size,
            boundary,
        })
    }

    /// Returns the tensor with elements that have NaN.
    pub(super) fn in_floats(&self) -> Result<Self> {
        if self.tensor.dtype().is_float() {
            return Ok(self.clone());
        }
        self.keeping(self.tensor.to_dtype(DType::F64))
    }
}
