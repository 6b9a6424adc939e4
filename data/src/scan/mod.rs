//! Reductions of variables larger than memory, block by block.

mod blocks;
mod partial;
mod reduction;

use std::fmt;
use std::sync::{Arc, Mutex};

use nomina::{DynTensor, Error, ErrorKind, Result};

use crate::dataset::{DynDataset, is_index};
use crate::grouping::DatasetGroups;
use crate::select::refused;
use crate::variable::{Data, Variable};
use blocks::{Job, Progress, blocks};
pub use reduction::Reduction;

/// A reduction block by block: the memory of all blocks together, and a function that learns of progress.
///
/// ```
/// # use nomina_data::{DynDataset, Reduction, Scan};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
/// let sea = DynDataset::open_lazy(path)?;
/// let mut last = 0;
/// let mean = Scan::new()
///     .memory(64 << 10)
///     .progress(|done, all| last = 100 * done / all)                  // elements
///     .reduce(sea.variable("surface_temperature")?, Reduction::NanMean, &["time"])?;
/// assert_eq!(mean.dims(), ["latitude", "longitude"]);
/// assert_eq!(last, 100);
/// # Ok::<(), nomina::Error>(())
/// ```
pub struct Scan<'a> {
    memory: usize,
    threads: usize,
    progress: Option<Box<Progress<'a>>>,
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Scan {{ memory: {}, threads: {} }}",
            self.memory, self.threads
        )
    }
}

impl Default for Scan<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Scan<'a> {
    /// Creates a scan that takes 256 MiB at most, on all cores.
    #[must_use]
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            memory: 256 << 20,
            threads,
            progress: None,
        }
    }

    /// Limits the bytes of the elements that are in memory at once, results not included. A block is at least one
    /// element of a file without chunks; a chunk that blosc compressed is decoded as a whole.
    #[must_use]
    pub const fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the number of threads that read and reduce blocks. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Calls a function after each block, with the number of elements that are done, and of all.
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(usize, usize) + Send + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Reduces a variable over dims, all dims if there are none.
    ///
    /// Sums and means are computed in `f64`, and sums of integers in `i64`; minimum and maximum keep the dtype.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if the variable lacks a dim; [`ErrorKind::DType`] if its elements are texts or
    /// times; [`ErrorKind::Argument`] for the minimum or the maximum of no elements; and the errors of the file.
    pub fn reduce(
        mut self,
        variable: &Variable,
        reduction: Reduction,
        dims: &[&str],
    ) -> Result<Variable> {
        let over = positions("reduce", variable, dims)?;
        let progress = self.progress.take();
        let progress = Mutex::new((0, variable.numel(), progress));
        self.run(variable, reduction, over, None, &progress)
    }

    /// Reduces the elements of each group, over the grouped dim and the other dims of the list, for the named variables;
    /// without names, for all data variables of numbers that have the dim. The groups are those of
    /// [`group_by`](DynDataset::group_by), [`group_by_date`](DynDataset::group_by_date),
    /// [`group_by_bins`](DynDataset::group_by_bins) or [`resample`](DynDataset::resample).
    ///
    /// A group without elements has sum 0, mean NaN, and minimum and maximum NaN.
    ///
    /// ```
    /// use nomina::labelled::DatePart;
    /// use nomina_data::{DynDataset, Reduction, Scan};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let sea = DynDataset::open_lazy(path)?;
    /// let months = sea.group_by_date("time", DatePart::Month, "month")?;
    /// let climate = Scan::new()
    ///     .memory(1 << 20)
    ///     .reduce_groups(&months, Reduction::NanMean, &["surface_temperature"], &["longitude"])?;
    /// assert_eq!(climate.variable("surface_temperature")?.dims(), ["month", "latitude"]);
    /// assert_eq!(climate.labels("month")?.len(), 12);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`reduce`](Self::reduce); [`ErrorKind::Argument`] for the minimum or the maximum of integers
    /// in a group without elements.
    pub fn reduce_groups(
        mut self,
        groups: &DatasetGroups,
        reduction: Reduction,
        variables: &[&str],
        dims: &[&str],
    ) -> Result<DynDataset> {
        let (op, dataset) = ("reduce_groups", &groups.dataset);
        let has_dim =
            |one: &&Variable| one.dtype().is_some() && one.position(&groups.dim).is_some();
        let chosen: Vec<&Variable> = if variables.is_empty() {
            dataset.variables().filter(has_dim).collect()
        } else {
            let found = variables.iter().map(|name| dataset.variable(name));
            found.collect::<Result<_>>()?
        };
        let all = chosen.iter().map(|one| one.numel()).sum();
        let progress = Mutex::new((0, all, self.progress.take()));
        let mut reduced = DynDataset::new();
        for variable in chosen {
            let mut names = vec![&groups.dim[..]];
            // A variable may lack some of the other dims.
            let other = |dim: &&&str| variables.len() == 1 || variable.position(dim).is_some();
            names.extend(dims.iter().filter(other));
            let over = positions(op, variable, &names)?;
            reduced.insert(self.run(variable, reduction, over, Some(groups), &progress)?)?;
        }
        reduced.insert(Variable::from_column(&groups.name, groups.labels.clone()))?;
        let sizes: Vec<String> = reduced
            .sizes()
            .iter()
            .map(|(dim, _)| (*dim).to_owned())
            .collect();
        for one in dataset.coordinates() {
            let is_kept = one
                .dims()
                .iter()
                .all(|dim| *dim != groups.dim && sizes.contains(dim));
            if is_kept && one.name() != groups.name {
                reduced.insert(one.clone())?;
                if !is_index(one) {
                    reduced.set_coordinates([one.name()])?;
                }
            }
        }
        reduced.attributes_mut().clone_from(dataset.attributes());
        Ok(reduced)
    }

    /// Reduces a variable over dims by position, or its groups along one of them.
    fn run(
        &self,
        variable: &Variable,
        reduction: Reduction,
        over: Vec<usize>,
        groups: Option<&DatasetGroups>,
        progress: &Mutex<(usize, usize, Option<Box<Progress<'a>>>)>,
    ) -> Result<Variable> {
        let along = groups.and_then(|groups| variable.position(&groups.dim));
        let job = Job {
            variable,
            reduction,
            along: along.unwrap_or_default(),
            groups: groups.map(|groups| (&groups.ids[..], groups.labels.len())),
            over,
        };
        job.require_elements()?;
        let boxes = blocks(variable, self.memory / self.threads.max(1));
        let tensor = job.run(&boxes, self.threads, progress)?;
        let kept = job.kept();
        let dims = kept.iter().map(|&dim| match groups {
            Some(groups) if dim == job.along => groups.name.clone(),
            _ => variable.dims()[dim].clone(),
        });
        let shape = tensor.shape().to_vec();
        let none = Data::Column(Arc::new(crate::Column::I64(Vec::new())));
        let mut result = Variable::from_data(variable.name(), dims.collect(), shape, none);
        let tensor = DynTensor::from_parts(tensor.into_parts().0, result.names())?;
        result.data = Data::Tensor(tensor);
        result.attributes = variable.attributes().clone();
        Ok(result)
    }
}

