//! Runs one call on both devices.

use nomina_core::{DType, Result, Scalar};
use nomina_runtime::call::{to_device, to_dtype};
use nomina_runtime::{Device, Raw};

/// The number of comparisons, and the differences.
#[derive(Default)]
pub struct Compared {
    count: usize,
    wrong: Vec<String>,
}

/// An operand on both devices.
pub struct Twins {
    pub host: Raw,
    pub there: Raw,
}

impl Twins {
    pub fn new(host: Raw) -> Self {
        let there = to_device(&host, Device::Cuda(Some(0))).unwrap();
        Self { host, there }
    }

    /// Applies the same view to both.
    pub fn view(&self, view: impl Fn(&Raw) -> Raw) -> Self {
        Self {
            host: view(&self.host),
            there: view(&self.there),
        }
    }
}

/// Returns pseudo-random numbers of both signs.
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 8.0 - 4.0
    };
    (0..n).map(|_| next()).collect()
}

/// Returns noise as a tensor.
pub fn sample(shape: &[usize], dtype: DType, seed: u64) -> Twins {
    let data = noise(shape.iter().product(), seed);
    let raw = if dtype.is_complex() {
        let parts = noise(data.len(), seed + 1);
        let both = data.iter().zip(parts);
        let both = both.map(|(&re, im)| num_complex::Complex::new(re, im));
        Raw::from_vec(both.collect(), shape)
    } else {
        Raw::from_vec(data, shape)
    };
    Twins::new(to_dtype(&raw.unwrap(), dtype).unwrap())
}

/// Returns whether two results are close, given the dtype of the computation and the magnitude of
/// its sums.
fn close(got: Scalar, want: Scalar, dtype: DType, spread: f64) -> bool {
    let eps = match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 1.6e-2,
        DType::F32 | DType::C64 => 1e-5,
        _ => 1e-11,
    };
    let (got, want) = (got.to_complex(), want.to_complex());
    let part = |got: f64, want: f64, size: f64| {
        got == want
            || (got.is_nan() && want.is_nan())
            || (got - want).abs() <= eps * (spread + size)
    };
    // The result of an overflowing complex product depends on the order of its factors.
    let lost = |z: num_complex::Complex<f64>| !(z.re.is_finite() && z.im.is_finite());
    if dtype.is_complex() && lost(got) && lost(want) {
        return true;
    }
    let size = want.norm();
    part(got.re, want.re, size) && part(got.im, want.im, size)
}

impl Compared {
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }

    /// Compares the results of a call on operands of a dtype. Integers must be equal.
    pub fn call(
        &mut self,
        what: &dyn std::fmt::Display,
        dtype: DType,
        of: &Twins,
        call: impl Fn(&Raw) -> Result<Vec<Raw>>,
    ) {
        self.results(
            what,
            (dtype, of.host.numel()),
            call(&of.host),
            call(&of.there),
        );
    }

    /// Compares results computed from operands of a dtype, with the given number of elements.
    pub fn results(
        &mut self,
        what: &dyn std::fmt::Display,
        (dtype, of): (DType, usize),
        host: Result<Vec<Raw>>,
        there: Result<Vec<Raw>>,
    ) {
        self.count += 1;
        let (host, there) = match (host, there) {
            (Ok(host), Ok(there)) => (host, there),
            (Err(host), Err(there)) if host.to_string() == there.to_string() => return,
            (host, there) => {
                self.wrong
                    .push(format!("{what}: {:?}, not {:?}", there.err(), host.err()));
                return;
            }
        };
        for (i, (want, got)) in host.iter().zip(&there).enumerate() {
            let got = match to_device(got, Device::Cpu) {
                Ok(got) => got,
                Err(error) => {
                    self.wrong.push(format!("{what}: {error}"));
                    return;
                }
            };
            let same = (got.shape(), got.dtype()) == (want.shape(), want.dtype());
            let exact = want.dtype().is_integral();
            // Integers are computed in the dtype of the result; a widened result keeps the error of
            // the operand's dtype.
            let eps = if dtype.is_integral() {
                want.dtype()
            } else {
                dtype
            };
            let spread = 1.0 + 0.1 * (of as f64 / want.numel().max(1) as f64).sqrt();
            let apart = got.scalars().zip(want.scalars()).position(|(got, want)| {
                if exact {
                    got != want
                } else {
                    !close(got, want, eps, spread)
                }
            });
            if !same || apart.is_some() {
                let at = apart.unwrap_or_default();
                let show = |raw: &Raw| raw.scalars().nth(at);
                let (got, want) = (show(&got), show(want));
                self.wrong
                    .push(format!("{what}: result {i} at {at}: {got:?}, not {want:?}"));
            }
        }
    }
}
