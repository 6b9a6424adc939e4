//! Compares `Promoter`, `DType::can_cast` and the rules of the families with every row of PyTorch's
//! recorded promotion table.

use nomina_core::rule::dtype;
use nomina_core::{Category, DType, ErrorKind, Promoter, Result, Scalar};
use serde_json::Value;

/// A tensor's dtype and rank, or a number.
#[derive(Clone, Copy)]
enum Operand {
    Tensor(DType, usize),
    Number(Scalar),
}

fn tensor(value: &Value) -> Option<(DType, usize)> {
    let tensor = value.get("tensor")?;
    let dtype = tensor["dtype"].as_str()?.parse().ok()?;
    Some((dtype, tensor["shape"].as_array()?.len()))
}

fn operand(value: &Value) -> Operand {
    if let Some((dtype, rank)) = tensor(value) {
        return Operand::Tensor(dtype, rank);
    }
    let (kind, _) = value
        .as_object()
        .and_then(|o| o.iter().next())
        .expect("a value");
    Operand::Number(match kind.as_str() {
        "bool" => Scalar::Bool(true),
        "int" => Scalar::Int(2),
        "float" => Scalar::Float(0.5),
        "complex" => Scalar::Complex(num_complex::Complex::new(0.5, 1.0)),
        other => panic!("{other} is no operand"),
    })
}

/// Returns the dtype of the result according to the rules.
fn result(op: &str, operands: &[Operand], out: Option<DType>) -> Result<DType> {
    let name = op.rsplit('.').next().expect("a name");
    let base = name.trim_end_matches('_');
    let mut promoter = Promoter::new(DType::F32);
    let mut categories = Vec::<Category>::new();
    for operand in operands {
        match *operand {
            Operand::Tensor(dtype, rank) => {
                promoter.tensor(dtype, rank);
                categories.push(dtype.category());
            }
            Operand::Number(scalar) => {
                promoter.scalar(scalar);
                categories.push(scalar.category());
            }
        }
    }
    if base == "sub" {
        dtype::require_sub("sub", categories[0], categories[1])?;
    }
    let common = promoter.result();
    let computed = match base {
        "div" => dtype::div(common, DType::F32),
        "lt" => {
            dtype::require_real("lt", common)?;
            dtype::comparison()
        }
        _ => common,
    };
    let own = match operands[0] {
        Operand::Tensor(dtype, _) if name.ends_with('_') => Some(dtype),
        _ => out,
    };
    match own {
        None => Ok(computed),
        Some(own) => dtype::cast_to("add", computed, own).map(|()| own),
    }
}

#[test]
fn every_recorded_row() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/promotion.jsonl");
    let text = std::fs::read_to_string(path).expect("the recorded table");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case per line");
        rows += 1;
        let operands: Vec<_> = case["args"]
            .as_array()
            .expect("args")
            .iter()
            .map(operand)
            .collect();
        let out = case["kwargs"]
            .get("out")
            .and_then(tensor)
            .map(|(dtype, _)| dtype);
        let got = result(case["op"].as_str().expect("op"), &operands, out);
        let agrees = match (&got, case.get("error")) {
            (Ok(dtype), None) => tensor(&case["result"]).is_some_and(|(want, _)| want == *dtype),
            (Err(error), Some(want)) => error.kind() == ErrorKind::DType && want["kind"] == "dtype",
            _ => false,
        };
        if !agrees {
            wrong.push(format!("{}: got {got:?}", case["id"]));
        }
    }
    assert_eq!(rows, 3844);
    let shown = wrong
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows differ:\n{shown}",
        wrong.len()
    );
}

#[test]
fn promotion_commutes_and_is_idempotent() {
    for a in DType::ALL {
        assert_eq!(a.promote(a), a);
        for b in DType::ALL {
            assert_eq!(a.promote(b), b.promote(a));
            // The higher of two categories wins.
            assert_eq!(a.promote(b).category(), a.category().max(b.category()));
        }
    }
}

#[test]
fn half_and_a_weaker_complex() {
    for half in [DType::F16, DType::BF16] {
        let mut promoter = Promoter::new(DType::F32);
        promoter.tensor(half, 2);
        promoter.scalar(Scalar::Complex(num_complex::Complex::new(0.0, 1.0)));
        assert_eq!(promoter.result(), DType::C64);
    }
    let mut promoter = Promoter::new(DType::F32);
    promoter.tensor(DType::F64, 1);
    promoter.tensor(DType::C64, 0);
    assert_eq!(promoter.result(), DType::C128);
}
