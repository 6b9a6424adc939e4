//! Layers whose weight is computed from parameters before each use: weight and spectral normalization.

use nomina::dims::{Axes, AxesOf, Dim, DimList, Dims, Distinct, places};
use nomina::{DynTensor, Float, NormOptions, NormalizeOptions, Result, Tensor};
use nomina_macros::twin;

use super::conv::{Conv, Side};
use super::conv_transpose::ConvTranspose;
use super::{Bilinear, Embedding, Kernel, Layer, Linear, TransposedKernel, Weight};
use crate::Mode;
use crate::buffer::Buffer;
use crate::call::{full, is_unset, normal};
use crate::module::{Module, Slot};
use crate::param::Param;
use crate::path::Path;

/// A layer with a weight that a parametrization can compute: [`WeightNorm`], [`SpectralNorm`]. The field of the weight,
/// and its path, are `weight`.
pub trait Weighted: Module + Clone {
    /// The dims of the weight.
    type Dims: Dims + Distinct;
    /// The dtype of the weight.
    type Dtype: Float;
    /// The first of the dims, or several for a layer that has them in its place: PyTorch's dim 0, along which
    /// [`WeightNorm`] has a length for each index.
    type First: Dims + Distinct;
    /// The dims of the weight that the outputs have: the rows of [`SpectralNorm`].
    type Rows: Dims + Distinct;
    /// Returns the weight.
    fn weight(&self) -> &Param<Self::Dims, Self::Dtype>;
    /// Returns the weight for replacement.
    fn weight_mut(&mut self) -> &mut Param<Self::Dims, Self::Dtype>;
}

macro_rules! weighted {
    ($([$($generics:tt)*] $layer:ty { $dims:ty, $first:ty, $rows:ty } $($bounded:ty),*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, T: Float> Weighted for $layer
        where
            $dims: Distinct,
            $($bounded: Distinct,)*
        {
            type Dims = $dims;
            type Dtype = T;
            type First = $first;
            type Rows = $rows;
            fn weight(&self) -> &Param<$dims, T> {
                &self.weight
            }
            fn weight_mut(&mut self) -> &mut Param<$dims, T> {
                &mut self.weight
            }
        }
    )*};
}
weighted! {
    [I: Axes + Clone, O: Axes<List: Clone> + Clone] Linear<I, O, T> { Weight<I, O>, O::List, O::List } O::List;
    [V: Dim, E: Dim] Embedding<V, E, T> { (V, E), (V,), (V,) } (V,);
    [I: Dim, J: Dim, O: Dim] Bilinear<I, J, O, T> { (O, I, J), (O,), (O,) } (O,);
    [const S: usize, A: Axes + Clone, C: Dim, O: Dim]
        Conv<S, A, C, O, T> { Kernel<A, C, O>, (O,), (O,) } (O,);
    [const S: usize, A: Axes + Clone, C: Dim, O: Dim]
        ConvTranspose<S, A, C, O, T> { TransposedKernel<A, C, O>, (C,), (Side<O, C>,) } (O,), (C,), (Side<O, C>,);
}

/// Returns the positions in the weight's dims `W` of those of `K`.
fn kept<W: Dims, K: Dims>() -> Vec<usize> {
    places::<W, K>().iter().copied().flatten().collect()
}

/// Calls the layer with a computed weight.
fn call_with<X, L: Weighted + Layer<X>>(
    layer: &L,
    weight: Tensor<L::Dims, L::Dtype>,
    x: &X,
    mode: Mode,
) -> Result<L::Out> {
    let mut computed = layer.clone();
    *computed.weight_mut() = Param::computed(weight);
    computed.try_apply(x, mode)
}

/// Visits the tensors of a layer, with another path for the weight.
fn each_renamed<'a>(
    layer: &'a impl Weighted,
    original: &str,
    path: &mut Path,
    visit: &mut dyn FnMut(&str, &'a dyn Slot),
) {
    let (mut weight, mut renamed) = (String::new(), String::new());
    path.enter("weight", |path| weight.push_str(path.as_str()));
    path.enter(original, |path| renamed.push_str(path.as_str()));
    layer.each(path, &mut |at, slot| {
        visit(if at == weight { &renamed } else { at }, slot)
    });
}

