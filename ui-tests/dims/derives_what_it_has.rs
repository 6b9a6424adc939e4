use nomina::prelude::*;

dims! { #[derive(Clone)] N }

fn main() {}

// fix: dims! { N }
