use nomina::prelude::*;

dims! { N, C }

fn main() {
    fn take(_: &Tensor<(N, C)>) {}
    let x = Tensor::<(N,)>::zeros([2]);
    take(&x);
}

// fix: take(&x.unsqueeze(C).align_to((N, C)));
