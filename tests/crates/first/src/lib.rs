//! A crate that declares dims and has functions over them. `second` declares dims of the same
//! spelling, and knows nothing of these.

pub use nomina;

use nomina::prelude::*;

dims! {
    /// Examples.
    pub N,
    /// Features.
    pub C,
    /// Red, green, blue.
    pub Rgb = 3,
    /// Examples, as the file calls them.
    pub Batch = "batch",
    /// Up, flat, down: a spin of 1.
    pub Spin = 3,
    /// To the site before.
    pub Left = 2,
    /// To the next site.
    pub Right = 2,
}

/// `n` by `c`, counted from 0 along the rows.
pub fn table(n: usize, c: usize) -> Tensor<(N, C)> {
    Tensor::from_fn([n, c], |at| (at[0] * c + at[1]) as f32)
}

/// The sum of each row. By reference, of this crate's own dims.
pub fn per_row(x: &Tensor<(N, C)>) -> Tensor<(N,)> {
    x.sum(C)
}

/// Twice as much. By value, of this crate's own dims.
pub fn doubled(x: Tensor<(N, C)>) -> Tensor<(N, C)> {
    x * 2.0
}

/// The mean over [`C`], whoever declared it, of whatever other dims.
pub fn pool<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    x.mean(C)
}

/// `x` less one number per feature.
pub fn shifted<D: Dims + Broadcast<(C,)>>(
    x: &Tensor<D>,
    by: &Tensor<(C,)>,
) -> Tensor<Sum<D, (C,)>> {
    x - by
}

/// One number per colour.
pub fn tint() -> Tensor<(Rgb,)> {
    tensor!([0.25, 0.5, 0.25]; Rgb)
}

/// Brightness: the mean of the colours.
pub fn grey<D: Dims + Has<Rgb>>(image: &Tensor<D>) -> Tensor<Without<D, Rgb>> {
    image.mean(Rgb)
}

/// The numbers of the examples of a file.
pub fn batch(n: usize) -> Tensor<(Batch,)> {
    Tensor::from_fn([n], |at| at[0] as f32)
}

/// A site of the AKLT state, a chain of spins: for each spin a matrix, and the chain's amplitude is the trace of their
/// product. Affleck, Kennedy, Lieb and Tasaki, 1987.
pub fn aklt() -> Tensor<(Spin, Left, Right), f64> {
    let (long, short) = ((2.0_f64 / 3.0).sqrt(), (1.0_f64 / 3.0).sqrt());
    tensor!([[[0., long], [0., 0.]], [[-short, 0.], [0., short]], [[0., 0.], [-long, 0.]]]; Spin, Left, Right)
}
