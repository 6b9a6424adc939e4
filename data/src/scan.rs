//! Reductions of variables larger than memory, block by block.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};

use crate::select::{Positions, refused};
use crate::variable::{Data, Variable};

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

type Progress<'a> = dyn FnMut(usize, usize) + Send + 'a;

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

/// The partial result of some blocks: in `f64`, or in `i64` for integers.
struct Partial {
    values: DynTensor,
    /// The number of elements that are not NaN, if it is needed.
    count: Option<DynTensor>,
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

    /// Limits the bytes of the elements that are in memory at once, results not included. A block is at least one row
    /// of the first dim's size 1.
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
        self,
        variable: &Variable,
        reduction: Reduction,
        dims: &[&str],
    ) -> Result<Variable> {
        let op = "reduce";
        let Some(dtype) = variable.dtype() else {
            let what = format!(
                "variable `{}` has elements of {}",
                variable.name(),
                variable.type_name()
            );
            return Err(Error::new(ErrorKind::DType, op, what));
        };
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
        let extreme = matches!(
            reduction,
            Reduction::Min | Reduction::Max | Reduction::NanMin | Reduction::NanMax
        );
        let reduced: usize = over.iter().map(|&dim| variable.shape()[dim]).product();
        if extreme && reduced == 0 {
            return Err(refused(
                op,
                &variable.dims()[over[0]],
                "has no elements, of which none is the smallest",
            ));
        }
        let total = self.run(variable, reduction, &over)?;
        let tensor = finish(reduction, dtype, total, reduced)?;
        let kept: Vec<usize> = (0..variable.shape().len())
            .filter(|dim| !over.contains(dim))
            .collect();
        let dims: Vec<String> = kept
            .iter()
            .map(|&dim| variable.dims()[dim].clone())
            .collect();
        let shape: Vec<usize> = kept.iter().map(|&dim| variable.shape()[dim]).collect();
        let mut result = Variable::from_data(
            variable.name(),
            dims,
            shape.clone(),
            Data::Column(no_column()),
        );
        let tensor = DynTensor::from_parts(tensor.into_parts().0, result.names())?;
        result.data = Data::Tensor(tensor);
        result.attributes = variable.attributes().clone();
        Ok(result)
    }

    /// Reduces all blocks; partial results have size 1 along the reduced dims.
    fn run(self, variable: &Variable, reduction: Reduction, over: &[usize]) -> Result<DynTensor> {
        let boxes = blocks(variable, self.memory / self.threads.max(1));
        let all = variable.numel();
        // Results of blocks over one place are combined in the order of blocks, so that sums do not depend on threads.
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results: Mutex<Vec<Option<Result<Partial>>>> =
            Mutex::new((0..boxes.len()).map(|_| None).collect());
        let progress = Mutex::new((0, self.progress));
        let work = || {
            while !failed.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(block) = boxes.get(at) else { break };
                let partial = reduce_block(variable, block, reduction, over);
                if partial.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                if let Ok(mut results) = results.lock() {
                    results[at] = Some(partial);
                }
                let elements: usize = block.iter().map(ExactSizeIterator::len).product();
                if let Ok(mut progress) = progress.lock() {
                    progress.0 += elements;
                    let done = progress.0;
                    if let Some(report) = &mut progress.1 {
                        report(done, all);
                    }
                }
            }
        };
        let helpers = self.threads.min(boxes.len()).saturating_sub(1);
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_inner().unwrap_or_default();
        let mut results = results.into_iter().zip(&boxes).collect::<Vec<_>>();
        // An error of any block, before those that were left out because of it.
        if let Some(at) = results
            .iter()
            .position(|(result, _)| matches!(result, Some(Err(_))))
            && let (Some(Err(error)), _) = results.swap_remove(at)
        {
            return Err(error);
        }
        assemble(variable, reduction, over, results)
    }
}

