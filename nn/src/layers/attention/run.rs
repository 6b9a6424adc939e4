//! Attention at run time, by names.

use nomina::dims::{Axes, Dim};
use nomina::{
    AttentionOptions, DType, DiagonalOptions, DynTensor, Error, ErrorKind, Float, Names, Result,
    Scalar,
};
use nomina_runtime::Raw;
use nomina_runtime::memory::list;
use nomina_runtime::tensor::about;

use super::cache::Store;
use crate::autocast;
use crate::layers::Linear;
use crate::layers::linear::linear;

const OP: &str = "attention";

/// The options of attention.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention {
    /// Whether a position only attends to itself and earlier positions.
    pub causal: bool,
    /// Rotary positions: queries and keys are rotated by angles that grow along the sequence, from 1 per position for
    /// the first features down to the inverse of this base. Su et al., "RoFormer"; features are paired between the
    /// halves, as in GPT-NeoX and Llama.
    pub rotary: Option<f64>,
    /// The fraction of weights that are randomly set to zero; for training.
    pub dropout: f64,
}

/// A weight and a bias.
pub(super) type Projection = (DynTensor, Option<DynTensor>);

pub(super) fn projection<I: Axes, O: Axes, T: Float>(layer: &Linear<I, O, T>) -> Projection {
    let bias = layer.bias.as_ref().map(|bias| bias.to_dyn());
    (layer.weight.to_dyn(), bias)
}

/// The arguments of a call.
pub(super) struct AttentionCall<'a> {
    pub x: &'a DynTensor,
    /// The tensor attended to, unless it is `x`.
    pub memory: Option<&'a DynTensor>,
    pub mask: Option<&'a DynTensor>,
    /// The projections to queries, keys and values, and of the results.
    pub weights: [Projection; 4],
    /// The dims of `x`, and of the tensor attended to.
    pub own: SequenceDims,
    pub source: SequenceDims,
    pub heads: Names,
    pub options: Attention,
    /// Earlier keys and values.
    pub cache: Option<&'a mut Store>,
}

/// The dims of a sequence and of its features.
pub(super) struct SequenceDims {
    sequence: Names,
    features: Names,
}

impl SequenceDims {
    pub fn new<S: Dim, E: Dim>() -> Self {
        Self {
            sequence: name::<S>(),
            features: name::<E>(),
        }
    }

    fn positions(&self, x: &DynTensor, input: &str) -> Result<[usize; 2]> {
        let dim = |name: &Names| x.names().position(name[0].as_ref()?);
        match (dim(&self.sequence), dim(&self.features)) {
            (Some(sequence), Some(features)) => Ok([sequence, features]),
            _ => {
                let what = format!("the {input} lacks the sequence or its features");
                Err(Error::new(ErrorKind::NameNotFound, OP, what).operand(x.names(), x.shape()))
            }
        }
    }
}

pub(super) fn name<X: Dim>() -> Names {
    Names::from_static(&[X::NAME])
}

/// Projects to heads: a batch in a given order, heads, sequence, features. A batch dim that `x` lacks has size 1.
fn project(
    x: &DynTensor,
    (weight, bias): &Projection,
    batch: impl Iterator<Item = Option<usize>>,
    [sequence, features]: [usize; 2],
) -> Result<Raw> {
    let rows = linear(x, weight, bias.as_ref(), 1, None)?;
    // The linear layer removed `features`, and appended heads and their features.
    let place = |dim: usize| dim - usize::from(dim > features);
    let rank = rows.rank();
    let order = batch.map(|dim| dim.map(place));
    let order: Vec<_> = order
        .chain([rank - 2, place(sequence), rank - 1].map(Some))
        .collect();
    rows.align(&order)
        .map_err(|error| about(error, &[x, weight]))
}

