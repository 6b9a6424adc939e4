//! The expressions of elementwise operators in kernels, from the rows of the table.

use std::borrow::Cow;
use std::sync::LazyLock;

use nomina_core::DType;
use nomina_core::op::{Op, Row};

use crate::dispatch::arithmetic;

/// The names of the operands in a kernel, by position.
const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// The scalar expression of an elementwise operator.
#[derive(Debug)]
pub(crate) struct Expression {
    /// The text: calls of the functions of `numeric.cuh` on the operands `x`, `y`, `z` and `w`.
    pub(crate) text: Cow<'static, str>,
    /// The number of operands.
    pub(crate) operands: usize,
    /// The operand that is a condition, in any dtype.
    pub(crate) condition: Option<usize>,
    /// Whether computing it takes much longer than reading its operands.
    pub(crate) heavy: bool,
    /// The dtypes of computation, each with that of the result.
    pub(crate) dtypes: Cow<'static, [(DType, DType)]>,
}

impl Expression {
    /// Returns the expression of a row; `None` if its operator is not elementwise. 16-bit floats compute in `f32`: their
    /// results are rounded when they are stored.
    fn new(row: &Row) -> Option<Self> {
        let (tensors, expr) = row.expression()?;
        let tensors = NAMES[..tensors].iter().copied();
        let operands: Vec<&str> = tensors
            .chain(row.numbers().map(|number| number.name))
            .collect();
        let renamed = words(expr).map(|word| {
            let place = operands.iter().position(|&name| name == word);
            place.map_or(word, |place| NAMES[place])
        });
        let text: String = renamed.collect();
        let is_condition = |place: &usize| text.contains(&format!("select({},", NAMES[*place]));
        let resolved = row.dtypes.iter().map(|dtype| {
            let resolved = row.dtype.resolve(dtype, DType::F32);
            (arithmetic(resolved.compute), arithmetic(resolved.result))
        });
        let mut dtypes: Vec<(DType, DType)> = Vec::new();
        for pair in resolved {
            if dtypes.iter().all(|known| known.0 != pair.0) {
                dtypes.push(pair);
            }
        }
        Some(Self {
            condition: (0..operands.len()).find(is_condition),
            operands: operands.len(),
            heavy: row.functions().any(|function| function.is_heavy),
            dtypes: dtypes.into(),
            text: text.into(),
        })
    }

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

/// Splits an expression into words and the text between them.
fn words(expr: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    expr.split_inclusive(move |c| !is_letter(c))
        .flat_map(move |part| {
            let end = part.trim_end_matches(|c| !is_letter(c)).len();
            let (word, after) = part.split_at(end);
            [word, after]
        })
}

/// Returns the expression of an elementwise operator, `None` for other operators.
pub(crate) fn expression(op: Op) -> Option<&'static Expression> {
    static ALL: LazyLock<Vec<Option<Expression>>> =
        LazyLock::new(|| Op::ALL.iter().map(|op| Expression::new(op.row())).collect());
    ALL[op as usize].as_ref()
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use super::*;
    use crate::cpu::pointwise::kernel;

    /// Both come from the same rows.
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
