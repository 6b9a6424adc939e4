//! Loops along a dim: scans, and functions of each slice. Each is composed of operators with gradients.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, ErrorKind, Result};

use super::{DynTensor, about};
use crate::call;
use crate::memory::scratch::push;
use crate::memory::{list, try_list};
use crate::raw::Raw;

/// Calls a function with a carry and each slice along a dim, in order. Returns the last carry, and the function's
/// tensors, stacked along the dim in front of their own dims; without slices there are none.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::tensor::loops::scan;
/// let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0], &[3], ["T"])?;
/// let zero = DynTensor::zeros(&[], ())?;
/// let (last, sums) = scan("T", |sum, x| {
///     let sum = sum.add(&x[0])?;
///     Ok((sum.clone(), vec![sum]))
/// }, zero, &[&x])?;
/// assert_eq!(last.to_vec::<f32>()?, [6.0]);
/// assert_eq!(sums[0].to_vec::<f32>()?, [1.0, 3.0, 6.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// If a tensor lacks the dim, sizes along it differ, or results do not stack; also the errors of `f`.
pub fn scan<C>(
    dim: &str,
    mut f: impl FnMut(C, &[DynTensor]) -> Result<(C, Vec<DynTensor>)>,
    init: C,
    xs: &[&DynTensor],
) -> Result<(C, Vec<DynTensor>)> {
    let (mut carry, mut columns) = (init, Vec::new());
    for slices in unbound("scan", dim, xs)? {
        let (next, results) = f(carry, &slices)?;
        carry = next;
        collect("scan", &mut columns, results)?;
    }
    Ok((carry, stacked("scan", dim, &columns)?))
}

/// Calls a function with each slice along a dim. Returns its tensors, stacked along the dim in front of their own dims;
/// without slices there are none.
///
/// The function is called once for each slice: it may be any function, and costs a call of each of its operators for
/// each slice.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::tensor::loops::map_over;
/// let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
/// let sums = map_over("N", |x| Ok(vec![x[0].sum("C")?]), &[&x])?;
/// assert_eq!(sums[0].to_vec::<f32>()?, [3.0, 7.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// If a tensor lacks the dim, sizes along it differ, or results do not stack; also the errors of `f`.
pub fn map_over(
    dim: &str,
    mut f: impl FnMut(&[DynTensor]) -> Result<Vec<DynTensor>>,
    xs: &[&DynTensor],
) -> Result<Vec<DynTensor>> {
    let mut columns = Vec::new();
    for slices in unbound("map_over", dim, xs)? {
        collect("map_over", &mut columns, f(&slices)?)?;
    }
    stacked("map_over", dim, &columns)
}

/// Combines all slices up to each one along a dim by an associative function, which takes many slices at once: two
/// lists of tensors with any equal size along the dim, the earlier slices first. For `n` slices there are about
/// `2 log2 n` calls with fewer than `2 n` slices in all (Blelloch, "Prefix sums and their applications", 1990).
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::tensor::loops::associative_scan;
/// let x = DynTensor::from_vec(vec![1.0_f32, 2.0, 3.0], &[3], ["T"])?;
/// let products = associative_scan("T", |a, b| Ok(vec![a[0].mul(&b[0])?]), &[&x])?;
/// assert_eq!(products[0].to_vec::<f32>()?, [1.0, 2.0, 6.0]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// If a tensor lacks the dim, sizes along it differ, or the function returns tensors with other names, sizes or
/// dtypes than it is given; also the errors of `f`.
pub fn associative_scan(
    dim: &str,
    mut f: impl FnMut(&[DynTensor], &[DynTensor]) -> Result<Vec<DynTensor>>,
    xs: &[&DynTensor],
) -> Result<Vec<DynTensor>> {
    let (places, count) = places("associative_scan", dim, xs)?;
    let scan = Prefixes { xs, places };
    let raws = xs.iter().map(|x| x.raw.clone()).collect();
    let found = scan.all(raws, count, &mut f)?.into_iter().zip(xs);
    Ok(found
        .map(|(raw, x)| DynTensor::new(raw, x.names.clone()))
        .collect())
}

/// The tensors of an associative scan, and the position of its dim in each.
struct Prefixes<'a> {
    xs: &'a [&'a DynTensor],
    places: Vec<usize>,
}

