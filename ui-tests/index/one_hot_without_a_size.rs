use nomina::prelude::*;

dims! { N, Classes }

fn main() {
    let ids = tensor!([2, 0]; N);
    let y = ids.one_hot(Classes);
}

// fix: let y = ids.one_hot(Classes.of(3));
