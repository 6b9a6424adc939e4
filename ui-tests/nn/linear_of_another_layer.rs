//! The layers of a feed-forward block in the wrong order.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Seq, Hidden, Inner }

fn main() {
    let up = Linear::new(Hidden.of(4), Inner.of(8));
    let down = Linear::new(Inner.of(8), Hidden.of(4));
    let x: Tensor<(N, Seq, Hidden)> = Tensor::ones([1, 2, 4]);
    let y = down.forward(&x);
    let _ = (up, y);
}
// fix: let y = up.forward(&x);
