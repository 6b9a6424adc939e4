use nomina::prelude::*;

fn main() {
    let names = names![None, "C"];
}

// fix: let names = names![_, "C"];
