use nomina::prelude::*;

dims! { N<T> }

fn main() {}

// fix: dims! { N }
