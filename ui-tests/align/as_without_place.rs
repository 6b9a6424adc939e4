use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, H)>::zeros([2, 3]);
    let scale = Tensor::<(C,)>::zeros([3]);
    let y = scale.align_as(&x);
}

// fix 6: let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
