use nomina::prelude::*;

dims! { r#type }

fn main() {}

// fix: dims! { Type = "type" }
