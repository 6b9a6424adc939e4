use nomina::prelude::*;

dims! { Batch = "" }

fn main() {}

// fix: dims! { Batch = "batch" }
