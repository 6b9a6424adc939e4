//! A residual connection whose branch came out with its dims in another order.
use nomina::prelude::*;
dims! { N, Seq, Hidden }

fn main() {
    let x: Tensor<(N, Seq, Hidden)> = Tensor::ones([1, 3, 3]);
    let w = Tensor::<(Hidden,)>::ones([3]).with_grad();
    let branch = (&x * &w).permute((N, Hidden, Seq));
    let y = &x + &branch;
    y.sum(..).backward();
}
// fix: let y = &x + branch.align_as(&x);
