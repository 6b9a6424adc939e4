//! Transformer encoders and decoders.

use nomina::dims::{AxesOf, Dim, Dims, Distinct, Open, SizeOf};
use nomina::{DropoutOptions, DynTensor, Error, ErrorKind, Float, Names, Result, Tensor, Typed};

use super::linear::linear;
use super::{Activation, Attention, LayerNorm, Linear};
use crate::Mode;

/// The sizes of a layer.
#[derive(Clone, Copy)]
struct LayerSizes {
    hidden: usize,
    heads: usize,
    features: usize,
    inner: usize,
}

/// Writes the constructors of a layer and of its stack.
macro_rules! constructors {
    ([$($dims:ident)*] $layer:ident $stack:ident $sizes:ident $options:ident: $body:block) => {
        impl<$($dims: Dim,)* E: Dim, H: Dim, F: Dim, M: Dim> $layer<$($dims,)* E, H, F, M>
        where
            (H, F, E): Distinct,
            (E, H, F): Distinct,
            (H, F): Distinct,
            (M, E): Distinct,
            (E, M): Distinct,
            (E,): Distinct,
            (M,): Distinct,
            SizeOf<E>: Open<E>,
            SizeOf<H>: Open<H>,
            SizeOf<F>: Open<F>,
            SizeOf<M>: Open<M>,
        {
            /// Creates a layer of random weights.
            ///
            /// # Errors
            /// If a product of sizes is too large, or an allocation fails.
            #[twin]
            pub fn try_new(
                hidden: impl SizesFor<E>,
                heads: impl SizesFor<H>,
                features: impl SizesFor<F>,
                inner: impl SizesFor<M>,
                options: TransformerOptions,
            ) -> Result<Self> {
                let sizes = LayerSizes {
                    hidden: hidden.sizes()[0],
                    heads: heads.sizes()[0],
                    features: features.sizes()[0],
                    inner: inner.sizes()[0],
                };
                Self::create(sizes, options)
            }

            pub(super) fn create($sizes: LayerSizes, $options: TransformerOptions) -> Result<Self> $body
        }

        impl<$($dims: Dim,)* E: Dim, H: Dim, F: Dim, M: Dim> $stack<$($dims,)* E, H, F, M>
        where
            (H, F, E): Distinct,
            (E, H, F): Distinct,
            (H, F): Distinct,
            (M, E): Distinct,
            (E, M): Distinct,
            (E,): Distinct,
            (M,): Distinct,
            SizeOf<E>: Open<E>,
            SizeOf<H>: Open<H>,
            SizeOf<F>: Open<F>,
            SizeOf<M>: Open<M>,
        {
            /// Creates a stack of `layers` layers of random weights, with a norm at the end if `options.final_norm` is set.
            ///
            /// # Errors
            /// If a product of sizes is too large, or an allocation fails.
            #[twin]
            pub fn try_new(
                layers: usize,
                hidden: impl SizesFor<E>,
                heads: impl SizesFor<H>,
                features: impl SizesFor<F>,
                inner: impl SizesFor<M>,
                options: TransformerOptions,
            ) -> Result<Self> {
                let sizes = LayerSizes {
                    hidden: hidden.sizes()[0],
                    heads: heads.sizes()[0],
                    features: features.sizes()[0],
                    inner: inner.sizes()[0],
                };
                let norm = options.final_norm.then(|| options.norm(sizes.hidden));
                let layers = (0..layers).map(|_| $layer::create(sizes, options));
                Ok(Self {
                    layers: layers.collect::<Result<_>>()?,
                    norm: norm.transpose()?,
                })
            }
        }
    };
}

