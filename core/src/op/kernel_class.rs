//! Kernel classes of operators.

/// The kernel class of an operator.
///
/// A scalar expression calls functions that both the Rust and the CUDA kernels define, on the operands `x`, `y`, `z` in
/// the compute dtype: `add(x, y)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// One operand, elementwise.
    Unary(&'static str),
    /// Two operands that broadcast, elementwise.
    Binary(&'static str),
    /// Three operands that broadcast, elementwise.
    Ternary(&'static str),
    /// Some dims are reduced to one number each: sum, amax, var.
    Reduce,
    /// A dim is reduced to the position of a number: argmax; or to number and position: max.
    ArgReduce,
    /// Numbers in order along a dim, with their positions: sort, median.
    Sort,
    /// Running results along a dim: cumsum.
    Scan,
    /// Normalised along a dim: softmax.
    Softmax,
    /// Matrix products.
    Gemm,
    /// Another layout of the same elements; nothing is computed.
    View,
    /// Elements copied to other places: cat, masked_select.
    Index,
    /// Elements under a window that slides along dims: convolution, pooling, padding, resampling.
    Window,
    /// A new tensor from sizes and numbers.
    Fill,
    /// Random numbers.
    Random,
    /// Elements converted or copied.
    Copy,
    /// Decompositions and solvers of matrices, and operators built on them.
    Linalg,
    /// Fourier transforms.
    Fft,
    /// Parts of a dim reduced, and means with weights.
    Analysis,
    /// Names change, elements don't.
    Names,
    /// A query that does not return a tensor: size, names, item.
    Query,
    /// A chain of other operators.
    Compose,
}
