use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N, Prime<N>)>::zeros([2, 2]);
    let y = x.prime(N);
}

// fix 3: dims! { N, M }
// fix 7: let y = x.rename(N, M);
