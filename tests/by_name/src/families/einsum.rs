//! Products by letters, by names and of several operands.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::{DimRef, PairArg};

use super::contract::factors;
use super::pure;
use crate::bind::Bound;
use crate::generated::Einsum;
use crate::value::{Value, wrong};
use crate::{Form, computed};
use nomina_runtime::tensor::{Activation, AttentionOptions, DynTensor, LinearOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Einsum, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Einsum::Outer => two(which, op, form, args, "vec2"),
        Einsum::Inner | Einsum::Vdot | Einsum::Kron => two(which, op, form, args, "other"),
        Einsum::Addr => computed(op, form, args, |a| {
            a.tensor("self")?
                .addr_with(a.tensor("vec1")?, a.tensor("vec2")?, factors(a)?)
        }),
        Einsum::Trace => pure(op, form, args, |a| a.tensor("self")?.trace()),
        Einsum::MatrixPower => computed(op, form, args, |a| {
            a.tensor("self")?.matrix_power(a.int("n")?)
        }),
        Einsum::MultiDot => computed(op, form, args, |a| {
            DynTensor::multi_dot(&a.tensors("tensors")?)
        }),
        Einsum::Cross => computed(op, form, args, |a| {
            let dim = match a.given("dim") {
                None => DimRef::Index(-1),
                Some(_) => a.dim("dim")?,
            };
            a.tensor("self")?.cross(a.tensor("other")?, dim)
        }),
        Einsum::Tensordot => computed(op, form, args, |a| {
            a.tensor("self")?.tensordot(a.tensor("other")?, pair(a)?)
        }),
        Einsum::Vecdot => computed(op, form, args, |a| {
            let dim = match a.given("dim") {
                None => DimRef::Index(-1),
                Some(_) => a.dim("dim")?,
            };
            a.tensor("self")?.vecdot(a.tensor("other")?, dim)
        }),
        Einsum::Prime => pure(op, form, args, |a| a.tensor("self")?.prime(a.dim("dim")?)),
        Einsum::Linear => pure(op, form, args, |a| {
            let activation = a.word("activation", &ACTIVATIONS.map(|(word, _)| word))?;
            let options = LinearOptions {
                activation: activation.map(|at| ACTIVATIONS[at].1),
            };
            let (weight, bias) = (a.tensor("weight")?, maybe(a, "bias")?);
            a.tensor("input")?.linear_with(weight, bias, options)
        }),
        Einsum::Bilinear => pure(op, form, args, |a| {
            let (x, y) = (a.tensor("input1")?, a.tensor("input2")?);
            x.bilinear(y, a.tensor("weight")?, maybe(a, "bias")?)
        }),
        Einsum::Einsum => pure(op, form, args, |a| {
            let equation = a.name("equation")?.unwrap_or_default();
            DynTensor::einsum(equation, &a.tensors("operands")?)
        }),
        Einsum::ScaledDotProductAttention => pure(op, form, args, |a| {
            let options = AttentionOptions {
                dropout_p: a.float("dropout_p")?,
                is_causal: a.flag("is_causal")?,
                scale: match a.given("scale") {
                    None => None,
                    Some(_) => Some(a.float("scale")?),
                },
                enable_gqa: a.flag("enable_gqa")?,
            };
            let (key, value) = (a.tensor("key")?, a.tensor("value")?);
            a.tensor("query")?.scaled_dot_product_attention_with(
                key,
                value,
                maybe(a, "attn_mask")?,
                options,
            )
        }),
    }
}

const ACTIVATIONS: [(&str, Activation); 6] = [
    ("relu", Activation::Relu),
    ("gelu", Activation::Gelu),
    ("gelu_tanh", Activation::GeluTanh),
    ("silu", Activation::Silu),
    ("sigmoid", Activation::Sigmoid),
    ("tanh", Activation::Tanh),
];

/// Returns an optional tensor.
fn maybe<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a DynTensor>> {
    args.given(param).map(|_| args.tensor(param)).transpose()
}

fn two(which: Einsum, op: Op, form: Form, args: &mut Bound, other: &str) -> Result<Value> {
    computed(op, form, args, |a| {
        let (x, y) = (a.tensor("self")?, a.tensor(other)?);
        match which {
            Einsum::Outer => x.outer(y),
            Einsum::Inner => x.inner(y),
            Einsum::Vdot => x.vdot(y),
            _ => x.kron(y),
        }
    })
}

/// Returns a count, dims of both operands, or a list for each.
fn pair(args: &Bound) -> Result<PairArg<'_>> {
    let bad = |value: &Value| wrong("tensordot", "dims", "a number or dims", value);
    match args.given("dims") {
        None => Ok(PairArg::Count(2)),
        Some(Value::Int(count)) => Ok(PairArg::Count(*count)),
        Some(Value::List(each)) => match &each[..] {
            [left @ Value::List(_), right @ Value::List(_)]
            | [left @ Value::Int(_), right @ Value::Int(_)] => Ok(PairArg::Each(
                left.as_dims().ok_or_else(|| bad(left))?,
                right.as_dims().ok_or_else(|| bad(right))?,
            )),
            _ => args.dims("dims", false).map(PairArg::Both),
        },
        Some(_) => args.dims("dims", false).map(PairArg::Both),
    }
}
