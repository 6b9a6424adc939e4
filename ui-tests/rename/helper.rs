use nomina::prelude::*;

dims! { N, C, Batch }

fn batched<D: Dims>(x: &Tensor<D>) -> Tensor<Renamed<D, N, Batch>>
where
    N: Rename<D, Batch>,
{
    x.rename(N, Batch)
}

fn main() {
    let x = Tensor::<(C,)>::zeros([2]);
    let y = batched(&x);
}

// fix 13: let x = Tensor::<(N, C)>::zeros([2, 3]);
