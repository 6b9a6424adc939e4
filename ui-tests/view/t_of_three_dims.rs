use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = x.t();
}

// fix: let y = x.transpose(N, H);
