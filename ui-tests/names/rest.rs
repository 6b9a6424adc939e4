use nomina::prelude::*;

fn main() {
    let names = names!["N", ..];
}

// fix: let names = names!["N", _];
