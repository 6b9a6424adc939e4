//! Matrix products.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::pure;
use crate::tensor::generated::own::Contract;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};
use crate::tensor::{AddmmOptions, product};

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Contract, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Contract::Mm | Contract::Bmm => two(op, form, args, "mat2"),
        Contract::Mv => two(op, form, args, "vec"),
        Contract::Dot => two(op, form, args, "tensor"),
        Contract::Matmul => two(op, form, args, "other"),
        Contract::Addmm => computed(op, form, args, |a| {
            let one = Scalar::Int(1);
            let options = AddmmOptions {
                beta: a.scalar("beta", one)?,
                alpha: a.scalar("alpha", one)?,
            };
            a.tensor("self")?
                .addmm_with(a.tensor("mat1")?, a.tensor("mat2")?, options)
        }),
        Contract::Contract => pure(op, form, args, |a| {
            a.tensor("self")?
                .contract(a.tensor("other")?, a.dims("dim", false)?)
        }),
    }
}

fn two(op: Op, form: Form, args: &mut Bound, other: &str) -> Result<Value> {
    computed(op, form, args, |a| {
        product::product(op, a.tensor("self")?, a.tensor(other)?)
    })
}
