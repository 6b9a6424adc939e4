use nomina::prelude::*;

dims! { N }

fn main() {
    let every = N.i(..).step(2).step(3);
}

// fix: let every = N.i(..).step(6);
