use nomina::prelude::*;

dims! { N, Batch }

fn main() {
    mod other {
        use nomina::prelude::*;
        dims! { pub Batch = "N" }
    }
    let x = Tensor::<(N, other::Batch)>::zeros([2, 3]);
}

// fix: let x = Tensor::<(N, Batch)>::zeros([2, 3]);
