use nomina::prelude::*;

fn main() {
    let names = names!["my dim"];
}

// fix: let names = names!["my_dim"];
