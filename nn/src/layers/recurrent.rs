//! Recurrent layers.

use std::marker::PhantomData;

use nomina::dims::{
    Contract, Contracted, Dim, Dims, Distinct, Has, Prime, SizesFor, Without, position,
};
use nomina::{DynTensor, Element, Error, ErrorKind, Float, Result, Tensor};
use nomina_core::op::Op;
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Node};
use nomina_runtime::grad::custom;
use nomina_runtime::memory::list;
use nomina_runtime::tensor::about;

use super::linear::linear;
use crate::Module;
use crate::call::{typed, uniform};
use crate::param::Param;

nomina::prelude::dims! {
    /// The gates of a recurrent layer, in PyTorch's order: input, forget, cell and output of an LSTM; reset, update and
    /// new of a GRU.
    pub Gate
}

/// The dims of a recurrent layer's outputs: those of the inputs without `I`, then the state's dim `H`.
pub type Outputs<D, I, H> = Contracted<D, (H, I), I>;

macro_rules! recurrent {
    ($(#[$docs:meta])* $name:ident, $gates:literal, $states:literal, $step:ident) => {
        $(#[$docs])*
        #[derive(Clone, Module)]
        #[module(crate = crate)]
        pub struct $name<S: Dim, I: Dim, H: Dim, T: Element = f32> {
            /// The weight from inputs to gates.
            pub input: Param<(Gate, H, I), T>,
            /// The weight from the state to gates.
            pub hidden: Param<(Gate, H, Prime<H>), T>,
            /// The bias of the inputs' part.
            pub input_bias: Param<(Gate, H), T>,
            /// The bias of the state's part.
            pub hidden_bias: Param<(Gate, H), T>,
            #[module(skip)]
            sequence: PhantomData<S>,
        }

        impl<S: Dim, I: Dim, H: Dim> $name<S, I, H>
        where
            (Gate, H, I): Distinct,
            (Gate, H, Prime<H>): Distinct,
            (Gate, H): Distinct,
        {
            /// Creates a layer whose weights and biases are uniform within the inverse square root of the state's size,
            /// like PyTorch's.
            ///
            /// # Errors
            /// If a product of sizes is too large, or an allocation fails.
            #[twin]
            pub fn try_new(input: impl SizesFor<I>, state: impl SizesFor<H>) -> Result<Self> {
                let (inputs, states) = (input.sizes()[0], state.sizes()[0]);
                let bound = 1.0 / (states as f64).max(1.0).sqrt();
                Ok(Self {
                    input: Param::new(uniform(&[$gates, states, inputs], -bound, bound)?),
                    hidden: Param::new(uniform(&[$gates, states, states], -bound, bound)?),
                    input_bias: Param::new(uniform(&[$gates, states], -bound, bound)?),
                    hidden_bias: Param::new(uniform(&[$gates, states], -bound, bound)?),
                    sequence: PhantomData,
                })
            }
        }

        impl<S: Dim, I: Dim, H: Dim, T: Float> $name<S, I, H, T> {
            /// Computes the state at each position, starting from zeros.
            ///
            /// # Errors
            /// If sizes differ from the weights', or an allocation fails.
            #[twin]
            pub fn try_forward<D: Dims + Has<S>>(&self, x: &Tensor<D, T>) -> Result<Tensor<Outputs<D, I, H>, T>>
            where
                I: Contract<D, (H, I)>,
                Outputs<D, I, H>: Has<S> + Distinct,
                Without<Outputs<D, I, H>, S>: Distinct,
            {
                Ok(self.try_forward_from(x, None)?.0)
            }

            /// Computes the state at each position and the final state, starting from an earlier state if given.
            ///
            /// # Errors
            /// If sizes differ from the weights' or the earlier state's, or an allocation fails.
            #[twin]
            pub fn try_forward_from<D: Dims + Has<S>>(
                &self,
                x: &Tensor<D, T>,
                state: Option<&[Tensor<Without<Outputs<D, I, H>, S>, T>; $states]>,
            ) -> Result<(
                Tensor<Outputs<D, I, H>, T>,
                [Tensor<Without<Outputs<D, I, H>, S>, T>; $states],
            )>
            where
                I: Contract<D, (H, I)>,
                Outputs<D, I, H>: Has<S> + Distinct,
                Without<Outputs<D, I, H>, S>: Distinct,
            {
                let state = state.map(|state| state.each_ref().map(Tensor::to_dyn));
                let weights = [
                    self.input.to_dyn(),
                    self.hidden.to_dyn(),
                    self.input_bias.to_dyn(),
                    self.hidden_bias.to_dyn(),
                ];
                let sequence_dim = position::<S, Outputs<D, I, H>>();
                let (found, state) = run_steps(&x.to_dyn(), &weights, sequence_dim, state, $step)?;
                let mut last = Vec::new();
                for raw in state {
                    last.push(typed(raw)?);
                }
                let last = last.try_into();
                Ok((typed(found)?, last.unwrap_or_else(|_| unreachable!("as many states as were given"))))
            }
        }
    };
}
recurrent!(
    /// Long short-term memory along `S`: inputs along `I`, states along `H`, which come last. Its state is `[hidden,
    /// cell]`. Hochreiter and Schmidhuber, "Long Short-Term Memory".
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N, Time, In, Hidden }
    /// let layer = Lstm::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
    /// let x = Tensor::<(N, Time, In)>::randn([2, 7, 3]);
    /// let (y, state) = layer.forward_from(&x, None);
    /// let y: Tensor<(N, Time, Hidden)> = y;
    /// let [hidden, cell]: [Tensor<(N, Hidden)>; 2] = state;
    /// assert!(y.select(Time, 6).equal(&hidden));
    /// ```
    Lstm, 4, 2, lstm
);
recurrent!(
    /// A gated recurrent unit along `S`: inputs along `I`, states along `H`, which come last. Cho et al., "Learning
    /// Phrase Representations using RNN Encoder-Decoder".
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N, Time, In, Hidden }
    /// let layer = Gru::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
    /// let y: Tensor<(N, Time, Hidden)> = layer.forward(&Tensor::<(Time, N, In)>::randn([7, 2, 3]).align_to((N, Time, In)));
    /// ```
    Gru, 3, 1, gru
);

