use nomina::prelude::*;

dims! { N }

fn main() {
    let first = N.i("first");
}

// fix: let first = N.i(0);
