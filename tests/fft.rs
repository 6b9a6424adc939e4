//! Fourier transforms against the sum that defines them, and against its identities.

use std::f64::consts::TAU;

use nomina::prelude::*;
use nomina::{Complex, DType, DynTensor, ErrorKind, FftNorm, FftOptions, Generator, Result};

type C128 = Complex<f64>;

const NORMS: [FftNorm; 3] = [FftNorm::Backward, FftNorm::Ortho, FftNorm::Forward];

/// Even, odd and prime lengths, and lengths that need other algorithms.
const LENGTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 13, 16, 30, 31, 64, 97, 211];

fn random(dtype: DType, sizes: &[usize], names: &[&str]) -> Result<DynTensor> {
    let mut generator = Generator::new(sizes.iter().sum::<usize>() as u64);
    let options = DynTensor::options().dtype(dtype);
    options.randn_from(sizes, names, &mut generator)
}

/// Computes the sum element by element.
fn direct(x: &[C128], inverse: bool) -> Vec<C128> {
    let n = x.len();
    let sign = if inverse { TAU } else { -TAU };
    let term = |k: usize, t: usize| C128::cis(sign * ((k * t) % n) as f64 / n as f64);
    (0..n)
        .map(|k| (0..n).map(|t| x[t] * term(k, t)).sum())
        .collect()
}

