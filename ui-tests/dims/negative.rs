use nomina::prelude::*;

dims! { N = -3 }

fn main() {}

// fix: dims! { N = 3 }
