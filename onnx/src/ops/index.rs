//! Operators that pick elements by index.

use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::shape::full;
use crate::call::{Call, floats, for_each_index, from_ints, ints, pick, reshape, strides};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{self, First, Fresh, Resized, Same};
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new("Gather", 1, Flow::Gather, Single(gather)).emit(Emit::Single(spell::pick::gather)),
    Row::new(
        "GatherElements",
        11,
        First,
        Single(|c| {
            c.x(0)?
                .gather(axis(c, 0)? as i64, &wrapped(c, 1, axis(c, 0)?)?)
        }),
    )
    .emit(Emit::Single(spell::pick::gather_elements)),
    Row::new("GatherND", 11, Fresh, Single(gather_nd)),
    Row::new(
        "NonZero",
        9,
        Fresh,
        Single(|c| c.x(0)?.nonzero()?.permute([1, 0])),
    ),
    Row::new("OneHot", 9, Fresh, Single(one_hot)),
    Row::new("Compress", 9, Fresh, Single(compress)),
    Row::new("TopK", 1, Flow::TopK, Tensors(topk)),
    Row::new("Unique", 11, Fresh, Tensors(unique)),
    Row::new("ReverseSequence", 10, Same, Single(reverse_sequence)),
    Row::new(
        "ArrayFeatureExtractor",
        1,
        Resized,
        Single(|c| {
            c.x(0)?.index_select(
                -1,
                &reshape(
                    &wrapped(c, 1, c.x(0)?.rank().saturating_sub(1))?,
                    &[c.x(1)?.numel()],
                )?,
            )
        }),
    )
    .domain("ai.onnx.ml"),
];

/// The dim of attribute `axis`.
pub fn axis(c: &Call<'_>, default: i64) -> Result<usize> {
    c.axis(c.int("axis", default)?, c.x(0)?.rank())
}

/// The indices of an input into dim `axis`, without negative ones.
pub fn wrapped(c: &Call<'_>, at: usize, axis: usize) -> Result<DynTensor> {
    let (index, size) = (
        c.x(at)?,
        c.x(0)?.shape().get(axis).copied().unwrap_or(0) as i64,
    );
    let index = index.to_dtype(DType::I64)?;
    let data = ints(&index)?;
    if data.iter().all(|&i| i >= 0) {
        return Ok(index);
    }
    from_ints(
        data.into_iter()
            .map(|i| if i < 0 { i.saturating_add(size) } else { i })
            .collect(),
        index.shape(),
    )
}

fn gather(c: &Call<'_>) -> Result<DynTensor> {
    let (x, axis) = (c.x(0)?, axis(c, 0)?);
    let index = wrapped(c, 1, axis)?;
    let y = x.index_select(axis as i64, &reshape(&index, &[index.numel()])?)?;
    let mut shape = x.shape().to_vec();
    shape.splice(axis..=axis, index.shape().iter().copied());
    reshape(&y, &shape)
}

/// Positions of the blocks that the last dim of `index` names, in units of blocks, after `batch` shared dims.
pub fn block_positions(
    c: &Call<'_>,
    shape: &[usize],
    index: &DynTensor,
    batch: usize,
) -> Result<(Vec<i64>, usize)> {
    let (&k, outer) = index
        .shape()
        .split_last()
        .ok_or_else(|| c.fail("the indices have no dim"))?;
    c.require(
        batch <= outer.len() && batch + k <= shape.len(),
        "the indices have more dims than the tensor",
    )?;
    c.require(outer[..batch] == shape[..batch], "the batch dims differ")?;
    let indexed = &shape[batch..batch + k];
    let block = strides(indexed);
    let per_batch: usize = outer[batch..].iter().product();
    let all = ints(index)?;
    let mut places = Vec::with_capacity(all.len() / k.max(1));
    for at in 0..outer.iter().product::<usize>() {
        let mut place = (at / per_batch.max(1)) * indexed.iter().product::<usize>();
        for d in 0..k {
            let (i, size) = (all[at * k + d], indexed[d] as i64);
            let i = if i < 0 { i.saturating_add(size) } else { i };
            c.require((0..size).contains(&i), "an index is out of range")?;
            place += i as usize * block[d];
        }
        places.push(place as i64);
    }
    Ok((places, k))
}

fn gather_nd(c: &Call<'_>) -> Result<DynTensor> {
    let (x, index) = (c.x(0)?, c.x(1)?);
    let batch =
        usize::try_from(c.int("batch_dims", 0)?).map_err(|_| c.fail("`batch_dims` is negative"))?;
    let (places, k) = block_positions(c, x.shape(), index, batch)?;
    let (outer, rest) = x.shape().split_at(batch + k);
    let count = places.len();
    let blocks = reshape(x, &[outer.iter().product(), rest.iter().product()])?;
    let mut shape = index.shape()[..index.rank() - 1].to_vec();
    shape.extend(rest);
    reshape(
        &blocks.index_select(0, &from_ints(places, &[count])?)?,
        &shape,
    )
}

fn one_hot(c: &Call<'_>) -> Result<DynTensor> {
    let (index, depth, values) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let depth = reshape(depth, &[])?.item()?.to_i64();
    c.require(
        (1..1 << 28).contains(&depth) && values.numel() == 2,
        "the depth or the values are wrong",
    )?;
    let axis = c.axis(c.int("axis", -1)?, index.rank() + 1)?;
    let mut shape = index.shape().to_vec();
    shape.insert(axis, 1);
    let at = index.to_dtype(DType::I64)?;
    let at = at.lt(0)?.where_cond(&at.add(depth)?, &at)?;
    let mut line = vec![1; shape.len()];
    line[axis] = depth as usize;
    let places = from_ints((0..depth).collect(), &line)?;
    let hot = reshape(&at, &shape)?.eq(&places)?;
    hot.where_cond(&values.select(0, 1)?, &values.select(0, 0)?)
}

