//! Selection along a split dim: the k-th smallest element, the median, and slices at indices.

use nomina::{DynTensor, Error, ErrorKind, Result, SortOptions};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_core::rule;

use super::route::Route;
use super::{SplitDim, unnamed};

/// One value of each row and its index; the dim has size 1.
type Row = (DynTensor, DynTensor);

impl SplitDim {
    /// Returns the `k`-th smallest element of each row, counted from 1, and its index. The ranks sort all elements,
    /// then the rank that holds the result sends it to the others.
    pub(crate) fn kthvalue(&self, x: &DynTensor, k: usize) -> Result<(DynTensor, DynTensor)> {
        if !(1..=self.size()).contains(&k) {
            let what = format!("no element {k} among {}", self.size());
            let error = Error::new(ErrorKind::Index, self.op, what);
            return Err(error
                .operand(&self.metadata.names, &self.metadata.sizes)
                .hint(format!("give a number from 1 to {}", self.size())));
        }
        let found = self.kth(&x.detach(), k)?;
        self.attach_gradient(x, found)
    }

    /// Returns the lower median of each row and its index, or the first NaN of a row that has one.
    pub(crate) fn median(&self, x: &DynTensor) -> Result<(DynTensor, DynTensor)> {
        let own = x.detach();
        // If there is a NaN, it is the maximum. This call also refuses a dim without elements.
        let (most, first) = self.extreme_of_rows(&own, Combine::Max)?;
        let (value, place) = self.kth(&own, self.size().div_ceil(2))?;
        let nan = most.isnan()?;
        let found = (
            nan.where_cond(&most, &value)?,
            nan.where_cond(&first, &place)?,
        );
        self.attach_gradient(x, found)
    }

    fn kth(&self, own: &DynTensor, k: usize) -> Result<Row> {
        let (values, places) = self.sort(own, SortOptions::default())?;
        let wants = vec![vec![(k - 1, 1)]; self.ranks()];
        let route = Route::from_partition(self.size(), self.ranks(), wants);
        Ok((self.fetch(&values, &route)?, self.fetch(&places, &route)?))
    }

    /// Returns the slices at `index`; the dims of the index replace the dim. See [`rows`](Self::rows).
    pub(crate) fn index_select(
        &self,
        x: &DynTensor,
        index: &DynTensor,
        place: &Place,
    ) -> Result<DynTensor> {
        let names = rule::index_select(self.op, x.names(), self.dim, index.names())?;
        let by = match index.rank() {
            0 => index.raw().unsqueeze(0)?,
            _ => index.raw().clone(),
        };
        let (dims, rest) = (by.rank(), by.rank() + self.dim);
        let rows = self.rows(x, &unnamed(by)?, place)?;
        let order: Vec<usize> = (dims..rest)
            .chain(0..dims)
            .chain(rest..rows.rank())
            .collect();
        DynTensor::from_parts(rows.raw().permute(&order)?, names)
    }
}
