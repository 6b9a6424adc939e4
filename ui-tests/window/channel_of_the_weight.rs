use nomina::prelude::*;

dims! { N, C, H, W, Out, In, KH, KW }

fn main() {
    let images = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 4]);
    let weight = Tensor::<(Out, In, KH, KW)>::zeros([5, 3, 2, 2]);
    let y = images.conv2d(C, (H, W), &weight);
}

// fix: let y = images.conv2d(C, (H, W), &weight.rename(In, C));
