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

// fix: let y = hand_over(y.rename(Features, C));
