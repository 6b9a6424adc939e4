use nomina::prelude::*;

dims! { N, C }

fn main() {
    let half = C.i(0.5);
}

// fix: let half = C.i(0);
