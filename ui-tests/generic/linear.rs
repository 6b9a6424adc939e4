use nomina::prelude::*;

dims! { N, C, In, Out }

#[relations]
fn linear<D>(
    x: &Tensor<D>,
    weight: &Tensor<(In, Out)>,
    bias: &Tensor<(Out,)>,
) -> Tensor<Sum<Contracted<D, (In, Out), In>, (Out,)>> {
    x.contract(weight, In) + bias
}

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let weight = Tensor::<(In, Out)>::ones([3, 4]);
    let y = linear(&x, &weight, &tensor!([0., 0., 0., 0.]; Out));
    let _: Tensor<(N, C)> = y.sum(Out);
}

// fix 15: let x = Tensor::<(N, C, In)>::ones([2, 5, 3]);
