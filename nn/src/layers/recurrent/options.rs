//! Directions, options and states of recurrent layers.

use nomina::dims::{Axes, Dim, Dims, Prime};
use nomina::{Element, Tensor};

use super::Direction;

/// The directions that a recurrent layer runs in: [`OneWay`] or [`BothWays`].
pub trait Directions: 'static {
    /// The dims of outputs with features along `P`.
    type Out<P: Dim>: Axes;
    /// The dims of the inputs of further layers.
    type Source<P: Dim>: Axes;
    /// The number of directions.
    const COUNT: usize;
}

/// From the first to the last position.
#[derive(Clone, Copy, Debug)]
pub enum OneWay {}
/// From the first to the last position, and back with other weights. Schuster and Paliwal, "Bidirectional Recurrent
/// Neural Networks".
#[derive(Clone, Copy, Debug)]
pub enum BothWays {}

impl Directions for OneWay {
    type Out<P: Dim> = P;
    type Source<P: Dim> = Prime<P>;
    const COUNT: usize = 1;
}
impl Directions for BothWays {
    type Out<P: Dim> = (Direction, P);
    type Source<P: Dim> = (Direction, Prime<P>);
    const COUNT: usize = 2;
}

/// The options of a recurrent layer.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentOptions {
    /// The number of layers; each takes the outputs of the one before it. 1 by default.
    pub layers: usize,
    /// The fraction of the inputs of each further layer that is set to zero in training; 0 by default.
    pub dropout: f64,
    /// Whether there are biases; by default, there are.
    pub bias: bool,
}

impl Default for RecurrentOptions {
    fn default() -> Self {
        Self {
            layers: 1,
            dropout: 0.0,
            bias: true,
        }
    }
}

/// The state of a recurrent layer between two parts of a sequence, by layer.
#[derive(Debug)]
pub struct RecurrentState<H: Dims, C: Dims = H, T: Element = f32> {
    /// The hidden states; in both directions, along [`Direction`].
    pub hidden: Vec<Tensor<H, T>>,
    /// The cells of an LSTM; otherwise none.
    pub cell: Vec<Tensor<C, T>>,
}

impl<H: Dims, C: Dims, T: Element> Clone for RecurrentState<H, C, T> {
    fn clone(&self) -> Self {
        Self {
            hidden: self.hidden.clone(),
            cell: self.cell.clone(),
        }
    }
}
