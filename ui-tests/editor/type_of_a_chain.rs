use nomina::prelude::*;

dims! { B, H, W, C, Pixels }

fn main() {
    let x = Tensor::<(B, H, W, C)>::zeros([2, 3, 4, 5]).to::<f64>();
    let y = x.flatten((H, W), Pixels).align_to((C, ..)).select(B, 0) + 1.0;
    let () = einsum!(x[B, H, W, C] * y[C, Pixels] -> [Pixels, B, H, W]);
}

// fix: let _: Tensor<(Pixels, B, H, W), f64> = einsum!(x[B, H, W, C] * y[C, Pixels] -> [Pixels, B, H, W]);
