use nomina::prelude::*;

dims! { N }

fn main() {
    let mut x = Tensor::<(N,), _>::full([2], 1_i32);
    let y = Tensor::<(N,)>::zeros([2]);
    x += &y;
}

// fix: x += y.to::<i32>();
