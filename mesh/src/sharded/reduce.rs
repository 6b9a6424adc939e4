//! Reductions whose result depends on the global sizes.

use nomina::dims::{Axes, AxesOf, Dims, Distinct, Without};
use nomina::{Element, Inexact, Result};
use nomina_core::mesh::{AllFinished, AllLinear, BySum, HasWhole, OverIn, Placement, Reduced};
use nomina_macros::twin;

use super::Sharded;

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Returns the mean over dims that each rank has all of, or [`across`](crate::across) split dims. In that case the
    /// result is pending; it is divided by the global size.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_mean<A: OverIn<P, D>>(
        &self,
        dims: A,
    ) -> Result<Sharded<Without<D, A::Axes>, A::Placed<P, D, BySum>, T>>
    where
        T: Inexact,
        P: AllLinear,
        Without<D, A::Axes>: Distinct,
    {
        if !A::ACROSS {
            return self.reduced("mean", self.local.try_mean(dims.axes()));
        }
        let names = <A::Axes as Axes>::NAMES;
        let of = |(name, size): (&Option<&str>, &usize)| {
            (<A::Axes as Axes>::ALL || names.contains(name)).then_some(*size)
        };
        let count = |sizes: &[usize]| -> f64 {
            let counted = D::NAMES.iter().zip(sizes).filter_map(of);
            counted.map(|size| size as f64).product()
        };
        let (own, all) = (count(self.local.shape()), count(&self.sizes));
        // A rank without elements adds zero. Means of parts are used, since sums of 16-bit floats could overflow.
        let part = if own == 0.0 && all > 0.0 {
            self.local.try_sum(dims.axes())?.into_dyn()
        } else {
            self.local
                .try_mean(dims.axes())?
                .into_dyn()
                .mul(own / all)?
        };
        self.reduced("mean", super::typed(part.into_parts().0))
    }

    /// Returns the square root of the sum of squares over dims that each rank has all of.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_norm<A: AxesOf<D>>(&self, dims: A) -> Result<Sharded<Without<D, A>, P, T::Real>>
    where
        T: Inexact,
        P: AllFinished + HasWhole<Reduced<D, A::List>>,
    {
        self.reduced("norm", self.local.try_norm(dims))
    }
}
