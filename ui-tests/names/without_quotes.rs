use nomina::prelude::*;

fn main() {
    let names = names![N, "C"];
}

// fix: let names = names!["N", "C"];
