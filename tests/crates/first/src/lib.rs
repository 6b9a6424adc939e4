//! A crate that declares dims and has functions over them. `second` declares dims of the same spelling, independently
//! of these.

pub use nomina;

use nomina::prelude::*;

dims! {
    /// Examples.
    pub N,
    /// Features.
    pub C,
    /// Red, green, blue.
    pub Rgb = 3,
    /// Examples, under the name in the file.
    pub Batch = "batch",
    /// Up, flat, down: a spin of 1.
    pub Spin = 3,
    /// The bond to the previous site.
    pub Left = 2,
    /// The bond to the next site.
    pub Right = 2,
}

/// Returns an `n` by `c` table of numbers, counted from 0 along the rows.
pub fn table(n: usize, c: usize) -> Tensor<(N, C)> {
    Tensor::from_fn([n, c], |at| (at[0] * c + at[1]) as f32)
}

/// Returns the sum of each row. Takes this crate's own dims, by reference.
pub fn per_row(x: &Tensor<(N, C)>) -> Tensor<(N,)> {
    x.sum(C)
}

/// Returns twice the input. Takes this crate's own dims, by value.
pub fn doubled(x: Tensor<(N, C)>) -> Tensor<(N, C)> {
    x * 2.0
}

/// Returns the mean over [`C`], whichever crate declared it, with any other dims.
pub fn pool<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    x.mean(C)
}

/// Subtracts one number per feature.
pub fn shifted<D: Dims + Broadcast<(C,)>>(
    x: &Tensor<D>,
    by: &Tensor<(C,)>,
) -> Tensor<Sum<D, (C,)>> {
    x - by
}

/// Returns one weight per colour.
pub fn tint() -> Tensor<(Rgb,)> {
    tensor!([0.25, 0.5, 0.25]; Rgb)
}

/// Returns the brightness: the mean of the colours.
pub fn grey<D: Dims + Has<Rgb>>(image: &Tensor<D>) -> Tensor<Without<D, Rgb>> {
    image.mean(Rgb)
}

/// Returns the numbers of the examples of a file.
pub fn batch(n: usize) -> Tensor<(Batch,)> {
    Tensor::from_fn([n], |at| at[0] as f32)
}

/// Returns a site of the AKLT state, a chain of spins: one matrix per spin value. The amplitude of the chain is the
/// trace of the product of its matrices. Affleck, Kennedy, Lieb and Tasaki, 1987.
pub fn aklt() -> Tensor<(Spin, Left, Right), f64> {
    let (long, short) = ((2.0_f64 / 3.0).sqrt(), (1.0_f64 / 3.0).sqrt());
    tensor!([[[0., long], [0., 0.]], [[-short, 0.], [0., short]], [[0., 0.], [-long, 0.]]]; Spin, Left, Right)
}
