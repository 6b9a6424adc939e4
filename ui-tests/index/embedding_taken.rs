use nomina::prelude::*;

dims! { V, Features }

fn main() {
    let weight = Tensor::<(V, Features)>::zeros([10, 4]);
    let ids = tensor!([3, 0]; Features);
    let y = weight.embedding(V, &ids);
}

// fix 3: dims! { V, Features, T }
// fix 7: let ids = tensor!([3, 0]; T);
