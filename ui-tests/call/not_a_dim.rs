use nomina::prelude::*;

dims! { N }

fn name<A: Axis>() -> Option<&'static str> {
    A::NAME
}

fn main() {
    let x = name::<u32>();
}

// fix: let x = name::<N>();
