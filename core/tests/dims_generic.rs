//! Generic functions that must compile: one bound per relation, one alias per result.

use core::ops::RangeFull;

use nomina_core::dims::*;
use nomina_core::{Alike, Element, Float, Promote, Promoted};

#[macro_use]
mod dims_support;
use dims_support::*;

fn residual<D: Dims, U: Element>(x: &Tensor<D, U>, y: &Tensor<D, U>) -> Tensor<D, U> {
    let z = x + y;
    &z + x
}

fn in_place<D: Dims>(x: &mut Tensor<D>, y: &Tensor<D>) {
    *x += y;
}

fn pool<D: Dims + Has<H>>(x: &Tensor<D>) -> Tensor<Without<D, H>> {
    x.sum(H)
}

fn pool_both<D: Dims + Has<H> + Has<W>>(x: &Tensor<D>) -> Tensor<Without<D, (H, W)>> {
    let m = x.softmax(H).sum((H, W));
    &m + &m
}

fn pool_in<D: Dims>(x: &Tensor<D>) -> Tensor<Without<D, H>>
where
    H: In<D>,
{
    x.sum(H)
}

fn any_dim<X: Dim, D: Dims + Has<X>>(x: &Tensor<D>, dim: X) -> Tensor<Without<D, X>> {
    x.select(dim, 0)
}

fn centred<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D> {
    x + &x.sum(keep(C))
}

fn scaled<D: Dims + Has<C>>(x: &Tensor<D>, scale: &Tensor<(C,)>) -> Tensor<D> {
    x + &scale.align_as(x)
}

fn scaled_where<D: Dims>(x: &Tensor<D>, scale: &Tensor<(C,)>) -> Tensor<D>
where
    (C,): AlignInto<D>,
{
    x + &scale.align_as(x)
}

fn added<D: Dims + Broadcast<F>, F: Dims + Broadcast<D>>(
    x: &Tensor<D>,
    y: &Tensor<F>,
) -> (Tensor<Sum<D, F>>, Tensor<Sum<F, D>>) {
    (x + y, y + x)
}

fn added_floats<D: Dims + Broadcast<F>, F: Dims, U: Float>(
    x: &Tensor<D, f64>,
    y: &Tensor<F, f64>,
    same: &Tensor<D, U>,
) -> (Tensor<Sum<D, F>, f64>, Tensor<D, U>) {
    (x + y, same + same)
}

fn promoted<D: Dims, U: Promote<V, Alike>, V: Element>(
    x: &Tensor<D, U>,
    y: &Tensor<D, V>,
) -> Tensor<D, Promoted<U, V>> {
    x + y
}

fn twice<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<Without<D, C>, H>>
where
    Without<D, C>: Has<H>,
{
    x.sum(C).sum(H)
}

fn product<D: Dims + MatMul<F>, F: Dims>(x: &Tensor<D>, y: &Tensor<F>) -> Tensor<Product<D, F>> {
    x.matmul(y)
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

fn exchanged<X: Dim, Y: Dim, D: Dims + Has<X> + Has<Y>>(
    x: &Tensor<D>,
    a: X,
    b: Y,
) -> Tensor<Renamed<D, (X, Y), (Y, X)>> {
    x.transpose(a, b)
}

fn renamed<D: Dims>(x: &Tensor<D>) -> Tensor<Renamed<D, C, K>>
where
    C: Rename<D, K>,
{
    x.rename(C, K)
}

fn first<D: Dims>(x: &Tensor<D>) -> Tensor<Aligned<D, (W, RangeFull)>>
where
    (W, RangeFull): Order<D>,
{
    x.align_to((W, ..))
}

fn made<D: Dims + Distinct>() -> Tensor<D>
where
    [usize; 2]: ShapeFor<D>,
{
    Tensor::<D>::zeros([2, 3])
}

fn flipped<X: Dim, Y: Dim>(x: &Tensor<(X, Y)>) -> Tensor<(Y, X)> {
    let twice = x + x;
    twice.t()
}

fn inner<X: Dim>(x: &Tensor<(X,)>) -> Tensor<()> {
    x.matmul(x)
}

fn in_front<X: Dim + Insert<(N,)>>(x: &Tensor<(N,)>, new: X) -> Tensor<(X, N)> {
    x.unsqueeze(new)
}

trait Model {
    type In: Dims;
    type Out: Dims;
    fn forward(&self, x: &Tensor<Self::In>) -> Tensor<Self::Out>;
}

struct Linear;
impl Model for Linear {
    type In = (N, Features);
    type Out = (N, K);
    fn forward(&self, x: &Tensor<(N, Features)>) -> Tensor<(N, K)> {
        x.matmul(&make::<(Features, K), f32>())
    }
}

fn run<M: Model>(model: &M, x: &Tensor<M::In>) -> Tensor<M::Out> {
    let y = model.forward(x);
    &y + &y
}

fn hidden(x: &Tensor<impl Dims + Has<C>>) -> Tensor<impl Dims> {
    x.sum(C)
}

#[test]
fn generic_functions_take_what_they_should() {
    let images = make::<(N, C, H, W), f32>();
    let x = make::<(N, C), f32>();
    let _: Tensor<(N, C)> = residual(&x, &x);
    in_place(&mut make(), &x);
    let _: Tensor<(N, C, W)> = pool(&images);
    let _: Tensor<(N, C, W)> = pool_in(&images);
    let _: Tensor<(N, C)> = pool_both(&images);
    let _: Tensor<(N, H, W)> = any_dim(&images, C);
    let _: Tensor<(N, C, H, W)> = centred(&images);
    let _: Tensor<(N, C, H, W)> = scaled(&images, &make());
    let _: Tensor<(N, C)> = scaled_where(&x, &make());
    let _: (Tensor<(N, C)>, Tensor<(N, C)>) = added(&x, &make::<(C,), f32>());
    let (sum, _) = added_floats(&make::<(N, C), f64>(), &make::<(C,), f64>(), &x);
    let _: Tensor<(N, C), f64> = sum;
    let _: Tensor<(N, C), f64> = promoted(&x, &make::<(N, C), f64>());
    let _: Tensor<(N, W)> = twice(&images);
    let _: Tensor<(N, K)> = product(&x, &make::<(C, K), f32>());
    let _: Tensor<(N, Classes)> = linear(&make::<(N, Features), f32>(), &make());
    let _: Tensor<(W, C, H, N)> = exchanged(&images, N, W);
    let _: Tensor<(N, K, H, W)> = renamed(&images);
    let _: Tensor<(W, N, C, H)> = first(&images);
    let _: Tensor<(N, C)> = made();
    let _: Tensor<(C, N)> = flipped(&x);
    let _: Tensor<()> = inner(&make::<(K,), f32>());
    let _: Tensor<(K, N)> = in_front(&make(), K);
    let _: Tensor<(N, K)> = run(&Linear, &make());
    assert_eq!(hidden(&x).names(), [Some("N")]);
}
