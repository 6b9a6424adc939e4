use nomina::prelude::*;

dims! { N }

fn main() {
    let start = 2_i64;
    let x = Tensor::<(N,)>::arange(start, 9, 1);
}

// fix 7: let x = Tensor::<(N,), i64>::arange(start, 9, 1);
