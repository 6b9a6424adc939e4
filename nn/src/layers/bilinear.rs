//! Bilinear layers.

use nomina::dims::{Contract, Contracted, Dim, Dims, Distinct, SizesFor};
use nomina::{Element, Inexact, Result, Tensor};
use nomina_macros::twin;

use super::Layer;
use crate::call::uniform;
use crate::param::Param;
use crate::{Mode, Module};

/// The dims of the results of [`Bilinear`].
pub type Mixed<D, E, I, J, O> = Contracted<Contracted<D, (O, I, J), I>, E, J>;

/// A bilinear layer: the sum of the products of each number along `I` of one input with each along `J` of another,
/// times a weight, for each of the outputs along `O`; and a bias. Other dims that both inputs have are batch dims.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Image, Text, Out }
/// let layer = Bilinear::new(Image.of(4), Text.of(3), Out.of(2));
/// let (x, y) = (Tensor::<(N, Image)>::randn([5, 4]), Tensor::<(N, Text)>::randn([5, 3]));
/// let z: Tensor<(N, Out)> = layer.forward(&x, &y);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct Bilinear<I: Dim, J: Dim, O: Dim, T: Element = f32> {
    /// The weight.
    pub weight: Param<(O, I, J), T>,
    /// The summand of the outputs.
    pub bias: Option<Param<(O,), T>>,
}

impl<I: Dim, J: Dim, O: Dim> Bilinear<I, J, O>
where
    (O, I, J): Distinct,
    (O,): Distinct,
{
    /// Creates a layer whose weight and bias are uniform within `1 / sqrt(first)`, like PyTorch's.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(
        first: impl SizesFor<I>,
        second: impl SizesFor<J>,
        output: impl SizesFor<O>,
    ) -> Result<Self> {
        let [first, second, output] = [first.sizes()[0], second.sizes()[0], output.sizes()[0]];
        let bound = 1.0 / (first as f64).max(1.0).sqrt();
        Ok(Self {
            weight: Param::new(uniform(&[output, first, second], -bound, bound)?),
            bias: Some(Param::new(uniform(&[output], -bound, bound)?)),
        })
    }
}

impl<I: Dim, J: Dim, O: Dim, T: Inexact> Bilinear<I, J, O, T> {
    /// Computes the outputs.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims, E: Dims>(
        &self,
        x: &Tensor<D, T>,
        y: &Tensor<E, T>,
    ) -> Result<Tensor<Mixed<D, E, I, J, O>, T>>
    where
        I: Contract<D, (O, I, J)>,
        J: Contract<Contracted<D, (O, I, J), I>, E>,
        Mixed<D, E, I, J, O>: Distinct,
    {
        let result = x.to_dyn().contract(&self.weight.to_dyn(), I::default())?;
        let result = result.contract(&y.to_dyn(), J::default())?;
        let result = match &self.bias {
            None => result,
            Some(bias) => result.add(&bias.to_dyn().align_as(&result)?)?,
        };
        result.try_into()
    }
}

/// The input is the pair of both.
#[diagnostic::do_not_recommend]
impl<D: Dims, E: Dims, I: Dim, J: Dim, O: Dim, T: Inexact> Layer<(Tensor<D, T>, Tensor<E, T>)>
    for Bilinear<I, J, O, T>
where
    I: Contract<D, (O, I, J)>,
    J: Contract<Contracted<D, (O, I, J), I>, E>,
    Mixed<D, E, I, J, O>: Distinct,
{
    type Out = Tensor<Mixed<D, E, I, J, O>, T>;
    fn try_apply(&self, (x, y): &(Tensor<D, T>, Tensor<E, T>), _: Mode) -> Result<Self::Out> {
        self.try_forward(x, y)
    }
}