/// Writes the forward methods of a layer, or of a stack of layers, which are the same: a layer is a stack of one. A decoder
/// also takes a memory, of dims `$y`, and a mask of it.
macro_rules! forwards {
    (
        [$($dims:ident)*] $type:ident
        $(memory $memory:ident: $y:ident, $memory_mask:ident: $b:ident $v:ident)?;
        $forward:literal, $masked:literal, $cached:literal;
        $cache:ident: $caches:ty => $slots:expr
    ) => {
        impl<$($dims: Dim,)* T: Float> $type<$($dims,)* T> {
            #[doc = $forward]
            ///
            /// # Errors
            /// If sizes differ from the weights', an option is out of range, or an allocation fails.
            #[twin]
            pub fn try_forward<
                D: Dims + Has<S> + Has<E> + Distinct,
                $($y: Dims + Has<K> + Has<E> + EachIn<Joined<Without<Without<D, S>, E>, (K, E)>>,)?
            >(
                &self,
                x: &Tensor<D, T>,
                $($memory: &Tensor<$y, T>,)?
                mode: Mode,
            ) -> Result<Tensor<D, T>>
            where
                E: AxesOf<D>,
                Joined<Without<D, E>, (H, F)>: Distinct,
            {
                stacked(self.layers(), x, |_, layer, x| {
                    layer.apply(
                        x,
                        mode,
                        |x, options| layer.self_attn.try_forward(x, options),
                        $(|x, options| layer.multihead_attn.try_forward(x, $memory, options),)?
                    )
                })
            }

            #[doc = $masked]
            ///
            /// # Errors
            /// Like [`forward`](Self::forward); also if a mask does not fit.
            #[twin]
            pub fn try_forward_masked<
                D: Dims + Has<S> + Has<E> + Distinct,
                $($y: Dims + Has<K> + Has<E> + EachIn<Joined<Without<Without<D, S>, E>, (K, E)>>,)?
                A: Dims + EachIn<Joined<Without<D, E>, (H, Prime<S>)>>,
                U: Element,
                $($b: Dims + EachIn<Joined<Without<D, E>, (H, K)>>, $v: Element,)?
            >(
                &self,
                x: &Tensor<D, T>,
                $($memory: &Tensor<$y, T>,)?
                mask: &Tensor<A, U>,
                $($memory_mask: &Tensor<$b, $v>,)?
                mode: Mode,
            ) -> Result<Tensor<D, T>>
            where
                E: AxesOf<D>,
                Joined<Without<D, E>, (H, F)>: Distinct,
            {
                stacked(self.layers(), x, |_, layer, x| {
                    layer.apply(
                        x,
                        mode,
                        |x, options| layer.self_attn.try_forward_masked(x, mask, options),
                        $(|x, options| {
                            let cross = &layer.multihead_attn;
                            cross.try_forward_masked(x, $memory, $memory_mask, options)
                        },)?
                    )
                })
            }

            #[doc = $cached]
            /// [`MultiHeadAttention::forward_cached`].
            ///
            /// # Errors
            /// Like [`forward`](Self::forward); also if there is not a cache of this batch for each layer.
            #[twin]
            pub fn try_forward_cached<
                D: Dims + Has<S> + Has<E> + Distinct,
                $($y: Dims + Has<K> + Has<E> + EachIn<Joined<Without<Without<D, S>, E>, (K, E)>>,)?
            >(
                &self,
                x: &Tensor<D, T>,
                $($memory: &Tensor<$y, T>,)?
                $cache: $caches,
                mode: Mode,
            ) -> Result<Tensor<D, T>>
            where
                E: AxesOf<D>,
                Joined<Without<D, E>, (H, F)>: Distinct,
            {
                let caches = $slots;
                require_caches(self.layers().0.len(), caches.len())?;
                stacked(self.layers(), x, |at, layer, x| {
                    layer.apply(
                        x,
                        mode,
                        |x, options| layer.self_attn.try_forward_cached(x, &mut caches[at], options),
                        $(|x, options| layer.multihead_attn.try_forward(x, $memory, options),)?
                    )
                })
            }
        }
    };
}

/// Removes the bias of linear layers.
macro_rules! remove_bias {
    ($($layer:expr),*) => {$($layer.bias = None;)*};
}

mod decoder;
mod encoder;

pub use decoder::{TransformerDecoder, TransformerDecoderLayer};
pub use encoder::{TransformerEncoder, TransformerEncoderLayer};

/// The options of Transformer layers. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug)]
pub struct TransformerOptions {
    /// Whether each part normalizes its input (pre-norm), instead of its sum with the input (post-norm). Xiong et al.,
    /// "On Layer Normalization in the Transformer Architecture".
    pub norm_first: bool,
    /// The activation between the two linear layers; [`Activation::Relu`] by default.
    pub activation: Activation,
    /// The fraction of attention weights, of inner features and of each part's results that is set to zero in training;
    /// 0.1 by default.
    pub dropout: f64,
    /// The summand of the variance in norms; 1e-5 by default.
    pub layer_norm_eps: f64,
    /// Whether linear layers and norms have a bias; by default, they have.
    pub bias: bool,
    /// Whether a position only attends to itself and earlier positions of its own sequence: PyTorch's `is_causal`, in a
    /// decoder `tgt_is_causal`.
    pub causal: bool,
    /// The base of rotary positions in self-attention, if there are any; see [`Attention::rotary`].
    pub rotary: Option<f64>,
    /// Whether a stack normalizes the results of its last layer. Mostly needed after pre-norm layers.
    pub final_norm: bool,
}

impl Default for TransformerOptions {
    fn default() -> Self {
        Self {
            norm_first: false,
            activation: Activation::Relu,
            dropout: 0.1,
            layer_norm_eps: 1e-5,
            bias: true,
            causal: false,
            rotary: None,
            final_norm: false,
        }
    }
}

