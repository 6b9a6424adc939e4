use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.bitwise_not();
}

// fix: let y = x.to::<i32>().bitwise_not();
