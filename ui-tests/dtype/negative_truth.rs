use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,), _>::full([2], true);
    let y = -&x;
}

// fix: let y = x.logical_not();