/// Like [`each_renamed`], but for mutation.
fn each_renamed_mut<'a>(
    layer: &'a mut impl Weighted,
    original: &str,
    path: &mut Path,
    visit: &mut dyn FnMut(&str, &'a mut dyn Slot),
) {
    let (mut weight, mut renamed) = (String::new(), String::new());
    path.enter("weight", |path| weight.push_str(path.as_str()));
    path.enter(original, |path| renamed.push_str(path.as_str()));
    layer.each_mut(path, &mut |at, slot| {
        visit(if at == weight { &renamed } else { at }, slot)
    });
}

/// Weight normalization of a layer: its weight is a direction, scaled to a length that is a parameter of its own, for
/// each index along `K`. By default, these are the dims of PyTorch's dim 0. Salimans and Kingma, "Weight
/// Normalization".
///
/// The paths are those of PyTorch's `torch.nn.utils.parametrizations.weight_norm`; the file's dims of size 1 are
/// dropped. Files of the older `torch.nn.utils.weight_norm` have `weight_g` and `weight_v` in the place of `original0`
/// and `original1`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Out }
/// let layer = WeightNorm::new(Linear::new(In.of(4), Out.of(3)));
/// let y: Tensor<(N, Out)> = layer.forward(&Tensor::<(N, In)>::randn([2, 4]), Mode::Train);
/// let paths = ["parametrizations.weight.original1", "bias", "parametrizations.weight.original0"];
/// assert_eq!(layer.paths(), paths);
///
/// // One length for each input instead, and a single one.
/// let columns = WeightNorm::along(Linear::new(In.of(4), Out.of(3)), In);
/// assert_eq!(columns.length.shape(), [4]);
/// let whole = WeightNorm::along(Linear::new(In.of(4), Out.of(3)), ());
/// assert_eq!(whole.length.shape(), []);
/// ```
#[derive(Clone)]
pub struct WeightNorm<L: Weighted, K: Dims = <L as Weighted>::First> {
    /// The layer, whose `weight` is the direction.
    pub layer: L,
    /// The lengths.
    pub length: Param<K, L::Dtype>,
}

impl<L: Weighted> WeightNorm<L> {
    /// Wraps a layer, which computes the same as before.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(layer: L) -> Result<Self> {
        Self::wrapped(layer)
    }
}

impl<L: Weighted, K: Dims + Distinct> WeightNorm<L, K> {
    /// Like [`new`](WeightNorm::new), but with a length for each index along the given dims of the weight.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_along<A: AxesOf<L::Dims> + Axes<List = K>>(layer: L, dims: A) -> Result<Self> {
        let _ = dims;
        Self::wrapped(layer)
    }

    fn wrapped(layer: L) -> Result<Self> {
        let kept = kept::<L::Dims, K>();
        let weight = layer.weight().detach().to_dyn();
        let length = if is_unset() {
            let sizes: Vec<usize> = kept.iter().map(|&dim| weight.shape()[dim]).collect();
            full(&sizes, 0.0)?
        } else {
            norm(&weight, &kept, false)?.try_into()?
        };
        Ok(Self {
            layer,
            length: Param::new(length),
        })
    }

    /// Returns the weight that the layer computes with.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_weight(&self) -> Result<Tensor<L::Dims, L::Dtype>> {
        let direction = self.layer.weight().to_dyn();
        let factor = self.length.to_dyn().align_as(&direction)?;
        let factor = factor.div(&norm(&direction, &kept::<L::Dims, K>(), true)?)?;
        direction.mul(&factor)?.try_into()
    }

    /// Computes the layer's outputs.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<X>(&self, x: &X, mode: Mode) -> Result<L::Out>
    where
        L: Layer<X>,
    {
        call_with(&self.layer, self.try_weight()?, x, mode)
    }

    /// Returns the layer with the weight that it computes with, as a parameter.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_into_layer(self) -> Result<L> {
        let weight = self.try_weight()?;
        let mut layer = self.layer;
        *layer.weight_mut() = Param::new(weight);
        Ok(layer)
    }
}

