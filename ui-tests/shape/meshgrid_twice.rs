use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = meshgrid((&x, &x));
}

// fix 3: dims! { N, M }
// fix: let y = meshgrid((&x, &x.rename(N, M)));
