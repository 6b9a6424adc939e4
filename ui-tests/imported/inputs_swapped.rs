//! Two inputs, given in the other order.
use nomina::prelude::*;

dims! { Batch, Token, Key, Class, Corner }

struct Output {
    boxes: Tensor<(Batch, Token, Corner)>,
    scores: Tensor<(Batch, Token, Class)>,
}

struct Model {
    corner: Tensor<(Key, Corner)>,
    class: Tensor<(Key, Class)>,
}

impl Model {
    fn forward(&self, state: &Tensor<(Batch, Token, Key)>, mask: &Tensor<(Batch, Token)>) -> Result<Output> {
        let boxes: Tensor<(Batch, Token, Corner)> = state.matmul_on(Key, &self.corner);
        let logits: Tensor<(Batch, Token, Class)> = state.matmul_on(Key, &self.class);
        let scores: Tensor<(Batch, Token, Class)> = &logits + &mask.align_as(&logits);
        Ok(Output { boxes, scores })
    }
}

fn main() {
    let model = Model { corner: Tensor::zeros([5, 4]), class: Tensor::zeros([5, 7]) };
    let state = Tensor::<(Batch, Token, Key)>::zeros([2, 3, 5]);
    let mask = Tensor::<(Batch, Token)>::zeros([2, 3]);
    let output = model.forward(&mask, &state);
}

// fix 29: let output = model.forward(&state, &mask);
