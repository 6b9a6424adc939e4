//! Operators that copy elements to other places.

use crate::bind::Bound;
use crate::generated::Index;
use crate::value::Value;
use crate::{Form, computed};
use nomina_core::Result;
use nomina_core::op::Op;
use nomina_runtime::tensor::DynTensor;

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Index, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Index::Cat => computed(op, form, args, |a| {
            DynTensor::cat(&a.tensors("tensors")?, a.dim("dim")?)
        }),
        Index::Stack => computed(op, form, args, |a| {
            DynTensor::stack(&a.tensors("tensors")?, a.int("dim")?, None)
        }),
        Index::MaskedSelect => computed(op, form, args, |a| {
            a.tensor("self")?.masked_select(a.tensor("mask")?)
        }),
    }
}
