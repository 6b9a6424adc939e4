use nomina::prelude::*;

dims! { N, _ }

fn main() {}

// fix: dims! { N }