/// A step function: computes the next states from the gates of the input, the gates of the state, and the states.
type StepFn<const K: usize> = fn(&[Raw], &[Raw], &[Raw; K]) -> Result<[Raw; K]>;

/// Runs the steps along the sequence, which is at `sequence_dim` in the outputs' dims.
fn run_steps<const K: usize>(
    x: &DynTensor,
    [w_input, w_hidden, b_input, b_hidden]: &[DynTensor; 4],
    sequence_dim: usize,
    state: Option<[DynTensor; K]>,
    step: StepFn<K>,
) -> Result<(Raw, [Raw; K])> {
    let at = |error: Error| about(error, &[x, w_input]);
    let (gates, states) = (w_hidden.shape()[0], w_hidden.shape()[1]);
    // The input's dims without its features, then gates, states; permuted so that the sequence is first and the others
    // are rows.
    let input_gates = linear(x, w_input, Some(b_input), 1, None)?;
    let batch: Vec<usize> = (0..input_gates.rank() - 2)
        .filter(|&dim| dim != sequence_dim)
        .collect();
    let sizes: Vec<usize> = batch.iter().map(|&dim| input_gates.shape()[dim]).collect();
    let rows = sizes
        .iter()
        .fold(1, |all: usize, &size| all.saturating_mul(size));
    let order = [
        &[sequence_dim][..],
        &batch,
        &[input_gates.rank() - 2, input_gates.rank() - 1],
    ]
    .concat();
    let len = input_gates.shape()[sequence_dim];
    let input_gates = input_gates
        .permute(&order)
        .map_err(at)?
        .reshape(&[len, rows, gates, states])
        .map_err(at)?;
    let mut state = match state {
        None => {
            let zeros = Raw::zeros("recurrent", &[rows, states], x.dtype(), x.device())?;
            std::array::from_fn(|_| zeros.clone())
        }
        Some(given) => {
            let wanted = [&sizes[..], &[states]].concat();
            if let Some(wrong) = given.iter().find(|tensor| tensor.shape() != wanted) {
                let what = format!("the state's sizes differ from the input's, {wanted:?}");
                return Err(at(Error::new(ErrorKind::Shape, "recurrent", what))
                    .operand(wrong.names(), wrong.shape())
                    .hint("continue from a state of this batch"));
            }
            let mut raws = Vec::new();
            for tensor in &given {
                raws.push(tensor.raw().reshape(&[rows, states])?);
            }
            raws.try_into()
                .unwrap_or_else(|_| unreachable!("as many as were given"))
        }
    };
    let matrix = w_hidden
        .raw()
        .reshape(&[gates * states, states])
        .map_err(at)?;
    let bias = b_hidden.raw().reshape(&[gates * states]).map_err(at)?;
    let split =
        |raw: &Raw| -> Result<Vec<Raw>> { (0..gates).map(|gate| raw.select(1, gate)).collect() };
    let mut outputs = list("recurrent", [len]).map_err(at)?;
    for position in 0..len {
        let own = call::linear(&state[0], &matrix, Some(&bias), 1, None).map_err(at)?;
        let own = split(&own.reshape(&[rows, gates, states]).map_err(at)?)?;
        let next = split(&input_gates.select(0, position)?)?;
        state = step(&next, &own, &state).map_err(at)?;
        outputs.push(state[0].clone());
    }
    let found = if outputs.is_empty() {
        Raw::zeros("recurrent", &[0, rows, states], x.dtype(), x.device())?
    } else {
        let mut rows = list("recurrent", [len]).map_err(at)?;
        rows.extend(&outputs);
        call::stack(&rows, 0).map_err(at)?
    };
    let found = found
        .reshape(&[&[len][..], &sizes, &[states]].concat())
        .map_err(at)?;
    // Moves the sequence back to its place.
    let order: Vec<usize> = (1..=sequence_dim)
        .chain([0])
        .chain(sequence_dim + 1..found.rank())
        .collect();
    let mut found = found.permute(&order).map_err(at)?;
    let wanted = [&sizes[..], &[states]].concat();
    for raw in &mut state {
        *raw = raw.reshape(&wanted).map_err(at)?;
    }
    if len == 0 {
        let others = [x, w_input, w_hidden, b_input, b_hidden].map(DynTensor::raw);
        found = with_dependencies(&found, &others).map_err(at)?;
        for raw in &mut state {
            *raw = with_dependencies(raw, &others).map_err(at)?;
        }
    }
    Ok((found, state))
}

