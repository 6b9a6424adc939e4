//! Convolutions, pools, padding and resampling.

use nomina_core::Result;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::reduce::over;
use crate::call::floats;
use crate::emit::expr::Expr;
use crate::emit::site::{Site, float};
use crate::ops::window::Window;

fn list(numbers: &[usize]) -> TokenStream {
    let all = numbers.iter().map(|&n| Literal::usize_unsuffixed(n));
    quote!([#(#all),*])
}

fn pairs(before: &[i64], after: &[i64]) -> TokenStream {
    let number = |n: i64| {
        let digits = Literal::u64_unsuffixed(n.unsigned_abs());
        if n < 0 {
            quote!(-#digits)
        } else {
            quote!(#digits)
        }
    };
    let all = before.iter().zip(after).map(|(&a, &b)| {
        let (a, b) = (number(a), number(b));
        quote!((#a, #b))
    });
    quote!([#(#all),*])
}

/// The window of a node, its spatial dims, and zeros where nothing is padded.
fn window(site: &Site<'_, '_>, weight: bool) -> Result<Window> {
    let sizes = |at: usize| {
        site.input(at)
            .map_or(&[][..], |id| site.shape(id).get(2..).unwrap_or_default())
    };
    let window = Window::new(&site.call, sizes(0), weight.then(|| sizes(1)))?;
    let same = matches!(
        site.call.text("auto_pad", "NOTSET")?,
        "SAME_UPPER" | "SAME_LOWER"
    );
    let id = site.input(0).unwrap_or(0);
    let fixed = (0..sizes(0).len()).all(|at| {
        let all = site.emitter.samples.extent(id, at + 2);
        all.windows(2).all(|pair| pair[0] == pair[1]) || window.stride[at] == 1
    });
    site.call
        .require(!same || fixed, "`auto_pad` depends on sizes")?;
    site.call.require(
        (1..=3).contains(&window.kernel.len()),
        "this number of spatial dims has no spelling",
    )?;
    Ok(window)
}

fn ends(window: &Window) -> Result<Vec<usize>> {
    Ok(window.before.iter().map(|&n| n as usize).collect())
}

/// Pads before a window whose ends differ.
fn padded(
    site: &mut Site<'_, '_>,
    x: Expr,
    window: &mut Window,
    fits: bool,
    value: Option<TokenStream>,
) -> Result<Expr> {
    if fits {
        return Ok(x);
    }
    let spatial = site.emitter.names.list_value(&x.dims[2..]);
    let pad = pairs(&window.before, &window.after);
    window.before.fill(0);
    window.after.fill(0);
    Ok(match value {
        None => x.then(quote!(.pad(#spatial, #pad))),
        Some(value) => x.then(
            quote!(.pad_with(#spatial, #pad, PadOptions { value: #value.into(), ..default() })),
        ),
    })
}

/// The names of a weight: its output channels, the channels it sums, and the kernel's dims.
struct WeightDims {
    out: String,
    weight: Vec<String>,
}

fn weight_dims(site: &mut Site<'_, '_>, x: &Expr, transposed: bool) -> WeightDims {
    let count = x.dims.len() - 2;
    let target = site.target(0);
    let own = site
        .input(1)
        .and_then(|id| site.emitter.names.get(id, count + 2));
    let mut out = target.map_or_else(
        || {
            own.map_or_else(
                || "Out".to_owned(),
                |dims| dims[usize::from(transposed)].clone(),
            )
        },
        |dims| dims[1].clone(),
    );
    while x.dims.contains(&out) {
        out.push('\'');
    }
    let kernel = [["K", "", ""], ["KH", "KW", ""], ["KD", "KH", "KW"]][count - 1];
    let taken = [&x.dims[..], std::slice::from_ref(&out)].concat();
    let kernel: Vec<String> = kernel[..count]
        .iter()
        .map(|name| site.emitter.names.fresh(name, &taken))
        .collect();
    let pair = if transposed {
        [x.dims[1].clone(), out.clone()]
    } else {
        [out.clone(), x.dims[1].clone()]
    };
    WeightDims {
        out,
        weight: [&pair[..], &kernel[..]].concat(),
    }
}

pub fn conv(site: &mut Site<'_, '_>) -> Result<Expr> {
    let mut window = window(site, true)?;
    let x = site.x(0)?;
    let dims = weight_dims(site, &x, false);
    let fits = window.is_symmetric();
    let x = padded(site, x, &mut window, fits, None)?;
    let mut options = Vec::new();
    if window.stride.iter().any(|&n| n != 1) {
        let stride = list(&window.stride);
        options.push(quote!(stride: #stride));
    }
    if window.before.iter().any(|&n| n != 0) {
        let padding = list(&ends(&window)?);
        options.push(quote!(padding: Padding::Zeros(#padding)));
    }
    convolution(site, x, &window, dims, options, "conv")
}

pub fn conv_transpose(site: &mut Site<'_, '_>) -> Result<Expr> {
    let window = window(site, true)?;
    site.call.require(
        window.is_symmetric(),
        "padding that differs at the ends is not imported",
    )?;
    site.call.require(
        site.call.ints("output_shape")?.is_none()
            && site.call.text("auto_pad", "NOTSET")? == "NOTSET",
        "`output_shape` and `auto_pad` are not imported",
    )?;
    let x = site.x(0)?;
    let dims = weight_dims(site, &x, true);
    let mut options = Vec::new();
    let extra = site.call.ints("output_padding")?.unwrap_or_default();
    let extra: Vec<usize> = extra.iter().map(|&n| n.max(0) as usize).collect();
    for (name, numbers, default) in [
        ("stride", &window.stride, 1),
        ("padding", &ends(&window)?, 0),
        ("output_padding", &extra, 0),
    ] {
        if numbers.iter().any(|&n| n != default) {
            let (name, numbers) = (format_ident!("{name}"), list(numbers));
            options.push(quote!(#name: #numbers));
        }
    }
    convolution(site, x, &window, dims, options, "conv_transpose")
}

fn convolution(
    site: &mut Site<'_, '_>,
    x: Expr,
    window: &Window,
    dims: WeightDims,
    mut options: Vec<TokenStream>,
    method: &str,
) -> Result<Expr> {
    let groups = site.call.int("group", 1)?;
    if window.dilation.iter().any(|&n| n != 1) {
        let dilation = list(&window.dilation);
        options.push(quote!(dilation: #dilation));
    }
    if groups != 1 {
        let groups = Literal::i64_unsuffixed(groups);
        options.push(quote!(groups: #groups));
    }
    let weight = site.x_as(1, &dims.weight)?.argument();
    let bias = match site.input(2) {
        Some(_) => {
            let bias = site.x_as(2, std::slice::from_ref(&dims.out))?.argument();
            quote!(Some(#bias))
        }
        None => quote!(None),
    };
    let kind = if method == "conv" {
        quote!(ConvOptions)
    } else {
        quote!(ConvTransposeOptions)
    };
    let options = if options.is_empty() {
        quote!(default())
    } else {
        quote!(#kind { #(#options,)* ..default() })
    };
    let name = format_ident!("{method}{}d_with", window.kernel.len());
    let channel = site.emitter.names.dim_value(&x.dims[1]);
    let spatial = site.emitter.names.list_value(&x.dims[2..]);
    let mut out = x.dims.clone();
    out[1] = dims.out;
    Ok(x.then_dims(
        quote!(.#name(#channel, #spatial, #weight, #bias, #options)),
        out,
    ))
}

pub fn max_pool(site: &mut Site<'_, '_>) -> Result<Expr> {
    let mut window = window(site, false)?;
    site.call
        .require(!site.call.wants(1), "indices as an output are not imported")?;
    let x = site.x(0)?;
    let small =
        (0..window.kernel.len()).all(|dim| 2 * window.before[dim] as usize <= window.kernel[dim]);
    let fits = window.is_symmetric() && small;
    site.call.require(
        fits || !window.ceil,
        "`ceil_mode` with such padding is not imported",
    )?;
    let x = padded(site, x, &mut window, fits, Some(quote!(f32::NEG_INFINITY)))?;
    let mut extra = Vec::new();
    if window.dilation.iter().any(|&n| n != 1) {
        let dilation = list(&window.dilation);
        extra.push(quote!(dilation: #dilation));
    }
    pool(site, x, &window, extra, "max_pool", &quote!(MaxPoolOptions))
}

pub fn average_pool(site: &mut Site<'_, '_>) -> Result<Expr> {
    let mut window = window(site, false)?;
    site.call.require(
        window.dilation.iter().all(|&n| n == 1),
        "dilation is not imported",
    )?;
    let counted = site.call.flag("count_include_pad", false)?;
    let pads = window.before.iter().chain(&window.after).any(|&n| n != 0);
    let small =
        (0..window.kernel.len()).all(|dim| 2 * window.before[dim] as usize <= window.kernel[dim]);
    let fits = window.is_symmetric() && small;
    site.call.require(
        fits || counted && !window.ceil,
        "such padding is not imported",
    )?;
    let x = site.x(0)?;
    let x = padded(site, x, &mut window, fits, None)?;
    let extra = if pads && !counted {
        vec![quote!(count_include_pad: false)]
    } else {
        Vec::new()
    };
    pool(site, x, &window, extra, "avg_pool", &quote!(AvgPoolOptions))
}

fn pool(
    site: &mut Site<'_, '_>,
    x: Expr,
    window: &Window,
    extra: Vec<TokenStream>,
    method: &str,
    kind: &TokenStream,
) -> Result<Expr> {
    let mut options = vec![{
        let stride = list(&window.stride);
        quote!(stride: Some(#stride))
    }];
    if window.before.iter().any(|&n| n != 0) {
        let padding = list(&ends(window)?);
        options.push(quote!(padding: #padding));
    }
    if window.ceil {
        options.push(quote!(ceil_mode: true));
    }
    options.extend(extra);
    let name = format_ident!("{method}{}d_with", window.kernel.len());
    let spatial = site.emitter.names.list_value(&x.dims[2..]);
    let kernel = list(&window.kernel);
    Ok(x.then(quote!(.#name(#spatial, #kernel, #kind { #(#options,)* ..default() }))))
}

pub fn global_average(site: &mut Site<'_, '_>) -> Result<Expr> {
    global(site, "mean")
}

pub fn global_max(site: &mut Site<'_, '_>) -> Result<Expr> {
    global(site, "amax")
}

fn global(site: &mut Site<'_, '_>, name: &str) -> Result<Expr> {
    let x = site.x(0)?;
    let axes: Vec<usize> = (2..x.dims.len()).collect();
    over(site, x, &axes, true, name)
}

pub fn pad(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let rank = x.dims.len();
    let pads = match site.fixed_integers("pads", 1)? {
        Some(pads) => pads,
        None => site.call.ints("paddings")?.unwrap_or_default(),
    };
    let axes = match site.fixed_integers("", 3)? {
        Some(axes) => axes
            .iter()
            .map(|&axis| site.call.axis(axis, rank))
            .collect::<Result<Vec<_>>>()?,
        None => (0..rank).collect(),
    };
    site.call.require(
        pads.len() == 2 * axes.len(),
        "there are not two pads per dim",
    )?;
    let changed: Vec<usize> = (0..axes.len())
        .filter(|&at| pads[at] != 0 || pads[at + axes.len()] != 0)
        .collect();
    if changed.is_empty() {
        return Ok(x);
    }
    let before: Vec<i64> = changed.iter().map(|&at| pads[at]).collect();
    let after: Vec<i64> = changed.iter().map(|&at| pads[at + axes.len()]).collect();
    let value = match site.input(2) {
        Some(_) => Some(
            site.number(2)
                .ok_or_else(|| site.call.fail("the value is not constant"))?,
        ),
        None => Some(float(site.call.float("value", 0.0)?, x.dtype, false)),
    };
    let value =
        value.filter(|value| !matches!(&value.to_string()[..], "0" | "0.0" | "0f32" | "false"));
    let names: Vec<String> = changed.iter().map(|&at| x.dims[axes[at]].clone()).collect();
    let (dims, counts) = (
        site.emitter.names.list_value(&names),
        pairs(&before, &after),
    );
    let mode = match site.call.text("mode", "constant")? {
        "constant" => match value {
            None => return Ok(x.then(quote!(.pad(#dims, #counts)))),
            Some(value) => quote!(value: #value.into()),
        },
        "reflect" => quote!(mode: PadMode::Reflect),
        "edge" => quote!(mode: PadMode::Replicate),
        "wrap" => quote!(mode: PadMode::Circular),
        _ => return Err(site.call.fail("this `mode` is not imported")),
    };
    Ok(x.then(quote!(.pad_with(#dims, #counts, PadOptions { #mode, ..default() }))))
}

pub fn resize(site: &mut Site<'_, '_>) -> Result<Expr> {
    let (x, id) = (site.x(0)?, site.input(0).unwrap_or(0));
    let out = site.output(0).unwrap_or(0);
    let call = &site.call;
    let old = call.opset() < 11;
    let transform = call.text(
        "coordinate_transformation_mode",
        if old { "asymmetric" } else { "half_pixel" },
    )?;
    call.require(
        !call.flag("antialias", false)? && !call.flag("exclude_outside", false)?,
        "`antialias` is not imported",
    )?;
    let (from, to) = (site.shape(id), site.shape(out));
    let changed: Vec<usize> = (0..from.len())
        .filter(|&at| site.emitter.samples.extent(id, at) != site.emitter.samples.extent(out, at))
        .collect();
    if changed.is_empty() {
        return Ok(x);
    }
    let whole = changed
        .iter()
        .all(|&at| from[at] > 0 && to[at] % from[at] == 0);
    let at = if old { 1 } else { 2 };
    if let Some(scales) = site.constant(at).filter(|scales| scales.numel() > 0) {
        let exact = floats(scales)?.iter().all(|scale| scale.fract() == 0.0);
        call.require(exact, "a scale that is no whole number is not imported")?;
    }
    let mode = match (call.text("mode", "nearest")?, transform) {
        ("nearest", "asymmetric")
            if call.text(
                "nearest_mode",
                if old { "floor" } else { "round_prefer_floor" },
            )? == "floor" =>
        {
            quote!(Nearest)
        }
        ("nearest", "half_pixel" | "pytorch_half_pixel") if whole => quote!(Nearest),
        ("linear", "half_pixel" | "pytorch_half_pixel") => quote!(Linear),
        _ => return Err(call.fail("this mode of resampling is not imported")),
    };
    let mut sizes = Vec::new();
    for at in changed {
        let size = site.size(&site.emitter.samples.extent(out, at))?;
        let dim = site.emitter.names.dim_value(&x.dims[at]);
        sizes.push(quote!(#dim.of(#size)));
    }
    Ok(x.then(quote!(.interpolate((#(#sizes,)*), InterpolateMode::#mode))))
}

/// Spells an operator whose result is the operand itself.
pub fn same(site: &mut Site<'_, '_>) -> Result<Expr> {
    if site.node().op == "Dropout" {
        site.call
            .require(!site.call.wants(1), "the mask as an output is not imported")?;
    }
    site.x(0)
}