/// Returns the positions of dims, all if there are none.
fn positions(op: &'static str, variable: &Variable, dims: &[&str]) -> Result<Vec<usize>> {
    if variable.dtype().is_none() {
        let what = format!(
            "variable `{}` has elements of {}",
            variable.name(),
            variable.type_name()
        );
        return Err(Error::new(ErrorKind::DType, op, what));
    }
    let mut over = Vec::new();
    for dim in dims {
        let missing = || {
            let all = variable.dims().join(", ");
            let what = format!("variable `{}` has no dim `{dim}`", variable.name());
            Error::new(ErrorKind::NameNotFound, op, what).hint(format!("its dims are {all}"))
        };
        over.push(variable.position(dim).ok_or_else(missing)?);
    }
    if dims.is_empty() {
        over = (0..variable.shape().len()).collect();
    }
    over.sort_unstable();
    over.dedup();
    Ok(over)
}

impl Job<'_> {
    /// Refuses the minimum and the maximum of no elements.
    fn require_elements(&self) -> Result<()> {
        let sizes = self.over.iter().map(|&dim| self.variable.shape()[dim]);
        if self.reduction.is_extreme() && sizes.product::<usize>() == 0 {
            let dim = &self.variable.dims()[self.over[0]];
            let what = "has no elements, of which none is the smallest";
            return Err(refused("reduce", dim, what));
        }
        Ok(())
    }
}

/// Defines a method for each reduction.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident = $reduction:ident;)*) => {
        impl Variable {$(
            $(#[$doc])*
            ///
            /// Reads block by block, in 256 MiB at most; all dims if none is given. [`Scan`] has options.
            ///
            /// # Errors
            /// Returns the errors of [`Scan::reduce`].
            pub fn $name(&self, dims: &[&str]) -> Result<Self> {
                Scan::new().reduce(self, Reduction::$reduction, dims)
            }
        )*}

        impl DatasetGroups {$(
            $(#[$doc])*
            ///
            /// Computed for each group and all data variables of numbers that have the dim. Reads block by block, in
            /// 256 MiB at most; [`Scan`] has options.
            ///
            /// # Errors
            /// Returns the errors of [`Scan::reduce_groups`].
            pub fn $name(&self) -> Result<DynDataset> {
                Scan::new().reduce_groups(self, Reduction::$reduction, &[], &[])
            }
        )*}
    };
}
reductions! {
    /// Returns the sum over dims.
    sum = Sum;
    /// Returns the mean over dims.
    mean = Mean;
    /// Returns the smallest elements over dims; NaN where there is one.
    min = Min;
    /// Returns the greatest elements over dims; NaN where there is one.
    max = Max;
    /// Returns the sum over dims of the elements that are not NaN.
    nansum = NanSum;
    /// Returns the mean over dims of the elements that are not NaN: xarray's `mean`.
    nanmean = NanMean;
    /// Returns the smallest elements over dims that are not NaN.
    nanmin = NanMin;
    /// Returns the greatest elements over dims that are not NaN.
    nanmax = NanMax;
}
