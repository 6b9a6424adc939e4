use nomina::prelude::*;

#[relations(let N0 = Sum<D, D>, let N1 = Sum<N0, N0>, let N2 = Sum<N1, N1>, let N3 = Sum<N2, N2>, let N4 = Sum<N3, N3>, let N5 = Sum<N4, N4>, let N6 = Sum<N5, N5>, let N7 = Sum<N6, N6>, let N8 = Sum<N7, N7>, let N9 = Sum<N8, N8>, let N10 = Sum<N9, N9>, let N11 = Sum<N10, N10>, let N12 = Sum<N11, N11>)]
fn total<D: Dims>(x: &Tensor<D>) -> Tensor<N12> {
    x + x
}

fn main() {}

// fix 3: #[relations(let N12 = Sum<D, D>)]
