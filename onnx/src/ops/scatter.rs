//! Operators that write elements by index.

use nomina::{DynTensor, ScatterOptions, ScatterReduce, ScatterReduceOptions};
use nomina_core::Result;

use super::index::{block_positions, wrapped};
use crate::call::{Call, for_each_index, from_ints, pick, reshape, strides};
use crate::names::flow::Flow::First;
use crate::table::Row;
use crate::table::Run::Single;

pub const ROWS: &[Row] = &[
    Row::new("ScatterElements", 11, First, Single(scatter)),
    Row::new("Scatter", 9, First, Single(scatter)).until(10),
    Row::new("ScatterND", 11, First, Single(scatter_nd)),
    Row::new("TensorScatter", 24, First, Single(tensor_scatter)),
];

fn reduction(c: &Call<'_>) -> Result<Option<ScatterReduce>> {
    Ok(Some(match c.text("reduction", "none")? {
        "none" => return Ok(None),
        "add" => ScatterReduce::Sum,
        "mul" => ScatterReduce::Prod,
        "max" => ScatterReduce::Amax,
        "min" => ScatterReduce::Amin,
        other => return Err(c.fail(format!("reduction `{other}` is unknown"))),
    }))
}

fn scatter(c: &Call<'_>) -> Result<DynTensor> {
    let (x, src) = (c.x(0)?, c.x(2)?);
    let axis = super::index::axis(c, 0)?;
    let index = wrapped(c, 1, axis)?;
    match reduction(c)? {
        None => x.scatter_with(axis as i64, &index, src, ScatterOptions::default()),
        Some(reduce) => x.scatter_reduce_with(
            axis as i64,
            &index,
            src,
            reduce,
            ScatterReduceOptions::default(),
        ),
    }
}

fn scatter_nd(c: &Call<'_>) -> Result<DynTensor> {
    let (x, index, updates) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let (places, k) = block_positions(c, x.shape(), index, 0)?;
    let (outer, rest) = x.shape().split_at(k);
    let (count, width) = (places.len(), rest.iter().product::<usize>());
    let blocks = reshape(x, &[outer.iter().product(), width])?;
    let updates = reshape(updates, &[count, width])?;
    let places = from_ints(places, &[count])?;
    let y = match reduction(c)? {
        None => blocks.index_copy(0, &places, &updates)?,
        Some(reduce) => blocks.index_reduce_with(
            0,
            &places,
            &updates,
            reduce,
            ScatterReduceOptions::default(),
        )?,
    };
    reshape(&y, x.shape())
}

fn tensor_scatter(c: &Call<'_>) -> Result<DynTensor> {
    let (cache, update) = (c.x(0)?, c.x(1)?);
    let axis = c.axis(c.int("axis", -2)?, cache.rank())?;
    let mode = c.text("mode", "linear")?;
    c.require(matches!(mode, "linear" | "circular"), "the mode is unknown")?;
    let batch = cache.shape().first().copied().unwrap_or(0);
    let starts = c.ints_at(2)?.unwrap_or_else(|| vec![0; batch]);
    c.require(
        update.rank() == cache.rank() && axis > 0 && starts.len() == batch,
        "the shapes do not fit",
    )?;
    let same = |dim: usize| dim == axis || update.shape()[dim] == cache.shape()[dim];
    c.require((0..cache.rank()).all(same), "the shapes do not fit")?;
    let (step, size) = (strides(cache.shape()), cache.shape()[axis] as i64);
    let mut from: Vec<i64> = (0..cache.numel() as i64).collect();
    let (mut at, mut outside) = (cache.numel() as i64, false);
    for_each_index(update.shape(), |index| {
        let place = starts[index[0]].saturating_add(index[axis] as i64);
        let place = if mode == "circular" {
            place.rem_euclid(size.max(1))
        } else {
            place
        };
        if (0..size).contains(&place) {
            let rest: usize = (0..index.len())
                .filter(|&d| d != axis)
                .map(|d| index[d] * step[d])
                .sum();
            from[rest + place as usize * step[axis]] = at;
        } else {
            outside = true;
        }
        at += 1;
    });
    c.require(!outside, "an update is outside of the cache")?;
    let both = DynTensor::cat(
        &[
            &reshape(cache, &[cache.numel()])?,
            &reshape(update, &[update.numel()])?,
        ],
        0,
    )?;
    pick(&both, from, cache.shape())
}
