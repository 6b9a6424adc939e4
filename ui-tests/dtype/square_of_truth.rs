use nomina::prelude::*;

dims! { N }

fn main() {
    let x = tensor!([true, false]; N);
    let y = x.square();
}

// fix: let y = x.to::<i64>().square();
