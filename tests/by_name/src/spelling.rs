//! PyTorch's spellings of a call.

use nomina_core::op::{Forms, Op};

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `torch.add(a, b)`
    Function,
    /// `a.add(b)`
    Method,
    /// `a.add_(b)`; the result is the updated `self`.
    InPlace,
    /// `torch.add(a, b, out=c)`; the result is the updated `out`.
    Out,
}

/// Parses `torch.add`, `torch.Tensor.add_`, `torch.nn.functional.softmax`,
/// `torch.Tensor.names.__get__` or a bare `add_`; `None` if no operator has this spelling.
///
/// An `out` argument turns a function into [`Form::Out`], which the spelling does not show.
#[must_use]
pub fn parse(spelling: &str) -> Option<(Op, Form)> {
    let (path, attribute) = match spelling.rsplit_once('.') {
        Some((path, "__get__")) => (path, Some(Form::Method)),
        Some((path, "__set__")) => (path, Some(Form::InPlace)),
        _ => (spelling, None),
    };
    let (prefix, name) = path.rsplit_once('.').unwrap_or(("torch.Tensor", path));
    if !matches!(
        prefix,
        "torch"
            | "torch.Tensor"
            | "torch.functional"
            | "torch.nn.functional"
            | "torch.special"
            | "torch.linalg"
            | "torch.sparse"
    ) {
        return None;
    }
    if attribute == Some(Form::InPlace) {
        return (name == "names").then_some((Op::Rename, Form::InPlace));
    }
    match operator(name) {
        Some((op, Side::InPlace)) => {
            let has = op.row().forms.contains(Forms::IN_PLACE);
            return has.then_some((op, Form::InPlace));
        }
        // The left operand may be a number.
        Some((op, Side::Right)) => return Some((op, Form::Function)),
        _ => {}
    }
    // PyTorch has two operators of this name: the tensor method is a different one.
    let unfold = prefix == "torch.nn.functional" && name == "unfold";
    if let Some(op) = unfold.then_some(Op::Im2col).or_else(|| found(name)) {
        let form = if prefix == "torch.Tensor" {
            Form::Method
        } else {
            Form::Function
        };
        if op.row().forms.contains(Forms::IN_PLACE_ONLY) {
            // PyTorch has a function `fill`, but the row has only the in-place form.
            return name.ends_with('_').then_some((op, Form::InPlace));
        }
        return Some((op, form));
    }
    let op = found(name.strip_suffix('_')?)?;
    op.row()
        .forms
        .contains(Forms::IN_PLACE)
        .then_some((op, Form::InPlace))
}

fn found(name: &str) -> Option<Op> {
    match name {
        // An attribute that is a detached alias.
        "data" => Some(Op::Detach),
        "__bool__" => Some(Op::IsNonzero),
        name => operator(name)
            .map(|(op, _)| op)
            .or_else(|| Op::from_name(name)),
    }
}

/// The position of `self` in a Python operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// `a + b`, `-a`
    Left,
    /// `2 + a`: `self` is the right operand.
    Right,
    /// `a += b`
    InPlace,
}

/// Parses Python's spelling of an operator: `__add__`, `__radd__`, `__iadd__`.
pub(super) fn operator(name: &str) -> Option<(Op, Side)> {
    let word = name.strip_prefix("__")?.strip_suffix("__")?;
    let two = |word: &str| {
        Some(match word {
            "add" => Op::Add,
            "sub" => Op::Sub,
            "mul" => Op::Mul,
            "truediv" | "div" => Op::Div,
            "floordiv" => Op::FloorDivide,
            "mod" => Op::Remainder,
            "pow" => Op::Pow,
            "matmul" => Op::Matmul,
            "and" => Op::BitwiseAnd,
            "or" => Op::BitwiseOr,
            "xor" => Op::BitwiseXor,
            "lshift" => Op::BitwiseLeftShift,
            "rshift" => Op::BitwiseRightShift,
            _ => return None,
        })
    };
    let one = match word {
        "neg" => Some(Op::Neg),
        "abs" => Some(Op::Abs),
        "invert" => Some(Op::BitwiseNot),
        "eq" => Some(Op::Eq),
        "ne" => Some(Op::Ne),
        "lt" => Some(Op::Lt),
        "le" => Some(Op::Le),
        "gt" => Some(Op::Gt),
        "ge" => Some(Op::Ge),
        word => two(word),
    };
    let sided = |prefix: char, side| word.strip_prefix(prefix).and_then(two).map(|op| (op, side));
    one.map(|op| (op, Side::Left))
        .or_else(|| sided('r', Side::Right))
        .or_else(|| sided('i', Side::InPlace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_and_form() {
        assert_eq!(parse("torch.add"), Some((Op::Add, Form::Function)));
        assert_eq!(parse("torch.Tensor.add_"), Some((Op::Add, Form::InPlace)));
        assert_eq!(parse("true_divide"), Some((Op::Div, Form::Method)));
        assert_eq!(
            parse("torch.nn.functional.softmax"),
            Some((Op::Softmax, Form::Function))
        );
        assert_eq!(
            parse("torch.Tensor.names.__get__"),
            Some((Op::Names, Form::Method))
        );
        assert_eq!(
            parse("torch.Tensor.names.__set__"),
            Some((Op::Rename, Form::InPlace))
        );
        assert_eq!(
            parse("torch.Tensor.__radd__"),
            Some((Op::Add, Form::Function))
        );
        assert_eq!(
            parse("torch.Tensor.__iadd__"),
            Some((Op::Add, Form::InPlace))
        );
        assert_eq!(
            parse("torch.Tensor.__rshift__"),
            Some((Op::BitwiseRightShift, Form::Method))
        );
        assert_eq!(parse("torch.Tensor.copy_"), Some((Op::Copy, Form::InPlace)));
        let normal = parse("torch.Tensor.normal_");
        assert_eq!(normal, Some((Op::NormalInPlace, Form::InPlace)));
    }

    #[test]
    fn what_is_not_an_operator() {
        for spelling in [
            "torch.nothing",
            "torch.sum_",
            "torch.Tensor.fill",
            "numpy.add",
            "torch.Tensor.__set__",
        ] {
            assert_eq!(parse(spelling), None, "{spelling}");
        }
    }
}
