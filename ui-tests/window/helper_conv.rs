use nomina::prelude::*;

dims! { N, C, L, In, Out, K }

fn layer<D: Dims + Has<C>, E: Dims>(x: &Tensor<D>, w: &Tensor<E>) -> Tensor<Convolved<D, E, C>>
where
    L: SpatialOf<Without<D, C>, 1>,
    E: WeightFor<D, C, L, 1>,
{
    x.conv1d(C, L, w)
}

fn main() {
    let x = Tensor::<(N, C, L)>::zeros([2, 3, 4]);
    let w = Tensor::<(Out, In, K)>::zeros([5, 3, 2]);
    let y = layer(&x, &w);
}

// fix: let y = layer(&x, &w.rename(In, C));
