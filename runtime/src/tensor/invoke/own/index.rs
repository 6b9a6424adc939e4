//! Operators that copy elements to other places.

use crate::tensor::DynTensor;
use crate::tensor::generated::own::Index;
use crate::tensor::invoke::bind::Bound;
use crate::tensor::invoke::value::Value;
use crate::tensor::invoke::{Form, computed};
use nomina_core::Result;
use nomina_core::op::Op;

/// Calls `own`, which is `op` by another name.
pub(in crate::tensor) fn call(own: Index, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match own {
        Index::Cat => computed(op, form, args, |a| {
            DynTensor::cat(&a.tensors("tensors")?, a.dim("dim")?)
        }),
        Index::Stack => computed(op, form, args, |a| {
            DynTensor::stack(&a.tensors("tensors")?, a.int("dim", 0)?, None)
        }),
        Index::MaskedSelect => computed(op, form, args, |a| {
            a.tensor("self")?.masked_select(a.tensor("mask")?)
        }),
    }
}
