use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let mut out = Tensor::<(C,)>::zeros([3]);
    x.add_out(1.0, &mut out);
}

// fix 7: let mut out = Tensor::<(N, C)>::zeros([2, 3]);
