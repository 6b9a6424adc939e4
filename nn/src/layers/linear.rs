//! Linear layers.

use nomina::dims::{Axes, ContractTo, Dims, Distinct, Joined, SizesFor, positions};
use nomina::{DynTensor, Element, Error, Inexact, Result, Tensor};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Activation};
use nomina_runtime::tensor::about;

use crate::Module;
use crate::autocast::weighted;
use crate::call::{product, typed, uniform};
use crate::param::Param;

/// The dims of the weight of a layer from `I` to `O`: outputs, then inputs.
pub type Weight<I, O> = Joined<<O as Axes>::List, <I as Axes>::List>;

/// A weight from `I` to `O` can be made: no dim is repeated in it.
#[diagnostic::on_unimplemented(
    message = "`Linear<{I}, {O}>` has one dim on both sides, but the dims of its weight must differ",
    label = "write `Linear<{I}, Prime<{O}>>`",
    note = "then name its result: `layer.forward(&x).rename(Prime({O}), {O})`"
)]
pub trait WeightOf<I, O>: Dims + Distinct {}
#[diagnostic::do_not_recommend]
impl<I, O, W: Dims + Distinct> WeightOf<I, O> for W {}

/// A linear layer: multiplies by a weight, summing over the dims `I`, and adds a bias. `O` replaces `I` and comes last.
/// Each is a dim or a tuple of dims, so that heads need no reshape.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Hidden, Head, Feature }
///
/// let query = Linear::new(Hidden.of(6), (Head.of(2), Feature.of(3)));
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 4, 6]);
/// let q: Tensor<(N, Seq, Head, Feature)> = query.forward(&x);
///
/// let out = Linear::new((Head.of(2), Feature.of(3)), Hidden.of(6));
/// let y: Tensor<(N, Seq, Hidden)> = out.forward(&q);
/// ```
///
/// Dims that the input lacks are a type error:
///
/// ```compile_fail,E0277
/// # use nomina::prelude::*;
/// # use nomina_nn::prelude::*;
/// # dims! { N, Hidden, Inner }
/// let layer = Linear::new(Inner.of(6), Hidden.of(6));
/// layer.forward(&Tensor::<(N, Hidden)>::randn([2, 6])); // dim `Inner` not found in dims (N, Hidden)
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct Linear<I: Axes, O: Axes, T: Element = f32> {
    /// The weight.
    pub weight: Param<Weight<I, O>, T>,
    /// The summand of the outputs.
    pub bias: Option<Param<O::List, T>>,
}

impl<I: Axes, O: Axes> Linear<I, O>
where
    Weight<I, O>: WeightOf<I, O>,
    O::List: Distinct,
{
    /// Creates a layer whose weight and bias are uniform within `1 / sqrt(inputs)`, like PyTorch's.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(input: impl SizesFor<I>, output: impl SizesFor<O>) -> Result<Self> {
        let (inputs, outputs) = (input.sizes(), output.sizes());
        let (weight, bound) = weights(&inputs, &outputs)?;
        Ok(Self {
            weight,
            bias: Some(Param::new(uniform(&outputs, -bound, bound)?)),
        })
    }

    /// Like [`new`](Self::new), but without a bias.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_without_bias(input: impl SizesFor<I>, output: impl SizesFor<O>) -> Result<Self> {
        let (weight, _) = weights(&input.sizes(), &output.sizes())?;
        Ok(Self { weight, bias: None })
    }
}

/// Draws a weight within the inverse square root of the number of inputs, and returns it with that bound.
fn weights<D: Dims + Distinct>(inputs: &[usize], outputs: &[usize]) -> Result<(Param<D>, f64)> {
    let bound = 1.0 / product(inputs).max(1.0).sqrt();
    let weight = uniform(&[outputs, inputs].concat(), -bound, bound)?;
    Ok((Param::new(weight), bound))
}

impl<I: Axes, O: Axes, T: Inexact> Linear<I, O, T> {
    /// Computes the layer's outputs: `O` replaces `I` and comes last.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims, Y: Dims + Distinct>(&self, x: &Tensor<D, T>) -> Result<Tensor<Y, T>>
    where
        I: ContractTo<D, Weight<I, O>, Y>,
    {
        typed(self.rows(x, None)?)
    }

