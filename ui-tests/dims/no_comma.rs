use nomina::prelude::*;

dims! { N C }

fn main() {}

// fix: dims! { N, C }
