//! Recurrent layers.

mod cell;
mod options;
mod steps;
mod weights;

use std::marker::PhantomData;

use nomina::dims::{
    Axes, Contract, Contracted, Dim, Dims, Distinct, EachIn, Has, Joined, Prime, SizesFor, Without,
    position,
};
use nomina::{DynTensor, Element, Error, ErrorKind, Float, IndexElement, Result, Tensor};
use nomina_macros::twin;

use cell::StepState;
pub use cell::{GruCell, LstmCell, RecurrentCell, RnnCell};
pub use options::{BothWays, Directions, OneWay, RecurrentOptions, RecurrentState};
use steps::{LayerWeights, Outcome, RecurrentCall};
pub use weights::RecurrentWeights;

use super::{Layer, Weight};
use crate::call::typed;
use crate::module::Slot;
use crate::path::Path;
use crate::{Mode, Module};

nomina::prelude::dims! {
    /// The gates of a recurrent layer, in PyTorch's order: input, forget, cell and output of an LSTM; reset, update and
    /// new of a GRU; a single one of an RNN.
    pub Gate,
    /// The directions of a recurrent layer: forward, then backward.
    pub Direction
}

/// The dims of a recurrent layer's outputs: those of the inputs without `I`, then `O`.
pub type Outputs<D, I, O> = Contracted<D, Weight<I, O>, I>;

/// The dims of a hidden state after `Outputs<D, I, O>`: the same without the sequence.
pub type Final<D, S, I, O> = Without<Outputs<D, I, O>, S>;

/// A recurrent layer along `S`: inputs along `I`, states along `H`, outputs along `P`, which come last. Used by its
/// names [`Rnn`], [`Lstm`] and [`Gru`], and in both directions [`BiRnn`], [`BiLstm`] and [`BiGru`].
///
/// Several layers, dropout between them and a projection are options, as in PyTorch, whose paths the parameters have:
/// `weight_ih_l0`, `weight_hh_l0_reverse`. A file of PyTorch loads as it is.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::layers::Direction;
/// use nomina_nn::prelude::*;
/// dims! { N, Time, In, Hidden }
///
/// let options = RecurrentOptions { layers: 2, dropout: 0.1, ..default() };
/// let layer = BiGru::<Time, In, Hidden>::with(In.of(3), Hidden.of(5), options);
/// let x = Tensor::<(N, Time, In)>::randn([2, 7, 3]);
/// // The second sequence ends after four positions.
/// let (y, state) = layer.forward_lengths(&x, &tensor!([7, 4]; N), None, Mode::Eval);
/// let y: Tensor<(N, Time, Direction, Hidden)> = y;
/// assert_eq!(y.select(N, 1).narrow(Time, 4..).abs().max(..).item(), 0.0);
/// let last: &Tensor<(N, Direction, Hidden)> = &state.hidden[1];
/// assert!(last.select(N, 1).select(Direction, 0).equal(&y.select(N, 1).select(Time, 3).select(Direction, 0)));
/// assert_eq!(layer.paths()[4], "weight_ih_l0_reverse");
/// ```
#[derive(Clone)]
pub struct Recurrent<
    K,
    S: Dim,
    I: Dim,
    H: Dim,
    T: Element = f32,
    P: Dim = H,
    W: Directions = OneWay,
> {
    /// The kind of steps.
    pub cell: K,
    /// The weights of the first layer, one for each direction.
    pub first: Vec<RecurrentWeights<I, H, P, T>>,
    /// The weights of further layers, one for each direction.
    pub rest: Vec<Vec<RecurrentWeights<W::Source<P>, H, P, T>>>,
    /// The fraction of the inputs of each further layer that is set to zero in training.
    pub dropout: f64,
    pub(crate) sequence: PhantomData<S>,
}

/// A recurrent layer of one gate: `h = tanh(W x + b + W' h + b')`, or `relu` if its `cell` is [`RnnCell::Relu`]. Elman,
/// "Finding Structure in Time".
pub type Rnn<S, I, H, T = f32> = Recurrent<RnnCell, S, I, H, T>;
/// An [`Rnn`] in both directions; its outputs have the dims `(Direction, H)`.
pub type BiRnn<S, I, H, T = f32> = Recurrent<RnnCell, S, I, H, T, H, BothWays>;

