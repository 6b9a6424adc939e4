use nomina::prelude::*;

dims! { Batch = "batch"x }

fn main() {}

// fix: dims! { Batch = "batch" }
