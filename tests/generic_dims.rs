//! Functions over lists with generic dims: the bound `(N, B): Distinct` tells rustc where each dim is.

use nomina::dims::IndexOf;
use nomina::prelude::*;

dims! { N, C, H, Month }

fn total<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N,)>
where
    (N, B): Distinct,
{
    x.sum(B::default())
}

fn standard<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N, B)>
where
    (N, B): Distinct,
{
    let b = B::default();
    (x - x.mean(keep(b))) / x.std(keep(b))
}

fn first<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(B,)>
where
    (N, B): Distinct,
{
    x.select(N, 0)
}

fn all<B: Dim>(x: &Tensor<(N, B)>) -> f32
where
    (N, B): Distinct,
{
    x.sum((N, B::default())).item()
}

fn alone<B: Dim>(x: &Tensor<(B,)>) -> Tensor<()> {
    x.sum(B::default())
}

fn product<R: Dim, I: Dim, O: Dim>(x: &Tensor<(R, I)>, w: &Tensor<(I, O)>) -> Tensor<(R, O)>
where
    (R, O): Distinct,
{
    x.matmul(w)
}

fn months<R: Dim, I: Dim>(
    x: &Tensor<(R, I)>,
    at: &Tensor<(R,), i64>,
) -> Tensor<Selected<(R, I), R, (Month,)>>
where
    (R, I): Distinct,
    (Month,): IndexOf<(R, I), R>,
{
    x.group_by(R::default(), at, Month.of(2)).mean()
}

fn filled<R: Dim, I: Dim>() -> Tensor<(R, I)>
where
    (R, I): Distinct,
{
    Tensor::full([2, 3], 2.0)
}

#[relations]
fn spread<D, S: AxesOf<D> + Copy>(x: &Tensor<D>, dims: S) -> Tensor<Without<D, S>> {
    x.amax(dims) - x.amin(dims)
}

#[test]
fn a_generic_dim_has_its_place() {
    let x = tensor!([[1., 2., 6.], [4., 4., 1.]]; N, C);
    assert_eq!(total(&x).to_vec(), [9., 9.]);
    assert_eq!(first(&x).to_vec(), [1., 2., 6.]);
    assert_eq!(all(&x), 18.0);
    assert_eq!(alone(&first(&x)).item(), 9.0);
    assert!(standard(&x).sum(C).abs().amax(..).item() < 1e-5);
    // A dim and its prime have one head for all primes; `N` and `C` may share one.
    let primed = x.rename(C, Prime(N));
    assert_eq!(total(&primed).to_vec(), [9., 9.]);
    let filled: Tensor<(Prime<N>, Prime<C>)> = filled();
    assert_eq!(filled.to_vec(), [2.0; 6]);
    let w = tensor!([[1.], [0.], [1.]]; C, H);
    assert_eq!(product(&x, &w).to_vec(), [7., 5.]);
    let at = tensor!([1, 1]; N);
    let means: Tensor<(Month, C)> = months(&x, &at);
    assert_eq!(means.select(Month, 1).to_vec(), [2.5, 3., 3.5]);
}

#[test]
fn a_list_of_dims_stays_a_list() {
    let x = tensor!([[1., 3.], [5., 5.]]; N, C);
    assert_eq!(spread(&x, C).to_vec(), [2., 0.]);
    assert_eq!(spread(&x, (N, C)).item(), 4.0);
    assert_eq!(spread(&x, ..).item(), 4.0);
    assert_eq!(spread(&x, keep(N)).shape(), [1, 2]);
}
