use nomina::prelude::*;

dims! { C }

fn main() {
    let x = Tensor::<(C, Wild)>::zeros([2, 3]);
    let y = Tensor::<(Wild, C)>::zeros([2, 3]);
    let z = &x + &y;
}
