use nomina::prelude::*;

dims! { N, C }

fn main() {
    mod other {
        use nomina::prelude::*;
        dims! { pub Channels }
    }
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.sum(other::Channels);
}

// fix 8: dims! { pub Channels = "C" }
