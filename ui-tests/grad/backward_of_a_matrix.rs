use nomina::prelude::*;

dims! { N, K }

fn main() {
    let y = Tensor::<(N, K)>::zeros([2, 3]).with_grad();
    y.backward();
}

// fix: y.sum(..).backward();