/// Records `own` as computed from `others` too, with zero gradients: results of an empty sequence are then recorded
/// like others.
fn with_dependencies(own: &Raw, others: &[&Raw]) -> Result<Raw> {
    let inputs = [&[own], others].concat();
    let looks: Vec<_> = others
        .iter()
        .map(|x| (x.shape().to_vec(), x.dtype(), x.device()))
        .collect();
    custom("recurrent", &inputs, own.clone(), move |grad| {
        let zeros = looks.iter().map(|(shape, dtype, device)| {
            Raw::zeros("recurrent", shape, *dtype, *device).map(Some)
        });
        std::iter::once(Ok(Some(grad.clone())))
            .chain(zeros)
            .collect()
    })
}

/// Computes `c = σ(f) c + σ(i) tanh(g)`, `h = σ(o) tanh(c)`.
fn lstm(next: &[Raw], own: &[Raw], [_, cell]: &[Raw; 2]) -> Result<[Raw; 2]> {
    use Node::{Apply, Tensor};
    let kept = [
        Tensor(0),
        Tensor(1),
        Tensor(2),
        Tensor(3),
        Tensor(4),
        Tensor(5),
        Tensor(6),
        Apply(Op::Add, &[0, 1]),
        Apply(Op::Sigmoid, &[7]),
        Apply(Op::Add, &[2, 3]),
        Apply(Op::Sigmoid, &[9]),
        Apply(Op::Add, &[4, 5]),
        Apply(Op::Tanh, &[11]),
        Apply(Op::Mul, &[10, 6]),
        Apply(Op::Mul, &[8, 12]),
        Apply(Op::Add, &[13, 14]),
    ];
    let operands = [
        &next[0], &own[0], &next[1], &own[1], &next[2], &own[2], cell,
    ];
    let cell = call::fused(&kept, &operands, &[])?;
    let outputs = [
        Tensor(0),
        Tensor(1),
        Tensor(2),
        Apply(Op::Add, &[0, 1]),
        Apply(Op::Sigmoid, &[3]),
        Apply(Op::Tanh, &[2]),
        Apply(Op::Mul, &[4, 5]),
    ];
    let hidden = call::fused(&outputs, &[&next[3], &own[3], &cell], &[])?;
    Ok([hidden, cell])
}

/// Computes `n = tanh(nₓ + σ(r) nₕ)`, `h = n + σ(z) (h - n)`.
fn gru(next: &[Raw], own: &[Raw], [hidden]: &[Raw; 1]) -> Result<[Raw; 1]> {
    use Node::{Apply, Tensor};
    let program = [
        Tensor(0),
        Tensor(1),
        Tensor(2),
        Tensor(3),
        Tensor(4),
        Tensor(5),
        Tensor(6),
        Apply(Op::Add, &[0, 1]),
        Apply(Op::Sigmoid, &[7]),
        Apply(Op::Mul, &[8, 5]),
        Apply(Op::Add, &[4, 9]),
        Apply(Op::Tanh, &[10]),
        Apply(Op::Add, &[2, 3]),
        Apply(Op::Sigmoid, &[12]),
        Apply(Op::Sub, &[6, 11]),
        Apply(Op::Mul, &[13, 14]),
        Apply(Op::Add, &[11, 15]),
    ];
    let operands = [
        &next[0], &own[0], &next[1], &own[1], &next[2], &own[2], hidden,
    ];
    Ok([call::fused(&program, &operands, &[])?])
}
