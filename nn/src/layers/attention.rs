//! Multi-head self-attention.

use std::marker::PhantomData;

use nomina::dims::{
    Dim, Dims, Distinct, EachIn, Has, Joined, Of, Open, Prime, SizeOf, SizesFor, Without,
};
use nomina::{
    AttentionOptions, DynTensor, Element, Error, ErrorKind, Float, Names, Result, Tensor, Typed,
};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::memory::list;
use nomina_runtime::tensor::about;

use super::Linear;
use super::linear::linear;
use crate::Module;

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

/// Multi-head self-attention over a sequence along `S` with features along `E`, by heads `H` with features `F` each.
/// Vaswani et al., "Attention Is All You Need".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Hidden, Head, Feature }
///
/// let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(12), Head.of(3), Feature.of(4));
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
/// let y: Tensor<(N, Seq, Hidden)> = layer.forward(&x, Attention { causal: true, ..default() });
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct MultiHeadAttention<S: Dim, E: Dim, H: Dim, F: Dim, T: Element = f32> {
    /// The projection to queries.
    pub query: Linear<E, (H, F), T>,
    /// The projection to keys.
    pub key: Linear<E, (H, F), T>,
    /// The projection to values.
    pub value: Linear<E, (H, F), T>,
    /// The projection of the heads' results.
    pub out: Linear<(H, F), E, T>,
    #[module(skip)]
    sequence: PhantomData<S>,
}

impl<S: Dim, E: Dim, H: Dim, F: Dim> MultiHeadAttention<S, E, H, F>
where
    (H, F, E): Distinct,
    (E, H, F): Distinct,
    (H, F): Distinct,
    (E,): Distinct,
{
    /// Creates four linear layers with PyTorch's initial weights.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(
        hidden: impl SizesFor<E>,
        heads: impl SizesFor<H>,
        features: impl SizesFor<F>,
    ) -> Result<Self>
    where
        SizeOf<E>: Open<E>,
        SizeOf<H>: Open<H>,
        SizeOf<F>: Open<F>,
    {
        let heads = heads.sizes()[0];
        Self::try_grouped(hidden, H::default().of(heads), features, heads)
    }

    /// Like [`new`](Self::new), but with `key_heads` heads of keys and values, each shared by several heads.
    /// Ainslie et al., "GQA".
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_grouped(
        hidden: impl SizesFor<E>,
        heads: Of<H>,
        features: impl SizesFor<F>,
        key_heads: usize,
    ) -> Result<Self>
    where
        SizeOf<E>: Open<E>,
        SizeOf<H>: Open<H>,
        SizeOf<F>: Open<F>,
    {
        let hidden = || E::default().of(hidden.sizes()[0]);
        let features = F::default().of(features.sizes()[0]);
        let shared = H::default().of(key_heads);
        Ok(Self {
            query: Linear::try_new(hidden(), (heads, features))?,
            key: Linear::try_new(hidden(), (shared, features))?,
            value: Linear::try_new(hidden(), (shared, features))?,
            out: Linear::try_new((heads, features), hidden())?,
            sequence: PhantomData,
        })
    }
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, T: Element> MultiHeadAttention<S, E, H, F, T> {
    /// Creates the layer from four linear layers with existing weights.
    #[must_use]
    pub fn of([query, key, value]: [Linear<E, (H, F), T>; 3], out: Linear<(H, F), E, T>) -> Self {
        Self {
            query,
            key,
            value,
            out,
            sequence: PhantomData,
        }
    }
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, T: Float> MultiHeadAttention<S, E, H, F, T> {
    /// Computes attention: each position of the sequence gathers values from the others.
    ///
    /// # Errors
    /// If sizes differ from the weights', an option is out of range, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + Has<S> + Has<E> + Distinct>(
        &self,
        x: &Tensor<D, T>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), None, options)?.typed()
    }

    /// [`forward`](Self::forward) with a mask: bool, true at positions to attend to, or numbers that are added to the
    /// scores. Its dims are among those of `x`, the heads' dim, and `Prime<S>` for the positions attended to:
    /// `&mask.prime(Seq)` of a mask along `(N, Seq)`.
    ///
    /// # Errors
    /// If sizes do not match, the mask is neither bool nor of this dtype, an option is out of range, or an allocation
    /// fails.
    #[twin]
    pub fn try_forward_masked<
        D: Dims + Has<S> + Has<E> + Distinct,
        M: Dims + EachIn<Joined<Without<D, E>, (H, Prime<S>)>>,
        U: Element,
    >(
        &self,
        x: &Tensor<D, T>,
        mask: &Tensor<M, U>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), Some(&mask.to_dyn()), options)?
            .typed()
    }

    fn attend(
        &self,
        x: &DynTensor,
        mask: Option<&DynTensor>,
        options: Attention,
    ) -> Result<DynTensor> {
        let weights = [
            (
                self.query.weight.to_dyn(),
                self.query.bias.as_ref().map(|bias| bias.to_dyn()),
            ),
            (
                self.key.weight.to_dyn(),
                self.key.bias.as_ref().map(|bias| bias.to_dyn()),
            ),
            (
                self.value.weight.to_dyn(),
                self.value.bias.as_ref().map(|bias| bias.to_dyn()),
            ),
            (
                self.out.weight.to_dyn(),
                self.out.bias.as_ref().map(|bias| bias.to_dyn()),
            ),
        ];
        let [s, e, h] = [S::NAME, E::NAME, H::NAME].map(|name| Names::from_static(&[name]));
        attend(x, mask, &weights, [s, e, h], options)
    }
}

