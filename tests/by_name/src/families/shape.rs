//! Operators that move, repeat or rearrange elements.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::{in_place, pure};
use crate::bind::Bound;
use crate::generated::Shape;
use crate::read::given_names;
use crate::read::sizes;
use crate::value::{Value, wrong};
use crate::{Form, computed};
use nomina_runtime::tensor::{
    DiagEmbedOptions, DiagonalOptions, DynTensor, Repeats, Rot90Options, VanderOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Shape, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Shape::Flip => pure(op, form, args, |a| {
            a.tensor("self")?.flip(a.dims("dims", false)?)
        }),
        Shape::Fliplr => pure(op, form, args, |a| a.tensor("self")?.fliplr()),
        Shape::Flipud => pure(op, form, args, |a| a.tensor("self")?.flipud()),
        Shape::Rot90 => pure(op, form, args, |a| {
            let options = Rot90Options { k: a.int("k")? };
            match a.given("dims") {
                None => a.tensor("self")?.rot90_with([0, 1], options),
                Some(_) => a
                    .tensor("self")?
                    .rot90_with(a.dims("dims", false)?, options),
            }
        }),
        Shape::Roll => pure(op, form, args, |a| {
            a.tensor("self")?
                .roll(&a.sizes("shifts")?, a.dims("dims", true)?)
        }),
        Shape::Repeat => pure(op, form, args, |a| {
            a.tensor("self")?.repeat(&a.sizes("repeats")?)
        }),
        Shape::Tile => pure(op, form, args, |a| {
            a.tensor("self")?.tile(&a.sizes("dims")?)
        }),
        Shape::RepeatInterleave => pure(op, form, args, |a| {
            let dim = a.dims("dim", true)?;
            let repeats = match a.get("repeats") {
                Some(Value::Tensor(counts)) => Repeats::Counts(counts),
                _ => Repeats::Each(a.int("repeats")?),
            };
            a.tensor("self")?.repeat_interleave(repeats, dim)
        }),
        Shape::Diag => computed(op, form, args, |a| {
            let x = a.tensor("self")?;
            let names = given_names(a, if x.rank() == 1 { 2 } else { 1 })?;
            x.diag_with(&names[..], offset(a, "diagonal")?)
        }),
        Shape::Diagflat => pure(op, form, args, |a| {
            let names = given_names(a, 2)?;
            a.tensor("self")?
                .diagflat_with(&names[..], offset(a, "offset")?)
        }),
        Shape::DiagEmbed => pure(op, form, args, |a| {
            let options = DiagEmbedOptions {
                offset: a.int("offset")?,
                dim1: a.int("dim1")?,
                dim2: a.int("dim2")?,
            };
            let names = given_names(a, 2)?;
            a.tensor("self")?.diag_embed_with(&names[..], options)
        }),
        Shape::Tril if form == Form::InPlace => {
            in_place(args, |x, a| x.tril_with_(offset(a, "diagonal")?).map(drop))
        }
        Shape::Tril => computed(op, form, args, |a| {
            a.tensor("self")?.tril_with(offset(a, "diagonal")?)
        }),
        Shape::Triu if form == Form::InPlace => {
            in_place(args, |x, a| x.triu_with_(offset(a, "diagonal")?).map(drop))
        }
        Shape::Triu => computed(op, form, args, |a| {
            a.tensor("self")?.triu_with(offset(a, "diagonal")?)
        }),
        Shape::NarrowCopy => computed(op, form, args, |a| {
            let length = sizes(op.name(), &[a.int("length")?])?[0];
            a.tensor("self")?
                .narrow_copy(a.dim("dim")?, a.int("start")?, length)
        }),
        Shape::Hstack => computed(op, form, args, |a| {
            DynTensor::hstack(&a.tensors("tensors")?)
        }),
        Shape::Vstack => computed(op, form, args, |a| {
            DynTensor::vstack(&a.tensors("tensors")?)
        }),
        Shape::Dstack => computed(op, form, args, |a| {
            DynTensor::dstack(&a.tensors("tensors")?)
        }),
        Shape::ColumnStack => computed(op, form, args, |a| {
            DynTensor::column_stack(&a.tensors("tensors")?)
        }),
        Shape::BlockDiag => pure(op, form, args, |a| {
            DynTensor::block_diag(&a.tensors("tensors")?)
        }),
        Shape::CartesianProd => pure(op, form, args, |a| {
            DynTensor::cartesian_prod(&a.tensors("tensors")?)
        }),
        Shape::Combinations => pure(op, form, args, |a| {
            let r = a.int("r")?;
            let r = usize::try_from(r).map_err(|_| {
                let what = format!("combinations of {r} elements");
                Error::new(ErrorKind::Argument, op.name(), what).hint("choose 0 or more")
            })?;
            a.tensor("self")?
                .combinations(r, a.flag("with_replacement")?)
        }),
        Shape::Vander => pure(op, form, args, |a| {
            let n = match a.given("N") {
                None => None,
                Some(Value::Int(n)) => Some(sizes(op.name(), &[*n])?[0]),
                Some(other) => return Err(wrong(op.name(), "N", "an integer", other)),
            };
            let options = VanderOptions {
                n,
                increasing: a.flag("increasing")?,
            };
            a.tensor("x")?.vander_with(a.name("outdim")?, options)
        }),
        Shape::Real => pure(op, form, args, |a| a.tensor("self")?.real()),
        Shape::Imag => pure(op, form, args, |a| a.tensor("self")?.imag()),
        Shape::ViewAsReal => pure(op, form, args, |a| {
            a.tensor("self")?.view_as_real(a.name("outdim")?)
        }),
        Shape::ViewAsComplex => pure(op, form, args, |a| a.tensor("self")?.view_as_complex()),
        Shape::Complex => computed(op, form, args, |a| {
            DynTensor::complex(a.tensor("real")?, a.tensor("imag")?)
        }),
        Shape::Polar => computed(op, form, args, |a| {
            DynTensor::polar(a.tensor("abs")?, a.tensor("angle")?)
        }),
        Shape::ConjPhysical => computed(op, form, args, |a| a.tensor("self")?.conj()),
    }
}

fn offset(args: &Bound, param: &str) -> Result<DiagonalOptions> {
    Ok(DiagonalOptions {
        offset: args.int(param)?,
    })
}
