use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N, N)>::zeros([2, 3]);
}