fn precision(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// Returns the greatest absolute difference.
fn off(a: &DynTensor, b: &DynTensor) -> Result<f64> {
    a.sub(b)?.abs()?.amax(..)?.item().map(|x| x.to_f64())
}

#[test]
fn transforms_are_the_sum() -> Result<()> {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        for n in LENGTHS {
            let x = random(dtype, &[n], &["T"])?;
            let elements = x.to::<C128>()?.to_vec::<C128>()?;
            for inverse in [false, true] {
                let wanted = DynTensor::from_vec(direct(&elements, inverse), &[n], ["T"])?;
                for norm in NORMS {
                    let scale = match (norm, inverse) {
                        (FftNorm::Ortho, _) => 1.0 / (n as f64).sqrt(),
                        (FftNorm::Backward, true) | (FftNorm::Forward, false) => 1.0 / n as f64,
                        _ => 1.0,
                    };
                    let options = FftOptions { norm };
                    let found = if inverse {
                        x.ifft_with("T", options)?
                    } else {
                        x.fft_with("T", options)?
                    };
                    assert!(found.dtype().is_complex());
                    assert_eq!(found.dtype().to_real(), dtype.to_real());
                    let wanted = wanted.mul(scale)?;
                    // The reference sum has about the same rounding error.
                    let allowed = 20.0 * precision(dtype) * n as f64 * scale;
                    let off = off(&found.to::<C128>()?, &wanted)?;
                    assert!(
                        off <= allowed,
                        "{dtype}, {n}, {norm:?}: {off:e} > {allowed:e}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn halves_of_real_signals() -> Result<()> {
    for dtype in [DType::F32, DType::F64] {
        for n in LENGTHS {
            let x = random(dtype, &[3, n, 2], &["N", "T", "C"])?;
            for norm in NORMS {
                let options = FftOptions { norm };
                let half = x.rfft_with("T", options)?;
                assert_eq!(half.shape(), [3, n / 2 + 1, 2]);
                assert_eq!(half.names(), x.names());
                let whole = x.fft_with("T", options)?.narrow("T", 0, n / 2 + 1)?;
                let allowed = 20.0 * precision(dtype) * n as f64;
                assert!(off(&half, &whole)? <= allowed, "{dtype}, {n}, {norm:?}");
                let back = half.irfft_with("T", n, options)?;
                assert_eq!(back.dtype(), dtype);
                assert!(
                    off(&back, &x)? <= 20.0 * precision(dtype),
                    "{dtype}, {n}, {norm:?}"
                );
            }
        }
    }
    // Missing elements are zero; excess elements are ignored, and so are imaginary parts that a real signal cannot
    // have.
    let c = |re: f64, im: f64| C128::new(re, im);
    let half = vec![c(4.0, 9.0), c(1.0, 1.0), c(2.0, 5.0), c(7.0, 7.0)];
    let half = DynTensor::from_vec(half, &[4], ["T"])?;
    let short = half.irfft("T", 4)?;
    let wanted = [c(4.0, 0.0), c(1.0, 1.0), c(2.0, 0.0), c(1.0, -1.0)];
    let wanted: Vec<f64> = direct(&wanted, true).iter().map(|x| x.re / 4.0).collect();
    assert!(short.allclose(&DynTensor::from_vec(wanted, &[4], ["T"])?)?);
    let long = half.narrow("T", 0, 1)?.irfft("T", 5)?;
    assert!(long.allclose(&DynTensor::full(&[5], 0.8, ["T"])?.to::<f64>()?)?);
    Ok(())
}

#[test]
fn there_and_back() -> Result<()> {
    for dtype in [DType::C64, DType::C128] {
        for sizes in [[3, 4, 5], [1, 7, 2], [31, 2, 3]] {
            let x = random(dtype, &sizes, &["A", "B", "C"])?;
            let x = x.align_to(["C", "A", "B"])?;
            let count = x.numel() as f64;
            for norm in NORMS {
                let options = FftOptions { norm };
                let there = x.fftn_with(["A", "C"], options)?;
                assert_eq!(there.names(), x.names());
                assert!(
                    off(&there.ifftn_with(["A", "C"], options)?, &x)? <= 40.0 * precision(dtype)
                );
                // Equals one dim after another, in any order.
                let steps = x.fft_with("C", options)?.fft_with("A", options)?;
                assert!(off(&there, &steps)? <= 40.0 * precision(dtype) * count);
            }
            // Parseval's theorem.
            let all = x.fftn_with(
                ..,
                FftOptions {
                    norm: FftNorm::Ortho,
                },
            )?;
            let norms = [&x, &all].map(|x| x.norm(..).unwrap().item().unwrap().to_f64());
            assert!((norms[0] / norms[1] - 1.0).abs() < 40.0 * precision(dtype));
        }
    }
    Ok(())
}

#[test]
fn convolutions_in_full() -> Result<()> {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        for (n, k) in [(1, 1), (1, 4), (5, 3), (16, 16), (100, 31)] {
            let x = random(dtype, &[2, n], &["N", "T"])?;
            let kernel = random(dtype, &[k], &["T"])?;
            let y = x.fft_convolve(&kernel, "T")?;
            assert_eq!((y.shape(), y.dtype()), (&[2, n + k - 1][..], dtype));
            let (a, b) = (
                x.to::<C128>()?.to_vec::<C128>()?,
                kernel.to::<C128>()?.to_vec::<C128>()?,
            );
            let mut wanted = vec![C128::default(); 2 * (n + k - 1)];
            for row in 0..2 {
                for i in 0..n {
                    for j in 0..k {
                        wanted[row * (n + k - 1) + i + j] += a[row * n + i] * b[j];
                    }
                }
            }
            let wanted = DynTensor::from_vec(wanted, &[2, n + k - 1], ["N", "T"])?;
            let allowed = 40.0 * precision(dtype) * k as f64;
            assert!(
                off(&y.to::<C128>()?, &wanted)? <= allowed,
                "{dtype}, {n}, {k}"
            );
        }
    }
    // The kernel's dims align by name; its other dims broadcast.
    dims! { N, C, T }
    let x = Tensor::<(N, T, C)>::randn([2, 6, 3]);
    let kernel = Tensor::<(C, T)>::randn([3, 2]);
    let y = x.fft_convolve(&kernel, T);
    for c in 0..3 {
        let one = x.select(C, c).fft_convolve(&kernel.select(C, c), T);
        assert!((y.select(C, c) - one).abs().max(..).item() < 1e-5);
    }
    Ok(())
}

#[test]
fn frequencies_in_order() {
    dims! { H, W }
    let x = tensor!([[0, 1, 2], [3, 4, 5]]; H, W);
    assert_eq!(x.fftshift(W).to_vec(), [2, 0, 1, 5, 3, 4]);
    assert_eq!(x.fftshift(..).to_vec(), [5, 3, 4, 2, 0, 1]);
    assert_eq!(x.ifftshift(W).to_vec(), [1, 2, 0, 4, 5, 3]);
    assert!(x.fftshift((H, W)).ifftshift((H, W)).equal(&x));
    assert_eq!(Tensor::<(H, W)>::zeros([0, 3]).fftshift(..).shape(), [0, 3]);
}

/// Typed and dynamic calls agree.
#[test]
fn names_and_values_are_those_of_the_dynamic_calls() {
    dims! { N, T }
    let x = Tensor::<(T, N)>::randn([6, 3]);
    let d = x.clone().into_dyn();
    let same = |typed: DynTensor, dynamic: Result<DynTensor>| {
        let dynamic = dynamic.unwrap();
        assert_eq!(typed.names(), dynamic.names());
        assert!(typed.equal(&dynamic).unwrap());
    };
    same(x.fft(T).into_dyn(), d.fft("T"));
    same(x.ifft(T).into_dyn(), d.ifft("T"));
    same(x.rfft(T).into_dyn(), d.rfft("T"));
    same(
        x.rfft(T).irfft(T, 6).into_dyn(),
        d.rfft("T").unwrap().irfft("T", 6),
    );
    same(x.fftn(..).into_dyn(), d.fftn(..));
    same(x.ifftn((N, T)).into_dyn(), d.ifftn(["N", "T"]));
    same(x.rfftn((N, T)).into_dyn(), d.rfftn(["N", "T"]));
    same(x.rfftn(..).into_dyn(), d.rfftn(["T", "N"]));
    let half = d.rfftn(["N", "T"]);
    same(
        x.rfftn((N, T)).irfftn((N, T), 6).into_dyn(),
        half.unwrap().irfftn(["N", "T"], 6),
    );
    let f = Tensor::<(T,), f64>::fftfreq(5, 0.1).into_dyn();
    let options = DynTensor::options().dtype(DType::F64);
    same(f, options.frequencies("fftfreq", 5, 0.1, false, ["T"]));
    same(x.fftshift(N).into_dyn(), d.fftshift("N"));
    same(x.ifftshift(N).into_dyn(), d.ifftshift("N"));
}

/// The half transform along dims is a part of the whole one, in each norm, and its inverse gives the signal back.
#[test]
fn half_transforms_along_dims() -> Result<()> {
    for dtype in [DType::F32, DType::F64] {
        for sizes in [[3, 4, 6], [2, 5, 7], [1, 1, 1], [4, 3, 2]] {
            let x = random(dtype, &sizes, &["N", "H", "W"])?;
            for dims in [&["H", "W"][..], &["W", "H"], &["N", "W", "H"], &["H"]] {
                for norm in NORMS {
                    let (options, last) = (FftOptions { norm }, dims[dims.len() - 1]);
                    let n = x.size(last)?;
                    let half = x.rfftn_with(dims, options)?;
                    assert_eq!((half.size(last)?, half.names()), (n / 2 + 1, x.names()));
                    let complex = x.to_dtype(half.dtype())?;
                    let whole = complex
                        .fftn_with(dims, options)?
                        .narrow(last, 0, n / 2 + 1)?;
                    let scale = whole.abs()?.amax(..)?.item()?.to_f64();
                    assert!(off(&half, &whole)? <= 32.0 * precision(dtype) * scale.max(1.0));
                    let back = half.irfftn_with(dims, n, options)?;
                    assert!(
                        off(&back, &x)? <= 64.0 * precision(dtype),
                        "{dims:?} {sizes:?}"
                    );
                }
            }
        }
    }
    let mut x = DynTensor::ones(&[2, 3], ["H", "W"])?;
    x.requires_grad_()?;
    x.rfftn(["H", "W"])?.abs()?.sum(..)?.backward()?;
    assert_eq!(x.grad().unwrap().shape(), [2, 3]);
    let kind = |result: Result<DynTensor>| result.map_err(|error| error.kind()).map(|_| ());
    let complex = x.detach().to::<C128>()?;
    assert_eq!(kind(complex.rfftn(["H", "W"])), Err(ErrorKind::DType));
    assert_eq!(
        kind(complex.irfftn(["H", "W"], 0)),
        Err(ErrorKind::Argument)
    );
    assert_eq!(
        kind(DynTensor::ones(&[], ())?.rfftn(..)),
        Err(ErrorKind::Argument)
    );
    Ok(())
}

/// Each frequency of the transform is that of the wave whose spectrum has its peak there.
#[test]
fn frequencies_belong_to_the_elements_of_transforms() -> Result<()> {
    for (n, d) in [(1, 1.0), (2, 0.5), (5, 0.1), (8, 0.25), (9, 3.0)] {
        let options = DynTensor::options().dtype(DType::F64);
        let all: Vec<f64> = options
            .frequencies("fftfreq", n, d, false, ["F"])?
            .to_vec()?;
        let half: Vec<f64> = options
            .frequencies("rfftfreq", n, d, true, ["F"])?
            .to_vec()?;
        assert_eq!((all.len(), half.len()), (n, n / 2 + 1));
        for (i, f) in all.iter().enumerate() {
            let wave = (0..n).map(|t| C128::cis(TAU * f * d * t as f64)).collect();
            let wave = DynTensor::from_vec::<C128>(wave, &[n], ["T"])?;
            let found = wave.fft("T")?.abs()?.argmax("T")?.item()?.to_f64();
            assert_eq!(found, i as f64, "{f} of {all:?}");
        }
        assert!(
            half.iter()
                .zip(&all)
                .all(|(a, b)| a.abs() == b.abs() && *a >= 0.0)
        );
    }
    let f = DynTensor::fftfreq(4, 1.0, ["F"])?;
    assert_eq!(f.to_vec::<f32>()?, [0.0, 0.25, -0.5, -0.25]);
    assert_eq!(
        DynTensor::rfftfreq(4, 1.0, ["F"])?.to_vec::<f32>()?,
        [0.0, 0.25, 0.5]
    );
    for (n, d) in [(0, 1.0), (3, 0.0), (3, f64::NAN), (3, f64::INFINITY)] {
        let error = DynTensor::fftfreq(n, d, ["F"]).unwrap_err();
        assert_eq!((error.kind(), error.op()), (ErrorKind::Argument, "fftfreq"));
    }
    let whole = DynTensor::options()
        .dtype(DType::I64)
        .frequencies("fftfreq", 3, 1.0, false, ["F"]);
    assert_eq!(whole.unwrap_err().kind(), ErrorKind::DType);
    Ok(())
}

#[test]
fn mistakes() -> Result<()> {
    let x = DynTensor::ones(&[2, 0], ["N", "T"])?;
    let kind = |result: Result<DynTensor>| result.map_err(|error| error.kind()).map(|_| ());
    assert_eq!(kind(x.fft("T")), Err(ErrorKind::Shape));
    assert_eq!(kind(x.rfft("T")), Err(ErrorKind::Shape));
    assert_eq!(x.fft("N")?.shape(), [2, 0]);
    assert_eq!(x.rfft("N")?.shape(), [2, 0]);
    assert_eq!(kind(x.irfft("N", 0)), Err(ErrorKind::Argument));
    assert_eq!(kind(x.fft("C")), Err(ErrorKind::NameNotFound));
    let whole = DynTensor::ones(&[3], ["T"])?.to::<i32>()?;
    let text = whole.fft("T").unwrap_err().to_string();
    assert!(
        text.starts_with("fft: dtype i32 is not supported"),
        "{text}"
    );
    let complex = DynTensor::ones(&[3], ["T"])?.to::<C128>()?;
    assert_eq!(kind(complex.rfft("T")), Err(ErrorKind::DType));
    let x = DynTensor::ones(&[3], ["T"])?;
    let other = DynTensor::ones(&[3, 2], ["T", "N"])?;
    assert_eq!(kind(x.fft_convolve(&other, "T")), Err(ErrorKind::Align));
    let other = DynTensor::ones(&[2], ["N"])?;
    assert_eq!(
        kind(x.fft_convolve(&other, "T")),
        Err(ErrorKind::NameNotFound)
    );
    assert_eq!(kind(x.fft_convolve(&complex, "T")), Err(ErrorKind::DType));
    // NaN spreads to every element.
    let bad = DynTensor::from_vec(vec![1.0f32, f32::NAN, 0.0], &[3], ["T"])?;
    assert!(bad.fft("T")?.isnan()?.all(..)?.item()?.to_bool());
    Ok(())
}
