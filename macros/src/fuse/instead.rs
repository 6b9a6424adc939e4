//! Suggestions for constructs that a chain does not support.

use syn::BinOp;

use super::allowed::{OPERATORS, REDUCTIONS};

/// Returns the method for an operator that a chain lacks.
pub fn instead(op: BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::And(_) => "x.logical_and(y)",
        BinOp::Or(_) => "x.logical_or(y)",
        BinOp::BitXor(_) => "x.bitwise_xor(y)",
        BinOp::BitAnd(_) => "x.bitwise_and(y)",
        BinOp::BitOr(_) => "x.bitwise_or(y)",
        BinOp::Shl(_) => "x.bitwise_left_shift(y)",
        BinOp::Shr(_) => "x.bitwise_right_shift(y)",
        BinOp::Eq(_) => "x.eq(y)",
        BinOp::Ne(_) => "x.ne(y)",
        BinOp::Lt(_) => "x.lt(y)",
        BinOp::Le(_) => "x.le(y)",
        BinOp::Gt(_) => "x.gt(y)",
        BinOp::Ge(_) => "x.ge(y)",
        _ => return None,
    })
}

/// Returns the error message for a method that is not an elementwise operator.
pub fn unknown(method: &str) -> String {
    if REDUCTIONS.iter().any(|(name, _)| *name == method) {
        return format!(
            "`{method}` reduces, and must be the last call: end this chain with it, and begin another with the result"
        );
    }
    if method.ends_with('_') {
        return format!("`{method}` writes to its tensor; a chain only computes one");
    }
    let near = OPERATORS
        .iter()
        .map(|(name, ..)| (distance(name, method), name))
        .filter(|(far, name)| *far <= 1 + name.len() / 4)
        .min();
    match near {
        Some((_, name)) => format!("`{method}` is not elementwise; `{name}` does"),
        None => format!(
            "`{method}` is not elementwise: call it before, \
             and name the result between the bars: `y = x.{method}(..)`"
        ),
    }
}

/// Returns the edit distance: the number of letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
