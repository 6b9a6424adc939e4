//! Losses of classifiers.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::{Call, floats, from_floats, ints};
use crate::names::flow::Flow::Fresh;
use crate::table::Row;
use crate::table::Run::{Single, Tensors};

pub const ROWS: &[Row] = &[
    Row::new(
        "NegativeLogLikelihoodLoss",
        12,
        Fresh,
        Single(|c| nll(c, c.x(0)?)),
    ),
    Row::new("SoftmaxCrossEntropyLoss", 12, Fresh, Tensors(cross_entropy)),
];

fn nll(c: &Call<'_>, x: &DynTensor) -> Result<DynTensor> {
    let target = c.x(1)?;
    let (&[n, classes, ref rest @ ..], labels) = (x.shape(), ints(target)?) else {
        return Err(c.fail("the input has no classes"));
    };
    c.require(
        target.shape().first() == Some(&n) && target.shape()[1..] == *rest,
        "the shapes of scores and labels differ",
    )?;
    let inner: usize = rest.iter().product();
    let weight = match c.maybe(2)? {
        Some(weight) => floats(weight)?,
        None => vec![1.0; classes],
    };
    c.require(weight.len() == classes, "there is not one weight per class")?;
    let (data, ignored) = (floats(x)?, c.maybe_int("ignore_index")?);
    let (mut losses, mut total) = (Vec::with_capacity(labels.len()), 0.0);
    for (at, &label) in labels.iter().enumerate() {
        if Some(label) == ignored {
            losses.push(0.0);
            continue;
        }
        let class = usize::try_from(label)
            .ok()
            .filter(|&l| l < classes)
            .ok_or_else(|| c.fail(format!("label {label} is out of range")))?;
        total += weight[class];
        losses.push(-data[(at / inner * classes + class) * inner + at % inner] * weight[class]);
    }
    match c.text("reduction", "mean")? {
        "none" => from_floats(losses, target.shape(), x.dtype()),
        "sum" => from_floats(vec![losses.iter().sum()], &[], x.dtype()),
        "mean" => from_floats(vec![losses.iter().sum::<f64>() / total], &[], x.dtype()),
        other => Err(c.fail(format!("reduction `{other}` is unknown"))),
    }
}

fn cross_entropy(c: &Call<'_>) -> Result<Vec<DynTensor>> {
    let log = c.x(0)?.log_softmax(1)?;
    Ok(vec![nll(c, &log)?, log])
}
