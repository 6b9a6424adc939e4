use nomina::prelude::*;

dims! { N, C, Features }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.ravel("Features");
}

// fix: let y = x.ravel(Features);
