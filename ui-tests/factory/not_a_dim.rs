use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N, u32)>::zeros([2, 3]);
}
