//! The rows of fused operators.

use nomina::dynamic::LayerNormOptions;
use nomina::{Activation, AttentionOptions, DynTensor, LeakyReluOptions, LinearOptions};
use nomina_core::Result;
use nomina_runtime::call::{ConvAfter, FinalOp};

use crate::call::Call;
use crate::graph::Attribute;
use crate::names::flow::Flow::{self, Fresh, Same};
use crate::ops::conv;
use crate::table::Row;
use crate::table::Run::{Single, Unary};

/// The domain of fused operators.
pub const DOMAIN: &str = "nomina";

const ROWS: &[Row] = &[
    Row::new("Silu", 1, Same, Unary(DynTensor::silu)),
    Row::new("HardSwish", 1, Same, Unary(DynTensor::hardswish)),
    Row::new("LayerNorm", 1, Flow::First, Single(layer_norm)),
    Row::new("Attention", 1, Fresh, Single(attention)),
    Row::new("Linear", 1, Flow::Linear, Single(linear)),
    Row::new("ConvActivation", 1, Flow::Conv, Single(conv_activation)),
    Row::new(
        "ConvTransposeActivation",
        1,
        Flow::ConvTranspose,
        Single(|c| activated(c, conv::conv_transpose(c)?)),
    ),
    Row::new("Gelu", 1, Same, Single(crate::ops::gelu)),
    Row::new(
        "Affine",
        1,
        Flow::First,
        Single(|c| c.x(0)?.mul(c.x(1)?)?.add(c.x(2)?)),
    ),
    Row::new("Chain", 1, Flow::Broadcast, Single(chain)),
];

/// Returns the row of a fused operator.
pub fn row(op: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == op)
}

fn layer_norm(c: &Call<'_>) -> Result<DynTensor> {
    let options = LayerNormOptions {
        weight: c.maybe(1)?,
        bias: c.maybe(2)?,
        eps: c.float("epsilon", 1e-5)?,
    };
    c.x(0)?.layer_norm_with(-1, options)
}

/// The keys are transposed, as the product has them.
fn attention(c: &Call<'_>) -> Result<DynTensor> {
    let (q, k, v) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let options = AttentionOptions {
        scale: Some(c.float("scale", 1.0)?),
        ..Default::default()
    };
    q.scaled_dot_product_attention_with(&k.transpose(-2, -1)?, v, c.maybe(3)?, options)
}

/// Returns the kernel's activation of a name.
pub fn activation(name: &str) -> Option<Activation> {
    Some(match name {
        "Relu" => Activation::Relu,
        "Silu" => Activation::Silu,
        "Sigmoid" => Activation::Sigmoid,
        "Tanh" => Activation::Tanh,
        "Gelu" => Activation::Gelu,
        "GeluTanh" => Activation::GeluTanh,
        _ => return None,
    })
}

fn linear(c: &Call<'_>) -> Result<DynTensor> {
    let options = LinearOptions {
        activation: activation(c.text("activation", "")?),
    };
    c.x(0)?.linear_with(c.x(1)?, c.maybe(2)?, options)
}

/// The activations that a convolution takes.
pub const AFTER_CONVOLUTION: &[&str] = &["Relu", "Silu", "Sigmoid", "HardSwish", "LeakyRelu"];

fn activated(c: &Call<'_>, mut y: DynTensor) -> Result<DynTensor> {
    match c.text("activation", "")? {
        "Relu" => y.relu_()?,
        "Silu" => y.silu_()?,
        "Sigmoid" => y.sigmoid_()?,
        "HardSwish" => y.hardswish_()?,
        "LeakyRelu" => y.leaky_relu_with_(leaky(c)?)?,
        _ => &mut y,
    };
    Ok(y)
}

/// Returns the slope of a leaky relu.
fn leaky(c: &Call<'_>) -> Result<LeakyReluOptions> {
    let negative_slope = c.float("alpha", 0.01)?;
    Ok(LeakyReluOptions { negative_slope })
}

fn conv_activation(c: &Call<'_>) -> Result<DynTensor> {
    let after = match c.text("activation", "")? {
        "HardSwish" => Some(FinalOp::hard_swish()),
        "LeakyRelu" => Some(FinalOp::leaky_relu(leaky(c)?.negative_slope)),
        name => activation(name).map(FinalOp::from),
    };
    let after = ConvAfter {
        plus: c.maybe(3)?.map(DynTensor::raw),
        op: after,
    };
    conv::conv(c, c.x(0)?, c.x(1)?, c.maybe(2)?, after)
}

fn chain(c: &Call<'_>) -> Result<DynTensor> {
    match c.attribute("program")? {
        Some(Attribute::Program(program)) => program.run(&c.all()?),
        _ => Err(c.fail("the program is missing")),
    }
}