    /// [`forward`](Self::forward), with an activation function applied in the same pass.
    ///
    /// # Errors
    /// If sizes differ from the weight's, or an allocation fails.
    #[twin]
    pub fn try_forward_with<D: Dims, Y: Dims + Distinct>(
        &self,
        x: &Tensor<D, T>,
        activation: Activation,
    ) -> Result<Tensor<Y, T>>
    where
        I: ContractTo<D, Weight<I, O>, Y>,
    {
        typed(self.rows(x, Some(activation))?)
    }

    fn rows<D: Dims>(&self, x: &Tensor<D, T>, activation: Option<Activation>) -> Result<Raw> {
        let bias = self.bias.as_ref().map(|bias| bias.to_dyn());
        linear_at(
            &x.to_dyn(),
            &self.weight.to_dyn(),
            bias.as_ref(),
            positions::<I, D>(),
            activation,
        )
    }
}

/// Sums over the last `inputs` dims of the weight, which may be anywhere in `x`, found by name.
pub(crate) fn linear(
    x: &DynTensor,
    weight: &DynTensor,
    bias: Option<&DynTensor>,
    inputs: usize,
    activation: Option<Activation>,
) -> Result<Raw> {
    let outputs = weight.rank() - inputs;
    let places: Vec<usize> = (outputs..weight.rank())
        .filter_map(|dim| x.names().position(weight.names()[dim].as_ref()?))
        .collect();
    linear_at(x, weight, bias, &places, activation)
}

/// Sums over the last dims of the weight, which are at `places` in `x`.
fn linear_at(
    x: &DynTensor,
    weight: &DynTensor,
    bias: Option<&DynTensor>,
    places: &[usize],
    activation: Option<Activation>,
) -> Result<Raw> {
    let at = |error| {
        let operands: Vec<&DynTensor> = [x, weight].into_iter().chain(bias).collect();
        about(error, &operands)
    };
    let outputs = weight.rank() - places.len();
    // No dims are merged if each side is a single dim.
    if let ([place], 1) = (places, outputs) {
        let bias = bias.map(DynTensor::raw);
        let result = weighted(x.raw(), weight.raw(), bias, |x, weight, bias| {
            call::linear(x, weight, bias, *place, activation)
        });
        return result.map_err(at);
    }
    let uneven = places
        .iter()
        .zip(outputs..)
        .find(|&(&own, its)| x.shape()[own] != weight.shape()[its]);
    if let Some((&own, its)) = uneven {
        let shapes = [x.shape(), weight.shape()];
        return Err(at(Error::sizes("linear", shapes, [(0, own), (1, its)])));
    }
    let rows = if let [_] = places {
        x.raw().clone()
    } else {
        // Merges the inputs into one dim, which is last.
        let mut order: Vec<usize> = (0..x.rank()).filter(|dim| !places.contains(dim)).collect();
        let kept: Vec<usize> = order.iter().map(|&dim| x.shape()[dim]).collect();
        order.extend(places);
        let ordered = x.raw().permute(&order).map_err(at)?;
        let inputs: usize = merged(x.shape(), places);
        ordered
            .reshape(&[&kept[..], &[inputs]].concat())
            .map_err(at)?
    };
    let input = places.first().copied().filter(|_| places.len() == 1);
    let input = input.unwrap_or(rows.rank() - 1);
    let sizes: Vec<usize> = (0..rows.rank())
        .filter(|&dim| dim != input)
        .map(|dim| rows.shape()[dim])
        .collect();
    let split = &weight.shape()[..outputs];
    let all: Vec<usize> = (0..weight.rank()).collect();
    let (o, i) = (
        merged(weight.shape(), &all[..outputs]),
        merged(weight.shape(), &all[outputs..]),
    );
    let matrix = weight.raw().reshape(&[o, i]).map_err(at)?;
    let bias_row = bias
        .map(|bias| bias.raw().reshape(&[o]))
        .transpose()
        .map_err(at)?;
    let result = weighted(&rows, &matrix, bias_row.as_ref(), |x, weight, bias| {
        call::linear(x, weight, bias, input, activation)
    });
    let result = result.map_err(at)?;
    if outputs == 1 {
        return Ok(result);
    }
    result.reshape(&[&sizes[..], split].concat()).map_err(at)
}

/// Returns the product of the sizes of some dims of a tensor.
fn merged(sizes: &[usize], dims: &[usize]) -> usize {
    // Saturates: next to a size of 0 the other sizes are unlimited, and a size that is too large is refused later.
    dims.iter()
        .fold(1, |all: usize, &dim| all.saturating_mul(sizes[dim]))
}
