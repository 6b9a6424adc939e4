use nomina::prelude::*;

dims! { N, C, H, W }

fn main() {
    let x = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 4]);
    let y = x.max_pool1d((H, W), [2]);
}

// fix: let y = x.max_pool2d((H, W), [2, 2]);
