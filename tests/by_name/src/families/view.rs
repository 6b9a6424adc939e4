//! Views.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::{pure, value};
use crate::Form;
use crate::bind::Bound;
use crate::generated::View;
use crate::read::sizes;
use crate::read::{flatten, unflatten};
use crate::value::Value;
use nomina_runtime::tensor::{
    DiagonalOptions, DynTensor, Indexing, MeshgridOptions, Order, Sections, SplitSizes,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: View, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        View::Transpose => pure(op, form, args, |a| {
            a.tensor("self")?.transpose(a.dim("dim0")?, a.dim("dim1")?)
        }),
        View::T => pure(op, form, args, |a| a.tensor("self")?.t()),
        View::Permute => pure(op, form, args, |a| {
            a.tensor("self")?.permute(a.dims("dims", false)?)
        }),
        View::AlignTo => pure(op, form, args, |a| {
            a.tensor("self")?.align_to(Order::new(a.order("names")?))
        }),
        View::AlignAs => pure(op, form, args, |a| {
            a.tensor("self")?.align_as(a.tensor("other")?)
        }),
        View::Flatten => pure(op, form, args, flatten),
        View::Unflatten => pure(op, form, args, unflatten),
        View::Squeeze => pure(op, form, args, |a| {
            a.tensor("self")?.squeeze(a.dims("dim", false)?)
        }),
        View::Unsqueeze => pure(op, form, args, |a| {
            a.tensor("self")?.unsqueeze(a.int("dim")?, None)
        }),
        View::Expand => pure(op, form, args, |a| {
            a.tensor("self")?.expand(&a.sizes("size")?)
        }),
        View::Select => pure(op, form, args, |a| {
            a.tensor("self")?.select(a.dim("dim")?, a.int("index")?)
        }),
        View::Narrow => pure(op, form, args, |a| {
            let length = sizes(op.name(), &[a.int("length")?])?[0];
            a.tensor("self")?
                .narrow(a.dim("dim")?, a.int("start")?, length)
        }),
        View::Unbind => value(op, form, args, |a| {
            Value::tensors(op, a.tensor("self")?.unbind(a.dim("dim")?)?)
        }),
        View::Split => value(op, form, args, |a| {
            let given = a.sizes("split_size")?;
            let each = matches!(a.get("split_size"), Some(Value::Int(_)));
            let sizes = if each {
                SplitSizes::Each(given[0])
            } else {
                given.into()
            };
            Value::tensors(op, a.tensor("self")?.split(sizes, a.dim("dim")?)?)
        }),
        View::Chunk => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            Value::tensors(op, x.chunk(a.int("chunks")?, a.dim("dim")?)?)
        }),
        View::SplitWithSizes => value(op, form, args, |a| {
            let sizes = SplitSizes::from(a.sizes("split_sizes")?);
            let pieces = a.tensor("self")?.split(sizes, a.dim("dim")?);
            Value::tensors(op, pieces.map_err(|error| error.in_op(op.name()))?)
        }),
        View::TensorSplit => value(op, form, args, |a| {
            let x = a.tensor("self")?;
            Value::tensors(op, x.tensor_split(sections(a)?, a.dim("dim")?)?)
        }),
        View::Hsplit => value(op, form, args, |a| {
            Value::tensors(op, a.tensor("self")?.hsplit(sections(a)?)?)
        }),
        View::Vsplit => value(op, form, args, |a| {
            Value::tensors(op, a.tensor("self")?.vsplit(sections(a)?)?)
        }),
        View::Dsplit => value(op, form, args, |a| {
            Value::tensors(op, a.tensor("self")?.dsplit(sections(a)?)?)
        }),
        View::Diagonal => pure(op, form, args, |a| {
            let options = DiagonalOptions {
                offset: a.int("offset")?,
            };
            let (dim1, dim2) = (a.dim("dim1")?, a.dim("dim2")?);
            a.tensor("self")?
                .diagonal_with(dim1, dim2, a.name("outdim")?, options)
        }),
        View::Movedim => pure(op, form, args, |a| {
            let (source, destination) = (a.dims("source", false)?, a.dims("destination", false)?);
            a.tensor("self")?.movedim(source, destination)
        }),
        View::Unfold => pure(op, form, args, |a| {
            let window = sizes(op.name(), &[a.int("size")?, a.int("step")?])?;
            let dim = a.dim("dimension")?;
            a.tensor("self")?
                .unfold(dim, window[0], window[1], a.name("outdim")?)
        }),
        View::ExpandAs => pure(op, form, args, |a| {
            a.tensor("self")?.expand_as(a.tensor("other")?)
        }),
        View::Reshape => pure(op, form, args, |a| {
            a.tensor("self")?.reshape(&a.sizes("shape")?)
        }),
        View::ReshapeAs => pure(op, form, args, |a| {
            a.tensor("self")?.reshape_as(a.tensor("other")?)
        }),
        View::View => pure(op, form, args, |a| {
            a.tensor("self")?.view(&a.sizes("size")?)
        }),
        View::ViewAs => pure(op, form, args, |a| {
            a.tensor("self")?.view_as(a.tensor("other")?)
        }),
        View::AsStrided => pure(op, form, args, |a| {
            let x = a.tensor("self")?;
            let size = sizes(op.name(), &a.sizes("size")?)?;
            let stride = a.sizes("stride")?;
            let stride = stride
                .iter()
                .map(|&step| isize::try_from(step).map_err(|_| wrong_stride(op, step)));
            let stride = stride.collect::<Result<Vec<_>>>()?;
            let offset = a.int_or("storage_offset", x.raw().offset() as i64)?;
            x.as_strided(&size, &stride, sizes(op.name(), &[offset])?[0])
        }),
        View::Atleast1d => pure(op, form, args, |a| a.tensor("self")?.atleast_1d()),
        View::Atleast2d => pure(op, form, args, |a| a.tensor("self")?.atleast_2d()),
        View::Atleast3d => pure(op, form, args, |a| a.tensor("self")?.atleast_3d()),
        View::Meshgrid => value(op, form, args, |a| {
            let indexing = match a.name("indexing")? {
                None | Some("ij") => Indexing::Ij,
                Some("xy") => Indexing::Xy,
                Some(other) => {
                    let what = format!("no indexing is called {other:?}");
                    return Err(
                        Error::new(ErrorKind::Argument, op.name(), what).hint("use `ij` or `xy`")
                    );
                }
            };
            let options = MeshgridOptions { indexing };
            Ok(DynTensor::meshgrid_with(&a.tensors("tensors")?, options)?.into())
        }),
    }
}

fn sections(args: &Bound) -> Result<Sections<'static>> {
    let given = args.sizes("indices_or_sections")?;
    Ok(match args.get("indices_or_sections") {
        Some(Value::Int(count)) => Sections::Count(*count),
        _ => Sections::from(given),
    })
}

#[cold]
fn wrong_stride(op: Op, stride: i64) -> Error {
    let what = format!("stride {stride} is out of range");
    Error::new(ErrorKind::Argument, op.name(), what).hint("use a smaller one")
}
