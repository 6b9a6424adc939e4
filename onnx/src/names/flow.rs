//! How dims flow from the inputs of an operator to its outputs.

/// A rule for the dims of an operator's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Every output has the dims of the first input.
    Same,
    /// The first output has the dims of the first input.
    First,
    /// The first output has the dims of the first input, and the others are scalars.
    FirstAndScalars,
    /// Inputs unify from the right; dims of size 1 that broadcast stay apart.
    Broadcast,
    /// The dims of the first input, with other sizes.
    Resized,
    /// The dims of the first input, of which those from `axis` on are also those of the other inputs.
    LastDims,
    /// Takes ranges of dims.
    Slice,
    /// The dims of the first input; vectors beside it have its channels.
    Normalized,
    /// Nothing but the file's own types is known.
    Fresh,
    /// A shape as integers.
    Shape,
    /// A tensor whose sizes are the first input.
    Shaped,
    /// Broadcasts to the sizes in the second input.
    Expand,
    /// Sizes are in the second input.
    Reshape,
    /// Removes dims of size 1.
    Squeeze,
    /// Adds dims of size 1.
    Unsqueeze,
    /// Reorders dims.
    Transpose,
    /// Joins along a dim.
    Concat,
    /// Splits along a dim.
    Split,
    /// Replaces a dim by those of the indices.
    Gather,
    /// Reduces dims.
    Reduce,
    /// Batches of matrices.
    MatMul,
    /// A product with transposed operands and a bias.
    Gemm,
    /// A product with a matrix of outputs and inputs, and a bias.
    Linear,
    /// A convolution.
    Conv,
    /// A transposed convolution.
    ConvTranspose,
    /// A window slides over the dims after the channels.
    Pool,
    /// The `k` largest along a dim.
    TopK,
    /// A recurrent layer.
    Rnn,
}
