use nomina::prelude::*;

dims! { Conv = "2d" }

fn main() {}

// fix: dims! { Conv = "conv2d" }
