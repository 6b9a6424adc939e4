//! Factories, fills and conversions.

use crate::op::Class::{Copy, Fill, Random};
use crate::op::DTypeRule::Argument;
use crate::op::Grad::{Constant, Lines};
use crate::op::NameRule::{Factory, InPlace, Keeps};
use crate::op::{DTypes, Forms, Row, Spread};

const SIZES: &str =
    "size: Sizes, *, names: Names = None, dtype: DType = None, device: Device = None";
const LIKE: &str =
    "self, *, dtype: DType = None, device: Device = None, memory_format: Format = preserve_format";

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

const WINDOW: &str = "window_length: Int, periodic: Bool = True, *, names: Names = None, dtype: DType = None, device: Device = None";

const fn window(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Fill, Factory, doc)
        .dtype(Argument, DTypes::FLOATS)
        .forms(Forms::FUNCTION)
        .grad(Constant)
}

pub(super) const ROWS: &[Row] = &[
    factory("zeros", "A tensor of zeros.").spread(Spread::Create),
    factory("ones", "A tensor of ones.").spread(Spread::Create),
    factory("empty", "A tensor whose elements are unspecified.")
        .signature("size: Sizes, *, names: Names = None, dtype: DType = None, device: Device = None, memory_format: Format = contiguous_format")
        .differs("the elements are zero: no uninitialised memory can be read").spread(Spread::Create),
    factory("full", "A tensor of one number.")
        .signature("size: Sizes, fill_value: Scalar, *, names: Names = None, dtype: DType = None, device: Device = None").spread(Spread::Create),
    factory("arange", "Numbers from `start` to before `end`, `step` apart.")
        .signature("start: Scalar, end: Scalar, step: Scalar = 1, *, names: Names = None, dtype: DType = None, device: Device = None").spread(Spread::Create),
    factory("eye", "Ones on the diagonal, zeros elsewhere.")
        .signature("n: Int, m: Int = None, *, names: Names = None, dtype: DType = None, device: Device = None").spread(Spread::Create),
    factory("rand", "Random numbers, uniform from 0 to before 1.").class(Random).dtype(Argument, DTypes::FLOATS).spread(Spread::Create),
    factory("randn", "Random numbers of the standard normal distribution.")
        .class(Random)
        .dtype(Argument, DTypes::INEXACT).spread(Spread::Create),
    factory("tensor", "A tensor of given numbers.")
        .signature("data: Data, *, names: Names = None, dtype: DType = None, device: Device = None")
        .forms(Forms::FUNCTION)
        .differs("in Rust, `from_vec` and `tensor!`").spread(Spread::Create),
    factory("linspace", "Numbers from `start` to `end`, both included, in equal steps.")
        .signature("start: Scalar, end: Scalar, steps: Int, *, names: Names = None, dtype: DType = None, device: Device = None").spread(Spread::Create),
    factory("logspace", "Powers of a base, whose exponents go from `start` to `end` in equal steps.")
        .signature("start: Scalar, end: Scalar, steps: Int, base: Scalar = 10, *, names: Names = None, dtype: DType = None, device: Device = None").spread(Spread::Create),
    factory("tril_indices", "The indices on and below a diagonal of a matrix: rows, then columns.")
        .signature("row: Int, col: Int, offset: Int = 0, *, names: Names = None, dtype: DType = None, device: Device = None")
        .dtype(Argument, DTypes::INTEGERS)
        .forms(Forms::FUNCTION).spread(Spread::Create),
    factory("triu_indices", "The indices on and above a diagonal of a matrix: rows, then columns.")
        .signature("row: Int, col: Int, offset: Int = 0, *, names: Names = None, dtype: DType = None, device: Device = None")
        .dtype(Argument, DTypes::INTEGERS)
        .forms(Forms::FUNCTION).spread(Spread::Create),
    window("bartlett_window", WINDOW, "A window that rises and falls in straight lines.").spread(Spread::Create),
    window("blackman_window", WINDOW, "A window of three cosines.").spread(Spread::Create),
    window("hann_window", WINDOW, "A window of one raised cosine.").spread(Spread::Create),
    window("hamming_window", "window_length: Int, periodic: Bool = True, alpha: Scalar = 0.54, beta: Scalar = 0.46, *, names: Names = None, dtype: DType = None, device: Device = None", "A window of one raised cosine that does not reach zero.").spread(Spread::Create),
    window("kaiser_window", "window_length: Int, periodic: Bool = True, beta: Scalar = 12, *, names: Names = None, dtype: DType = None, device: Device = None", "A window of Bessel functions, as narrow as `beta` says.").spread(Spread::Create),
    like("zeros_like", "Zeros in the shape, names and dtype of another tensor.").spread(Spread::Create),
    like("ones_like", "Ones in the shape, names and dtype of another tensor.").spread(Spread::Create),
    like("empty_like", "Unspecified elements in the shape, names and dtype of another tensor.")
        .differs("the elements are zero: no uninitialised memory can be read").spread(Spread::Create),
    like("full_like", "One number in the shape, names and dtype of another tensor.")
        .signature("self, fill_value: Scalar, *, dtype: DType = None, device: Device = None, memory_format: Format = preserve_format").spread(Spread::Create),
    like("rand_like", "Uniform random numbers in the shape, names and dtype of another tensor.")
        .class(Random)
        .dtype(Argument, DTypes::FLOATS).spread(Spread::Create),
    like("randn_like", "Normal random numbers in the shape, names and dtype of another tensor.")
        .class(Random)
        .dtype(Argument, DTypes::INEXACT).spread(Spread::Create),
    Row::new("to", "self, dtype: DType = None, device: Device = None, *, memory_format: Format = preserve_format", Copy, Keeps, "Converts to another dtype or device; itself when it has both.")
        .dtype(Argument, DTypes::ALL)
        .forms(Forms::METHOD).grad(Lines(&[("self", "grad")])).spread(Spread::Elementwise),
    Row::new("contiguous", "self, *, memory_format: Format = contiguous_format", Copy, Keeps, "Itself when in row-major order, or in the given one, else a copy in it.")
        .forms(Forms::METHOD).grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    Row::new("clone", "self, *, memory_format: Format = preserve_format", Copy, Keeps, "A tensor with the same elements.")
        .grad(Lines(&[("self", "grad")])).differs("costs nothing: elements are shared until one of the two is written to").spread(Spread::Linear),
    Row::new("copy", "self, src", Copy, InPlace, "Writes the elements of `src`, broadcast, into self.")
        .forms(Forms::IN_PLACE_ONLY).grad(Lines(&[("self", "zero"), ("src", "grad")])).spread(Spread::Elementwise),
    Row::new("fill", "self, value: Operand", Fill, InPlace, "Writes one number everywhere.")
        .forms(Forms::IN_PLACE_ONLY).grad(Lines(&[("self", "zero"), ("value", "grad")])).spread(Spread::Create),
];
