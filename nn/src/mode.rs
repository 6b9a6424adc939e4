//! Training and evaluation.

/// Whether a layer computes for training or for evaluation: an argument of every `forward` whose results depend on it.
///
/// In training, [`BatchNorm`](crate::layers::BatchNorm) uses the batch's statistics and updates its running ones, and
/// [`Dropout`](crate::layers::Dropout) drops elements. A model passes the mode on to its layers:
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, In, Hidden, Out }
///
/// #[derive(Module)]
/// struct Model {
///     hidden: Linear<In, Hidden>,
///     norm: BatchNorm<Hidden>,
///     dropout: Dropout,
///     out: Linear<Hidden, Out>,
/// }
///
/// impl Model {
///     fn forward(&self, x: &Tensor<(N, In)>, mode: Mode) -> Tensor<(N, Out)> {
///         let hidden: Tensor<(N, Hidden)> = self.hidden.forward(x).relu();
///         self.out.forward(&self.dropout.forward(&self.norm.forward(&hidden, mode), mode))
///     }
/// }
///
/// let model = Model {
///     hidden: Linear::new(In.of(4), Hidden.of(8)),
///     norm: BatchNorm::new(Hidden.of(8)),
///     dropout: Dropout::new(0.1),
///     out: Linear::new(Hidden.of(8), Out.of(2)),
/// };
/// let x = Tensor::randn([3, 4]);
/// let trained = model.forward(&x, Mode::Train);
/// let evaluated = model.forward(&x, Mode::Eval);
/// assert!(evaluated.equal(&model.forward(&x, Mode::Eval)) && !evaluated.equal(&trained));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Training.
    Train,
    /// Evaluation, also called inference.
    Eval,
}

impl Mode {
    /// Returns whether this is [`Train`](Self::Train).
    #[must_use]
    pub const fn is_train(self) -> bool {
        matches!(self, Self::Train)
    }
}
