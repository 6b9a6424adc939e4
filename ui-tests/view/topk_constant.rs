use nomina::prelude::*;

dims! { N }
dims! { Rgb = 3 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros((N.of(2), Rgb));
    let best = x.topk(2, Rgb);
}
