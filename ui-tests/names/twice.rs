use nomina::prelude::*;

fn main() {
    let names = names!["N", "C", "N"];
}

// fix: let names = names!["N", "C", _];
