//! Recurrent layers, spelled as a loop over the steps.

use nomina::DynTensor;
use nomina_core::Result;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::call::reshape;
use crate::emit::expr::{Expr, Form};
use crate::emit::paths;
use crate::emit::site::Site;
use crate::graph::Attribute;

/// The variables that a layer's loop leaves.
const STATES: [&str; 3] = ["steps", "hidden", "cell"];

/// The names of a layer's dims.
struct LayerDims {
    time: String,
    batch: String,
    input: String,
    hidden: String,
    gates: String,
}

pub fn gru(site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
    site.call.require(
        site.call.flag("linear_before_reset", false)?,
        "a GRU that resets before the product is not imported",
    )?;
    layer(site, 3)
}

pub fn lstm(site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
    layer(site, 4)
}

fn layer(site: &mut Site<'_, '_>, gates: usize) -> Result<Vec<Expr>> {
    let call = &site.call;
    call.require(
        call.int("layout", 0)? == 0,
        "batches first are not imported",
    )?;
    call.require(
        call.maybe_float("clip")?.is_none() && site.input(7).is_none(),
        "clips and peepholes are not imported",
    )?;
    call.require(site.input(4).is_none(), "lengths are not imported")?;
    let standard = |text: &String| ["sigmoid", "tanh"].contains(&&text.to_ascii_lowercase()[..]);
    if let Some(Attribute::Texts(names)) = site.node().attribute("activations") {
        call.require(
            names.iter().all(standard),
            "these activations are not imported",
        )?;
    }
    let directions: &[bool] = match call.text("direction", "forward")? {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        _ => return Err(call.fail("the direction is unknown")),
    };
    let x = site.x(0)?;
    let out = site
        .node()
        .outputs
        .iter()
        .flatten()
        .next()
        .copied()
        .unwrap_or(0);
    let hidden = site.shape(out).last().copied().unwrap_or(0);
    let inner = site.emitter.names.invented(2, &x.dims);
    let target = site.target(0).or_else(|| site.target(1));
    let last = target.and_then(|dims| dims.last().cloned());
    let named = last.filter(|name| !x.dims.contains(name));
    let dims = LayerDims {
        time: x.dims[0].clone(),
        batch: x.dims[1].clone(),
        input: x.dims[2].clone(),
        hidden: named.unwrap_or_else(|| inner[0].clone()),
        gates: site.emitter.names.fresh("Gates", &x.dims),
    };
    let states = if gates == 4 { 3 } else { 2 };
    let wanted: Vec<usize> = (0..states)
        .filter(|&state| site.output(state).is_some())
        .collect();
    let base = paths::variable(&site.emitter.graph.values[out]);
    // The variables of each direction, by state.
    let mut all = Vec::new();
    for (at, &reverse) in directions.iter().enumerate() {
        let layer = Direction {
            at,
            reverse,
            count: directions.len(),
            keeps_steps: wanted.contains(&0),
        };
        let text = layer.spell(site, &x, &dims, gates, hidden)?;
        let suffix = if reverse { "_reverse" } else { "" };
        let variables: Vec<Ident> = wanted
            .iter()
            .map(|&state| {
                let base = base.trim_end_matches(STATES[state]);
                let name = format!("{base}_{}{suffix}", STATES[state]);
                let name = name.trim_start_matches('_').replace("__", "_");
                site.emitter.identifier(&name)
            })
            .collect();
        let time = site.emitter.names.dim_value(&dims.time);
        let result = |&state: &usize| match state {
            0 => quote!(stack(&steps, #time)),
            _ => format_ident!("{}", STATES[state]).into_token_stream(),
        };
        let results: Vec<TokenStream> = wanted.iter().map(result).collect();
        site.emitter
            .prelude
            .push(match (&variables[..], &results[..]) {
                ([variable], [result]) => quote!(let #variable = { #text #result };),
                _ => quote!(let (#(#variables),*) = { #text (#(#results),*) };),
            });
        all.push(variables);
    }
    let direction = match site.target(0).or_else(|| site.target(1)) {
        Some(dims) if dims.len() == 4 => dims[1].clone(),
        Some(dims) => dims[0].clone(),
        None => inner[1].clone(),
    };
    let dim = site.emitter.names.dim_value(&direction);
    let mut results = Vec::new();
    for state in 0..states {
        let own = if state == 0 {
            vec![
                dims.time.clone(),
                direction.clone(),
                dims.batch.clone(),
                dims.hidden.clone(),
            ]
        } else {
            vec![direction.clone(), dims.batch.clone(), dims.hidden.clone()]
        };
        let Some(place) = wanted.iter().position(|&wanted| wanted == state) else {
            results.push(Expr {
                text: quote!(()),
                dims: own,
                dtype: x.dtype,
                form: Form::Call,
            });
            continue;
        };
        let parts = all.iter().map(|variables| &variables[place]);
        let mut y = Expr {
            text: quote!(stack(&[#(&#parts),*], #dim)),
            dims: [
                std::slice::from_ref(&direction),
                &if state == 0 {
                    vec![dims.time.clone(), dims.batch.clone(), dims.hidden.clone()]
                } else {
                    vec![dims.batch.clone(), dims.hidden.clone()]
                },
            ]
            .concat(),
            dtype: x.dtype,
            form: Form::Call,
        };
        y = site.align(y, &own);
        results.push(y);
    }
    Ok(results)
}

/// The weights of one direction.
fn part(
    site: &mut Site<'_, '_>,
    input: usize,
    at: usize,
    count: usize,
    rows: Option<(usize, usize)>,
    dims: &[String],
) -> Result<Option<Expr>> {
    let Some(id) = site.input(input) else {
        return Ok(None);
    };
    let tensor = site
        .constant(input)
        .ok_or_else(|| site.call.fail("a weight is not constant"))?;
    let mut own: DynTensor = tensor.narrow(0, at as i64, 1)?;
    own = reshape(&own, &tensor.shape()[1..])?;
    let mut form = if count > 1 {
        ["_forward", "_reverse"][at].to_owned()
    } else {
        String::from("_all")
    };
    if let Some((start, length)) = rows {
        own = own.narrow(0, start as i64, length)?;
        form.push_str(if start == 0 { "_input" } else { "_hidden" });
    }
    let form = form.replace("_all", "_");
    let form = form.trim_end_matches('_').replace("__", "_");
    let form = if form.is_empty() {
        "_layer".to_owned()
    } else {
        form
    };
    Ok(Some(site.derived(
        input,
        id,
        &form,
        own.contiguous()?,
        dims.to_vec(),
    )?))
}

/// One direction of a layer.
struct Direction {
    at: usize,
    reverse: bool,
    /// The number of directions.
    count: usize,
    /// Whether the states of all steps are a result.
    keeps_steps: bool,
}

impl Direction {
    /// Spells the loop; it leaves `hidden`, for an LSTM `cell`, and `steps` if they are kept.
    fn spell(
        &self,
        site: &mut Site<'_, '_>,
        x: &Expr,
        names: &LayerDims,
        gates: usize,
        size: usize,
    ) -> Result<TokenStream> {
        let &Self {
            at,
            reverse,
            count,
            keeps_steps,
        } = self;
        let d = |site: &mut Site<'_, '_>, name: &str| site.emitter.names.dim_value(name);
        let wide = [names.gates.clone()];
        let w = part(
            site,
            1,
            at,
            count,
            None,
            &[names.gates.clone(), names.input.clone()],
        )?;
        let r = part(
            site,
            2,
            at,
            count,
            None,
            &[names.gates.clone(), names.hidden.clone()],
        )?;
        let (Some(w), Some(r)) = (w, r) else {
            return Err(site.call.fail("the weights are missing"));
        };
        let all = gates * size;
        let input_bias = part(site, 3, at, count, Some((0, all)), &wide)?;
        let hidden_bias = part(site, 3, at, count, Some((all, all)), &wide)?;
        let [time, batch, input, hidden, gate] = [
            &names.time,
            &names.batch,
            &names.input,
            &names.hidden,
            &names.gates,
        ]
        .map(|name| d(site, name));
        let (w, r, own) = (w.argument(), r.argument(), x.receiver());
        let plus = |bias: Option<Expr>| {
            bias.map(|bias| {
                let bias = bias.argument();
                quote!(+ #bias)
            })
        };
        let (input_bias, hidden_bias) = (plus(input_bias), plus(hidden_bias));
        let state_type = site
            .emitter
            .names
            .list_type(&[names.batch.clone(), names.hidden.clone()]);
        let n = Literal::usize_unsuffixed(size);
        let initial = |site: &mut Site<'_, '_>, input: usize| -> Result<TokenStream> {
            let Some(id) = site.input(input) else {
                return Ok(quote!(Tensor::<#state_type>::zeros([x.size(#batch), #n])));
            };
            // A state of zeros needs no parameter.
            let zero = site.emitter.samples.is_from_sizes(id) && {
                let value = site.emitter.samples.values[id]
                    .as_ref()
                    .and_then(|value| value.tensor());
                value.is_some_and(|value| {
                    crate::call::floats(value).is_ok_and(|all| all.iter().all(|&x| x == 0.0))
                })
            };
            if zero {
                return Ok(quote!(Tensor::<#state_type>::zeros([x.size(#batch), #n])));
            }
            let own = site.x(input)?;
            let place = Literal::usize_unsuffixed(at);
            let dims = vec![
                own.dims[0].clone(),
                names.batch.clone(),
                names.hidden.clone(),
            ];
            let state = site.rename(own, &dims)?;
            let dim = site.emitter.names.dim_value(&dims[0]);
            let state = state.receiver();
            Ok(quote!(#state.select(#dim, #place)))
        };
        let first = initial(site, 5)?;
        let cell = if gates == 4 {
            Some(initial(site, 6)?)
        } else {
            None
        };
        let order = if reverse {
            quote!((0..x.size(#time)).rev())
        } else {
            quote!(0..x.size(#time))
        };
        let turn = reverse.then(|| quote!(steps.reverse();));
        let ranges: Vec<TokenStream> = (0..gates)
            .map(|at| {
                let (from, to) = (
                    Literal::usize_unsuffixed(at * size),
                    Literal::usize_unsuffixed((at + 1) * size),
                );
                quote!(#from..#to)
            })
            .collect();
        let sum = |at: usize| {
            let range = &ranges[at];
            quote!((a.narrow(#gate, #range) + b.narrow(#gate, #range)))
        };
        let (step, states) = if gates == 4 {
            let (input_gate, output_gate, forget, update) = (sum(0), sum(1), sum(2), sum(3));
            let step = quote! {
                let input = #input_gate.sigmoid().rename(#gate, #hidden);
                let output = #output_gate.sigmoid().rename(#gate, #hidden);
                let forget = #forget.sigmoid().rename(#gate, #hidden);
                let update = #update.tanh().rename(#gate, #hidden);
                cell = forget * &cell + input * update;
                hidden = output * cell.tanh();
            };
            (step, quote!(let mut cell = #cell;))
        } else {
            let (update, reset) = (sum(0), sum(1));
            let last = &ranges[2];
            let step = quote! {
                let update = #update.sigmoid().rename(#gate, #hidden);
                let reset = #reset.sigmoid();
                let new = (a.narrow(#gate, #last) + reset * b.narrow(#gate, #last)).tanh().rename(#gate, #hidden);
                hidden = (1.0_f32 - &update) * new + update * &hidden;
            };
            (step, quote!())
        };
        let (begin, push, end) = if keeps_steps {
            (
                quote!(let mut steps = Vec::new();),
                quote!(steps.push(hidden.clone());),
                quote!(#turn),
            )
        } else {
            Default::default()
        };
        Ok(quote! {
            let x = &#own;
            let inputs = x.contract(#w, #input) #input_bias;
            let mut hidden = #first;
            #states
            #begin
            for at in #order {
                let (a, b) = (inputs.select(#time, at), hidden.contract(#r, #hidden) #hidden_bias);
                #step
                #push
            }
            #end
        })
    }
}
