use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(C, N)>::zeros([3, 2]);
    let z = cat(&[&x, &y], N);
}

// fix: let z = cat(&[&x, &y.align_to((N, C))], N);