fn no_column() -> std::sync::Arc<crate::Column> {
    std::sync::Arc::new(crate::Column::I64(Vec::new()))
}

type Block = Vec<std::ops::Range<usize>>;

/// Divides a variable into blocks of at most that size in bytes, along the chunks of the file if it has some.
fn blocks(variable: &Variable, bytes: usize) -> Vec<Block> {
    let shape = variable.shape();
    // Decoding holds the stored and the decoded elements, and their copies in `f64`.
    let limit = (bytes / 24).max(1);
    let chunks = match &variable.data {
        Data::Lazy(lazy) => lazy.chunk_sizes(),
        _ => None,
    };
    let sizes = match chunks {
        Some(chunks) if chunks.iter().product::<usize>() <= limit => {
            // More chunks along the last dims, as far as they fit.
            let mut sizes: Vec<usize> = chunks
                .iter()
                .zip(shape)
                .map(|(chunk, size)| (*chunk).min(*size).max(1))
                .collect();
            for dim in (0..shape.len()).rev() {
                let others: usize = sizes
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != dim)
                    .map(|(_, size)| size)
                    .product();
                let chunk = sizes[dim];
                let count = (limit / (others * chunk).max(1)).max(1);
                sizes[dim] = (chunk * count).min(shape[dim]).max(1);
            }
            sizes
        }
        _ => crate::write::chunk_sizes(shape, limit),
    };
    let mut all: Vec<Block> = vec![Vec::new()];
    for (&full, size) in shape.iter().zip(sizes) {
        let starts: Vec<usize> = (0..full).step_by(size).collect();
        all = all
            .into_iter()
            .flat_map(|block| {
                starts.iter().map(move |&start| {
                    let mut block = block.clone();
                    block.push(start..(start + size).min(full));
                    block
                })
            })
            .collect();
    }
    all
}

fn reduce_block(
    variable: &Variable,
    block: &Block,
    reduction: Reduction,
    over: &[usize],
) -> Result<Partial> {
    let mut part = variable.clone();
    for (dim, range) in block.iter().enumerate() {
        part = part.take(dim, &Positions::Range(range.clone()))?;
    }
    let x = part.tensor()?.drop_names();
    let wide = match (reduction, x.dtype().is_float()) {
        (Reduction::Min | Reduction::Max | Reduction::NanMin | Reduction::NanMax, _) => x,
        (_, true) => x.to_dtype(DType::F64)?,
        (_, false) => x.to_dtype(DType::I64)?,
    };
    let dims: Vec<i64> = over.iter().map(|&dim| dim as i64).collect();
    let float = wide.dtype().is_float();
    let count = match reduction {
        Reduction::NanMean | Reduction::NanMin | Reduction::NanMax if float => Some(
            wide.isnan()?
                .logical_not()?
                .to_dtype(DType::F64)?
                .sum(&dims[..])?,
        ),
        _ => None,
    };
    let fill = |value: f64| wide.masked_fill(&wide.isnan()?, value);
    let values = match reduction {
        Reduction::NanSum | Reduction::NanMean if float => wide.nansum(&dims[..])?,
        Reduction::Sum | Reduction::Mean | Reduction::NanSum | Reduction::NanMean => {
            wide.sum(&dims[..])?
        }
        Reduction::NanMin if float => fill(f64::INFINITY)?.amin(&dims[..])?,
        Reduction::NanMax if float => fill(f64::NEG_INFINITY)?.amax(&dims[..])?,
        Reduction::Min | Reduction::NanMin => wide.amin(&dims[..])?,
        Reduction::Max | Reduction::NanMax => wide.amax(&dims[..])?,
    };
    Ok(Partial { values, count })
}

