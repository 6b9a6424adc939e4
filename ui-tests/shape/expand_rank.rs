use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([1, 3]);
    let y = x.expand([2, 2, 3]);
}
