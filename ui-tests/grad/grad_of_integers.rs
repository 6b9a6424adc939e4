use nomina::prelude::*;

dims! { N }

fn main() {
    let mut i = tensor!([1, 2]; N);
    i.requires_grad_();
}

// fix: i.float().requires_grad_();
