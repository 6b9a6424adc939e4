use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let mut out = tensor!([0, 0]; N);
    x.exp_out(&mut out);
}

// fix 7: let mut out = Tensor::<(N,)>::zeros([2]);
