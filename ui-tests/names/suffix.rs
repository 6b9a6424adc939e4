use nomina::prelude::*;

fn main() {
    let names = names!["N"x];
}

// fix: let names = names!["N"];