/// Combines two partial results of one place.
fn combine(reduction: Reduction, a: Partial, b: &Partial) -> Result<Partial> {
    let values = match reduction {
        Reduction::Min | Reduction::NanMin => a.values.minimum(&b.values)?,
        Reduction::Max | Reduction::NanMax => a.values.maximum(&b.values)?,
        _ => a.values.add(&b.values)?,
    };
    let count = match (a.count, &b.count) {
        (Some(a), Some(b)) => Some(a.add(b)?),
        _ => None,
    };
    Ok(Partial { values, count })
}

/// Combines the results of blocks over one place, and joins those of different places.
fn assemble(
    variable: &Variable,
    reduction: Reduction,
    over: &[usize],
    results: Vec<(Option<Result<Partial>>, &Block)>,
) -> Result<DynTensor> {
    let kept: Vec<usize> = (0..variable.shape().len())
        .filter(|dim| !over.contains(dim))
        .collect();
    let mut places: Vec<(Block, Partial)> = Vec::new();
    let mut index = std::collections::BTreeMap::new();
    for (result, block) in results {
        let Some(partial) = result else { continue };
        let partial = partial?;
        let place: Block = kept.iter().map(|&dim| block[dim].clone()).collect();
        let key: Vec<usize> = place.iter().map(|range| range.start).collect();
        match index.get(&key) {
            None => {
                index.insert(key, places.len());
                places.push((place, partial));
            }
            Some(&at) => {
                let old: &mut (Block, Partial) = &mut places[at];
                let taken = Partial {
                    values: old.1.values.clone(),
                    count: old.1.count.take(),
                };
                old.1 = combine(reduction, taken, &partial)?;
            }
        }
    }
    let finished = places
        .into_iter()
        .map(|(place, partial)| Ok((place, settle(reduction, partial)?)));
    let finished: Vec<(Block, DynTensor)> = finished.collect::<Result<_>>()?;
    let shape: Vec<usize> = kept.iter().map(|&dim| variable.shape()[dim]).collect();
    join(&shape, 0, finished)
}

/// Joins boxes along each dim in turn.
fn join(shape: &[usize], dim: usize, boxes: Vec<(Block, DynTensor)>) -> Result<DynTensor> {
    if dim == shape.len() || boxes.len() == 1 {
        let only = boxes.into_iter().next();
        return match only {
            Some((_, tensor)) => Ok(tensor),
            None => DynTensor::from_vec(
                vec![0.0_f64; shape.iter().product()],
                shape,
                Names::unnamed(shape.len()),
            ),
        };
    }
    let mut groups: std::collections::BTreeMap<usize, Vec<(Block, DynTensor)>> = Default::default();
    for (block, tensor) in boxes {
        groups
            .entry(block[dim].start)
            .or_default()
            .push((block, tensor));
    }
    let parts = groups
        .into_values()
        .map(|group| join(shape, dim + 1, group));
    let parts: Vec<DynTensor> = parts.collect::<Result<_>>()?;
    DynTensor::cat(&parts.iter().collect::<Vec<_>>(), dim as i64)
}

/// Completes what needs the counts of a place.
fn settle(reduction: Reduction, partial: Partial) -> Result<DynTensor> {
    let Partial { values, count } = partial;
    Ok(match (reduction, count) {
        (Reduction::NanMean, Some(count)) => values.div(&count)?,
        (Reduction::NanMin | Reduction::NanMax, Some(count)) => {
            values.masked_fill(&count.eq(0)?, f64::NAN)?
        }
        _ => values,
    })
}

/// Completes what needs the number of all elements.
fn finish(
    reduction: Reduction,
    dtype: DType,
    total: DynTensor,
    reduced: usize,
) -> Result<DynTensor> {
    match reduction {
        Reduction::Mean => total.to_dtype(DType::F64)?.div(reduced as f64),
        Reduction::NanMean if !dtype.is_float() => total.to_dtype(DType::F64)?.div(reduced as f64),
        Reduction::Sum | Reduction::NanSum if total.dtype() == DType::F64 && !dtype.is_float() => {
            total.to_dtype(DType::I64)
        }
        _ => Ok(total),
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
