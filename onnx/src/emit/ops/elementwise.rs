//! Elementwise operators, activations and conversions.

use nomina::DType;
use nomina_core::Result;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::emit::expr::{Expr, Form};
use crate::emit::params::dtype_ident;
use crate::emit::site::{Site, float, number};

/// Spells a method without arguments.
pub fn method(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    let name = format_ident!("{name}");
    Ok(site.x(0)?.then(quote!(.#name())))
}

/// The dims that operands broadcast to.
fn joined(site: &mut Site<'_, '_>) -> Result<Vec<String>> {
    if let Some(dims) = site.target(0) {
        return Ok(dims);
    }
    let rank = site.output(0).map_or(0, |id| site.shape(id).len());
    let inputs = 0..site.node().inputs.len();
    let widest = inputs
        .rev()
        .max_by_key(|&at| site.input(at).map_or(0, |id| site.shape(id).len()));
    let x = site.x(widest.unwrap_or(0))?;
    Ok(if x.dims.len() == rank {
        x.dims
    } else {
        site.emitter.names.invented(rank, &[])
    })
}

/// Whether input `at` is a number that does not add dims.
fn is_number(site: &Site<'_, '_>, at: usize, dims: &[String]) -> bool {
    let rank = |at: usize| site.input(at).map_or(0, |id| site.shape(id).len());
    let others = (0..site.node().inputs.len())
        .filter(|&other| other != at)
        .map(rank)
        .max();
    site.number(at).is_some() && others == Some(dims.len())
}

/// The dtype of the operands.
fn operand_dtype(site: &Site<'_, '_>, at: usize) -> DType {
    site.input(at)
        .and_then(|id| site.emitter.samples.dtype(id))
        .unwrap_or(DType::F32)
}

/// The dtype of the result for operands of a dtype: comparisons return truth values.
fn result_dtype(site: &Site<'_, '_>, at: usize) -> DType {
    let id = site.output(0);
    id.and_then(|id| site.emitter.samples.dtype(id))
        .unwrap_or_else(|| operand_dtype(site, at))
}

/// Spells `x + y`.
pub fn infix(site: &mut Site<'_, '_>, operator: &TokenStream) -> Result<Expr> {
    let dims = joined(site)?;
    let dtype = result_dtype(site, 0);
    let text = if is_number(site, 1, &dims) {
        let (x, y) = (site.broadcast(0, &dims)?, site.number(1));
        let x = x.operand(false);
        quote!(#x #operator #y)
    } else if is_number(site, 0, &dims) {
        let x = site.constant(0).and_then(|x| number(x, true));
        let y = site.broadcast(1, &dims)?.operand(true);
        quote!(#x #operator #y)
    } else {
        let (x, y) = (site.broadcast(0, &dims)?, site.broadcast(1, &dims)?);
        let (x, y) = (x.operand(false), y.operand(true));
        quote!(#x #operator #y)
    };
    Ok(Expr {
        text,
        dims,
        dtype,
        form: Form::Infix,
    })
}

/// Spells `x.method(&y)`.
pub fn binary(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    let dims = joined(site)?;
    let name = format_ident!("{name}");
    let x = site.broadcast(0, &dims)?;
    let argument = if is_number(site, 1, &dims) {
        let number = site.number(1);
        quote!(#number)
    } else {
        site.broadcast(1, &dims)?.argument()
    };
    let mut y = x.then_dims(quote!(.#name(#argument)), dims);
    y.dtype = result_dtype(site, 0);
    Ok(y)
}

pub fn div(site: &mut Site<'_, '_>) -> Result<Expr> {
    if !operand_dtype(site, 0).is_integral() {
        return infix(site, &quote!(/));
    }
    let dims = joined(site)?;
    let (x, y) = (site.broadcast(0, &dims)?, site.broadcast(1, &dims)?);
    let y = y.argument();
    Ok(x.then_dims(
        quote!(.div_with(#y, DivOptions { rounding_mode: RoundingMode::Trunc })),
        dims,
    ))
}

pub fn pow(site: &mut Site<'_, '_>) -> Result<Expr> {
    let two = site
        .constant(1)
        .filter(|x| x.numel() == 1)
        .and_then(|x| number(x, false));
    match two.map(|text| text.to_string()).as_deref() {
        Some("2" | "2.0" | "2f32") => Ok(site.x(0)?.then(quote!(.square()))),
        _ => binary(site, "pow"),
    }
}

/// Folds all inputs by an operator or a method.
fn chain(site: &mut Site<'_, '_>, join: fn(&Expr, &Expr) -> (TokenStream, Form)) -> Result<Expr> {
    let dims = joined(site)?;
    let mut sum = site.broadcast(0, &dims)?;
    for at in 1..site.node().inputs.len() {
        let x = site.broadcast(at, &dims)?;
        (sum.text, sum.form) = join(&sum, &x);
        sum.dims.clone_from(&dims);
    }
    Ok(sum)
}

pub fn sum(site: &mut Site<'_, '_>) -> Result<Expr> {
    chain(site, |sum, x| {
        let (sum, x) = (sum.operand(false), x.operand(true));
        (quote!(#sum + #x), Form::Infix)
    })
}

pub fn mean(site: &mut Site<'_, '_>) -> Result<Expr> {
    let count = site.node().inputs.len() as f64;
    let count = float(count, DType::F32, false);
    let sum = sum(site)?;
    let text = sum.receiver();
    Ok(Expr {
        text: quote!(#text / #count),
        form: Form::Infix,
        ..sum
    })
}

pub fn max(site: &mut Site<'_, '_>) -> Result<Expr> {
    extreme(site, "maximum")
}

pub fn min(site: &mut Site<'_, '_>) -> Result<Expr> {
    extreme(site, "minimum")
}

fn extreme(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    let dims = joined(site)?;
    let ident = format_ident!("{name}");
    let count = site.node().inputs.len();
    let tensors: Vec<usize> = (0..count)
        .filter(|&at| !(count == 2 && is_number(site, at, &dims)))
        .collect();
    let mut all = tensors
        .iter()
        .map(|&at| site.broadcast(at, &dims))
        .collect::<Result<Vec<_>>>()?;
    let mut y = all.remove(0);
    for x in all {
        let x = x.argument();
        y = y.then_dims(quote!(.#ident(#x)), dims.clone());
    }
    if let Some(at) = (0..count).find(|at| !tensors.contains(at)) {
        let number = site.number(at);
        let clamp = format_ident!(
            "{}",
            if name == "maximum" {
                "clamp_min"
            } else {
                "clamp_max"
            }
        );
        y = y.then(quote!(.#clamp(#number)));
    }
    Ok(y)
}

pub fn clip(site: &mut Site<'_, '_>) -> Result<Expr> {
    let old = site.call.opset() < 11;
    let dtype = operand_dtype(site, 0);
    let mut y = site.x(0)?;
    for (at, name) in [(1, "min"), (2, "max")] {
        let bound = if old {
            site.call
                .maybe_float(name)?
                .map(|bound| float(bound, dtype, false))
        } else {
            let bound = site.number(at);
            site.call.require(
                bound.is_some() || site.input(at).is_none(),
                "a bound is not constant",
            )?;
            bound
        };
        let Some(bound) = bound else { continue };
        let method = format_ident!("clamp_{name}");
        y = y.then(quote!(.#method(#bound)));
    }
    Ok(Expr {
        text: y.owned(),
        form: Form::Call,
        ..y
    })
}

pub fn cast(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let to = result_dtype(site, 0);
    if x.dtype == to {
        return Ok(x);
    }
    let dtype = dtype_ident(to);
    let mut y = x.then(quote!(.to::<#dtype>()));
    y.dtype = to;
    Ok(y)
}

pub fn choose(site: &mut Site<'_, '_>) -> Result<Expr> {
    let dims = joined(site)?;
    let condition = site.broadcast(0, &dims)?;
    let dtype = result_dtype(site, 1);
    let numbers = [1, 2].map(|at| site.number(at));
    let (condition, x, y) = match numbers {
        [Some(number), None] => (
            condition.then(quote!(.logical_not())),
            site.broadcast(2, &dims)?,
            number,
        ),
        [None, Some(number)] => (condition, site.broadcast(1, &dims)?, number),
        _ => {
            let (x, y) = (site.broadcast(1, &dims)?, site.broadcast(2, &dims)?);
            (condition, x, y.argument())
        }
    };
    let x = x.argument();
    let mut result = condition.then_dims(quote!(.where_cond(#x, #y)), dims);
    result.dtype = dtype;
    Ok(result)
}

/// Spells `min(max(x * alpha + beta, 0), 1)`.
fn hard(x: &Expr, alpha: f64, beta: f64) -> TokenStream {
    let (alpha, beta) = (float(alpha, x.dtype, false), float(beta, x.dtype, false));
    let x = x.operand(false);
    quote!((#x * #alpha + #beta).clamp_min(0.0).clamp_max(1.0))
}

pub fn hard_sigmoid(site: &mut Site<'_, '_>) -> Result<Expr> {
    let (alpha, beta) = (
        site.call.float("alpha", f64::from(0.2_f32))?,
        site.call.float("beta", 0.5)?,
    );
    let x = site.x(0)?;
    Ok(Expr {
        text: hard(&x, alpha, beta),
        form: Form::Call,
        ..x
    })
}

pub fn hard_swish(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let (gate, text) = (hard(&x, 1.0 / 6.0, 0.5), x.operand(false));
    Ok(Expr {
        text: quote!(#text * #gate),
        form: Form::Infix,
        ..x
    })
}

pub fn leaky_relu(site: &mut Site<'_, '_>) -> Result<Expr> {
    let slope = float(site.call.float("alpha", 0.01)?, DType::F32, false);
    Ok(site
        .x(0)?
        .then(quote!(.leaky_relu_with(LeakyReluOptions { negative_slope: #slope }))))
}

pub fn elu(site: &mut Site<'_, '_>) -> Result<Expr> {
    let alpha = float(site.call.float("alpha", 1.0)?, DType::F32, false);
    Ok(site
        .x(0)?
        .then(quote!(.elu_with(EluOptions { alpha: #alpha }))))
}

pub fn prelu(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let dims = x.dims.clone();
    let low = if is_number(site, 1, &dims) {
        let slope = site.number(1);
        let x = x.operand(false);
        quote!(#x * #slope)
    } else {
        let (slope, x) = (site.broadcast(1, &dims)?.operand(true), x.operand(false));
        quote!(#x * #slope)
    };
    let (text, receiver) = (x.argument(), x.receiver());
    Ok(Expr {
        text: quote!(#receiver.lt(0.0).where_cond(&(#low), #text)),
        form: Form::Call,
        ..x
    })
}

pub fn gelu(site: &mut Site<'_, '_>) -> Result<Expr> {
    let tanh = site.call.text("approximate", "none")? == "tanh";
    let x = site.x(0)?;
    Ok(if tanh {
        x.then(quote!(.gelu_with(GeluOptions { approximate: Approximate::Tanh })))
    } else {
        x.then(quote!(.gelu()))
    })
}

/// Spells `x * sigmoid(alpha * x)`.
pub fn swish(site: &mut Site<'_, '_>) -> Result<Expr> {
    let alpha = site.call.float("alpha", 1.0)?;
    let x = site.x(0)?;
    if alpha == 1.0 {
        return Ok(x.then(quote!(.silu())));
    }
    let (alpha, text) = (float(alpha, x.dtype, false), x.operand(false));
    Ok(Expr {
        text: quote!(#text * (#text * #alpha).sigmoid()),
        form: Form::Infix,
        ..x
    })
}
