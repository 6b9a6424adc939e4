use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    mod other {
        use nomina::prelude::*;
        dims! { pub Rgb = 4 }
    }
    let y = Tensor::<(other::Rgb,)>::zeros([4]);
    let z = &x + &y;
}

// fix 9: dims! { pub Rgb = 3 }
// fix 11: let y = Tensor::<(other::Rgb,)>::zeros([3]);