impl TransformerOptions {
    fn norm<E: Dim>(&self, hidden: usize) -> Result<LayerNorm<E>>
    where
        (E,): Distinct,
        SizeOf<E>: Open<E>,
    {
        let mut norm = LayerNorm::try_new(E::default().of(hidden))?;
        norm.eps = self.layer_norm_eps;
        if !self.bias {
            norm.bias = None;
        }
        Ok(norm)
    }

    const fn dropout(&self, mode: Mode) -> f64 {
        if mode.is_train() { self.dropout } else { 0.0 }
    }

    const fn own_attention(&self, mode: Mode) -> Attention {
        Attention {
            causal: self.causal,
            rotary: self.rotary,
            dropout: self.dropout(mode),
        }
    }

    fn drop<D: Dims, T: Float>(&self, x: Tensor<D, T>, mode: Mode) -> Result<Tensor<D, T>> {
        match self.dropout(mode) {
            0.0 => Ok(x),
            p => x.try_dropout_with(DropoutOptions { p, training: true }),
        }
    }
}

/// Adds the results of a part to its input.
fn add<D: Dims + Distinct, T: Float>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Result<Tensor<D, T>> {
    x.to_dyn().add(&y.to_dyn())?.typed()
}

/// A part of a layer with its norm and the sum with its input: pre-norm or post-norm.
fn residual<D: Dims + Distinct, E: Dim + AxesOf<D>, T: Float>(
    x: &Tensor<D, T>,
    norm: &LayerNorm<E, T>,
    options: &TransformerOptions,
    mode: Mode,
    part: impl FnOnce(&Tensor<D, T>) -> Result<Tensor<D, T>>,
) -> Result<Tensor<D, T>> {
    if options.norm_first {
        let y = part(&norm.try_forward(x)?)?;
        return add(x, &options.drop(y, mode)?);
    }
    let y = options.drop(part(x)?, mode)?;
    norm.try_forward(&add(x, &y)?)
}

/// Applies both linear layers. The dims of `x` stay.
fn feed_forward<D: Dims + Distinct, E: Dim, M: Dim, T: Float>(
    x: &Tensor<D, T>,
    first: &Linear<E, M, T>,
    second: &Linear<M, E, T>,
    options: &TransformerOptions,
    mode: Mode,
) -> Result<Tensor<D, T>> {
    let x = x.to_dyn();
    let bias = first.bias.as_ref().map(|bias| bias.to_dyn());
    let weight = first.weight.to_dyn();
    let inner = linear(&x, &weight, bias.as_ref(), 1, Some(options.activation))?;
    // The features were removed, and the inner ones are last.
    let inner_name = weight.names()[0].clone();
    let at = x.names().iter().position(|name| *name == weight.names()[1]);
    let at = at.unwrap_or(x.rank() - 1);
    let mut names: Vec<_> = x.names().iter().cloned().collect();
    names.remove(at);
    names.push(inner_name);
    let names: Names = names.into_iter().collect();
    let mut inner = DynTensor::from_parts(inner, names)?;
    let p = options.dropout(mode);
    if p > 0.0 {
        inner = inner.dropout_with(DropoutOptions { p, training: true })?;
    }
    let bias = second.bias.as_ref().map(|bias| bias.to_dyn());
    let rows = linear(&inner, &second.weight.to_dyn(), bias.as_ref(), 1, None)?;
    let last = x.rank() - 1;
    let order: Vec<usize> = (0..at).chain([last]).chain(at..last).collect();
    DynTensor::from_parts(rows.permute(&order)?, x.names().clone())?.typed()
}

/// Layers, and the norm of the last one's results.
type Layers<'a, L, E, T> = (&'a [L], Option<&'a LayerNorm<E, T>>);

/// Applies the layers of a stack, then its norm.
fn stacked<L, D: Dims + Distinct, E: Dim + AxesOf<D>, T: Float>(
    (layers, norm): Layers<'_, L, E, T>,
    x: &Tensor<D, T>,
    mut apply: impl FnMut(usize, &L, &Tensor<D, T>) -> Result<Tensor<D, T>>,
) -> Result<Tensor<D, T>> {
    let mut x = x.clone();
    for (at, layer) in layers.iter().enumerate() {
        x = apply(at, layer, &x)?;
    }
    match norm {
        Some(norm) => norm.try_forward(&x),
        None => Ok(x),
    }
}

/// Checks that there is a cache for each layer.
fn require_caches(layers: usize, caches: usize) -> Result<()> {
    if layers == caches {
        return Ok(());
    }
    let what = format!("there are {caches} caches for {layers} layers");
    Err(Error::new(ErrorKind::Argument, "attention", what).hint("give one cache for each layer"))
}
