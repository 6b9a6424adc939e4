use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,), _>::full([2], 1_i64);
    let y = x.mean(N);
}

// fix: let y = x.to::<f32>().mean(N);