/// Computes attention.
pub(super) fn attend(run: AttentionCall<'_>) -> Result<DynTensor> {
    let (x, options) = (run.x, run.options);
    let [query, key, value, out] = &run.weights;
    let [s, e] = run.own.positions(x, "input")?;
    // The other dims are batch dims, in the order of the input.
    let batch: Vec<usize> = (0..x.rank()).filter(|&dim| dim != s && dim != e).collect();
    let mut q = project(x, query, batch.iter().copied().map(Some), [s, e])?;
    let memory = run.memory.unwrap_or(x);
    let dims = match run.memory {
        None => [s, e],
        Some(memory) => run.source.positions(memory, "memory")?,
    };
    let places = batch.iter().map(|&dim| match run.memory {
        None => Some(dim),
        Some(memory) => memory.names().position(x.names()[dim].as_ref()?),
    });
    let places: Vec<Option<usize>> = places.collect();
    let mut k = project(memory, key, places.iter().copied(), dims)?;
    let mut v = project(memory, value, places.iter().copied(), dims)?;
    let len = x.shape()[s];
    if let Some(base) = options.rotary {
        let first = run.cache.as_ref().map_or(0, |cache| cache.seen());
        let rotation = rotation(&q, base, first)?;
        (q, k) = (rotate(q, &rotation)?, rotate(k, &rotation)?);
    }
    let mut past = 0;
    if let Some(cache) = run.cache {
        [k, v] = cache.extend([k, v]).map_err(|error| about(error, &[x]))?;
        past = k.shape()[k.rank() - 2] - len;
    }
    let plain = |raw: Raw| {
        let names = Names::unnamed(raw.rank());
        DynTensor::from_parts(raw, names)
    };
    let (mut q, mut k, mut v) = (plain(q)?, plain(k)?, plain(v)?);
    let mut mask = run.mask.map(|mask| {
        let mut names: Vec<_> = batch.iter().map(|&dim| x.names()[dim].clone()).collect();
        names.extend([run.heads[0].clone(), x.names()[s].clone()]);
        let names: Names = names.into_iter().collect();
        plain(align_mask(mask, &names)?)
    });
    // The kernel's own causal mask starts at the first key, and excludes another mask. A single last position sees all.
    let is_causal = options.causal && past == 0 && mask.is_none();
    if options.causal && !is_causal && len != 1 {
        let ones = DynTensor::ones(&[len, past + len], ())?.to_dtype(DType::Bool)?;
        let earlier = ones.tril_with(DiagonalOptions {
            offset: past as i64,
        })?;
        let earlier = earlier.to_device(x.device())?;
        mask = Some(match mask.transpose()? {
            None => Ok(earlier),
            Some(mask) if mask.dtype() == DType::Bool => mask.logical_and(&earlier),
            Some(mask) => earlier.where_cond(&mask, Scalar::from(f64::NEG_INFINITY)),
        });
    }
    let attention_options = AttentionOptions {
        dropout_p: options.dropout,
        is_causal,
        enable_gqa: query.0.shape()[0] != key.0.shape()[0],
        ..AttentionOptions::default()
    };
    let mut mask = mask.transpose().map_err(|error| about(error, &[x]))?;
    let own = q.dtype();
    if let Some(dtype) = autocast::rounded(own) {
        (q, k, v) = (q.to_dtype(dtype)?, k.to_dtype(dtype)?, v.to_dtype(dtype)?);
        mask = match mask {
            Some(mask) if mask.dtype() != DType::Bool => Some(mask.to_dtype(dtype)?),
            mask => mask,
        };
    }
    let found = q.scaled_dot_product_attention_with(&k, &v, mask.as_ref(), attention_options);
    let found = found.and_then(|found| found.to_dtype(own));
    let found = found.map_err(|error| about(error, &[x, memory]))?;
    // Heads and features follow the sequence, with their names for the last layer.
    let last = found.rank();
    let mut order: Vec<usize> = (0..batch.len()).collect();
    order.extend([last - 2, last - 3, last - 1]);
    let names = batch.iter().chain([&s]).map(|&dim| x.names()[dim].clone());
    let names: Names = names.chain(out.0.names().iter().skip(1).cloned()).collect();
    let found = DynTensor::from_parts(found.raw().permute(&order)?, names)?;
    let rows = linear(&found, &out.0, out.1.as_ref(), 2, None)?;
    // Restores the order of the input's dims.
    let mut order: Vec<usize> = vec![0; x.rank()];
    for (from, &to) in batch.iter().chain([&s, &e]).enumerate() {
        order[to] = from;
    }
    DynTensor::from_parts(rows.permute(&order)?, x.names().clone())
}

/// Reorders a mask to the dims of the scores: `names`, then the positions attended to, which are the mask's remaining
/// dim.
fn align_mask(mask: &DynTensor, names: &Names) -> Result<Raw> {
    let own: Vec<Option<usize>> = names
        .iter()
        .map(|name| mask.names().position(name.as_ref()?))
        .collect();
    let source = (0..mask.rank()).find(|dim| !own.contains(&Some(*dim)));
    let all = || own.iter().copied().chain([source]);
    let order: Vec<usize> = all().flatten().collect();
    let sizes: Vec<usize> = all()
        .map(|dim| dim.map_or(1, |dim| mask.shape()[dim]))
        .collect();
    mask.raw().permute(&order)?.reshape(&sizes)
}

/// Returns cosines and sines of the rotation angles, for each position from `first` on and each pair of features; `x`
/// has dims (…, sequence, features).
fn rotation(x: &Raw, base: f64, first: usize) -> Result<[DynTensor; 2]> {
    let (len, features) = (x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]);
    if features % 2 != 0 {
        let what = format!("rotary positions need pairs, not {features} features");
        return Err(Error::new(ErrorKind::Argument, "attention", what)
            .operand(&Names::unnamed(x.rank()), x.shape())
            .hint("give heads an even number of features"));
    }
    let half = features / 2;
    let mut angles = list("attention", [len, half])?;
    for position in first..first + len {
        let rotated =
            (0..half).map(|pair| position as f64 * base.powf(-(pair as f64) / half as f64));
        angles.extend(rotated);
    }
    let angles = DynTensor::from_vec(angles, &[len, half], ())?;
    let here = |table: DynTensor| table.to_dtype(x.dtype())?.to_device(x.device());
    Ok([here(angles.cos()?)?, here(angles.sin()?)?])
}

/// Rotates the features of (…, sequence, features), which are paired between the halves.
fn rotate(x: Raw, [cos, sin]: &[DynTensor; 2]) -> Result<Raw> {
    let names = Names::unnamed(x.rank());
    let half = cos.shape()[1];
    let x = DynTensor::from_parts(x, names)?;
    let last = -1_i64;
    let (first, second) = (x.narrow(last, 0, half)?, x.narrow(last, half as i64, half)?);
    let rotated = [
        first.mul(cos)?.sub(&second.mul(sin)?)?,
        second.mul(cos)?.add(&first.mul(sin)?)?,
    ];
    let joined = DynTensor::cat(&[&rotated[0], &rotated[1]], last)?;
    Ok(joined.into_parts().0)
}
