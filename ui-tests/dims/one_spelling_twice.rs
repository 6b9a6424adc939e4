use nomina::prelude::*;

dims! { N, Batch = "N" }

fn main() {}

// fix: dims! { N }