/// Returns the norm over all dims but those kept.
fn norm(weight: &DynTensor, kept: &[usize], keepdim: bool) -> Result<DynTensor> {
    let dims: Vec<usize> = (0..weight.rank())
        .filter(|dim| !kept.contains(dim))
        .collect();
    if dims.is_empty() {
        // An empty list would mean all dims.
        return weight.abs();
    }
    let options = NormOptions {
        keepdim,
        ..NormOptions::default()
    };
    weight.norm_with(dims, options)
}

#[diagnostic::do_not_recommend]
impl<L: Weighted, K: Dims + Distinct> Module for WeightNorm<L, K> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        each_renamed(
            &self.layer,
            "parametrizations.weight.original1",
            path,
            visit,
        );
        path.enter("parametrizations.weight.original0", |path| {
            self.length.each(path, visit)
        });
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        each_renamed_mut(
            &mut self.layer,
            "parametrizations.weight.original1",
            path,
            visit,
        );
        path.enter("parametrizations.weight.original0", |path| {
            self.length.each_mut(path, visit)
        });
    }
}

#[diagnostic::do_not_recommend]
impl<X, L: Weighted + Layer<X>, K: Dims + Distinct> Layer<X> for WeightNorm<L, K> {
    type Out = L::Out;
    fn try_apply(&self, x: &X, mode: Mode) -> Result<L::Out> {
        self.try_forward(x, mode)
    }
}

/// Spectral normalization of a layer: its weight is divided by its largest singular value, as a matrix of the rows `K`
/// by all its other dims. The value is found by power iteration, a step in each training pass. By default, the rows
/// are the outputs. Miyato et al., "Spectral Normalization for Generative Adversarial Networks".
///
/// The paths are those of PyTorch's `torch.nn.utils.parametrizations.spectral_norm`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C, Out, H, W }
/// let conv = Conv2d::<(H, W), C, Out>::new(C.of(3), Out.of(4), (H.of(3), W.of(3)));
/// let layer = SpectralNorm::new(conv);
/// let y = layer.forward(&Tensor::<(N, C, H, W)>::randn([1, 3, 5, 5]), Mode::Train);
/// assert_eq!(y.shape(), [1, 4, 3, 3]);
/// assert_eq!(layer.paths()[0], "parametrizations.weight.original");
/// assert_eq!(layer.paths()[2..], ["parametrizations.weight.0._u", "parametrizations.weight.0._v"]);
/// ```
#[derive(Clone)]
pub struct SpectralNorm<L: Weighted, K: Dims = <L as Weighted>::Rows> {
    /// The layer, whose `weight` is not normalized.
    pub layer: L,
    /// The left singular vector, approximately.
    pub u: Buffer<K, L::Dtype>,
    /// The right singular vector, approximately.
    pub v: Buffer<Columns<L, K>, L::Dtype>,
    /// The number of steps in a training pass; initially 1.
    pub n_power_iterations: usize,
    /// The least length that a vector is divided by; initially 1e-12.
    pub eps: f64,
}

/// The dims of a weight that are not rows.
pub type Columns<L, K> = <<L as Weighted>::Dims as DimList>::Minus<K>;

impl<L: Weighted> SpectralNorm<L>
where
    Columns<L, L::Rows>: Distinct,
{
    /// Wraps a layer, and does 15 steps of power iteration from random vectors, as PyTorch does.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(layer: L) -> Result<Self> {
        Self::wrapped(layer)
    }
}

