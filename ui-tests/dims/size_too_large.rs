use nomina::prelude::*;

dims! { N = 99999999999999999999 }

fn main() {}

// fix: dims! { N = 9999999999 }
