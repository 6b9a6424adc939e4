use nomina::prelude::*;
use nomina_mesh::DynSharded;

fn shift(x: &DynSharded) -> Result<DynSharded> {
    x + "one"
}

fn main() {}

// fix: x + 1.0
