use nomina::prelude::*;

dims! { N, type }

fn main() {}

// fix: dims! { N, TypeDim = "type" }
