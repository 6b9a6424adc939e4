use nomina::prelude::*;

dims! { C }

fn main() {
    let x = Tensor::<(C, Wild)>::zeros([2, 3]);
    let y = Tensor::<(Wild, C)>::zeros([2, 3]);
    let z = &x + &y;
}

// fix 3: dims! { N, C }
// fix: let z = x.refine_names((C, N)).align_to((N, C)) + y.refine_names((N, C));
// fix 7: let y = Tensor::<(Wild, C)>::zeros([3, 2]);
