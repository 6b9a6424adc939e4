use nomina::prelude::*;

dims! { N }

fn main() {
    let N = 3;
}

// fix: let n = 3;
