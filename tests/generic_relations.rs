//! Generic functions that state a relation, and generic types: one bound per operation.

use std::collections::HashMap;
use std::fmt::Debug;

use nomina::prelude::*;

dims! { N, C, H, W, K, L }

fn beside<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
    let z = (x + y) * (x - y) + x.maximum(y);
    (&z / (&z * &z).sum(..).sqrt() + x.atan2(y)) * x - x
}

fn both_ways<D: Dims + Broadcast<E>, E: Dims>(
    x: &Tensor<D>,
    y: &Tensor<E>,
) -> Tensor<Sum<D, E>, bool> {
    x.lt(y).logical_and(&x.ne(y))
}

fn absorbed<D: Absorbs<E>, E: Dims>(x: &mut Tensor<D>, y: &Tensor<E>) {
    *x += y;
    x.mul_(y);
}

fn stacked<D: Dims, X: Dim + Insert<D>>(x: &Tensor<D>, dim: X) -> Tensor<Inserted<D, X>> {
    stack(&[x, x], dim) + stack(&[x, x], dim)
}

fn widened<D: Dims>(x: &Tensor<D>) -> Tensor<Inserted<D, K>>
where
    K: Insert<D>,
{
    x.unsqueeze(K)
}

fn in_order<D: Dims>(x: &Tensor<D>) -> Tensor<Aligned<D, (N, C)>>
where
    (N, C): Order<D>,
{
    let y = x.align_to((N, C));
    &y + &y
}

fn back<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D>
where
    Without<D, C>: AlignInto<D>,
{
    x - x.mean(C).align_as(x)
}

fn named<D: Dims + Has<H> + Has<W>>(x: &Tensor<D>) -> Tensor<Transposed<D, H, W>> {
    x.transpose(H, W)
}

fn merged<D: Dims>(x: &Tensor<D>) -> Tensor<Flattened<D, (H, W), L>>
where
    (H, W): Flatten<D, L>,
{
    x.flatten((H, W), L)
}

fn weighed<D: Dims + Has<C>>(x: &Tensor<D>, w: &Tensor<(C,)>) -> Tensor<Contracted<D, (C,), C>>
where
    C: Contract<D, (C,)>,
{
    x.contract(w, C)
}

fn gate<D: Dims + Has<C>>(x: &Tensor<D>, level: &Tensor<()>) -> Tensor<D> {
    let most = x.amax(..);
    (x - &most) / (level + most.exp()) + level * x
}

fn weighed_sum<D: Dims + FullyNamed + Has<N> + Has<C>>(
    x: &Tensor<D>,
    w: &Tensor<(C,)>,
) -> Tensor<()> {
    einsum!(x[.., N, C] * w[C] -> [])
}

fn chosen<D: Dims + Has<N>, E: Dims + IndexOf<D, N>>(
    x: &Tensor<D>,
    ids: &Tensor<E, i64>,
) -> Tensor<Selected<D, N, E>> {
    x.index_select(N, ids)
}

fn attended<D: Dims, E: Dims, F: nomina::dims::Attend<D, E>, T: Float>(
    q: &Tensor<D, T>,
    k: &Tensor<E, T>,
    v: &Tensor<F, T>,
) -> Tensor<nomina::dims::Attended<D, E, F>, T> {
    q.scaled_dot_product_attention(k, v)
}

// Types that hold tensors of any dims.

#[derive(Clone, Debug)]
struct Parameters<D: Dims, T: Float = f32> {
    named: HashMap<&'static str, Tensor<D, T>>,
}

impl<D: Dims, T: Float> Parameters<D, T> {
    fn step(&mut self, gradients: &Self, rate: f64) {
        for (name, value) in &mut self.named {
            if let Some(gradient) = gradients.named.get(name) {
                *value -= gradient * rate;
            }
        }
    }
}

trait Layer<D: Dims>: Debug {
    type Out: Dims;
    fn forward(&self, x: &Tensor<D>) -> Tensor<Self::Out>;
}