/// Long short-term memory along `S`: inputs along `I`, states along `H`, which come last; with a projection, outputs
/// along `P`. Hochreiter and Schmidhuber, "Long Short-Term Memory".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Time, In, Hidden, Out }
/// let layer = Lstm::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
/// let x = Tensor::<(N, Time, In)>::randn([2, 7, 3]);
/// let (y, state) = layer.forward_from(&x, None, Mode::Eval);
/// let y: Tensor<(N, Time, Hidden)> = y;
/// let [hidden, cell]: [&Tensor<(N, Hidden)>; 2] = [&state.hidden[0], &state.cell[0]];
/// assert!(y.select(Time, 6).equal(hidden));
///
/// let smaller = Lstm::<Time, In, Hidden, f32, Out>::projected(In.of(3), Hidden.of(5), Out.of(2), default());
/// let y: Tensor<(N, Time, Out)> = smaller.forward(&x, Mode::Eval);
/// ```
pub type Lstm<S, I, H, T = f32, P = H> = Recurrent<LstmCell, S, I, H, T, P>;
/// An [`Lstm`] in both directions; its outputs have the dims `(Direction, P)`.
pub type BiLstm<S, I, H, T = f32, P = H> = Recurrent<LstmCell, S, I, H, T, P, BothWays>;

/// A gated recurrent unit along `S`: inputs along `I`, states along `H`, which come last. Cho et al., "Learning Phrase
/// Representations using RNN Encoder-Decoder".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Time, In, Hidden }
/// let layer = Gru::<Time, In, Hidden>::new(In.of(3), Hidden.of(5));
/// let x = Tensor::<(Time, In, N)>::randn([7, 3, 2]);
/// let y: Tensor<(Time, N, Hidden)> = layer.forward(&x, Mode::Eval);
/// ```
pub type Gru<S, I, H, T = f32> = Recurrent<GruCell, S, I, H, T>;
/// A [`Gru`] in both directions; its outputs have the dims `(Direction, H)`.
pub type BiGru<S, I, H, T = f32> = Recurrent<GruCell, S, I, H, T, H, BothWays>;

impl<K: RecurrentCell, S: Dim, I: Dim, H: Dim, W: Directions> Recurrent<K, S, I, H, f32, H, W>
where
    (Gate, H, I): Distinct,
    (Gate, H, Prime<H>): Distinct,
    (Gate, H): Distinct,
    (Prime<H>, H): Distinct,
    Joined<(Gate, H), <W::Source<H> as Axes>::List>: Distinct,
{
    /// Creates a layer whose weights and biases are uniform within the inverse square root of the state's size, like
    /// PyTorch's.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(input: impl SizesFor<I>, state: impl SizesFor<H>) -> Result<Self> {
        Self::try_with(input, state, RecurrentOptions::default())
    }

    /// Like [`new`](Self::new), but with options.
    ///
    /// # Errors
    /// If there is no layer, a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_with(
        input: impl SizesFor<I>,
        state: impl SizesFor<H>,
        options: RecurrentOptions,
    ) -> Result<Self> {
        Self::build(input.sizes()[0], state.sizes()[0], None, options)
    }
}

impl<S: Dim, I: Dim, H: Dim, P: Dim, W: Directions> Recurrent<LstmCell, S, I, H, f32, P, W>
where
    (Gate, H, I): Distinct,
    (Gate, H, Prime<P>): Distinct,
    (Gate, H): Distinct,
    (Prime<P>, H): Distinct,
    Joined<(Gate, H), <W::Source<P> as Axes>::List>: Distinct,
{
    /// Creates a layer with a projection: hidden states and outputs are `output` linear combinations of the `state`
    /// numbers. Sak, Senior and Beaufays, "Long Short-Term Memory Based Recurrent Neural Network Architectures for
    /// Large Vocabulary Speech Recognition".
    ///
    /// # Errors
    /// If there is no layer, a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_projected(
        input: impl SizesFor<I>,
        state: impl SizesFor<H>,
        output: impl SizesFor<P>,
        options: RecurrentOptions,
    ) -> Result<Self> {
        let output = Some(output.sizes()[0]);
        Self::build(input.sizes()[0], state.sizes()[0], output, options)
    }
}

impl<K: RecurrentCell, S: Dim, I: Dim, H: Dim, P: Dim, W: Directions>
    Recurrent<K, S, I, H, f32, P, W>
where
    (Gate, H, I): Distinct,
    (Gate, H, Prime<P>): Distinct,
    (Gate, H): Distinct,
    (Prime<P>, H): Distinct,
    Joined<(Gate, H), <W::Source<P> as Axes>::List>: Distinct,
{
    fn build(
        inputs: usize,
        states: usize,
        outputs: Option<usize>,
        options: RecurrentOptions,
    ) -> Result<Self> {
        let RecurrentOptions {
            layers,
            dropout,
            bias,
        } = options;
        if layers == 0 {
            return Err(
                Error::new(ErrorKind::Argument, "recurrent", "there is no layer")
                    .hint("give `RecurrentOptions::layers` at least 1"),
            );
        }
        let gates = K::GATES;
        let first = || RecurrentWeights::create(gates, &[inputs], states, outputs, bias);
        let width = outputs.unwrap_or(states);
        let source: &[usize] = if W::COUNT == 1 {
            &[width]
        } else {
            &[W::COUNT, width]
        };
        let further = || RecurrentWeights::create(gates, source, states, outputs, bias);
        let rest = (1..layers).map(|_| (0..W::COUNT).map(|_| further()).collect());
        Ok(Self {
            cell: K::default(),
            first: (0..W::COUNT).map(|_| first()).collect::<Result<_>>()?,
            rest: rest.collect::<Result<_>>()?,
            dropout,
            sequence: PhantomData,
        })
    }
}

