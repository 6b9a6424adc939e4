use nomina::prelude::*;

dims! { N, C, H, W }

fn main() {
    let x = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 5]);
    let y = x.flatten((C, H), N);
}

// fix 3: dims! { N, C, H, W, Features }
// fix: let y = x.flatten((C, H), Features);
