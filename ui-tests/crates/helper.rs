use nomina::prelude::*;

mod model {
    nomina::dims! { pub N, pub C }
}

dims! { N, C, Features }

fn hand_over<D: Dims + SpelledAs<(model::N, model::C)>>(x: Tensor<D>) -> Tensor<(model::N, model::C)> {
    x.into_dims()
}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N, Features)>::zeros([2, 3]);
    let x = hand_over(x);
    let y = hand_over(y);
}

// The helper wants dims of these names, whoever declared them.
// fix 15: let y = Tensor::<(model::N, model::C)>::zeros([2, 3]);
