use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.mean(C).item();
}

// fix: let y = x.mean(..).item();
