//! Products and normalisations.

use nomina::DType;
use nomina_core::Result;
use quote::quote;

use crate::emit::expr::{Expr, Form};
use crate::emit::site::{Site, float};

/// Multiplies the last dim of `x` with the last but one of `w`, by name.
pub fn matmul(site: &mut Site<'_, '_>) -> Result<Expr> {
    let ranks = [0, 1].map(|at| site.input(at).map_or(0, |id| site.shape(id).len()));
    if ranks[0] < 2 || ranks[1] < 2 {
        return vector(site, ranks);
    }
    let out = ranks[0].max(ranks[1]);
    let (x, w) = (site.x(0)?, site.x(1)?);
    let target = match site.target(0) {
        Some(dims) => dims,
        None => {
            let widest = if ranks[0] < ranks[1] {
                &w.dims
            } else {
                &x.dims
            };
            let mut dims = widest[..out - 2].to_vec();
            for name in [&x.dims[ranks[0] - 2], &w.dims[ranks[1] - 1]] {
                let mut name = name.clone();
                while dims.contains(&name) {
                    name.push('\'');
                }
                dims.push(name);
            }
            dims
        }
    };
    let (batch, ends) = target.split_at(out - 2);
    // The summed dim must be none of the others.
    let mut inner = x.dims[ranks[0] - 1].clone();
    while target.contains(&inner) {
        inner.push('\'');
    }
    let left = [&batch[out - ranks[0]..], &[ends[0].clone(), inner.clone()]].concat();
    let right = [&batch[out - ranks[1]..], &[inner.clone(), ends[1].clone()]].concat();
    let (x, w) = (site.x_as(0, &left)?, site.x_as(1, &right)?);
    let (dim, w) = (site.emitter.names.dim_value(&inner), w.argument());
    Ok(x.then_dims(quote!(.matmul_on(#dim, #w)), target))
}

fn vector(site: &mut Site<'_, '_>, ranks: [usize; 2]) -> Result<Expr> {
    let (x, w) = (site.x(0)?, site.x(1)?);
    let inner = x.dims[ranks[0] - 1].clone();
    let place = ranks[1].saturating_sub(2);
    let mut own = w.dims.clone();
    own[place].clone_from(&inner);
    site.call
        .require(ranks[0] == 1 || ranks[1] == 1, "the operands have no dims")?;
    let w = site.x_as(1, &own)?;
    let mut dims = x.dims[..ranks[0] - 1].to_vec();
    dims.extend(
        w.dims
            .iter()
            .enumerate()
            .filter(|dim| dim.0 != place)
            .map(|dim| dim.1.clone()),
    );
    let (dim, w) = (site.emitter.names.dim_value(&inner), w.argument());
    Ok(x.then_dims(quote!(.contract(#w, #dim)), dims))
}

pub fn gemm(site: &mut Site<'_, '_>) -> Result<Expr> {
    let (turned_x, turned_w) = (
        site.call.flag("transA", false)?,
        site.call.flag("transB", false)?,
    );
    let (alpha, beta) = (
        site.call.float("alpha", 1.0)?,
        site.call.float("beta", 1.0)?,
    );
    let (x, w) = (site.x(0)?, site.x(1)?);
    let names = |dims: &[String], turned: bool| {
        (
            dims[usize::from(turned)].clone(),
            dims[usize::from(!turned)].clone(),
        )
    };
    let (row, own) = names(&x.dims, turned_x);
    let (_, column) = names(&w.dims, turned_w);
    let target = site.target(0).unwrap_or_else(|| vec![row, column]);
    let mut inner = own;
    while target.contains(&inner) {
        inner.push('\'');
    }
    let order = |a: &String, b: &String, turned: bool| {
        if turned {
            vec![b.clone(), a.clone()]
        } else {
            vec![a.clone(), b.clone()]
        }
    };
    let x = site.x_as(0, &order(&target[0], &inner, turned_x))?;
    let w = site.x_as(1, &order(&inner, &target[1], turned_w))?;
    let (dim, w) = (site.emitter.names.dim_value(&inner), w.argument());
    let mut y = x.then_dims(quote!(.contract(#w, #dim)), target.clone());
    let scaled = |x: Expr, by: f64| {
        let (text, by) = (x.operand(false), float(by, x.dtype, false));
        Expr {
            text: quote!(#text * #by),
            form: Form::Infix,
            ..x
        }
    };
    if alpha != 1.0 {
        y = scaled(y, alpha);
    }
    if site.input(2).is_none() || beta == 0.0 {
        return Ok(y);
    }
    let mut bias = site.broadcast(2, &target)?;
    if beta != 1.0 {
        bias = scaled(bias, beta);
    }
    let (text, bias) = (y.operand(false), bias.operand(true));
    Ok(Expr {
        text: quote!(#text + #bias),
        form: Form::Infix,
        ..y
    })
}

pub fn batch_norm(site: &mut Site<'_, '_>) -> Result<Expr> {
    let call = &site.call;
    call.require(
        !call.flag("training_mode", false)? && !call.wants(1),
        "training is not imported",
    )?;
    call.require(call.flag("spatial", true)?, "`spatial` 0 is not imported")?;
    let eps = float(call.float("epsilon", 1e-5)?, DType::F32, false);
    let x = site.x(0)?;
    let channel = vec![x.dims[1].clone()];
    let [weight, bias, mean, var] =
        [1, 2, 3, 4].map(|at| site.x_as(at, &channel).map(|x| x.argument()));
    let (weight, bias, mean, var) = (weight?, bias?, mean?, var?);
    let dim = site.emitter.names.dim_value(&channel[0]);
    Ok(x.then(quote! {
        .batch_norm_eval(#dim, #mean, #var, BatchNormOptions { weight: Some(#weight), bias: Some(#bias), eps: #eps, ..default() })
    }))
}

pub fn layer_norm(site: &mut Site<'_, '_>) -> Result<Expr> {
    site.call.require(
        !site.call.wants(1) && !site.call.wants(2),
        "statistics as outputs are not imported",
    )?;
    let x = site.x(0)?;
    site.call.require(
        matches!(x.dtype, DType::F32 | DType::F64),
        "this dtype is not imported",
    )?;
    let axis = site.call.axis(site.call.int("axis", -1)?, x.dims.len())?;
    let eps = float(site.call.float("epsilon", 1e-5)?, DType::F32, false);
    let dims = x.dims[axis..].to_vec();
    let weight = site.x_as(1, &dims)?.argument();
    let bias = match site.input(2) {
        Some(_) => {
            let bias = site.x_as(2, &dims)?.argument();
            quote!(bias: Some(#bias),)
        }
        None => quote!(),
    };
    let list = site.emitter.names.list_value(&dims);
    Ok(x.then(quote!(.layer_norm_with(#list, LayerNormOptions { weight: Some(#weight), #bias eps: #eps, ..default() }))))
}

pub fn instance_norm(site: &mut Site<'_, '_>) -> Result<Expr> {
    let eps = float(site.call.float("epsilon", 1e-5)?, DType::F32, false);
    let x = site.x(0)?;
    let (dims, channel) = (x.dims.clone(), x.dims[1].clone());
    let spatial = site.emitter.names.list_value(&dims[2..]);
    let y = x.then(quote!(.layer_norm_with(#spatial, LayerNormOptions { eps: #eps, ..default() })));
    let mut scaled = Vec::new();
    for at in [1, 2] {
        let vector = site.x_as(at, std::slice::from_ref(&channel))?;
        scaled.push(site.align(vector, &dims[1..]).operand(true));
    }
    let (text, weight, bias) = (y.operand(false), &scaled[0], &scaled[1]);
    Ok(Expr {
        text: quote!(#text * #weight + #bias),
        form: Form::Infix,
        ..y
    })
}

pub fn lrn(site: &mut Site<'_, '_>) -> Result<Expr> {
    let size = site.call.int("size", 1)?;
    site.call
        .require(size > 0 && size % 2 == 1, "an even `size` is not imported")?;
    let number = |name: &str, default: f64| {
        site.call
            .float(name, default)
            .map(|value| float(value, DType::F32, false))
    };
    let (alpha, beta, k) = (
        number("alpha", 1e-4)?,
        number("beta", 0.75)?,
        number("bias", 1.0)?,
    );
    let size = proc_macro2::Literal::i64_unsuffixed(size);
    let x = site.x(0)?;
    let dim = site.emitter.names.dim_value(&x.dims[1]);
    Ok(x.then(quote!(.local_response_norm_with(#dim, #size, LocalResponseNormOptions { alpha: #alpha, beta: #beta, k: #k, ..default() }))))
}
