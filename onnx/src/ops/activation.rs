//! Activations.

use nomina::{Approximate, DynTensor, GeluOptions, LeakyReluOptions};
use nomina_core::Result;

use super::norm::along_channels;
use crate::call::Call;
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::names::flow::Flow::{First, Same};
use crate::table::Row;
use crate::table::Run::{Single, Unary};

pub const ROWS: &[Row] = &[
    Row::new("Relu", 6, Same, Unary(DynTensor::relu)).emit(Emit::Method("relu")),
    Row::new("Sigmoid", 6, Same, Unary(DynTensor::sigmoid)).emit(Emit::Method("sigmoid")),
    Row::new("Softplus", 1, Same, Unary(softplus)),
    Row::new("Softsign", 1, Same, Unary(DynTensor::softsign)).emit(Emit::Method("softsign")),
    Row::new("Mish", 18, Same, Unary(|x| x.mul(&softplus(x)?.tanh()?))),
    Row::new(
        "HardSwish",
        14,
        Same,
        Unary(|x| x.mul(&hard_sigmoid(x, 1.0 / 6.0, 0.5)?)),
    )
    .emit(Emit::Single(spell::elementwise::hard_swish)),
    Row::new(
        "Elu",
        6,
        Same,
        Single(|c| elu(c.x(0)?, c.float("alpha", 1.0)?, 1.0)),
    )
    .emit(Emit::Single(spell::elementwise::elu)),
    Row::new("Celu", 12, Same, Single(celu)),
    Row::new("Selu", 6, Same, Single(selu)),
    Row::new(
        "LeakyRelu",
        6,
        Same,
        Single(|c| {
            let negative_slope = c.float("alpha", 0.01)?;
            c.x(0)?.leaky_relu_with(LeakyReluOptions { negative_slope })
        }),
    )
    .emit(Emit::Single(spell::elementwise::leaky_relu)),
    Row::new("PRelu", 6, First, Single(prelu)).emit(Emit::Single(spell::elementwise::prelu)),
    Row::new("ThresholdedRelu", 10, Same, Single(thresholded)),
    Row::new(
        "HardSigmoid",
        6,
        Same,
        Single(|c| hard_sigmoid(c.x(0)?, c.float("alpha", 0.2)?, c.float("beta", 0.5)?)),
    )
    .emit(Emit::Single(spell::elementwise::hard_sigmoid)),
    Row::new("Shrink", 9, Same, Single(shrink)),
    Row::new(
        "Swish",
        24,
        Same,
        Single(|c| {
            c.x(0)?
                .mul(&c.x(0)?.mul(c.float("alpha", 1.0)?)?.sigmoid()?)
        }),
    )
    .emit(Emit::Single(spell::elementwise::swish)),
    Row::new("Gelu", 20, Same, Single(gelu)).emit(Emit::Single(spell::elementwise::gelu)),
];

/// `ln(1 + exp(x))`, without overflow.
pub fn softplus(x: &DynTensor) -> Result<DynTensor> {
    x.relu()?.add(&x.abs()?.neg()?.exp()?.log1p()?)
}

fn hard_sigmoid(x: &DynTensor, alpha: f64, beta: f64) -> Result<DynTensor> {
    x.mul(alpha)?.add(beta)?.clamp_min(0.0)?.clamp_max(1.0)
}

fn elu(x: &DynTensor, alpha: f64, gamma: f64) -> Result<DynTensor> {
    let low = x.clamp_max(0.0)?.expm1()?.mul(alpha)?;
    let y = x.gt(0.0)?.where_cond(x, &low)?;
    if gamma == 1.0 { Ok(y) } else { y.mul(gamma) }
}

fn celu(c: &Call<'_>) -> Result<DynTensor> {
    let (x, alpha) = (c.x(0)?, c.float("alpha", 1.0)?);
    let low = x.clamp_max(0.0)?.div(alpha)?.expm1()?.mul(alpha)?;
    x.clamp_min(0.0)?.add(&low)
}

fn selu(c: &Call<'_>) -> Result<DynTensor> {
    let alpha = c.float("alpha", 1.673_263_192_176_818_8)?;
    elu(c.x(0)?, alpha, c.float("gamma", 1.050_700_962_543_487_5)?)
}

fn slope(x: &DynTensor, low: &DynTensor) -> Result<DynTensor> {
    x.lt(0.0)?.where_cond(low, x)
}

fn thresholded(c: &Call<'_>) -> Result<DynTensor> {
    let x = c.x(0)?;
    x.gt(c.float("alpha", 1.0)?)?
        .where_cond(x, &x.zeros_like()?)
}

fn shrink(c: &Call<'_>) -> Result<DynTensor> {
    let (x, bias, lambda) = (c.x(0)?, c.float("bias", 0.0)?, c.float("lambd", 0.5)?);
    let low = x.lt(-lambda)?.where_cond(&x.add(bias)?, &x.zeros_like()?)?;
    x.gt(lambda)?.where_cond(&x.sub(bias)?, &low)
}

/// The product with the normal distribution function.
pub fn gelu(c: &Call<'_>) -> Result<DynTensor> {
    let approximate = match c.text("approximate", "none")? {
        "none" => Approximate::None,
        "tanh" => Approximate::Tanh,
        other => return Err(c.fail(format!("approximation `{other}` is unknown"))),
    };
    c.x(0)?.gelu_with(GeluOptions { approximate })
}

/// Before opset 7, a vector of slopes has one for each channel.
fn prelu(c: &Call<'_>) -> Result<DynTensor> {
    let (x, slopes) = (c.x(0)?, c.x(1)?);
    if c.opset() < 7 && slopes.rank() == 1 && slopes.numel() > 1 {
        return slope(x, &x.mul(&along_channels(slopes, x.rank())?)?);
    }
    slope(x, &x.mul(slopes)?)
}
