//! Each noun that `#[relations]` knows brings the relation that its operator requires: these
//! functions have no bounds of their own.

use std::ops::RangeFull;

use nomina::dims::{
    Appended, Attended, Distances, Embedded, Expanded, Inner, Joined, Linear, Of, Tensordotted,
};
// The relations of these nouns.
use nomina::dims::{Append, Attend, Beside, EmbedIn, Expand, InnerWith, RowsBeside, TensorDot};
use nomina::prelude::*;

dims! { N, C, H, W, K, L }

#[relations]
fn sum<D, E>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
    x + y
}

#[relations]
fn without<D>(x: &Tensor<D>) -> Tensor<Without<D, (C, H)>> {
    x.sum((C, H))
}

#[relations]
fn kept<D, X>(x: &Tensor<D>, dim: X) -> Tensor<Without<D, nomina::dims::Keep<X>>> {
    x.sum(keep(dim))
}

#[relations]
fn all<D>(x: &Tensor<D>) -> Tensor<Without<D, RangeFull>> {
    x.sum(..)
}

#[relations]
fn aligned<D>(x: &Tensor<D>) -> Tensor<Aligned<D, (W, RangeFull)>> {
    x.align_to((W, ..))
}

#[relations]
fn renamed<D>(x: &Tensor<D>) -> Tensor<Renamed<D, (C, H), (K, L)>> {
    x.rename((C, H), (K, L))
}

#[relations]
fn transposed<D, X, Y>(x: &Tensor<D>, a: X, b: Y) -> Tensor<Transposed<D, X, Y>> {
    x.transpose(a, b)
}

#[relations]
fn flipped<D>(x: &Tensor<D>) -> Tensor<Flipped<D>> {
    x.t()
}

#[relations]
fn refined<D>(x: &Tensor<D>) -> Tensor<Refined<D, (N, C)>> {
    x.refine_names((N, C))
}

#[relations]
fn flattened<D, X>(x: &Tensor<D>, to: X) -> Tensor<Flattened<D, (C, H), X>> {
    x.flatten((C, H), to)
}

#[relations]
fn unflattened<D, X>(x: &Tensor<D>, dim: X) -> Tensor<Unflattened<D, X, (Of<K>, Of<L>)>> {
    x.unflatten(dim, (K.of(1), L.of(3)))
}

#[relations]
fn selected<D, E, X>(x: &Tensor<D>, dim: X, ids: &Tensor<E, i64>) -> Tensor<Selected<D, X, E>> {
    x.index_select(dim, ids)
}

#[relations]
fn embedded<D, E, X>(x: &Tensor<D>, dim: X, ids: &Tensor<E, i64>) -> Tensor<Embedded<D, X, E>> {
    x.embedding(dim, ids)
}

#[relations]
fn inserted<D, X>(x: &Tensor<D>, dim: X) -> Tensor<Inserted<D, X>> {
    x.unsqueeze(dim)
}

#[relations]
fn appended<D>(x: &Tensor<D, i64>) -> Tensor<Appended<D, K>, i64> {
    x.one_hot(K.of(4))
}

#[relations]
fn expanded<D>(x: &Tensor<D>) -> Tensor<Expanded<D, (Of<K>, Of<C>)>> {
    x.expand((K.of(2), C.of(3)))
}

#[relations]
fn contracted<D, E, X>(x: &Tensor<D>, y: &Tensor<E>, dim: X) -> Tensor<Contracted<D, E, X>> {
    x.contract(y, dim)
}

#[relations]
fn tensordotted<D, E, X>(x: &Tensor<D>, y: &Tensor<E>, dim: X) -> Tensor<Tensordotted<D, E, X>> {
    x.tensordot(y, dim)
}

#[relations]
fn product<D, E>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Product<D, E>> {
    x.matmul(y)
}

#[relations]
fn joined<K, L>(x: &Tensor<(K,)>, y: &Tensor<(L,)>) -> Tensor<Joined<(K,), (L,)>> {
    x.outer(y)
}

#[relations]
fn inner<D, E>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Inner<D, E>> {
    x.inner(y)
}

