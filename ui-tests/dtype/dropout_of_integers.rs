use nomina::prelude::*;

dims! { N }

fn main() {
    let x = tensor!([1, 2]; N);
    let y = x.dropout();
}

// fix: let y = x.to::<f32>().dropout();
