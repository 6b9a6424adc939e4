//! Fourier transforms along dims.

use crate::op::Class::Fft;
use crate::op::DTypeRule::NoPromotion;
use crate::op::Grad::Lines;
use crate::op::NameRule::{Keeps, Unifies};
use crate::op::{DTypes, Row, Samples, Spread};

const fn row(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Fft, Keeps, doc)
        .dtype(NoPromotion, DTypes::SOLVABLE)
        .samples(Samples::Own)
        .differs("names propagate; only for floats of 32 bits and more")
}

const ALONG: &str = "self, dim: Dim = -1, norm: Word = backward";
const OVER: &str = "self, dim: Dims = None, norm: Word = backward";

pub(super) const ROWS: &[Row] = &[
    row(
        "fft",
        ALONG,
        "Computes the discrete Fourier transform along a dim; the result is complex.",
    ).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("ifft", ALONG, "Computes the inverse of `fft`.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "rfft",
        ALONG,
        "Computes the first half of the transform of a real signal along a dim, `n / 2 + 1` elements.",
    )
    .dtype(NoPromotion, DTypes::SINGLES).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "irfft",
        "self, n: Int, dim: Dim = -1, norm: Word = backward",
        "Computes the real signal of `n` elements from the first half of its transform along a dim.",
    ).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("fftn", OVER, "Computes the discrete Fourier transform along several dims.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("ifftn", OVER, "Computes the inverse of `fftn`.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "fftshift",
        "self, dim: Dims = None",
        "Moves frequency 0 to the middle of dims.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .grad(Lines(&[("self", "ifftshift(grad, dim)")])).differs("names propagate").spread(Spread::Whole),
    row(
        "ifftshift",
        "self, dim: Dims = None",
        "Moves frequency 0 from the middle of dims to the front.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .grad(Lines(&[("self", "fftshift(grad, dim)")])).differs("names propagate").spread(Spread::Whole),
    Row::new(
        "fft_convolve",
        "self, kernel, dim: Dim = -1",
        Fft,
        Unifies,
        "Computes the full convolution with a kernel along a dim; its size is the sum of both sizes, minus 1.",
    )
    .dtype(NoPromotion, DTypes::SOLVABLE)
    .samples(Samples::Own)
    .grad(Lines(&[("self", "rule::convolve(grad, self, kernel, 0)"), ("kernel", "rule::convolve(grad, self, kernel, 1)")])).differs("not in PyTorch; the kernel's dims align by name").spread(Spread::Whole),
];