#[relations]
fn linear<D, O, I>(
    x: &Tensor<D>,
    weight: &Tensor<(O, I)>,
    bias: &Tensor<(O,)>,
) -> Tensor<Sum<Linear<D, O, I>, (O,)>> {
    x.linear(weight, bias)
}

#[relations]
fn distances<D, E>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Distances<D, E>> {
    x.cdist(y)
}

#[relations]
fn attended<D, E, F>(
    query: &Tensor<D>,
    key: &Tensor<E>,
    value: &Tensor<F>,
) -> Tensor<Attended<D, E, F>> {
    query.scaled_dot_product_attention(key, value)
}

/// Nouns written with a path bring relations with the same path.
mod without_the_prelude {
    use nomina::dims::{self, Dims};
    use nomina::{Tensor, relations};

    use super::C;

    #[relations]
    pub fn total<D>(x: &Tensor<D>) -> Tensor<dims::Without<D, C>> {
        x.sum(C)
    }
}

/// A noun of known dims among generic ones.
#[relations]
fn known<D>(x: &Tensor<D>, y: &Tensor<Without<(N, C), N>>) -> Tensor<Sum<D, (C,)>> {
    x + y
}

/// Within an `impl`, with parameters of the method and of the type.
struct Scale<D: Dims>(Tensor<D>);

impl<D: Dims> Scale<D> {
    #[relations]
    fn apply<E>(&self, x: &Tensor<E>) -> Tensor<Sum<E, D>> {
        x * &self.0
    }
}

#[test]
fn each_noun_is_enough() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let image = Tensor::<(N, C, H, W)>::ones([2, 3, 4, 5]);
    let c = tensor!([1., 2., 3.]; C);
    let ids = tensor!([[0, 1]]; K, L);
    assert_eq!(sum(&x, &c).to_vec(), [2., 3., 4., 2., 3., 4.]);
    assert_eq!(without(&image).shape(), [2, 5]);
    assert_eq!(kept(&image, C).shape(), [2, 1, 4, 5]);
    assert_eq!(all(&image).item(), 120.0);
    assert_eq!(aligned(&image).shape(), [5, 2, 3, 4]);
    assert_eq!(renamed(&image).names(), names!["N", "K", "L", "W"]);
    assert_eq!(transposed(&image, N, W).shape(), [5, 3, 4, 2]);
    assert_eq!(flipped(&x).names(), names!["C", "N"]);
    assert_eq!(refined(&x.drop_names()).names(), names!["N", "C"]);
    assert_eq!(flattened(&image, K).shape(), [2, 12, 5]);
    assert_eq!(unflattened(&x, C).shape(), [2, 1, 3]);
    assert_eq!(selected(&image, N, &ids).shape(), [1, 2, 3, 4, 5]);
    assert_eq!(embedded(&x, N, &ids).shape(), [1, 2, 3]);
    assert_eq!(inserted(&x, K).names(), names!["K", "N", "C"]);
    assert_eq!(appended(&tensor!([3]; N)).to_vec(), [0, 0, 0, 1]);
    assert_eq!(expanded(&c).shape(), [2, 3]);
    assert_eq!(contracted(&x, &c, C).to_vec(), [6., 6.]);
    assert_eq!(tensordotted(&x, &c, C).to_vec(), [6., 6.]);
    assert_eq!(product(&x, &c).to_vec(), [6., 6.]);
    assert_eq!(joined(&c, &tensor!([2.]; N)).to_vec(), [2., 4., 6.]);
    assert_eq!(inner(&x, &c).to_vec(), [6., 6.]);
    let weight = Tensor::<(K, C)>::ones([1, 3]);
    let y: Tensor<(N, K)> = linear(&x, &weight, &tensor!([1.]; K));
    assert_eq!(y.to_vec(), [4., 4.]);
    assert_eq!(distances(&x, &weight).to_vec(), [0., 0.]);
    assert_eq!(attended(&x, &weight, &weight).to_vec(), [1.0; 6]);
    assert_eq!(without_the_prelude::total(&c).item(), 6.0);
    assert_eq!(known(&x, &c).to_vec(), sum(&x, &c).to_vec());
    assert_eq!(Scale(c).apply(&x).to_vec(), [1., 2., 3., 1., 2., 3.]);
}
