use nomina::prelude::*;

dims! { N = 3.5 }

fn main() {}

// fix: dims! { N = 3 }
