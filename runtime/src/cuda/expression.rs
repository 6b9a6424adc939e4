//! The expressions of elementwise operators in kernels.

use nomina_core::DType;

pub(crate) use super::generated::expression;

/// The scalar expression of an elementwise operator.
#[derive(Debug)]
pub(crate) struct Expression {
    /// The text: calls of the functions of `numeric.cuh` on the operands `x`, `y`, `z` and `w`.
    pub(crate) text: &'static str,
    /// The number of operands.
    pub(crate) operands: usize,
    /// The operand that is a condition, in any dtype.
    pub(crate) condition: Option<usize>,
    /// Whether computing it takes much longer than reading its operands.
    pub(crate) heavy: bool,
    /// The dtypes of computation, each with that of the result.
    pub(crate) dtypes: &'static [(DType, DType)],
}

impl Expression {
    /// Returns the dtype of the result if it computes in `compute`; `None` if it does not support that.
    pub(crate) fn result(&self, compute: DType) -> Option<DType> {
        let found = self.dtypes.iter().find(|pair| pair.0 == compute);
        found.map(|pair| pair.1)
    }

    /// Returns the dtype of an operand if it computes in `compute`.
    pub(crate) fn operand(&self, place: usize, compute: DType) -> DType {
        if self.condition == Some(place) {
            DType::Bool
        } else {
            compute
        }
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use super::*;
    use crate::cpu::pointwise::kernel;

    /// Both are generated from the same rows.
    #[test]
    fn as_the_host_computes() {
        let mut count = 0;
        for &op in Op::ALL {
            for compute in DType::ALL {
                let (host, device) = (kernel(op, compute), expression(op));
                let result = device.and_then(|expression| expression.result(compute));
                assert_eq!(host.map(|kernel| kernel.output), result, "{op:?} {compute}");
                let (Some(host), Some(device)) = (host, device) else {
                    continue;
                };
                assert_eq!(host.arity, device.operands, "{op:?}");
                for (place, &dtype) in host.inputs[..host.arity].iter().enumerate() {
                    assert_eq!(dtype, device.operand(place, compute), "{op:?} {compute}");
                }
                count += 1;
            }
        }
        assert!(count > 700, "{count}");
    }
}
