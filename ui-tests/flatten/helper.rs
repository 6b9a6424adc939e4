use nomina::prelude::*;

dims! { N, H, W, Pixels }

type Rows<D> = Tensor<Flattened<D, (H, W), Pixels>>;

fn pixels<D: Dims>(x: &Tensor<D>) -> Rows<D> where (H, W): Flatten<D, Pixels> {
    x.flatten((H, W), Pixels)
}

fn main() {
    let x = Tensor::<(N, W, H)>::zeros([2, 3, 4]);
    let y = pixels(&x);
}

// fix: let y = pixels(&x.align_to((N, H, W)));
