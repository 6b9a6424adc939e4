//! Steps whose result is known without tensors.

use nomina_core::Scalar;
use nomina_core::op::Op;
use num_complex::Complex64;

/// The result of an operator that is known without tensors.
pub(super) enum Folded {
    Number(Scalar),
    /// The earlier step that was chosen.
    Step(usize),
}

/// Folds an operator whose operands are numbers, or a choice by a number.
pub(super) fn fold_constants(
    op: Op,
    args: &[usize],
    number: impl Fn(usize) -> Option<Scalar>,
) -> Option<Folded> {
    let (a, b) = match *args {
        [condition, a, b] if op == Op::Where => {
            let holds = number(condition)?.to_complex() != Complex64::ZERO;
            return Some(Folded::Step(if holds { a } else { b }));
        }
        [a, b] => (number(a)?, number(b)?),
        _ => return None,
    };
    if matches!(a, Scalar::Complex(_)) || matches!(b, Scalar::Complex(_)) {
        let (a, b) = (a.to_complex(), b.to_complex());
        return Some(Folded::Number(match op {
            Op::Add => Scalar::Complex(a + b),
            Op::Sub => Scalar::Complex(a - b),
            Op::Mul => Scalar::Complex(a * b),
            Op::Div => Scalar::Complex(a / b),
            Op::Eq => Scalar::Bool(a == b),
            _ => return None,
        }));
    }
    let (a, b) = (a.to_f64(), b.to_f64());
    Some(Folded::Number(match op {
        Op::Add => Scalar::Float(a + b),
        Op::Sub => Scalar::Float(a - b),
        Op::Mul => Scalar::Float(a * b),
        Op::Div => Scalar::Float(a / b),
        Op::Eq => Scalar::Bool(a == b),
        Op::Ge => Scalar::Bool(a >= b),
        Op::Gt => Scalar::Bool(a > b),
        Op::LogicalAnd => Scalar::Bool(a != 0.0 && b != 0.0),
        Op::LogicalOr => Scalar::Bool(a != 0.0 || b != 0.0),
        _ => return None,
    }))
}

/// Returns the default of a number that an elementwise operator takes.
pub(super) fn default_number(op: Op, operand: usize) -> Option<Scalar> {
    let (tensors, _) = op.row().expression()?;
    let number = op.row().numbers().nth(operand.checked_sub(tensors)?)?;
    number.default?.parse().ok().map(Scalar::Float)
}