impl<K: RecurrentCell, S: Dim, I: Dim, H: Dim, T: Element, P: Dim, W: Directions>
    Recurrent<K, S, I, H, T, P, W>
{
    /// Creates a layer from existing weights: of the first layer by direction, and of further layers.
    #[must_use]
    pub fn from_weights(
        first: Vec<RecurrentWeights<I, H, P, T>>,
        rest: Vec<Vec<RecurrentWeights<W::Source<P>, H, P, T>>>,
    ) -> Self {
        Self {
            cell: K::default(),
            first,
            rest,
            dropout: 0.0,
            sequence: PhantomData,
        }
    }
}

/// The paths are PyTorch's: `weight_ih_l0`, `weight_ih_l0_reverse`, `bias_hh_l1`.
#[diagnostic::do_not_recommend]
impl<K, S: Dim, I: Dim, H: Dim, T: Element, P: Dim, W: Directions> Module
    for Recurrent<K, S, I, H, T, P, W>
where
    RecurrentWeights<I, H, P, T>: Module,
    RecurrentWeights<W::Source<P>, H, P, T>: Module,
{
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        let first = self.first.iter().map(|weights| weights as &dyn Module);
        let rest = self.rest.iter();
        let rest = rest.map(|layer| layer.iter().map(|weights| weights as &dyn Module).collect());
        let layers: Vec<Vec<&dyn Module>> = [first.collect()].into_iter().chain(rest).collect();
        for (layer, directions) in layers.into_iter().enumerate() {
            for (direction, weights) in directions.into_iter().enumerate() {
                let end = suffix(layer, direction);
                weights.each(&mut Path::default(), &mut |name, slot| {
                    path.enter(&format!("{name}{end}"), |path| visit(path.as_str(), slot));
                });
            }
        }
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        let first = self
            .first
            .iter_mut()
            .map(|weights| weights as &mut dyn Module);
        let rest = self.rest.iter_mut();
        let rest = rest.map(|layer| {
            layer
                .iter_mut()
                .map(|weights| weights as &mut dyn Module)
                .collect()
        });
        let layers: Vec<Vec<&mut dyn Module>> = [first.collect()].into_iter().chain(rest).collect();
        for (layer, directions) in layers.into_iter().enumerate() {
            for (direction, weights) in directions.into_iter().enumerate() {
                let end = suffix(layer, direction);
                weights.each_mut(&mut Path::default(), &mut |name, slot| {
                    path.enter(&format!("{name}{end}"), |path| visit(path.as_str(), slot));
                });
            }
        }
    }
}

fn suffix(layer: usize, direction: usize) -> String {
    let reverse = if direction == 1 { "_reverse" } else { "" };
    format!("_l{layer}{reverse}")
}

/// The state that a layer returns for inputs of dims `D`.
pub type StateFor<D, S, I, H, T = f32, P = H, W = OneWay> = RecurrentState<
    Final<D, S, I, <W as Directions>::Out<P>>,
    Final<D, S, I, <W as Directions>::Out<H>>,
    T,
>;

