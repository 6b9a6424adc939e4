use nomina::prelude::*;

dims! { N, Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    mod other {
        use nomina::prelude::*;
        dims! { pub Classes = 10 }
    }
    let y = x.rename(Rgb, other::Classes).contract(&x, Rgb);
}

// fix: let y = x.prime(Rgb).contract(&x, N);
