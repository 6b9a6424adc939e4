use nomina::prelude::*;

dims! { Rgb("rgb") = "colors" }

fn main() {}

// fix: dims! { Rgb("rgb") }
