use nomina::prelude::*;

dims! { N }

fn main() {
    let every = N.i(0).step(2);
}

// fix: let every = N.i(..).step(2);
