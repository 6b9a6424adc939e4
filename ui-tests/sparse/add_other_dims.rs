use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Sparse::<(N, C)>::from_entries(&[([0, 1], 2.0)], [2, 3]);
    let z = Sparse::<(N, K)>::from_entries(&[([0, 1], 2.0)], [2, 3]);
    let y = x.add(&z);
}

// fix: let y = x.add(&z.rename(K, C));
