//! Reductions and softmax.

use nomina::DType;
use nomina_core::Result;
use quote::{format_ident, quote};

use crate::emit::expr::Expr;
use crate::emit::site::Site;

/// Spells `x.method(dims)`, or with `keep(dims)`.
fn reduced(site: &mut Site<'_, '_>, x: Expr, name: &str) -> Result<Expr> {
    let rank = x.dims.len();
    let axes = site.fixed_integers("axes", 1)?.unwrap_or_default();
    let mut axes = site.call.axes(&axes, rank)?;
    if axes.is_empty() {
        if site.call.flag("noop_with_empty_axes", false)? {
            return Ok(x);
        }
        axes = (0..rank).collect();
    }
    let keep = site.call.flag("keepdims", true)?;
    over(site, x, &axes, keep, name)
}

/// Spells a reduction of some dims.
pub fn over(
    site: &mut Site<'_, '_>,
    x: Expr,
    axes: &[usize],
    keep: bool,
    name: &str,
) -> Result<Expr> {
    let gone: Vec<String> = axes.iter().map(|&axis| x.dims[axis].clone()).collect();
    let kept = if keep {
        x.dims.clone()
    } else {
        x.dims
            .iter()
            .filter(|dim| !gone.contains(dim))
            .cloned()
            .collect()
    };
    let dims = if gone.len() == x.dims.len() && !keep {
        quote!(..)
    } else {
        site.emitter.names.list_value(&gone)
    };
    let dims = if keep { quote!(keep(#dims)) } else { dims };
    let name = format_ident!("{name}");
    let integral = x.dtype.is_integral() || x.dtype == DType::Bool;
    let mut y = x.then_dims(quote!(.#name(#dims)), kept);
    if integral && name == "sum" {
        y.dtype = DType::I64;
    }
    Ok(y)
}

macro_rules! reductions {
    ($($name:ident: $before:expr, $method:literal, $after:expr;)*) => {$(
        pub fn $name(site: &mut Site<'_, '_>) -> Result<Expr> {
            let x = site.x(0)?;
            let before: Option<&str> = $before;
            let x = match before {
                Some(before) => {
                    let before = format_ident!("{before}");
                    x.then(quote!(.#before()))
                }
                None => x,
            };
            let y = reduced(site, x, $method)?;
            let after: Option<&str> = $after;
            Ok(match after {
                Some(after) => {
                    let after = format_ident!("{after}");
                    y.then(quote!(.#after()))
                }
                None => y,
            })
        }
    )*};
}
reductions! {
    mean: None, "mean", None;
    sum: None, "sum", None;
    max: None, "amax", None;
    min: None, "amin", None;
    prod: None, "prod", None;
    l1: Some("abs"), "sum", None;
    l2: Some("square"), "sum", Some("sqrt");
    sum_square: Some("square"), "sum", None;
    log_sum: None, "sum", Some("log");
    log_sum_exp: None, "logsumexp", None;
}

/// Spells `softmax` along a dim; before opset 13, all dims from `axis` on count as one.
pub fn softmax(site: &mut Site<'_, '_>) -> Result<Expr> {
    along(site, "softmax")
}

pub fn log_softmax(site: &mut Site<'_, '_>) -> Result<Expr> {
    along(site, "log_softmax")
}

fn along(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    let x = site.x(0)?;
    let old = site.call.opset() < 13;
    let axis = site.call.axis(
        site.call.int("axis", if old { 1 } else { -1 })?,
        x.dims.len(),
    )?;
    let name = format_ident!("{name}");
    let id = site.input(0).unwrap_or(0);
    let flat = old
        && (axis + 1..x.dims.len())
            .any(|at| site.emitter.samples.extent(id, at).iter().any(|&n| n != 1));
    if !flat {
        let dim = site.emitter.names.dim_value(&x.dims[axis]);
        return Ok(x.then(quote!(.#name(#dim))));
    }
    let dims = x.dims.clone();
    let merged = site.emitter.names.invented(1, &dims);
    let mut sizes = Vec::new();
    for (at, dim) in dims.iter().enumerate().skip(axis) {
        let size = site.size(&site.emitter.samples.extent(id, at))?;
        let dim = site.emitter.names.dim_value(dim);
        sizes.push(quote!(#dim.of(#size)));
    }
    let (list, dim) = (
        site.emitter.names.list_value(&dims[axis..]),
        site.emitter.names.dim_value(&merged[0]),
    );
    Ok(x.then(quote!(.flatten(#list, #dim).#name(#dim).unflatten(#dim, (#(#sizes),*)))))
}

/// Spells the index of the greatest or smallest element.
pub fn arg_max(site: &mut Site<'_, '_>) -> Result<Expr> {
    arg(site, "argmax")
}

pub fn arg_min(site: &mut Site<'_, '_>) -> Result<Expr> {
    arg(site, "argmin")
}

fn arg(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    site.call.require(
        !site.call.flag("select_last_index", false)?,
        "`select_last_index` is not imported",
    )?;
    let x = site.x(0)?;
    let axis = site.call.axis(site.call.int("axis", 0)?, x.dims.len())?;
    let keep = site.call.flag("keepdims", true)?;
    let mut y = over(site, x, &[axis], keep, name)?;
    y.dtype = DType::I64;
    Ok(y)
}