type Weights = (DynTensor, Option<DynTensor>);

/// Computes attention by names: those of the sequence, of the features and of the heads.
fn attend(
    x: &DynTensor,
    mask: Option<&DynTensor>,
    [query, key, value, out]: &[Weights; 4],
    [s, e, h]: [Names; 3],
    options: Attention,
) -> Result<DynTensor> {
    let dim = |name: &Names| x.names().position(name[0].as_ref()?);
    let (Some(s), Some(e)) = (dim(&s), dim(&e)) else {
        let what = "the input lacks the sequence or its features";
        return Err(
            Error::new(ErrorKind::NameNotFound, "attention", what).operand(x.names(), x.shape())
        );
    };
    // The other dims are batch dims, in the order of the input.
    let batch: Vec<usize> = (0..x.rank()).filter(|&dim| dim != s && dim != e).collect();
    // The dims after a linear layer: the input's without `e`, then heads, features.
    let place = |dim: usize| dim - usize::from(dim > e);
    let rank = x.rank() + 1;
    let mut order: Vec<usize> = batch.iter().map(|&dim| place(dim)).collect();
    order.extend([rank - 2, place(s), rank - 1]);
    let project = |(weight, bias): &Weights| {
        let rows = linear(x, weight, bias.as_ref(), 1, None)?;
        rows.permute(&order)
            .map_err(|error| about(error, &[x, weight]))
    };
    let (mut q, mut k, v) = (project(query)?, project(key)?, project(value)?);
    if let Some(base) = options.rotary {
        let rotation = rotation(&q, base)?;
        (q, k) = (rotate(q, &rotation)?, rotate(k, &rotation)?);
    }
    let plain = |raw: Raw| {
        let names = Names::unnamed(raw.rank());
        DynTensor::from_parts(raw, names)
    };
    let attention_options = AttentionOptions {
        dropout_p: options.dropout,
        is_causal: options.causal,
        enable_gqa: query.0.shape() != key.0.shape(),
        ..AttentionOptions::default()
    };
    let (q, k, v) = (plain(q)?, plain(k)?, plain(v)?);
    let found = match mask {
        None => q.scaled_dot_product_attention_with(&k, &v, None, attention_options),
        Some(mask) => {
            let mut names: Vec<_> = batch.iter().map(|&dim| x.names()[dim].clone()).collect();
            names.extend([h[0].clone(), x.names()[s].clone()]);
            let names: Names = names.into_iter().collect();
            let mask = plain(align_mask(mask, &names)?)?;
            q.scaled_dot_product_attention_with(&k, &v, Some(&mask), attention_options)
        }
    };
    let found = found.map_err(|error| about(error, &[x]))?;
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

/// Returns cosines and sines of the rotation angles, for each position and each pair of features; `x` has dims (…,
/// sequence, features).
fn rotation(x: &Raw, base: f64) -> Result<[DynTensor; 2]> {
    let (len, features) = (x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]);
    if features % 2 != 0 {
        let what = format!("rotary positions need pairs, not {features} features");
        return Err(Error::new(ErrorKind::Argument, "attention", what)
            .operand(&Names::unnamed(x.rank()), x.shape())
            .hint("give heads an even number of features"));
    }
    let half = features / 2;
    let mut angles = list("attention", [len, half])?;
    for position in 0..len {
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
