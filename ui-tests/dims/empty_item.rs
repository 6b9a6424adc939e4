use nomina::prelude::*;

dims! { , N }

fn main() {}

// fix: dims! { N }