impl<K: RecurrentCell, S: Dim, I: Dim, H: Dim, T: Float, P: Dim, W: Directions>
    Recurrent<K, S, I, H, T, P, W>
{
    /// Computes the outputs at each position, starting from zeros.
    ///
    /// # Errors
    /// If sizes differ from the weights', or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + Has<S>>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
    ) -> Result<Tensor<Outputs<D, I, W::Out<P>>, T>>
    where
        I: Contract<D, Weight<I, W::Out<P>>>,
        Outputs<D, I, W::Out<P>>: Distinct,
    {
        typed(self.run::<D>(x, None, None, mode)?.outputs)
    }

    /// Computes the outputs at each position and the final state, starting from an earlier state if given.
    ///
    /// # Errors
    /// If sizes differ from the weights' or the earlier state's, or an allocation fails.
    #[twin]
    pub fn try_forward_from<D: Dims + Has<S>>(
        &self,
        x: &Tensor<D, T>,
        state: Option<&StateFor<D, S, I, H, T, P, W>>,
        mode: Mode,
    ) -> Result<(
        Tensor<Outputs<D, I, W::Out<P>>, T>,
        StateFor<D, S, I, H, T, P, W>,
    )>
    where
        I: Contract<D, Weight<I, W::Out<P>>>,
        Outputs<D, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<H>>: Distinct,
    {
        Self::outcome::<D>(self.run::<D>(x, state, None, mode)?)
    }

    /// Like [`forward_from`](Self::forward_from), but for sequences that end after `lengths` positions, as PyTorch's
    /// packed sequences do: outputs behind the end are zero, the final state is that after the last valid position, and
    /// the backward direction begins there. Elements behind the end have no effect, and get no gradient.
    ///
    /// # Errors
    /// Like [`forward_from`](Self::forward_from); also if a length is negative or greater than the size of `S`.
    #[twin]
    pub fn try_forward_lengths<
        D: Dims + Has<S>,
        L: Dims + EachIn<Without<Without<D, S>, I>>,
        U: IndexElement,
    >(
        &self,
        x: &Tensor<D, T>,
        lengths: &Tensor<L, U>,
        state: Option<&StateFor<D, S, I, H, T, P, W>>,
        mode: Mode,
    ) -> Result<(
        Tensor<Outputs<D, I, W::Out<P>>, T>,
        StateFor<D, S, I, H, T, P, W>,
    )>
    where
        I: Contract<D, Weight<I, W::Out<P>>>,
        Outputs<D, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<H>>: Distinct,
    {
        Self::outcome::<D>(self.run::<D>(x, state, Some(&lengths.to_dyn()), mode)?)
    }

    fn run<D: Dims>(
        &self,
        x: &Tensor<D, T>,
        state: Option<&StateFor<D, S, I, H, T, P, W>>,
        lengths: Option<&DynTensor>,
        mode: Mode,
    ) -> Result<Outcome> {
        let first: Vec<LayerWeights> = self.first.iter().map(RecurrentWeights::to_dyn).collect();
        let rest = self.rest.iter();
        let rest = rest.map(|layer| layer.iter().map(RecurrentWeights::to_dyn).collect());
        let layers: Vec<Vec<LayerWeights>> = [first].into_iter().chain(rest).collect();
        if let Some(wrong) = layers.iter().find(|layer| layer.len() != W::COUNT) {
            let what = format!("a layer has weights for {} directions", wrong.len());
            let hint = format!("give each layer weights for {}", W::COUNT);
            return Err(Error::new(ErrorKind::Argument, "recurrent", what).hint(hint));
        }
        let state: Option<Vec<(DynTensor, Option<DynTensor>)>> = state.map(|state| {
            let cell = |layer: usize| state.cell.get(layer).map(Tensor::to_dyn);
            let hidden = state.hidden.iter().enumerate();
            hidden
                .map(|(layer, hidden)| (hidden.to_dyn(), cell(layer)))
                .collect()
        });
        if let Some(state) = &state
            && (state.len() != layers.len()
                || state.iter().any(|(_, cell)| cell.is_some() != K::HAS_CELL))
        {
            let what = format!(
                "the state is not one of {} layers of this kind",
                layers.len()
            );
            return Err(Error::new(ErrorKind::Argument, "recurrent", what)
                .hint("continue from a state that this layer returned"));
        }
        let run = RecurrentCall {
            x: &x.to_dyn(),
            sequence: position::<S, D>(),
            inputs: position::<I, D>(),
            layers: &layers,
            state: state.as_deref(),
            lengths,
            dropout: if mode.is_train() { self.dropout } else { 0.0 },
        };
        steps::run(&self.cell, &run)
    }

    fn outcome<D: Dims>(
        found: Outcome,
    ) -> Result<(
        Tensor<Outputs<D, I, W::Out<P>>, T>,
        StateFor<D, S, I, H, T, P, W>,
    )>
    where
        Outputs<D, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<P>>: Distinct,
        Final<D, S, I, W::Out<H>>: Distinct,
    {
        let mut state = RecurrentState {
            hidden: Vec::new(),
            cell: Vec::new(),
        };
        for StepState { hidden, cell } in found.states {
            state.hidden.push(typed(hidden)?);
            if let Some(cell) = cell {
                state.cell.push(typed(cell)?);
            }
        }
        Ok((typed(found.outputs)?, state))
    }
}

#[diagnostic::do_not_recommend]
impl<K, D, S: Dim, I: Dim, H: Dim, T: Float, P: Dim, W: Directions> Layer<Tensor<D, T>>
    for Recurrent<K, S, I, H, T, P, W>
where
    K: RecurrentCell,
    D: Dims + Has<S>,
    I: Contract<D, Weight<I, W::Out<P>>>,
    Outputs<D, I, W::Out<P>>: Distinct,
{
    type Out = Tensor<Outputs<D, I, W::Out<P>>, T>;
    fn try_apply(&self, x: &Tensor<D, T>, mode: Mode) -> Result<Self::Out> {
        self.try_forward(x, mode)
    }
}
