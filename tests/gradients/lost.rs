//! Detects gradients that are silently lost.

use nomina_by_name::{Bound, invoke};
use nomina_core::op::Op;

use crate::differences_of_tape::refused;
use crate::tape::{Call, Said, tensors};

/// Checks that a call on leaves does not lose their gradients: if it succeeds, every result that can have a gradient
/// must have one.
pub fn loses(mut call: Call) -> Said<()> {
    let op = call.op;
    let Ok(leaves) = call.leaves(|at| refused(op) != Some(at)) else {
        return Ok(());
    };
    if leaves.iter().all(Option::is_none) {
        return Ok(());
    }
    let Ok(bound) = Bound::new(call.op, call.args, call.kwargs) else {
        return Ok(());
    };
    match invoke(call.op, call.form, bound) {
        // Rounding has no derivative, and these use only the dtype of this operand.
        Ok(_) if matches!(call.op, Op::Div | Op::TypeAs) => Ok(()),
        // Overwriting a whole tensor with numbers removes its gradient.
        Ok(_) if matches!(call.op, Op::Fill | Op::Copy) && leaves.iter().flatten().count() < 2 => {
            Ok(())
        }
        Ok(results) => {
            for result in tensors(&results) {
                let float = result.dtype().is_float() || result.dtype().is_complex();
                if float && !result.requires_grad() {
                    return Err("lost".into());
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == nomina::ErrorKind::Gradient => Err(format!("{error}")),
        Err(_) => Ok(()),
    }
}
