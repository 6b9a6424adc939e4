//! A layer's weight, used where another layer's belongs: the product sums over a dim that the input has not.
use nomina::prelude::*;
dims! { N, Seq, Hidden, Ffn }

fn main() {
    let x: Tensor<(N, Seq, Hidden)> = Tensor::ones([1, 2, 3]);
    let up = Tensor::<(Ffn, Hidden)>::ones([4, 3]).with_grad();
    let down = Tensor::<(Hidden, Ffn)>::ones([3, 4]).with_grad();
    let y = x.contract(&down, Ffn);
    y.sum(..).backward();
    let _ = up;
}
// fix: let y = x.contract(&up, Hidden);
