//! Factories, fills and conversions.

use crate::op::Class::{Copy, Fill, Random};
use crate::op::DTypeRule::Argument;
use crate::op::Grad::Constant;
use crate::op::NameRule::{Factory, InPlace, Keeps};
use crate::op::{DTypes, Forms, Row, Spread};

const SIZES: &str = "size: Sizes, *, names: Names = None, dtype: DType = None, device: Device = \
 None";
const LIKE: &str = "self, *, dtype: DType = None, device: Device = None, memory_format: Format = \
 preserve_format";

const fn factory(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, SIZES, Fill, Factory, doc)
        .dtype(Argument, DTypes::ALL)
        .forms(Forms::FUNCTION.and(Forms::OUT))
        .grad(Constant)
}

const fn like(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, LIKE, Fill, Keeps, doc)
        .dtype(Argument, DTypes::ALL)
        .forms(Forms::FUNCTION)
        .grad(Constant)
}

const WINDOW: &str = "window_length: Int, periodic: Bool = True, *, names: Names = None, dtype: \
 DType = None, device: Device = None";

const fn window(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Fill, Factory, doc)
        .dtype(Argument, DTypes::FLOATS)
        .forms(Forms::FUNCTION)
        .grad(Constant)
}

pub(super) const ROWS: &[Row] = &[
    factory("zeros", "Creates a tensor of zeros."),
    factory("ones", "Creates a tensor of ones."),
    factory("empty", "Creates a tensor with unspecified elements.")
        .signature(
            "size: Sizes, *, names: Names = None, dtype: DType = None, device: Device = \
             None, memory_format: Format = contiguous_format",
        )
        .differs("the elements are zero: uninitialised memory cannot be read"),
    factory("full", "Creates a tensor filled with one number.").signature(
        "size: Sizes, fill_value: Scalar, *, names: Names = None, dtype: DType = None, \
         device: Device = None",
    ),
    factory(
        "arange",
        "Creates the numbers from `start` to `end`, excluding `end`, in steps of \
         `step`.",
    )
    .signature(
        "start: Scalar, end: Scalar, step: Scalar = 1, *, names: Names = None, dtype: \
         DType = None, device: Device = None",
    ),
    factory(
        "eye",
        "Creates a matrix with ones on the diagonal and zeros elsewhere.",
    )
    .signature(
        "n: Int, m: Int = None, *, names: Names = None, dtype: DType = None, device: \
         Device = None",
    ),
    factory(
        "rand",
        "Draws uniform random numbers between 0 and 1, excluding 1.",
    )
    .class(Random)
    .dtype(Argument, DTypes::FLOATS),
    factory(
        "randn",
        "Draws random numbers from the standard normal distribution.",
    )
    .class(Random)
    .dtype(Argument, DTypes::INEXACT),
    factory("tensor", "Creates a tensor from given numbers.")
        .signature("data: Data, *, names: Names = None, dtype: DType = None, device: Device = None")
        .forms(Forms::FUNCTION)
        .differs("in Rust, `from_vec` and `tensor!`"),
    factory(
        "linspace",
        "Creates `steps` equally spaced numbers from `start` to `end`, including both.",
    )
    .signature(
        "start: Scalar, end: Scalar, steps: Int, *, names: Names = None, dtype: DType \
         = None, device: Device = None",
    ),
    factory(
        "logspace",
        "Creates powers of a base with `steps` equally spaced exponents from `start` \
         to `end`.",
    )
    .signature(
        "start: Scalar, end: Scalar, steps: Int, base: Scalar = 10, *, names: Names = \
         None, dtype: DType = None, device: Device = None",
    ),
    factory(
        "tril_indices",
        "Returns the indices on and below a diagonal of a matrix: rows, then columns.",
    )
    .signature(
        "row: Int, col: Int, offset: Int = 0, *, names: Names = None, dtype: DType = \
         None, device: Device = None",
    )
    .dtype(Argument, DTypes::INTEGERS)
    .forms(Forms::FUNCTION),
    factory(
        "triu_indices",
        "Returns the indices on and above a diagonal of a matrix: rows, then columns.",
    )
    .signature(
        "row: Int, col: Int, offset: Int = 0, *, names: Names = None, dtype: DType = \
         None, device: Device = None",
    )
    .dtype(Argument, DTypes::INTEGERS)
    .forms(Forms::FUNCTION),
    window(
        "bartlett_window",
        WINDOW,
        "Creates a window that rises and falls linearly.",
    ),
    window(
        "blackman_window",
        WINDOW,
        "Creates a window of three cosines.",
    ),
    window(
        "hann_window",
        WINDOW,
        "Creates a window of one raised cosine.",
    ),
    window(
        "hamming_window",
        "window_length: Int, periodic: Bool = True, alpha: Scalar = 0.54, beta: Scalar \
         = 0.46, *, names: Names = None, dtype: DType = None, device: Device = None",
        "Creates a window of one raised cosine that does not reach zero.",
    ),
    window(
        "kaiser_window",
        "window_length: Int, periodic: Bool = True, beta: Scalar = 12, *, names: Names \
         = None, dtype: DType = None, device: Device = None",
        "Creates a window of Bessel functions; `beta` determines its width.",
    ),
    like(
        "zeros_like",
        "Creates zeros with the shape, names and dtype of another tensor.",
    ),
    like(
        "ones_like",
        "Creates ones with the shape, names and dtype of another tensor.",
    ),
    like(
        "empty_like",
        "Creates unspecified elements with the shape, names and dtype of another \
         tensor.",
    )
    .differs("the elements are zero: uninitialised memory cannot be read"),
    like(
        "full_like",
        "Creates a tensor of one number with the shape, names and dtype of another \
         tensor.",
    )
    .signature(
        "self, fill_value: Scalar, *, dtype: DType = None, device: Device = None, \
         memory_format: Format = preserve_format",
    ),
    like(
        "rand_like",
        "Draws uniform random numbers with the shape, names and dtype of another \
         tensor.",
    )
    .class(Random)
    .dtype(Argument, DTypes::FLOATS),
    like(
        "randn_like",
        "Draws normal random numbers with the shape, names and dtype of another tensor.",
    )
    .class(Random)
    .dtype(Argument, DTypes::INEXACT),
    Row::new(
        "to",
        "self, dtype: DType = None, device: Device = None, *, memory_format: Format = \
         preserve_format",
        Copy,
        Keeps,
        "Converts to another dtype or device; returns the tensor itself if it already \
         has both.",
    )
    .dtype(Argument, DTypes::ALL)
    .forms(Forms::METHOD),
    Row::new(
        "contiguous",
        "self, *, memory_format: Format = contiguous_format",
        Copy,
        Keeps,
        "Returns the tensor itself if it is in row-major, or the given, order, \
         otherwise a copy in it.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Linear),
    Row::new(
        "clone",
        "self, *, memory_format: Format = preserve_format",
        Copy,
        Keeps,
        "Returns a tensor with the same elements.",
    )
    .differs("free: elements are shared until one of the tensors is written to")
    .spread(Spread::Linear),
    Row::new(
        "copy",
        "self, src",
        Copy,
        InPlace,
        "Copies the elements of `src`, broadcast, into `self`.",
    )
    .forms(Forms::IN_PLACE_ONLY),
    Row::new(
        "fill",
        "self, value: Operand",
        Fill,
        InPlace,
        "Fills the tensor with one number.",
    )
    .forms(Forms::IN_PLACE_ONLY),
];
