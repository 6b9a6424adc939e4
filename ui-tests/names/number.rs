use nomina::prelude::*;

fn main() {
    let names = names!["N", 1];
}

// fix: let names = names!["N", "C"];
