use nomina::prelude::*;

dims! { N, H = 4, W = 3, Pixels = 16 }

fn main() {
    let x = Tensor::<(N, H, W)>::zeros([2, 4, 3]);
    let y = x.flatten((H, W), Pixels);
}

// fix 3: dims! { N, H = 4, W = 3, Pixels = 12 }
