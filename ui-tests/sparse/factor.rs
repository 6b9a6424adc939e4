use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Sparse::<(N, C)>::from_entries(&[([0, 1], 2.0)], [2, 3]);
    let y = x.mul("twice");
}

// fix: let y = x.mul(2.0);
