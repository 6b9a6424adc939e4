use nomina::prelude::*;

dims! { N, C, H, W, Out, K }

fn main() {
    let images = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 4]);
    let weight = Tensor::<(Out, C, K)>::zeros([5, 3, 2]);
    let y = images.conv2d(C, (H, W), &weight);
}

// fix: let y = images.conv2d(C, (H, W), &weight.unflatten(K, (H.of(2), W.of(1))));
