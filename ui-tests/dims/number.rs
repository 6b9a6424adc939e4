use nomina::prelude::*;

dims! { 3 }

fn main() {}

// fix: dims! { N = 3 }
