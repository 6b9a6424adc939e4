use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.unsqueeze(C);
}

// fix 3: dims! { N, C, H }
// fix 7: let y = x.unsqueeze(H);