#[derive(Debug)]
struct Pool;

impl<D: Dims + Has<H>> Layer<D> for Pool {
    type Out = Without<D, H>;
    fn forward(&self, x: &Tensor<D>) -> Tensor<Without<D, H>> {
        x.mean(H)
    }
}

#[derive(Debug)]
struct Both<A, B>(A, B);

impl<D: Dims, A: Layer<D>, B: Layer<A::Out>> Layer<D> for Both<A, B> {
    type Out = B::Out;
    fn forward(&self, x: &Tensor<D>) -> Tensor<B::Out> {
        self.1.forward(&self.0.forward(x))
    }
}

#[derive(Debug)]
struct Relu;

impl<D: Dims> Layer<D> for Relu {
    type Out = D;
    fn forward(&self, x: &Tensor<D>) -> Tensor<D> {
        x.relu()
    }
}

#[test]
fn one_relation() {
    let x = tensor!([[1., 2., 3.], [6., 5., 4.]]; N, C);
    let s = tensor!([1., 2., 3.]; C);
    assert_eq!(beside(&x, &s).shape(), [2, 3]);
    assert_eq!(beside(&s, &x).names(), names!["N", "C"]);
    assert_eq!(
        both_ways(&s, &x).to_vec(),
        [false, false, false, true, true, true]
    );
    let level = tensor!(1.0);
    assert_eq!(gate(&tensor!([0., -1.]; C), &level).to_vec(), [0.0, -1.5]);
    let sum = weighed_sum(&x, &tensor!([1., 0., 2.]; C));
    assert_eq!(sum.item(), 1. + 6. + 6. + 8.);
    let mut y = x.clone();
    absorbed(&mut y, &s);
    assert_eq!(y.to_vec(), [2., 8., 18., 7., 14., 21.]);
    absorbed(&mut y, &tensor!(0.0));
    assert_eq!(y.to_vec(), [0.0; 6]);
    let stacked: Tensor<(K, C)> = stacked(&s, K);
    assert_eq!(stacked.to_vec(), [2., 4., 6., 2., 4., 6.]);
    assert_eq!(widened(&s).shape(), [1, 3]);
    assert_eq!(in_order(&x.align_to((C, N))).to_vec(), (&x * 2.0).to_vec());
    assert_eq!(back(&x).to_vec(), [-1., 0., 1., 1., 0., -1.]);
    let image = Tensor::<(N, H, W)>::ones([2, 3, 4]);
    assert_eq!(named(&image).shape(), [2, 4, 3]);
    let flat: Tensor<(N, L)> = merged(&image);
    assert_eq!(flat.shape(), [2, 12]);
    assert_eq!(weighed(&x, &s).to_vec(), [14., 28.]);
    let ids = tensor!([[1, 0, 1]]; K, L);
    let chosen: Tensor<(K, L, C)> = chosen(&x, &ids);
    assert_eq!(chosen.sum((K, L)).to_vec(), [13., 12., 11.]);
    let q = Tensor::<(N, H, K)>::ones_with::<f64>([2, 3, 4]);
    let mixed: Tensor<(N, H, K), f64> = attended(&q, &q, &q);
    assert!(mixed.allclose(&q));
}

#[test]
fn types_that_hold_tensors() {
    let make = |value: f64| Parameters {
        named: HashMap::from([("weight", Tensor::<(N, C), f64>::full([1, 2], value))]),
    };
    let mut parameters = make(1.0);
    parameters.clone().step(&make(2.0), 0.25);
    parameters.step(&make(2.0), 0.25);
    assert_eq!(parameters.named["weight"].to_vec(), [0.5, 0.5]);
    let model = Both(Pool, Both(Relu, Relu));
    let x = tensor!([[-1., -3.], [1., 2.]]; N, H);
    let y: Tensor<(N,)> = model.forward(&x);
    assert_eq!(y.to_vec(), [0.0, 1.5]);
}
