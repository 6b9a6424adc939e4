use nomina::prelude::*;

dims! { T, K }

fn main() {
    let q = tensor!([[1, 2]]; T, K);
    let y = q.cdist(&q.prime(T));
}

// fix: let y = q.to::<f32>().cdist(&q.prime(T).to::<f32>());
