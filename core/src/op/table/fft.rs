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
        .differs("names go through; of floats of 32 bits and more")
}

const ALONG: &str = "self, dim: Dim = -1, norm: Word = backward";
const OVER: &str = "self, dim: Dims = None, norm: Word = backward";

pub(super) const ROWS: &[Row] = &[
    row(
        "fft",
        ALONG,
        "The discrete Fourier transform along a dim; the result is complex.",
    ).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("ifft", ALONG, "The inverse of `fft`.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "rfft",
        ALONG,
        "The first half of the transform of a real signal along a dim, `n / 2 + 1` elements.",
    )
    .dtype(NoPromotion, DTypes::SINGLES).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "irfft",
        "self, n: Int, dim: Dim = -1, norm: Word = backward",
        "The real signal of `n` elements whose transform along a dim has this first half.",
    ).grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("fftn", OVER, "The discrete Fourier transform along several dims.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row("ifftn", OVER, "The inverse of `fftn`.").grad(Lines(&[("self", "rule::fft(grad, self)")])).spread(Spread::Whole),
    row(
        "fftshift",
        "self, dim: Dims = None",
        "Frequency 0 moved to the middle of dims.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .grad(Lines(&[("self", "ifftshift(grad, dim)")])).differs("names go through").spread(Spread::Whole),
    row(
        "ifftshift",
        "self, dim: Dims = None",
        "Frequency 0 moved from the middle of dims to the front.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .grad(Lines(&[("self", "fftshift(grad, dim)")])).differs("names go through").spread(Spread::Whole),
    Row::new(
        "fft_convolve",
        "self, kernel, dim: Dim = -1",
        Fft,
        Unifies,
        "The convolution with a kernel along a dim, in full: as many elements as both have, less one.",
    )
    .dtype(NoPromotion, DTypes::SOLVABLE)
    .samples(Samples::Own)
    .grad(Lines(&[("self", "rule::convolve(grad, self, kernel, 0)"), ("kernel", "rule::convolve(grad, self, kernel, 1)")])).differs("not in PyTorch; the kernel's dims align by name").spread(Spread::Whole),
];
