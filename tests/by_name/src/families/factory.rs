//! Factories, conversions, copies.

use nomina_core::op::Op;
use nomina_core::{MemoryFormat, Result};

use super::{only_in_place, pure};
use crate::bind::Bound;
use crate::generated::Factory;
use crate::read::sizes;
use crate::read::{factory, given_names, names, options};
use crate::value::Value;
use crate::{Form, computed};
use nomina_runtime::call::Window;
use nomina_runtime::tensor::LogspaceOptions;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Factory, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Factory::Zeros
        | Factory::Ones
        | Factory::Empty
        | Factory::Full
        | Factory::Rand
        | Factory::Randn => computed(op, form, args, |a| factory(op, a)),
        Factory::Arange => computed(op, form, args, |a| {
            let step = a.scalar("step")?;
            let (start, end) = (a.scalar("start")?, a.scalar("end")?);
            let options = options(a)?;
            match names(a)? {
                Some(names) => options.arange(start, end, step, &names[..]),
                None => options.arange(start, end, step, ()),
            }
        }),
        Factory::Eye => computed(op, form, args, |a| {
            let n = a.int("n")?;
            let nm = sizes("eye", &[n, a.int_or("m", n)?])?;
            match names(a)? {
                Some(names) => options(a)?.eye(nm[0], nm[1], &names[..]),
                None => options(a)?.eye(nm[0], nm[1], ()),
            }
        }),
        Factory::Linspace => computed(op, form, args, |a| {
            let (start, end) = (a.scalar("start")?, a.scalar("end")?);
            let steps = sizes(op.name(), &[a.int("steps")?])?[0];
            options(a)?.linspace(start, end, steps, &given_names(a, 1)?[..])
        }),
        Factory::Logspace => computed(op, form, args, |a| {
            let (start, end) = (a.scalar("start")?, a.scalar("end")?);
            let steps = sizes(op.name(), &[a.int("steps")?])?[0];
            let base = LogspaceOptions {
                base: a.float("base")?,
            };
            options(a)?.logspace(start, end, steps, &given_names(a, 1)?[..], base)
        }),
        Factory::TrilIndices | Factory::TriuIndices => pure(op, form, args, |a| {
            let size = sizes(op.name(), &[a.int("row")?, a.int("col")?])?;
            let (offset, upper) = (a.int("offset")?, which == Factory::TriuIndices);
            let names = given_names(a, 2)?;
            options(a)?.triangle_indices(op.name(), (size[0], size[1]), offset, upper, &names[..])
        }),
        Factory::BartlettWindow => windowed(op, form, args, |_| Ok(Window::Bartlett)),
        Factory::BlackmanWindow => windowed(op, form, args, |_| Ok(Window::Blackman)),
        Factory::HannWindow => windowed(op, form, args, |_| Ok(HANN)),
        Factory::HammingWindow => windowed(op, form, args, |a| {
            Ok(Window::Cosine {
                alpha: a.float("alpha")?,
                beta: a.float("beta")?,
            })
        }),
        Factory::KaiserWindow => windowed(op, form, args, |a| {
            let beta = a.float("beta")?;
            Ok(Window::Kaiser { beta })
        }),
        Factory::Tensor => pure(op, form, args, crate::data::tensor),
        Factory::ZerosLike => pure(op, form, args, |a| {
            a.tensor("self")?.zeros_like_with(options(a)?)
        }),
        Factory::OnesLike => pure(op, form, args, |a| {
            a.tensor("self")?.ones_like_with(options(a)?)
        }),
        Factory::EmptyLike => pure(op, form, args, |a| {
            a.tensor("self")?.empty_like_with(options(a)?)
        }),
        Factory::RandLike => pure(op, form, args, |a| {
            a.tensor("self")?.rand_like_with(options(a)?)
        }),
        Factory::RandnLike => pure(op, form, args, |a| {
            a.tensor("self")?.randn_like_with(options(a)?)
        }),
        Factory::FullLike => pure(op, form, args, |a| {
            let value = a.scalar("fill_value")?;
            a.tensor("self")?.full_like_with(value, options(a)?)
        }),
        Factory::To => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let moved = x.to_device(a.device("device")?.unwrap_or(x.device()))?;
            let format = a.format()?.unwrap_or(MemoryFormat::Preserve);
            moved.to_dtype_with(a.dtype()?.unwrap_or(x.dtype()), format)
        }),
        Factory::Contiguous => pure(op, form, args, |a| {
            let format = a.format()?.unwrap_or_default();
            a.tensor("self")?.contiguous_with(format)
        }),
        Factory::Clone => pure(op, form, args, |a| {
            let format = a.format()?.unwrap_or(MemoryFormat::Preserve);
            a.tensor("self")?.clone_with(format)
        }),
        Factory::Copy => only_in_place(op, form, args, |own, a| {
            own.copy_(a.tensor("src")?).map(drop)
        }),
        Factory::Fill => only_in_place(op, form, args, |own, a| {
            own.fill_(a.operand("value")?).map(drop)
        }),
    }
}

const HANN: Window = Window::Cosine {
    alpha: 0.5,
    beta: 0.5,
};

fn windowed(
    op: Op,
    form: Form,
    args: &mut Bound,
    shape: impl FnOnce(&Bound) -> Result<Window>,
) -> Result<Value> {
    pure(op, form, args, |a| {
        let n = sizes(op.name(), &[a.int("window_length")?])?[0];
        let periodic = a.flag("periodic")?;
        let shape = (shape(a)?, periodic);
        options(a)?.window(op.name(), shape, n, &given_names(a, 1)?[..])
    })
}
