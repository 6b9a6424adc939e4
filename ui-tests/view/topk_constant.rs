use nomina::prelude::*;

dims! { N }
dims! { Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros((N.of(2), Rgb));
    let best = x.topk(2, Rgb);
}

// fix 3: dims! { N, C }
// fix: let best = x.rename(Rgb, C).topk(2, C);
