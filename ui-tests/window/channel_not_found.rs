use nomina::prelude::*;

dims! { N, C, L, Out, K }

fn main() {
    let x = Tensor::<(N, L)>::zeros([2, 4]);
    let weight = Tensor::<(Out, C, K)>::zeros([5, 3, 2]);
    let y = x.conv1d(C, L, &weight);
}

// fix: let y = x.align_to((N, C, L)).expand((N.of(2), C.of(3), L.of(4))).conv1d(C, L, &weight);
