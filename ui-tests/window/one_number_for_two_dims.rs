use nomina::prelude::*;

dims! { H, W }

fn main() {
    let x = Tensor::<(H, W)>::zeros([4, 4]);
    let y = x.pad((H, W), [(1, 1)]);
}

// fix: let y = x.pad((H, W), [(1, 1), (1, 1)]);
