use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let () = x.sum(C);
}

// fix: let _: Tensor<(N,)> = x.sum(C);
