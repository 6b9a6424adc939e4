use nomina::prelude::*;

dims! { Batch = "my batch" }

fn main() {}

// fix: dims! { Batch = "my_batch" }
