use nomina::prelude::*;

dims! { N, C, N }

fn main() {}

// fix: dims! { N, C }
