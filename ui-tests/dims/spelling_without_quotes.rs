use nomina::prelude::*;

dims! { Rgb(rgb) = 3 }

fn main() {}

// fix: dims! { Rgb("rgb") = 3 }
