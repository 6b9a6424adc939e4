//! Random fills and samples.

use nomina_core::op::Op;
use nomina_core::{Result, rule};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Arg};
use nomina_runtime::random::{Distribution, Generator, with_generator};

use super::{Dest, Erased, ErasedRef, OperandRef, Static, explain, names, wilds};

/// Fills with random numbers.
pub(crate) fn fill(
    op: Op,
    dest: Result<Dest<'_>>,
    what: Distribution,
    generator: Option<&mut Generator>,
) -> Result<()> {
    let Dest { raw, wild, of } = dest?;
    let shape: Vec<usize> = raw.shape().to_vec();
    with_generator(generator, |g| call::random(op.name(), raw, what, g))
        .map_err(|error| error.operand(&names(wild.as_deref(), of), &shape))
}

/// Fills with ones of a probability, or of a tensor of probabilities, and zeros.
pub(crate) fn bernoulli_(
    dest: Result<Dest<'_>>,
    p: OperandRef<'_>,
    generator: Option<&mut Generator>,
) -> Result<()> {
    let p = match p {
        OperandRef::Tensor(p) => p,
        OperandRef::Scalar(p) => {
            let what = Distribution::Bernoulli { p: p.to_f64() };
            return fill(Op::Bernoulli, dest, what, generator);
        }
    };
    let dest = dest?;
    let mut now = None;
    if dest.of.wild || p.of.wild {
        let names = rule::unify_in_place("bernoulli", &dest.names(), &p.names());
        now = wilds(names.map_err(|error| dest.blame(error, &[p]))?, dest.of);
    }
    dest.write([], now, |raw| {
        with_generator(generator, |g| call::bernoulli_into(raw, p.raw, g))
            .map_err(|error| p.blame(error))
    })
}

/// Computes `make` on a tensor and keeps its names.
pub(crate) fn sample(
    x: ErasedRef<'_>,
    generator: Option<&mut Generator>,
    make: impl FnOnce(&Raw, &mut Generator) -> Result<Raw>,
) -> Result<Erased> {
    Ok(Erased {
        raw: with_generator(generator, |g| make(x.raw, g)).map_err(|error| x.blame(error))?,
        wild: x.wild(),
    })
}

/// Draws normal random numbers with means and standard deviations.
pub(crate) fn normal(
    mean: OperandRef<'_>,
    std: OperandRef<'_>,
    out: &'static Static,
    generator: Option<&mut Generator>,
) -> Result<Erased> {
    let operands: Vec<ErasedRef<'_>> = [&mean, &std]
        .into_iter()
        .filter_map(OperandRef::erased)
        .collect();
    let mut wild = None;
    if operands.iter().any(|x| x.of.wild) {
        let all: Vec<_> = operands.iter().map(|x| x.names()).collect();
        let unified = rule::unify_all("normal", &all).map_err(|e| explain(e, &operands))?;
        wild = wilds(unified, out);
    }
    let (mean, std): (Arg<'_>, Arg<'_>) = (mean.arg(), std.arg());
    let raw = with_generator(generator, |g| call::normal(mean, std, g));
    Ok(Erased {
        raw: raw.map_err(|error| explain(error, &operands))?,
        wild,
    })
}
