//! Sequences of layers without a struct: [`Sequential`] of a tuple.

use nomina::dims::{
    Axes, AxesOf, Contract, Contracted, Dim, DimOf, Dims, Distinct, EmbedIn, Embedded, Has,
};
use nomina::{Approximate, Float, GeluOptions, IndexElement, Inexact, Result, Tensor};
use nomina_macros::twin;

use super::{Activation, BatchNorm, Dropout, Embedding, LayerNorm, Linear, RmsNorm, Weight};
use crate::path::Path;
use crate::{Mode, Module, Slot};

/// A function of an `X`, mostly a tensor, with parameters: an element of a [`Sequential`].
///
/// ```
/// use nomina::dims::Dims;
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In }
///
/// #[derive(Module)]
/// struct Scale(Param<()>);
///
/// impl<D: Dims> Layer<Tensor<D>> for Scale {
///     type Out = Tensor<D>;
///     fn try_apply(&self, x: &Tensor<D>, _: Mode) -> Result<Tensor<D>> {
///         x.try_mul(self.0.item())
///     }
/// }
///
/// let model = Sequential((Scale(Param::new(tensor!(2.0))), Activation::Relu));
/// let y: Tensor<(N, In)> = model.forward(&tensor!([[1., -1.]]; N, In), Mode::Eval);
/// assert_eq!(y.to_vec(), [2.0, 0.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take `{X}`",
    label = "does not fit the layer before it"
)]
pub trait Layer<X> {
    /// The type of the outputs.
    type Out;
    /// Computes the outputs.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    fn try_apply(&self, x: &X, mode: Mode) -> Result<Self::Out>;
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
impl<X, Y, F: for<'a> Fn(&'a X) -> Y> Layer<X> for Function<F> {
    type Out = Y;
    fn try_apply(&self, x: &X, _: Mode) -> Result<Y> {
        Ok(self.0(x))
    }
}

#[diagnostic::do_not_recommend]
impl Module for Activation {
    fn each<'a>(&'a self, _: &mut Path, _: &mut dyn FnMut(&str, &'a dyn Slot)) {}
    fn each_mut<'a>(&'a mut self, _: &mut Path, _: &mut dyn FnMut(&str, &'a mut dyn Slot)) {}
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Float> Layer<Tensor<D, T>> for Activation {
    type Out = Tensor<D, T>;
    fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Tensor<D, T>> {
        match self {
            Self::Relu => x.try_relu(),
            Self::Gelu => x.try_gelu(),
            Self::GeluTanh => x.try_gelu_with(GeluOptions {
                approximate: Approximate::Tanh,
            }),
            Self::Silu => x.try_silu(),
            Self::Sigmoid => x.try_sigmoid(),
            Self::Tanh => x.try_tanh(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, I: Axes, O: Axes, T: Inexact> Layer<Tensor<D, T>> for Linear<I, O, T>
where
    I: Contract<D, Weight<I, O>>,
    Contracted<D, Weight<I, O>, I>: Distinct,
{
    type Out = Tensor<Contracted<D, Weight<I, O>, I>, T>;
    fn try_apply(&self, x: &Tensor<D, T>, _: Mode) -> Result<Self::Out> {
        self.try_forward(x)
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims + EmbedIn<(V, E), V>, V: Dim, E: Dim, T: Inexact, I: IndexElement> Layer<Tensor<D, I>>
    for Embedding<V, E, T>
where
    (V, E): Has<V>,
{
    type Out = Tensor<Embedded<(V, E), V, D>, T>;
    fn try_apply(&self, ids: &Tensor<D, I>, _: Mode) -> Result<Self::Out> {
        self.try_forward(ids)
    }
}

/// Implements [`Layer`] for layers that keep the dims of their input; those that take the mode name it.
macro_rules! keeps_dims {
    ($([$($bounds:tt)*] $layer:ty $(, $mode:ident)?;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<D: Dims, T: Float, $($bounds)*> Layer<Tensor<D, T>> for $layer {
            type Out = Tensor<D, T>;
            fn try_apply(&self, x: &Tensor<D, T>, _mode: Mode) -> Result<Tensor<D, T>> {
                $(let $mode = _mode;)?
                self.try_forward(x $(, $mode)?)
            }
        }
    )*};
}
keeps_dims! {
    [A: Axes + Default + AxesOf<D>] LayerNorm<A, T>;
    [A: Axes + Default + AxesOf<D>] RmsNorm<A, T>;
    [C: Dim + DimOf<D>] BatchNorm<C, T>, mode;
    [] Dropout, mode;
}

/// A tuple of up to eight layers; each takes the outputs of the one before it. A sequence can be a layer of another.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Hidden, Out }
///
/// let model = Sequential((
///     Linear::new(In.of(4), Hidden.of(8)),
///     BatchNorm::new(Hidden.of(8)),
///     Activation::Relu,
///     Dropout::new(0.5),
///     Linear::new(Hidden.of(8), Out.of(2)),
///     Function(|x: &Tensor<(N, Out)>| x.softmax(Out)),
/// ));
/// let x = Tensor::<(N, In)>::randn([3, 4]);
/// let y: Tensor<(N, Out)> = model.forward(&x, Mode::Train);
/// assert_eq!(y.sum(Out).to_vec().len(), 3);
/// assert_eq!(model.paths()[..3], ["0.weight", "0.bias", "1.weight"]);
/// ```
#[derive(Clone)]
pub struct Sequential<L>(
    /// The layers.
    pub L,
);

/// The paths of the layers begin with their numbers.
#[diagnostic::do_not_recommend]
impl<L: Module> Module for Sequential<L> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        self.0.each(path, visit);
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        self.0.each_mut(path, visit);
    }
}

impl<L> Sequential<L> {
    /// Computes the outputs of the last layer.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<X>(&self, x: &X, mode: Mode) -> Result<L::Out>
    where
        L: Layer<X>,
    {
        self.0.try_apply(x, mode)
    }
}

#[diagnostic::do_not_recommend]
impl<X, L: Layer<X>> Layer<X> for Sequential<L> {
    type Out = L::Out;
    fn try_apply(&self, x: &X, mode: Mode) -> Result<L::Out> {
        self.0.try_apply(x, mode)
    }
}

/// Implements `Layer` for a tuple: applies all layers but the last, then the last one, whose outputs are the result.
macro_rules! row {
    ([$($m:ident $at:tt $before:ty),*] $last:ident $lastat:tt $input:ty) => {
        #[diagnostic::do_not_recommend]
        impl<X, $($m: Layer<$before>,)* $last: Layer<$input>> Layer<X> for ($($m,)* $last,) {
            type Out = $last::Out;
            fn try_apply(&self, x: &X, mode: Mode) -> Result<Self::Out> {
                $(let x = &self.$at.try_apply(x, mode)?;)*
                self.$lastat.try_apply(x, mode)
            }
        }
    };
}
row!([] A 0 X);
row!([A 0 X] B 1 A::Out);
row!([A 0 X, B 1 A::Out] C 2 B::Out);
row!([A 0 X, B 1 A::Out, C 2 B::Out] E 3 C::Out);
row!([A 0 X, B 1 A::Out, C 2 B::Out, E 3 C::Out] F 4 E::Out);
row!([A 0 X, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out] G 5 F::Out);
row!([A 0 X, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out, G 5 F::Out] H 6 G::Out);
row!([A 0 X, B 1 A::Out, C 2 B::Out, E 3 C::Out, F 4 E::Out, G 5 F::Out, H 6 G::Out] I 7 H::Out);
