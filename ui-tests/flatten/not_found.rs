use nomina::prelude::*;

dims! { N, C, H, K, Features }

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = x.flatten((C, K), Features);
}

// fix: let y = x.flatten((C, H), Features);
