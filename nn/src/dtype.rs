//! Modules in another dtype.

use nomina::dims::Dims;
use nomina::{Element, Result, Tensor};
use nomina_macros::twin;

use crate::buffer::Buffer;

/// Returns a copy of a model in another float dtype: `model.to::<bf16>()`.
///
/// [`derive(Module)`](macro@crate::Module) implements it for types with one type parameter for the dtype, which has a
/// bound such as `Element` or `Float`; all layers have one. Parameters become new leaves with rounded values, without
/// state in any optimizer. Fields whose type lacks the parameter are cloned.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Hidden, Out }
///
/// #[derive(Module)]
/// struct Net<T: Float = f32> {
///     first: Linear<In, Hidden, T>,
///     last: Linear<Hidden, Out, T>,
/// }
///
/// impl<T: Float> Net<T> {
///     fn forward(&self, x: &Tensor<(N, In), T>) -> Tensor<(N, Out), T> {
///         self.last.forward(&self.first.forward(x).tanh())
///     }
/// }
///
/// let net = Net {
///     first: Linear::new(In.of(3), Hidden.of(8)),
///     last: Linear::new(Hidden.of(8), Out.of(1)),
/// };
/// let x = Tensor::<(N, In)>::randn([5, 3]);
/// let double: Net<f64> = net.to();
/// let error = double.forward(&x.to()).to::<f32>() - net.forward(&x);
/// assert!(error.abs().max(..).item() < 1e-5);
/// let half = net.to::<bf16>();
/// assert_eq!(half.state()[0].1.dtype(), DType::BF16);
/// ```
pub trait ToDtype {
    /// Converts all parameters and buffers of the dtype's type.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    fn try_to<U: Element>(&self) -> Result<<Self as InDtype<U>>::Out>
    where
        Self: InDtype<U>,
    {
        self.try_in_dtype()
    }
}

/// A part of a module that can be converted to the dtype `U`; see [`ToDtype`].
#[diagnostic::on_unimplemented(
    message = "a module with `{Self}` cannot be converted to `{U}`",
    label = "not convertible",
    note = "parameters need a float or complex dtype, and each field with the dtype's type must be a module"
)]
pub trait InDtype<U> {
    /// This type with the dtype `U`.
    type Out;

    /// Converts the part.
    ///
    /// # Errors
    /// If an allocation fails.
    fn try_in_dtype(&self) -> Result<Self::Out>;
}

/// A field that is cloned when a module is converted to the dtype `U`: a bound of derived impls that a type fails only if
/// it is used.
#[doc(hidden)]
pub trait Kept<U>: Clone {}
impl<K: Clone, U> Kept<U> for K {}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Element, U: Element> InDtype<U> for Tensor<D, T> {
    type Out = Tensor<D, U>;
    fn try_in_dtype(&self) -> Result<Tensor<D, U>> {
        self.detach().try_to()
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Element, U: Element> InDtype<U> for Buffer<D, T> {
    type Out = Buffer<D, U>;
    fn try_in_dtype(&self) -> Result<Buffer<D, U>> {
        Ok(Buffer::new(self.get().try_to()?))
    }
}

#[diagnostic::do_not_recommend]
impl<M: InDtype<U>, U> InDtype<U> for Box<M> {
    type Out = Box<M::Out>;
    fn try_in_dtype(&self) -> Result<Box<M::Out>> {
        Ok(Box::new((**self).try_in_dtype()?))
    }
}

#[diagnostic::do_not_recommend]
impl<M: InDtype<U>, U> InDtype<U> for Option<M> {
    type Out = Option<M::Out>;
    fn try_in_dtype(&self) -> Result<Option<M::Out>> {
        self.as_ref().map(M::try_in_dtype).transpose()
    }
}

#[diagnostic::do_not_recommend]
impl<M: InDtype<U>, U> InDtype<U> for Vec<M> {
    type Out = Vec<M::Out>;
    fn try_in_dtype(&self) -> Result<Vec<M::Out>> {
        self.iter().map(M::try_in_dtype).collect()
    }
}

macro_rules! tuple {
    ($($m:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($m: InDtype<U>,)* U> InDtype<U> for ($($m,)*) {
            type Out = ($($m::Out,)*);
            fn try_in_dtype(&self) -> Result<Self::Out> {
                Ok(($(self.$at.try_in_dtype()?,)*))
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
