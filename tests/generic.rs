//! Generic code needs one bound per relation and one alias per result.

use std::iter::Sum as _;
use std::ops::{Add, Mul, RangeFull};

use nomina::prelude::*;
use nomina::{Alike, Promote, Promoted};

dims! { N, C, H, W, K, Features, Classes }

fn pool<D: Dims + Has<H>>(x: &Tensor<D>) -> Tensor<Without<D, H>> {
    x.sum(H)
}

fn pool_both<D: Dims + Has<H> + Has<W>>(x: &Tensor<D>) -> Tensor<Without<D, (H, W)>> {
    let sum = x.sum((H, W));
    &sum + &sum
}

fn scale<D: Dims>(x: &Tensor<D>, s: &Tensor<(C,)>) -> Tensor<D>
where
    (C,): AlignInto<D>,
{
    x * s.align_as(x)
}

fn scale_where_it_is<D: Dims + Has<C>>(x: &Tensor<D>, s: &Tensor<(C,)>) -> Tensor<D> {
    x * s.align_as(x)
}

fn add<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
    x + y
}

fn add_twice<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
    let z = x + y;
    &z + &z
}

fn chain<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    ((x + x) * x + 1.0) * 2 - x / 3.0
}

fn left<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    2.0 * x
}

fn residual<D: Dims, T: Float>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Tensor<D, T> {
    (x + y) * 2.0 + x
}

fn softplus<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    (x.exp() + 1.0).log()
}

fn magnitude<D: Dims + Has<C>, T: Float>(x: &Tensor<D, T>) -> Tensor<Without<D, C>, T> {
    (x * x).sum(C).sqrt()
}

fn same<D: Dims, T: Element>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Tensor<D, T> {
    x + y
}

fn promoted<D: Dims, T: Promote<U>, U: Element>(
    x: &Tensor<D, T>,
    y: &Tensor<D, U>,
) -> Tensor<D, Promoted<T, U, Alike>> {
    x + y
}

fn centred<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D> {
    x - x.mean(keep(C))
}

fn normal<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D> {
    let e = x.exp();
    &e / e.sum(keep(C))
}

fn along<X: Dim, D: Dims + Has<X>>(x: &Tensor<D>, dim: X) -> Tensor<Without<D, X>> {
    x.sum(dim)
}

fn in_place<D: Dims>(x: &mut Tensor<D>, y: &Tensor<D>) {
    *x += y;
    *x *= 2.0;
}

fn linear<D: Dims>(
    x: &Tensor<D>,
    w: &Tensor<(Features, Classes)>,
) -> Tensor<Contracted<D, (Features, Classes), Features>>
where
    Features: Contract<D, (Features, Classes)>,
{
    x.contract(w, Features)
}

fn product<D: Dims + MatMul<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Product<D, E>> {
    x.matmul(y)
}

fn swapped<A: Dim, B: Dim, D: Dims + Has<A> + Has<B>>(
    x: &Tensor<D>,
    a: A,
    b: B,
) -> Tensor<Transposed<D, A, B>> {
    x.transpose(a, b)
}

fn renamed<D: Dims>(x: &Tensor<D>) -> Tensor<Renamed<D, C, K>>
where
    C: Rename<D, K>,
{
    x.rename(C, K)
}

fn last<D: Dims>(x: &Tensor<D>) -> Tensor<Aligned<D, (W, RangeFull)>>
where
    (W, RangeFull): Order<D>,
{
    x.align_to((W, ..))
}

fn made<D: Dims + Distinct>() -> Tensor<D>
where
    [usize; 2]: ShapeFor<D>,
{
    Tensor::<D>::ones([2, 3])
}

fn all<D: Dims>(xs: Vec<Tensor<D>>) -> Option<Tensor<D>> {
    xs.into_iter().reduce(|a, b| a + b)
}

fn each<D: Dims + Has<C>>(xs: &[Tensor<D>]) -> Vec<Tensor<Without<D, C>>> {
    xs.iter().map(|x| x.sum(C)).collect()
}

fn std_only<X>(x: &X) -> X
where
    for<'a> &'a X: Add<&'a X, Output = X> + Mul<f32, Output = X>,
{
    &(x + x) * 2.0
}

struct Layer<D: Dims> {
    weight: Tensor<D>,
}

impl<D: Dims + Has<C>> Layer<D> {
    fn normal(&self) -> Tensor<D> {
        &self.weight / self.weight.sum(keep(C))
    }
}

