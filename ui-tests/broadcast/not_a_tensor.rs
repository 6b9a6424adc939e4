use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let z = &x + "one";
}

// fix: let z = &x + 1.0;
