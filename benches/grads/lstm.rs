//! ADBench's small LSTM: predicts each next character of a text, with diagonal weights.

use nomina::prelude::*;

use crate::inputs::Text;

dims! {
    /// Characters of the text.
    pub Time,
    /// Stacked layers.
    pub Layer,
    /// The gates: forget, input, output, change.
    pub Gate = 4,
    /// The state of a layer; its size is that of the alphabet.
    pub State,
    /// The scale of the input, the scale of the output, and the bias of the output.
    pub End = 3,
}

/// The weights and biases of the gates, and those of the input and output.
pub type Parameters = (
    Tensor<(Layer, Gate, State), f64>,
    Tensor<(Layer, Gate, State), f64>,
    Tensor<(End, State), f64>,
);

/// The constant inputs: the text, and the initial states.
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

/// Returns ADBench's loss: the negative log probability of the next character, averaged over characters and the
/// alphabet.
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
