use nomina::prelude::*;

dims! { N, C, H, W, Features }

fn main() {
    let x = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 5]);
    let y = x.flatten((C, W), Features);
}

// fix: let y = x.align_to((N, H, C, W)).flatten((C, W), Features);
