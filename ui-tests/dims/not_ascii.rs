use nomina::prelude::*;

dims! { größe }

fn main() {}

// fix: dims! { größe = "size" }
