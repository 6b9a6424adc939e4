//! ADBench's small LSTM: each next character of a text, by layers whose weights are diagonal.

use nomina::prelude::*;

use crate::inputs::Text;

dims! {
    /// Characters of the text.
    pub Time,
    /// Layers, one above the other.
    pub Layer,
    /// Forget, in, out, change.
    pub Gate = 4,
    /// What a layer knows, and the kinds of characters: there are as many.
    pub State,
    /// What scales the characters, what scales the last layer, and what is added there.
    pub End = 3,
}

/// Weights of the gates, their biases, and what stands at both ends.
pub type Parameters = (
    Tensor<(Layer, Gate, State), f64>,
    Tensor<(Layer, Gate, State), f64>,
    Tensor<(End, State), f64>,
);

/// What is given: the text, and the states before it.
pub struct Given {
    text: Tensor<(Time, State), f64>,
    hidden: Tensor<(Layer, State), f64>,
    cell: Tensor<(Layer, State), f64>,
}

pub fn inputs(sizes: &Text) -> Result<(Parameters, Given)> {
    let (layers, kinds) = (sizes.layers, sizes.kinds);
    let [weights, biases, ends, hidden, cell] = sizes.inputs();
    let gates = (Layer.of(layers), Gate, State.of(kinds));
    let parameters = (
        Tensor::from_vec(weights, gates)?,
        Tensor::from_vec(biases, gates)?,
        Tensor::from_vec(ends, (End, State.of(kinds)))?,
    );
    let given = Given {
        text: Tensor::from_vec(sizes.text(), [sizes.characters, kinds])?,
        hidden: Tensor::from_vec(hidden, [layers, kinds])?,
        cell: Tensor::from_vec(cell, [layers, kinds])?,
    };
    Ok((parameters, given))
}

/// The mean over characters and kinds of what the next character's probability is short of one, as a logarithm.
pub fn loss(
    weights: &Tensor<(Layer, Gate, State), f64>,
    biases: &Tensor<(Layer, Gate, State), f64>,
    ends: &Tensor<(End, State), f64>,
    given: &Given,
) -> Tensor<(), f64> {
    let last = given.text.size(Time) - 1;
    let (weights, biases) = (weights.unbind(Layer), biases.unbind(Layer));
    let (mut hidden, mut cell) = (given.hidden.unbind(Layer), given.cell.unbind(Layer));
    let mut above = Vec::with_capacity(last);
    for mut x in (given.text.narrow(Time, ..last) * ends.select(End, 0)).unbind(Time) {
        for layer in 0..weights.len() {
            let gates = stack((&x, &hidden[layer], &x, &hidden[layer]), Gate);
            let gates = (gates * &weights[layer] + &biases[layer]).unbind(Gate);
            let kept = &cell[layer] * gates[0].sigmoid();
            cell[layer] = kept + gates[1].sigmoid() * gates[3].tanh();
            hidden[layer] = gates[2].sigmoid() * cell[layer].tanh();
            x = hidden[layer].clone();
        }
        above.push(x);
    }
    let scores = stack(&above, Time) * ends.select(End, 1) + ends.select(End, 2);
    -(scores.log_softmax(State) * given.text.narrow(Time, 1..)).mean(..)
}
