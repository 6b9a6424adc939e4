//! Steps of optimizers.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::Call;
use crate::names::flow::Flow::Fresh;
use crate::table::Row;
use crate::table::Run::Tensors;

const DOMAIN: &str = "ai.onnx.preview.training";

pub const ROWS: &[Row] = &[
    Row::new("Adagrad", 1, Fresh, Tensors(|c| step(c, 2, adagrad))).domain(DOMAIN),
    Row::new("Adam", 1, Fresh, Tensors(|c| step(c, 3, adam))).domain(DOMAIN),
    Row::new("Momentum", 1, Fresh, Tensors(|c| step(c, 2, momentum))).domain(DOMAIN),
];

/// The state of one parameter: itself, its gradient, and what the optimizer keeps.
struct State<'a> {
    rate: f64,
    count: f64,
    x: &'a DynTensor,
    gradient: DynTensor,
    kept: Vec<&'a DynTensor>,
}

/// Updates each parameter; inputs come as all parameters, then all gradients, then all kept tensors.
fn step(
    c: &Call<'_>,
    outputs: usize,
    update: fn(&Call<'_>, &State<'_>) -> Result<Vec<DynTensor>>,
) -> Result<Vec<DynTensor>> {
    let all = &c.all()?[..];
    let [rate, count, rest @ ..] = all else {
        return Err(c.fail("inputs are missing"));
    };
    let groups = outputs + 1;
    c.require(rest.len() % groups == 0, "the number of inputs is wrong")?;
    let n = rest.len() / groups;
    let decay = c.float("norm_coefficient", 0.0)?;
    let mut results: Vec<Vec<DynTensor>> = vec![Vec::new(); outputs];
    for at in 0..n {
        let x = rest[at];
        let state = State {
            rate: rate.item()?.to_f64(),
            count: count.item()?.to_f64(),
            x,
            gradient: x.mul(decay)?.add(rest[n + at])?,
            kept: (2..groups).map(|k| rest[k * n + at]).collect(),
        };
        for (place, result) in update(c, &state)?.into_iter().enumerate() {
            results[place].push(result);
        }
    }
    Ok(results.concat())
}

fn adagrad(c: &Call<'_>, s: &State<'_>) -> Result<Vec<DynTensor>> {
    let rate = s.rate / (1.0 + s.count * c.float("decay_factor", 0.0)?);
    let squares = s.kept[0].add(&s.gradient.square()?)?;
    let x = s.x.sub(
        &s.gradient
            .mul(rate)?
            .div(&squares.sqrt()?.add(c.float("epsilon", 1e-6)?)?)?,
    )?;
    Ok(vec![x, squares])
}

fn adam(c: &Call<'_>, s: &State<'_>) -> Result<Vec<DynTensor>> {
    let (a, b) = (c.float("alpha", 0.9)?, c.float("beta", 0.999)?);
    let mean = s.kept[0].mul(a)?.add(&s.gradient.mul(1.0 - a)?)?;
    let square = s.kept[1].mul(b)?.add(&s.gradient.square()?.mul(1.0 - b)?)?;
    let rate = if s.count > 0.0 {
        s.rate * (1.0 - b.powf(s.count)).sqrt() / (1.0 - a.powf(s.count))
    } else {
        s.rate
    };
    let x = s.x.sub(
        &mean
            .mul(rate)?
            .div(&square.sqrt()?.add(c.float("epsilon", 1e-6)?)?)?,
    )?;
    let x = x.mul(1.0 - c.float("norm_coefficient_post", 0.0)?)?;
    Ok(vec![x, mean, square])
}

fn momentum(c: &Call<'_>, s: &State<'_>) -> Result<Vec<DynTensor>> {
    let alpha = c.float("alpha", 0.0)?;
    let beta = if s.count > 0.0 {
        c.float("beta", 0.0)?
    } else {
        1.0
    };
    let v = s.kept[0].mul(alpha)?.add(&s.gradient.mul(beta)?)?;
    let direction = match c.text("mode", "standard")? {
        "standard" => v.clone(),
        "nesterov" => s.gradient.add(&v.mul(alpha)?)?,
        other => return Err(c.fail(format!("mode `{other}` is unknown"))),
    };
    Ok(vec![s.x.sub(&direction.mul(s.rate)?)?, v])
}
