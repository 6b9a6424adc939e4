use nomina::prelude::*;

#[relations()]
struct Layer;

fn main() {}

// fix 3:
