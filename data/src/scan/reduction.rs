//! The kinds of reductions.

/// A reduction over dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The smallest element; NaN if there is one.
    Min,
    /// The greatest element; NaN if there is one.
    Max,
    /// The sum of the elements that are not NaN.
    NanSum,
    /// The mean of the elements that are not NaN: xarray's `mean`.
    NanMean,
    /// The smallest element that is not NaN.
    NanMin,
    /// The greatest element that is not NaN.
    NanMax,
}

impl Reduction {
    /// Returns whether it is a minimum or a maximum.
    pub(super) const fn is_extreme(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::NanMin | Self::NanMax)
    }
}