trait Model {
    type In: Dims;
    type Out: Dims;
    fn forward(&self, x: &Tensor<Self::In>) -> Tensor<Self::Out>;
}

struct Linear(Tensor<(Features, K)>);

impl Model for Linear {
    type In = (N, Features);
    type Out = (N, K);
    fn forward(&self, x: &Tensor<(N, Features)>) -> Tensor<(N, K)> {
        x.matmul(&self.0)
    }
}

fn doubled<M: Model>(model: &M, x: &Tensor<M::In>) -> Tensor<M::Out> {
    let y = model.forward(x);
    &y + &y * 0.5
}

#[test]
fn generic_functions_compute() {
    let x: Tensor<(N, C)> = made();
    let image = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
    let s = tensor!([1., 2., 3.]; C);
    assert_eq!(pool(&image).sum(..).item(), 120.0);
    assert_eq!(pool_both(&image).to_vec(), [40.0; 6]);
    assert!(scale(&image, &s).equal(&scale_where_it_is(&image, &s)));
    let turned = image.align_to((H, W, C, N));
    assert!(
        scale(&turned, &s)
            .align_as(&image)
            .equal(&scale(&image, &s))
    );
    assert_eq!(add(&x, &s).to_vec(), [2., 3., 4., 2., 3., 4.]);
    assert_eq!(add_twice(&s, &x).to_vec(), [4., 6., 8., 4., 6., 8.]);
    assert_eq!(chain(&s).to_vec()[2], 37.0);
    assert_eq!(left(&s).to_vec(), [2., 4., 6.]);
    assert_eq!(residual(&s, &s).to_vec(), [5., 10., 15.]);
    assert_eq!(
        same(&tensor!([1, 2]; N), &tensor!([3, 4]; N)).to_vec(),
        [4, 6]
    );
    assert_eq!(
        promoted(&tensor!([1]; N), &tensor!([0.5]; N)).to_vec(),
        [1.5]
    );
    assert_eq!(centred(&s).to_vec(), [-1., 0., 1.]);
    assert!((normal(&x).sum(C).to_vec()[0] - 1.0).abs() < 1e-6);
    assert_eq!(along(&x, N).to_vec(), [2.0; 3]);
    let mut y = s.clone();
    in_place(&mut y, &s);
    assert_eq!(y.to_vec(), [4., 8., 12.]);
    let w = Tensor::<(Features, Classes)>::ones([4, 2]);
    assert_eq!(
        linear(&Tensor::<(N, H, Features)>::ones([2, 3, 4]), &w).shape(),
        [2, 3, 2]
    );
    assert_eq!(
        product(&x, &Tensor::<(C, K)>::ones([3, 4])).to_vec(),
        [3.0; 8]
    );
    assert_eq!(swapped(&image, N, H).shape(), [4, 3, 2, 5]);
    assert_eq!(renamed(&x).names(), names!["N", "K"]);
    assert_eq!(last(&image).shape(), [5, 2, 3, 4]);
    assert_eq!(
        all(vec![s.clone(), s.clone()]).unwrap().to_vec(),
        [2., 4., 6.]
    );
    assert_eq!(each(std::slice::from_ref(&x))[0].to_vec(), [3.0; 2]);
    assert_eq!(std_only(&s).to_vec(), [4., 8., 12.]);
    assert_eq!(Layer { weight: x }.normal().sum(C).to_vec(), [1.0; 2]);
    let model = Linear(Tensor::ones([3, 2]));
    assert_eq!(doubled(&model, &Tensor::ones([1, 3])).to_vec(), [4.5; 2]);
}

#[test]
fn numbers_sum_as_elsewhere() {
    let s = tensor!([1., 2., 3.]; C);
    assert_eq!(f32::sum(s.iter()), 6.0);
    let by_step = |step: f32, g: &Tensor<(C,)>| step * g;
    assert_eq!(by_step(0.5, &s).to_vec(), [0.5, 1.0, 1.5]);
}

#[test]
fn a_float_dtype_stays_itself_in_generic_code() {
    let x: Tensor<(N, C), f64> = tensor!([[3., 4.], [0., 0.]]; N, C; f64);
    assert_eq!(magnitude(&x).to_vec(), [5.0, 0.0]);
    assert!((softplus(&x).to_vec()[2] - 2f64.ln()).abs() < 1e-15);
}
