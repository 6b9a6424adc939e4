use nomina::prelude::*;

dims! { N, H, W }

fn main() {
    let x = Tensor::<(N, H, W)>::zeros([2, 4, 4]);
    let y = x.max_pool2d(.., [2, 2]);
}

// fix: let y = x.max_pool2d((H, W), [2, 2]);
