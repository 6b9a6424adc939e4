use nomina::prelude::*;

dims! { N, C, H }

fn scale<D: Dims>(x: &Tensor<D>, s: &Tensor<(C,)>) -> Tensor<D>
where
    (C,): AlignInto<D>,
{
    x * s.align_as(x)
}

fn main() {
    let x = Tensor::<(N, H)>::zeros([2, 3]);
    let y = scale(&x, &Tensor::zeros([3]));
}

// fix 13: let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
