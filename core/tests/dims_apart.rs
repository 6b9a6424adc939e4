//! Lists with generic dims: what the bound `Distinct` tells rustc about them.

#[macro_use]
mod dims_support;
use dims_support::*;
use nomina_core::dims::*;

fn one<B: Dim>(x: &Tensor<(B,)>, b: B) -> Tensor<()> {
    x.sum(b)
}
fn f<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N,)>
where
    (N, B): Distinct,
{
    x.sum(B::default())
}
fn g<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(B,)>
where
    (N, B): Distinct,
{
    x.sum(N)
}
fn both<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<()>
where
    (N, B): Distinct,
{
    x.sum((N, B::default()))
}
fn both2<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<()>
where
    (N, B): Distinct,
    (B, N): Distinct,
{
    x.sum((B::default(), N))
}
fn s<B: Dim, K: Dim>(x: &Tensor<(B, K, N)>) -> Tensor<(B, K, N)>
where
    (B, K, N): Distinct,
{
    x.softmax(K::default())
}
fn z<B: Dim, K: Dim>() -> Tensor<(B, K)>
where
    (B, K): Distinct,
{
    Tensor::<(B, K)>::zeros([2, 3])
}
fn al<B: Dim, K: Dim>(x: &Tensor<(B, K)>) -> Tensor<(K, B)>
where
    (B, K): Distinct,
    (K, B): Distinct,
{
    x.align_to((K::default(), B::default()))
}
fn t<B: Dim, K: Dim>(x: &Tensor<(B, K)>) -> Tensor<(K, B)>
where
    (B, K): Distinct,
{
    x.transpose(K::default(), B::default())
}
fn add<B: Dim, K: Dim>(x: &Tensor<(B, K)>, y: &Tensor<(B, K)>) -> Tensor<(B, K)>
where
    (B, K): Distinct,
{
    x + y
}
fn addb<B: Dim, K: Dim>(x: &Tensor<(B, K)>, y: &Tensor<(K,)>) -> Tensor<(B, K)>
where
    (B, K): Distinct,
{
    x + y
}
fn d<D: Dims + Distinct>(s: [usize; 2]) -> Tensor<D>
where
    [usize; 2]: ShapeFor<D>,
{
    Tensor::<D>::zeros(s)
}
fn dh<D: Dims + Distinct + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    x.sum(C)
}

#[test]
fn works() {
    let x = Tensor::<(N, K)>::zeros([2, 3]);
    f(&x);
    g(&x);
    both(&x);
    both2(&x);
    t(&x);
    al(&x);
    addb(&x, &g(&x));
    add(&x, &x);
    one(&g(&x), K);
    let x = Tensor::<(N, C)>::zeros([2, 3]); // one head
    let _: Tensor<(N,)> = f(&x);
    let _: Tensor<(C,)> = g(&x);
    both(&x);
    both2(&x);
    t(&x);
    al(&x);
    let y = Tensor::<(Prime<N>, Prime<C>, N)>::zeros([2, 3, 4]);
    s(&y);
    z::<Prime<N>, N>();
    d::<(N, C)>([2, 3]);
    dh(&x);
}
