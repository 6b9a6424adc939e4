use nomina::prelude::*;

dims! { N, C, H, Features }

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = x.flatten((H, C), Features);
}

// fix: let y = x.align_to((N, H, C)).flatten((H, C), Features);
