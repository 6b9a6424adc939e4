use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<N>::zeros([2]);
}
