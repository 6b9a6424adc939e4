use nomina::prelude::*;

dims! { N = 3 * 4 }

fn main() {}

// fix: dims! { N = 12 }
