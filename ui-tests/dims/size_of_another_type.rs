use nomina::prelude::*;

dims! { N = 3u8 }

fn main() {}

// fix: dims! { N = 3 }
