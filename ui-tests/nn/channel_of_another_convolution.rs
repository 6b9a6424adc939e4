//! A convolution of another one's channel.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Rgb, Mid, Out, H, W }

fn main() {
    let second = Conv2d::<(H, W), Mid, Out>::new(Mid.of(4), Out.of(8), (H.of(3), W.of(3)));
    let x: Tensor<(N, Rgb, H, W)> = Tensor::ones([1, 3, 8, 8]);
    let y = second.forward(&x);
    let _ = y;
}
// fix: let y = second.forward(&Tensor::<(N, Mid, H, W)>::ones([1, 4, 8, 8]));
