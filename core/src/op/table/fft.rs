//! Fourier transforms along dims.

use crate::op::Class::Fft;
use crate::op::DTypeRule::{Argument, NoPromotion};
use crate::op::Grad::{Constant, Parts};
use crate::op::NameRule::{Factory, Keeps, Unifies};
use crate::op::{DTypes, Forms, Row, Samples, Spread};

const fn row(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Fft, Keeps, doc)
        .dtype(NoPromotion, DTypes::SOLVABLE)
        .samples(Samples::Own)
        .differs("names propagate; only for floats of 32 bits and more")
}

const fn frequencies(name: &'static str, doc: &'static str) -> Row {
    let signature =
        "n: Int, d: Scalar = 1, *, names: Names = None, dtype: DType = None, device: Device = None";
    Row::new(name, signature, Fft, Factory, doc)
        .dtype(Argument, DTypes::FLOATS)
        .forms(Forms::FUNCTION)
        .samples(Samples::Own)
        .grad(Constant)
        .spread(Spread::Refused)
}

const ALONG: &str = "self, dim: Dim = -1, norm: Word = backward";
const OVER: &str = "self, dim: Dims = None, norm: Word = backward";

pub(super) const ROWS: &[Row] = &[
    row(
        "fft",
        ALONG,
        "Computes the discrete Fourier transform along a dim; the result is complex.",
    ),
    row("ifft", ALONG, "Computes the inverse of `fft`."),
    row(
        "rfft",
        ALONG,
        "Computes the first half of the transform of a real signal along a dim, `n / 2 \
         + 1` elements.",
    )
    .dtype(NoPromotion, DTypes::SINGLES),
    row(
        "irfft",
        "self, n: Int, dim: Dim = -1, norm: Word = backward",
        "Computes the real signal of `n` elements from the first half of its transform \
         along a dim.",
    ),
    row(
        "fftn",
        OVER,
        "Computes the discrete Fourier transform along several dims.",
    ),
    row("ifftn", OVER, "Computes the inverse of `fftn`."),
    row(
        "rfftn",
        OVER,
        "Computes the transform of a real signal along several dims; of the last given \
         dim only the first half, `n / 2 + 1` elements.",
    )
    .dtype(NoPromotion, DTypes::SINGLES)
    .grad(Parts),
    row(
        "irfftn",
        "self, n: Int, dim: Dims = None, norm: Word = backward",
        "Computes the inverse of `rfftn`, with `n` elements along the last given dim.",
    )
    .grad(Parts),
    frequencies(
        "fftfreq",
        "Creates the frequencies of `fft` for `n` samples at a distance of `d`: 0, 1, … \
         and then the negative ones, divided by `n d`.",
    ),
    frequencies(
        "rfftfreq",
        "Creates the frequencies of `rfft` for `n` samples at a distance of `d`.",
    ),
    row(
        "fftshift",
        "self, dim: Dims = None",
        "Moves frequency 0 to the middle of dims.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate"),
    row(
        "ifftshift",
        "self, dim: Dims = None",
        "Moves frequency 0 from the middle of dims to the front.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate"),
    Row::new(
        "fft_convolve",
        "self, kernel, dim: Dim = -1",
        Fft,
        Unifies,
        "Computes the full convolution with a kernel along a dim; its size is the sum \
         of both sizes, minus 1.",
    )
    .dtype(NoPromotion, DTypes::SOLVABLE)
    .samples(Samples::Own)
    .differs("not in PyTorch; the kernel's dims align by name"),
];
