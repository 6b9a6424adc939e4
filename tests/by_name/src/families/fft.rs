//! Fourier transforms.

use nomina_core::Result;
use nomina_core::op::Op;

use super::pure;
use crate::Form;
use crate::bind::Bound;
use crate::generated::Fft;
use crate::read::{given_names, options as factory_options};
use crate::value::{Value, wrong};
use nomina_runtime::tensor::{FftNorm, FftOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Fft, op: Op, form: Form, args: Bound) -> Result<Value> {
    pure(op, form, &args, |a| {
        let count = || {
            let n = a.int("n")?;
            usize::try_from(n).map_err(|_| wrong(a.op(), "n", "a size", &n.into()))
        };
        if let Fft::Fftfreq | Fft::Rfftfreq = which {
            let half = which == Fft::Rfftfreq;
            let names = given_names(a, 1)?;
            return factory_options(a)?.frequencies(
                op.name(),
                count()?,
                a.float("d")?,
                half,
                &names[..],
            );
        }
        let x = a.tensor("self")?;
        let dims = || a.dims("dim", true);
        match which {
            Fft::Fft => x.fft_with(a.dim("dim")?, options(a)?),
            Fft::Ifft => x.ifft_with(a.dim("dim")?, options(a)?),
            Fft::Rfft => x.rfft_with(a.dim("dim")?, options(a)?),
            Fft::Irfft => x.irfft_with(a.dim("dim")?, count()?, options(a)?),
            Fft::Fftn => x.fftn_with(dims()?, options(a)?),
            Fft::Ifftn => x.ifftn_with(dims()?, options(a)?),
            Fft::Rfftn => x.rfftn_with(dims()?, options(a)?),
            Fft::Irfftn => x.irfftn_with(dims()?, count()?, options(a)?),
            Fft::Fftfreq | Fft::Rfftfreq => unreachable!("computed above"),
            Fft::Fftshift => x.fftshift(dims()?),
            Fft::Ifftshift => x.ifftshift(dims()?),
            Fft::FftConvolve => x.fft_convolve(a.tensor("kernel")?, a.dim("dim")?),
        }
    })
}

fn options(args: &Bound) -> Result<FftOptions> {
    let norm = match args.word("norm", &["backward", "ortho", "forward"])? {
        None | Some(0) => FftNorm::Backward,
        Some(1) => FftNorm::Ortho,
        Some(_) => FftNorm::Forward,
    };
    Ok(FftOptions { norm })
}
