use nomina::prelude::*;

dims! { B, N, C }

fn widen<D: Dims + nomina::dims::ExpandInto<(B, N)>>(x: &Tensor<D>) -> Tensor<(B, N)> {
    x.expand((B.of(2), N.of(3)))
}

fn main() {
    let x = Tensor::<(C,)>::zeros([3]);
    let y = widen(&x);
}

// fix: let y = widen(&x.rename(C, N));
