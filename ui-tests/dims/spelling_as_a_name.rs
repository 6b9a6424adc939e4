use nomina::prelude::*;

dims! { Batch = batch }

fn main() {}

// fix: dims! { Batch = "batch" }