impl<L: Weighted, K: Dims + Distinct> SpectralNorm<L, K>
where
    Columns<L, K>: Distinct,
{
    /// Like [`new`](SpectralNorm::new), but with other dims of the weight as rows.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_along<A: AxesOf<L::Dims> + Axes<List = K>>(layer: L, rows: A) -> Result<Self> {
        let _ = rows;
        Self::wrapped(layer)
    }

    fn wrapped(layer: L) -> Result<Self> {
        let (kept, shape) = (kept::<L::Dims, K>(), layer.weight().shape());
        let rows: Vec<usize> = kept.iter().map(|&dim| shape[dim]).collect();
        let others = (0..shape.len()).filter(|dim| !kept.contains(dim));
        let columns: Vec<usize> = others.map(|dim| shape[dim]).collect();
        let this = Self {
            u: Buffer::new(normal(&rows, 0.0, 1.0)?),
            v: Buffer::new(normal(&columns, 0.0, 1.0)?),
            layer,
            n_power_iterations: 1,
            eps: 1e-12,
        };
        if !is_unset() {
            let _ = this.iterate(15)?;
        }
        Ok(this)
    }

    /// Does steps of power iteration, and returns both vectors.
    fn iterate(&self, steps: usize) -> Result<[DynTensor; 2]> {
        let weight = self.layer.weight().detach().to_dyn();
        // Locks are always taken in this order, and held until both vectors are updated.
        let (mut left, mut right) = (self.u.lock(), self.v.lock());
        let (mut u, mut v) = (left.to_dyn(), right.to_dyn());
        let unit = |x: DynTensor| {
            let options = NormalizeOptions {
                eps: self.eps,
                ..NormalizeOptions::default()
            };
            x.normalize_with(.., options)
        };
        for _ in 0..steps {
            u = unit(weight.contract(&v, v.names())?)?;
            v = unit(weight.contract(&u, u.names())?)?;
        }
        if steps > 0 {
            (*left, *right) = (u.clone().try_into()?, v.clone().try_into()?);
        }
        Ok([u, v])
    }

    /// Returns the weight that the layer computes with; in training after a step of power iteration.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_weight(&self, mode: Mode) -> Result<Tensor<L::Dims, L::Dtype>> {
        let steps = if mode.is_train() {
            self.n_power_iterations
        } else {
            0
        };
        let [u, v] = self.iterate(steps)?;
        let weight = self.layer.weight().to_dyn();
        let value = weight.contract(&v, v.names())?.contract(&u, u.names())?;
        weight.div(&value)?.try_into()
    }

    /// Computes the layer's outputs.
    ///
    /// # Errors
    /// If sizes do not match, or an allocation fails.
    #[twin]
    pub fn try_forward<X>(&self, x: &X, mode: Mode) -> Result<L::Out>
    where
        L: Layer<X>,
    {
        call_with(&self.layer, self.try_weight(mode)?, x, mode)
    }

    /// Returns the layer with the weight of an evaluation, as a parameter.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_into_layer(self) -> Result<L> {
        let weight = self.try_weight(Mode::Eval)?;
        let mut layer = self.layer;
        *layer.weight_mut() = Param::new(weight);
        Ok(layer)
    }
}

#[diagnostic::do_not_recommend]
impl<L: Weighted, K: Dims + Distinct> Module for SpectralNorm<L, K>
where
    Columns<L, K>: Distinct,
{
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        each_renamed(&self.layer, "parametrizations.weight.original", path, visit);
        path.enter("parametrizations.weight.0._u", |path| {
            self.u.each(path, visit)
        });
        path.enter("parametrizations.weight.0._v", |path| {
            self.v.each(path, visit)
        });
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        each_renamed_mut(
            &mut self.layer,
            "parametrizations.weight.original",
            path,
            visit,
        );
        path.enter("parametrizations.weight.0._u", |path| {
            self.u.each_mut(path, visit)
        });
        path.enter("parametrizations.weight.0._v", |path| {
            self.v.each_mut(path, visit)
        });
    }
}

#[diagnostic::do_not_recommend]
impl<X, L: Weighted + Layer<X>, K: Dims + Distinct> Layer<X> for SpectralNorm<L, K>
where
    Columns<L, K>: Distinct,
{
    type Out = L::Out;
    fn try_apply(&self, x: &X, mode: Mode) -> Result<L::Out> {
        self.try_forward(x, mode)
    }
}