fn compress(c: &Call<'_>) -> Result<DynTensor> {
    let (x, condition) = (c.x(0)?, ints(c.x(1)?)?);
    let at: Vec<i64> = (0..)
        .zip(&condition)
        .filter(|p| *p.1 != 0)
        .map(|p| p.0)
        .collect();
    let count = at.len();
    match c.maybe_int("axis")? {
        Some(axis) => x.index_select(c.axis(axis, x.rank())? as i64, &from_ints(at, &[count])?),
        None => pick(x, at, &[count]),
    }
}

/// The elements of a tensor in an order that exact comparison needs.
enum Keys {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

impl Keys {
    fn new(x: &DynTensor) -> Result<Self> {
        Ok(if x.dtype().is_integral() {
            Self::Ints(ints(x)?)
        } else {
            Self::Floats(floats(x)?)
        })
    }

    fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        match self {
            Self::Ints(v) => v[a].cmp(&v[b]),
            Self::Floats(v) => (v[a] + 0.0).total_cmp(&(v[b] + 0.0)),
        }
    }
}

fn topk(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let axis = axis(c, -1)?;
    let k = match c.maybe(1)? {
        Some(k) => reshape(k, &[])?.item()?.to_i64(),
        None => c.int("k", -1)?,
    };
    let (largest, size) = (c.flag("largest", true)?, x.shape()[axis]);
    let k = usize::try_from(k)
        .ok()
        .filter(|&k| k <= size)
        .ok_or_else(|| c.fail("`k` is not among the dim's sizes"))?;
    let keys = Keys::new(x)?;
    let mut shape = x.shape().to_vec();
    shape[axis] = k;
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let outer: usize = x.shape()[..axis].iter().product();
    let (mut at, mut places) = (vec![0i64; outer * k * inner], vec![0i64; outer * k * inner]);
    for o in 0..outer {
        for i in 0..inner {
            let place = |j: usize| (o * size + j) * inner + i;
            let mut order: Vec<usize> = (0..size).collect();
            order.sort_by(|&a, &b| {
                let order = keys.compare(place(a), place(b));
                if largest { order.reverse() } else { order }
            });
            for (rank, &j) in order[..k].iter().enumerate() {
                at[(o * k + rank) * inner + i] = place(j) as i64;
                places[(o * k + rank) * inner + i] = j as i64;
            }
        }
    }
    Ok(vec![pick(x, at, &shape)?, from_ints(places, &shape)?])
}

fn unique(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let x = c.x(0)?;
    let axis = c
        .maybe_int("axis")?
        .map(|axis| c.axis(axis, x.rank()))
        .transpose()?;
    let rows = match axis {
        Some(axis) => x.movedim(axis as i64, 0)?.contiguous()?,
        None => reshape(x, &[x.numel()])?,
    };
    let n = rows.shape().first().copied().unwrap_or(0);
    let width = rows.numel() / n.max(1);
    let keys = Keys::new(&rows)?;
    let compare = |a: usize, b: usize| {
        let orders = (0..width).map(|j| keys.compare(a * width + j, b * width + j));
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in order {
        match groups.last_mut() {
            Some(group) if compare(group[0], at).is_eq() => group.push(at),
            _ => groups.push(vec![at]),
        }
    }
    if !c.flag("sorted", true)? {
        groups.sort_by_key(|group| group[0]);
    }
    let count = groups.len();
    let first: Vec<i64> = groups.iter().map(|group| group[0] as i64).collect();
    let counts = groups.iter().map(|group| group.len() as i64).collect();
    let mut inverse = vec![0; n];
    for (at, group) in groups.iter().enumerate() {
        group.iter().for_each(|&i| inverse[i] = at as i64);
    }
    let first = from_ints(first, &[count])?;
    let y = match axis {
        Some(axis) => x.index_select(axis as i64, &first)?,
        None => rows.index_select(0, &first)?,
    };
    Ok(vec![
        y,
        first,
        from_ints(inverse, &[n])?,
        from_ints(counts, &[count])?,
    ])
}

fn reverse_sequence(c: &Call<'_>) -> Result<DynTensor> {
    let (x, lengths) = (c.x(0)?, ints(c.x(1)?)?);
    let time = c.axis(c.int("time_axis", 0)?, x.rank())?;
    let batch = c.axis(c.int("batch_axis", 1)?, x.rank())?;
    c.require(
        lengths.len() == x.shape()[batch],
        "there is not one length per sequence",
    )?;
    c.require(
        lengths
            .iter()
            .all(|&n| (0..=x.shape()[time] as i64).contains(&n)),
        "a length is out of range",
    )?;
    let step = strides(x.shape());
    let mut at = Vec::with_capacity(x.numel());
    for_each_index(x.shape(), |index| {
        let place: usize = index.iter().zip(&step).map(|(i, s)| i * s).sum();
        let (t, n) = (index[time], lengths[index[batch]] as usize);
        let from = if t < n { n - 1 - t } else { t };
        at.push((place + from * step[time] - t * step[time]) as i64);
    });
    pick(x, at, x.shape())
}

/// A tensor of one dtype and shape, whose elements are all zero.
pub fn zeros(shape: &[usize], dtype: DType) -> Result<DynTensor> {
    full(shape, 0.0, dtype)
}
