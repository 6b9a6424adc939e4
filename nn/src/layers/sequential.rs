//! Sequences of layers without a struct: [`Sequential`] of a tuple.

use nomina::dims::{Axes, AxesOf, Contract, Contracted, Dim, DimOf, Dims, Distinct};
use nomina::{Element, Float, Inexact, Result, Tensor};
use nomina_macros::twin;

use super::{BatchNorm, LayerNorm, Linear, RmsNorm, Weight};
use crate::Module;

/// A map from tensors of dims `D` to tensors of dims [`Out`](Self::Out).
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes no tensor of dims {D}",
    label = "does not fit the layer before it"
)]
pub trait Layer<D: Dims, T: Element = f32> {
    /// The dims of the outputs.
    type Out: Dims;
    /// Computes the outputs.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    fn try_apply(&self, x: &Tensor<D, T>) -> Result<Tensor<Self::Out, T>>;
}

/// A function as a layer without parameters.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Function<F>(
    /// The function.
    #[module(skip)]
    pub F,
);

#[diagnostic::do_not_recommend]
impl<D: Dims, E: Dims, T: Element, F> Layer<D, T> for Function<F>
where
    F: for<'a> Fn(&'a Tensor<D, T>) -> Tensor<E, T>,
{
    type Out = E;
    fn try_apply(&self, x: &Tensor<D, T>) -> Result<Tensor<E, T>> {
        Ok(self.0(x))
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, I: Axes, O: Axes, T: Inexact> Layer<D, T> for Linear<I, O, T>
where
    I: Contract<D, Weight<I, O>>,
    Contracted<D, Weight<I, O>, I>: Distinct,
{
    type Out = Contracted<D, Weight<I, O>, I>;
    fn try_apply(&self, x: &Tensor<D, T>) -> Result<Tensor<Self::Out, T>> {
        self.try_forward(x)
    }
}

macro_rules! stays {
    ($name:ident, $kind:ident, $bound:ident) => {
        #[diagnostic::do_not_recommend]
        impl<D: Dims, A: $kind + Default + $bound<D>, T: Float> Layer<D, T> for $name<A, T> {
            type Out = D;
            fn try_apply(&self, x: &Tensor<D, T>) -> Result<Tensor<D, T>> {
                self.try_forward(x)
            }
        }
    };
}
stays!(LayerNorm, Axes, AxesOf);
stays!(RmsNorm, Axes, AxesOf);
stays!(BatchNorm, Dim, DimOf);

/// A tuple of layers; each takes the outputs of the one before it.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Hidden, Out }
///
/// let model = Sequential((
///     Linear::new(In.of(4), Hidden.of(8)),
///     LayerNorm::new(Hidden.of(8)),
///     Linear::new(Hidden.of(8), Out.of(2)),
///     Function(|x: &Tensor<(N, Out)>| x.softmax(Out)),
/// ));
/// let y: Tensor<(N, Out)> = model.forward(&Tensor::<(N, In)>::randn([3, 4]));
/// assert_eq!(y.sum(Out).to_vec().len(), 3);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct Sequential<L>(
    /// The layers.
    pub L,
);

impl<L> Sequential<L> {
    /// Computes the outputs of the last layer.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims, T: Element>(&self, x: &Tensor<D, T>) -> Result<Tensor<L::Out, T>>
    where
        L: Layer<D, T>,
    {
        self.0.try_apply(x)
    }
}

/// Implements `Layer` for a tuple: applies all layers but the last, then the last one, whose output
/// dims are the result's.
macro_rules! row {
    ([$($m:ident $at:tt $before:ty),*] $last:ident $lastat:tt $input:ty) => {
        #[diagnostic::do_not_recommend]
        impl<D: Dims, T: Element, $($m: Layer<$before, T>,)* $last: Layer<$input, T>> Layer<D, T>
            for ($($m,)* $last,)
        {
            type Out = $last::Out;
            fn try_apply(&self, x: &Tensor<D, T>) -> Result<Tensor<Self::Out, T>> {
                $(let x = &self.$at.try_apply(x)?;)*
                self.$lastat.try_apply(x)
            }
        }
    };
}
row!([] A 0 D);
row!([A 0 D] B 1 A::Out);
row!([A 0 D, B 1 A::Out] C 2 B::Out);
row!([A 0 D, B 1 A::Out, C 2 B::Out] E 3 C::Out);
row!([A 0 D, B 1 A::Out, C 2 B::Out, E 3 C::Out] F 4 E::Out);
row!([A 0 D, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out] G 5 F::Out);
row!([A 0 D, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out, G 5 F::Out] H 6 G::Out);
row!([A 0 D, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out, G 5 F::Out, H 6 G::Out] I 7 H::Out);