impl Prefixes<'_> {
    /// Combines pairs, scans these by recursion, and combines their results with the slices between them.
    fn all(
        &self,
        given: Vec<Raw>,
        count: usize,
        f: &mut impl FnMut(&[DynTensor], &[DynTensor]) -> Result<Vec<DynTensor>>,
    ) -> Result<Vec<Raw>> {
        if count < 2 {
            return Ok(given);
        }
        let (pairs, evens) = (count / 2, count.div_ceil(2));
        let firsts = self.every_second(&given, 0, pairs)?;
        let paired = self.combined(&firsts, &self.every_second(&given, 1, pairs)?, f)?;
        let odd = self.all(paired, pairs, f)?;
        let mut even = self.every_second(&given, 0, 1)?;
        if evens > 1 {
            let before = self.first(&odd, evens - 1)?;
            let own = self.every_second(&given, 2, evens - 1)?;
            let rest = self.combined(&before, &own, f)?;
            let joined = even.iter().zip(&rest).zip(&self.places);
            even = joined
                .map(|((first, rest), &at)| call::cat(&[first, rest], at))
                .collect::<Result<_>>()?;
        }
        self.interleaved(&even, &odd, pairs)
    }

    fn every_second(&self, given: &[Raw], start: usize, len: usize) -> Result<Vec<Raw>> {
        let slices = given.iter().zip(&self.places);
        slices
            .map(|(raw, &at)| raw.clone().slice(at, start, len, 2))
            .collect()
    }

    fn first(&self, given: &[Raw], len: usize) -> Result<Vec<Raw>> {
        let slices = given.iter().zip(&self.places);
        slices
            .map(|(raw, &at)| raw.clone().slice(at, 0, len, 1))
            .collect()
    }

    /// Joins tensors whose slices alternate; `even` may have one slice more.
    fn interleaved(&self, even: &[Raw], odd: &[Raw], pairs: usize) -> Result<Vec<Raw>> {
        let mut found = list("associative_scan", [even.len()])?;
        for ((even, odd), &at) in even.iter().zip(odd).zip(&self.places) {
            let first = even.clone().slice(at, 0, pairs, 1)?;
            let both = call::stack(&[&first, odd], at + 1)?;
            let mut shape = odd.shape().to_vec();
            shape[at] = 2 * pairs;
            let mut both = both.reshape(&shape)?;
            if even.shape()[at] > pairs {
                let last = even.clone().slice(at, pairs, 1, 1)?;
                both = call::cat(&[&both, &last], at)?;
            }
            found.push(both);
        }
        Ok(found)
    }

    /// Calls the function, and checks the names, sizes and dtypes of its results.
    fn combined(
        &self,
        earlier: &[Raw],
        later: &[Raw],
        f: &mut impl FnMut(&[DynTensor], &[DynTensor]) -> Result<Vec<DynTensor>>,
    ) -> Result<Vec<Raw>> {
        let [earlier, later] = [earlier, later].map(|raws| {
            let named = raws.iter().zip(self.xs);
            let named = named.map(|(raw, x)| DynTensor::new(raw.clone(), x.names.clone()));
            named.collect::<Vec<_>>()
        });
        let found = f(&earlier, &later)?;
        let op = "associative_scan";
        if found.len() != later.len() {
            let what = format!("the function returned {} tensors", found.len());
            let hint = format!("it is given two lists of {} and returns one", later.len());
            return Err(Error::new(ErrorKind::Argument, op, what).hint(hint));
        }
        let mut raws = Vec::with_capacity(found.len());
        for (found, given) in found.into_iter().zip(&later) {
            let same = found.names == given.names && found.shape() == given.shape();
            if !same || found.dtype() != given.dtype() {
                let what = format!(
                    "the function returned {} with other dims or another dtype than the {} it was given",
                    found.dtype(),
                    given.dtype()
                );
                let error = Error::new(ErrorKind::Shape, op, what);
                let hint = "combine slices to slices of the same kind";
                return Err(about(error, &[&found, given]).hint(hint));
            }
            raws.push(found.raw);
        }
        Ok(raws)
    }
}

/// Returns the position of a dim in each tensor, and its size.
fn places(op: &'static str, dim: &str, xs: &[&DynTensor]) -> Result<(Vec<usize>, usize)> {
    let places = xs.iter().map(|x| {
        let place = DimRef::Name(dim).position(op, &x.names);
        place.map_err(|error| about(error, &[x]))
    });
    let places = places.collect::<Result<Vec<usize>>>()?;
    let Some((&first, at)) = xs.first().zip(places.first()) else {
        let what = "there is no tensor";
        return Err(Error::new(ErrorKind::Argument, op, what).hint("give at least one"));
    };
    let count = first.shape()[*at];
    for (i, (x, &place)) in xs.iter().zip(&places).enumerate() {
        if x.shape()[place] != count {
            let shapes = xs.iter().map(|x| x.shape());
            let error = Error::sizes(op, shapes, [(0, *at), (i, place)]);
            return Err(about(error, xs).hint("all tensors have one size along the dim"));
        }
    }
    Ok((places, count))
}

/// Returns the slices along a dim: for each index, that of each tensor.
fn unbound(op: &'static str, dim: &str, xs: &[&DynTensor]) -> Result<Vec<Vec<DynTensor>>> {
    let (places, count) = places(op, dim, xs)?;
    let slices = (0..count).map(|index| {
        let each = xs.iter().zip(&places).map(|(x, &place)| {
            let names = rule::remove(&x.names, &[place]);
            Ok(DynTensor::new(x.raw.clone().select(place, index)?, names))
        });
        try_list(op, each)
    });
    try_list(op, slices)
}

/// Adds the results of one call to those of the calls before.
fn collect(
    op: &'static str,
    columns: &mut Vec<Vec<DynTensor>>,
    results: Vec<DynTensor>,
) -> Result<()> {
    if columns.is_empty() {
        columns.resize_with(results.len(), Vec::new);
    }
    if columns.len() != results.len() {
        let (now, before) = (results.len(), columns.len());
        let what = format!("the function returned {now} tensors after {before}");
        return Err(Error::new(ErrorKind::Argument, op, what)
            .hint("return one number of tensors for all slices"));
    }
    for (column, result) in columns.iter_mut().zip(results) {
        push(column, result).map_err(|error| error.in_op(op))?;
    }
    Ok(())
}

fn stacked(op: &'static str, dim: &str, columns: &[Vec<DynTensor>]) -> Result<Vec<DynTensor>> {
    let stack = columns.iter().map(|column| {
        let column = try_list(op, column.iter().map(Ok))?;
        DynTensor::stack(&column, 0, dim).map_err(|error| error.in_op(op))
    });
    try_list(op, stack)
}
