//! Elements picked by index.

use nomina::DType;
use nomina_core::Result;
use proc_macro2::Literal;
use quote::quote;

use crate::call::{floats, ints};
use crate::emit::expr::{Expr, Form};
use crate::emit::site::Site;

pub fn gather(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let axis = site.call.axis(site.call.int("axis", 0)?, x.dims.len())?;
    let dim = site.emitter.names.dim_value(&x.dims[axis]);
    let index = site.constant(1).filter(|index| index.rank() == 0);
    if let Some(index) = index {
        let at = ints(index)?[0];
        let digits = Literal::u64_unsuffixed(at.unsigned_abs());
        let mut dims = x.dims.clone();
        dims.remove(axis);
        let at = if at < 0 {
            quote!(-#digits)
        } else {
            quote!(#digits)
        };
        return Ok(x.then_dims(quote!(.select(#dim, #at)), dims));
    }
    let index = site.x(1)?;
    let target = site.target(0);
    let rank = index.dims.len();
    site.call.require(
        rank > 0,
        "an index that is one number of an input is not imported",
    )?;
    // The dims of the index are those that the result has in place of the dim.
    let wanted = match target {
        Some(target) => target[axis..axis + rank].to_vec(),
        None => index.dims,
    };
    let index = site.x_as(1, &wanted)?.argument();
    let mut dims = x.dims.clone();
    dims.splice(axis..=axis, wanted);
    Ok(x.then_dims(quote!(.index_select(#dim, #index)), dims))
}

pub fn gather_elements(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let axis = site.call.axis(site.call.int("axis", 0)?, x.dims.len())?;
    let dim = site.emitter.names.dim_value(&x.dims[axis]);
    let dims = x.dims.clone();
    let index = site.x_as(1, &dims)?.argument();
    Ok(x.then(quote!(.gather(#dim, #index))))
}

/// Spells a range whose ends are sizes.
pub fn range(site: &mut Site<'_, '_>) -> Result<Expr> {
    let (start, step) = (site.constant(0), site.constant(2));
    let (Some(start), Some(step)) = (start, step) else {
        return Err(site
            .call
            .fail("a start or step that is not constant is not imported"));
    };
    let first = |x: &nomina::DynTensor| floats(x).map(|all| all[0]);
    let (start, step) = (first(start)?, first(step)?);
    site.call.require(
        start == 0.0 && step == 1.0,
        "only ranges from 0 in steps of 1 are imported",
    )?;
    let out = site.output(0).ok_or_else(|| site.call.fail("no output"))?;
    let sizes = site.emitter.samples.extent(out, 0);
    let end = site.size(&sizes)?;
    let dims = match site.target(0) {
        Some(dims) => dims,
        None => site.emitter.names.invented(1, &[]),
    };
    let kind = site.emitter.names.list_type(&dims);
    let zero = Literal::i64_unsuffixed(0);
    let one = Literal::i64_unsuffixed(1);
    Ok(Expr {
        text: quote!(Tensor::<#kind, i64>::arange(#zero, (#end) as i64, #one)),
        dims,
        dtype: DType::I64,
        form: Form::Call,
    })
}

/// Spells a tensor of one number whose sizes are known when the model runs.
pub fn constant_of_shape(site: &mut Site<'_, '_>) -> Result<Expr> {
    let out = site.output(0).ok_or_else(|| site.call.fail("no output"))?;
    let rank = site.shape(out).len();
    let value = site.emitter.samples.values[out]
        .as_ref()
        .and_then(|value| value.tensor())
        .cloned();
    let value = value.ok_or_else(|| site.call.fail("no tensor"))?;
    site.call
        .require(value.numel() > 0, "an empty tensor is not imported")?;
    let first = value
        .contiguous()?
        .reshape(&[value.numel() as i64])?
        .narrow(0, 0, 1)?;
    let number = crate::emit::site::number(&first, false);
    let dims = match site.target(0) {
        Some(dims) => dims,
        None => site.emitter.names.invented(rank, &[]),
    };
    let mut sizes = Vec::new();
    for at in 0..rank {
        let extent = site.emitter.samples.extent(out, at);
        sizes.push(site.size(&extent)?);
    }
    let kind = crate::emit::params::tensor_type(&mut site.emitter.names, &dims, value.dtype());
    let generic = quote!(#kind)
        .to_string()
        .replacen("Tensor <", "Tensor :: <", 1);
    let kind: proc_macro2::TokenStream = generic.parse().map_err(|_| site.call.fail("no type"))?;
    Ok(Expr {
        text: quote!(#kind::full([#(#sizes),*], #number)),
        dims,
        dtype: value.dtype(),
        form: Form::Call,
    })
}
