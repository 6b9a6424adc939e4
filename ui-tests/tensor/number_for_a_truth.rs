use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([true, 0]; N; bool);
    let y: bool = x.all(N).item();
}

// fix: let x = tensor!([true, false]; N; bool);
