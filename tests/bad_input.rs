//! Bad input: each call fails with an error of the right kind that names the operator and the dims,
//! and leaves every operand unchanged.

use nomina::{DType, DynTensor, ErrorKind};
use nomina_by_name::{Value, call};

fn x() -> Value {
    let data = vec![1.0_f32, 5.0, 2.0, 4.0, 3.0, 6.0];
    Value::Tensor(DynTensor::from_vec(data, &[2, 3], ["N", "C"]).expect("a small tensor"))
}

fn of(dtype: DType) -> Value {
    match x() {
        Value::Tensor(x) => Value::Tensor(x.to_dtype(dtype).expect("a conversion")),
        _ => unreachable!("x is a tensor"),
    }
}

fn empty() -> Value {
    Value::Tensor(DynTensor::zeros(&[2, 0], ["N", "C"]).expect("a tensor without elements"))
}

fn ids(list: Vec<i64>) -> Value {
    let len = list.len();
    Value::Tensor(DynTensor::from_vec(list, &[len], ["K"]).expect("a small tensor"))
}

fn list(items: &[i64]) -> Value {
    Value::List(items.iter().map(|&item| Value::Int(item)).collect())
}

fn text(text: &str) -> Value {
    Value::from(text)
}

/// A call, the kind of its error, and the words its text must contain.
type Bad = (&'static str, Vec<Value>, ErrorKind, &'static [&'static str]);

fn check(bad: Vec<Bad>) {
    let mut wrong = Vec::new();
    for (spelling, args, kind, words) in bad {
        let before: Vec<Value> = args.clone();
        let error = match call(spelling, args, Vec::new()) {
            Err(error) => error,
            Ok(value) => {
                wrong.push(format!("{spelling}: a result: {value:?}"));
                continue;
            }
        };
        let name = spelling.rsplit('.').next().unwrap_or(spelling);
        let told = error.to_string();
        if error.kind() != kind {
            wrong.push(format!(
                "{spelling}: {:?}, not {kind:?}: {told}",
                error.kind()
            ));
        }
        if !told.starts_with(name.trim_end_matches('_')) {
            wrong.push(format!(
                "{spelling}: the operator does not come first: {told}"
            ));
        }
        for word in words {
            if !told.contains(word) {
                wrong.push(format!("{spelling}: the text has no {word:?}: {told}"));
            }
        }
        for (before, fresh) in before.iter().zip([x(), empty()]) {
            if let (Value::Tensor(before), Value::Tensor(fresh)) = (before, &fresh)
                && before.shape() == fresh.shape()
                && before.dtype() == fresh.dtype()
                && !before.equal(fresh).expect("a comparison")
            {
                wrong.push(format!("{spelling}: an operand has changed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const DIMS: &[&str] = &["N=2", "C=3"];

#[test]
fn wrong_dtypes() {
    use ErrorKind::DType as Kind;
    check(vec![
        ("torch.softmax", vec![of(DType::I64), text("C")], Kind, DIMS),
        ("torch.mean", vec![of(DType::I64), text("C")], Kind, DIMS),
        ("torch.var", vec![of(DType::I32), text("C")], Kind, DIMS),
        ("torch.bitwise_and", vec![x(), x()], Kind, DIMS),
        ("torch.lt", vec![of(DType::C64), x()], Kind, DIMS),
        (
            "torch.sub",
            vec![of(DType::Bool), of(DType::Bool)],
            Kind,
            DIMS,
        ),
        ("torch.where", vec![x(), x(), x()], Kind, DIMS),
        (
            "torch.masked_fill",
            vec![x(), x(), Value::Int(0)],
            Kind,
            DIMS,
        ),
        (
            "torch.dot",
            vec![
                ids(vec![1, 2]),
                Value::Tensor(DynTensor::zeros(&[2], ["K"]).expect("zeros")),
            ],
            Kind,
            &["K=2"],
        ),
        ("torch.Tensor.add_", vec![of(DType::I64), x()], Kind, DIMS),
        (
            "torch.kthvalue",
            vec![of(DType::C64), Value::Int(1), text("C")],
            Kind,
            DIMS,
        ),
        ("torch.sort", vec![of(DType::C64), text("C")], Kind, DIMS),
        (
            "torch.index_select",
            vec![
                x(),
                text("C"),
                Value::Tensor(DynTensor::zeros(&[2], ["K"]).expect("zeros")),
            ],
            Kind,
            &["C"],
        ),
        (
            "torch.nn.functional.layer_norm",
            vec![of(DType::I64), list(&[3])],
            Kind,
            DIMS,
        ),
    ]);
}

#[test]
fn dims_that_are_not_there() {
    use ErrorKind::NameNotFound as Kind;
    let words: &[&str] = &["`K`", "N=2", "C=3"];
    let mut bad: Vec<Bad> = Vec::new();
    for spelling in [
        "torch.sum",
        "torch.amax",
        "torch.softmax",
        "torch.cumsum",
        "torch.argmax",
        "torch.max",
        "torch.sort",
        "torch.argsort",
        "torch.median",
        "torch.mode",
        "torch.unbind",
        "torch.all",
        "torch.logsumexp",
        "torch.std_mean",
        "torch.cummax",
        "torch.logcumsumexp",
    ] {
        bad.push((spelling, vec![x(), text("K")], Kind, words));
    }
    check(bad);
}

#[test]
fn no_name_is_no_dim() {
    use ErrorKind::UnnamedDim as Kind;
    let mut bad: Vec<Bad> = Vec::new();
    for spelling in [
        "torch.softmax",
        "torch.cumsum",
        "torch.prod",
        "torch.max",
        "torch.sort",
        "torch.cumprod",
        "torch.logcumsumexp",
        "torch.mode",
    ] {
        bad.push((spelling, vec![x(), Value::None], Kind, DIMS));
    }
    bad.push((
        "torch.select",
        vec![x(), Value::None, Value::Int(0)],
        Kind,
        DIMS,
    ));
    bad.push((
        "torch.sum",
        vec![x(), Value::List(vec![Value::None])],
        Kind,
        DIMS,
    ));
    bad.push((
        "torch.kthvalue",
        vec![x(), Value::Int(1), Value::None],
        Kind,
        DIMS,
    ));
    bad.push((
        "torch.topk",
        vec![x(), Value::Int(1), Value::None],
        Kind,
        DIMS,
    ));
    check(bad);
}

#[test]
fn names_that_stand_twice() {
    use ErrorKind::DuplicateNames as Kind;
    let twice = || Value::List(vec![text("N"), text("N")]);
    check(vec![
        (
            "torch.Tensor.rename",
            vec![x(), text("N"), text("N")],
            Kind,
            &["`N`"],
        ),
        (
            "torch.Tensor.refine_names",
            vec![x(), text("N"), text("N")],
            Kind,
            &["`N`"],
        ),
        (
            "torch.Tensor.align_to",
            vec![x(), text("C"), text("N"), text("N")],
            Kind,
            &["`N`"],
        ),
        (
            "torch.Tensor.flatten",
            vec![x(), Value::List(vec![text("C")]), text("N")],
            Kind,
            &["`N`"],
        ),
        (
            "torch.mm",
            vec![
                x(),
                Value::Tensor(DynTensor::zeros(&[3, 2], ["C", "N"]).expect("zeros")),
            ],
            Kind,
            &["`N`"],
        ),
        ("torch.sum", vec![x(), twice()], Kind, &["`N`"]),
    ]);
}

#[test]
fn sizes_that_overflow() {
    let huge = 1_i64 << 62;
    let big = 1_i64 << 40;
    for (spelling, args) in [
        ("torch.zeros", vec![list(&[big, big])]),
        ("torch.ones", vec![list(&[huge])]),
        ("torch.empty", vec![list(&[huge, 4])]),
        ("torch.full", vec![list(&[big, big]), Value::Int(1)]),
        ("torch.rand", vec![list(&[big, big])]),
        (
            "torch.arange",
            vec![Value::Int(0), Value::Int(huge), Value::Int(1)],
        ),
        ("torch.eye", vec![Value::Int(big), Value::Int(big)]),
        (
            "torch.linspace",
            vec![Value::Int(0), Value::Int(1), Value::Int(huge)],
        ),
        ("torch.Tensor.repeat", vec![x(), list(&[big, big])]),
        ("torch.tile", vec![x(), list(&[huge, 2])]),
        (
            "torch.Tensor.resize_",
            vec![
                Value::Tensor(DynTensor::zeros(&[2], ()).expect("zeros")),
                list(&[huge, 4]),
            ],
        ),
        (
            "torch.nn.functional.one_hot",
            vec![ids(vec![0, 1]), Value::Int(huge)],
        ),
        (
            "torch.bincount",
            vec![ids(vec![0, 1]), Value::None, Value::Int(huge)],
        ),
        ("torch.nn.functional.pad", vec![x(), list(&[huge, huge])]),
        ("torch.tril_indices", vec![Value::Int(big), Value::Int(big)]),
        ("torch.randperm", vec![Value::Int(huge)]),
        ("torch.zeros", vec![list(&[-1])]),
    ] {
        let error = call(spelling, args, Vec::new()).expect_err(spelling);
        let kinds = [ErrorKind::Memory, ErrorKind::Shape, ErrorKind::Argument];
        assert!(kinds.contains(&error.kind()), "{spelling}: {error:?}");
    }
}

#[test]
fn places_that_are_not_there() {
    use ErrorKind::Index as Kind;
    check(vec![
        (
            "torch.kthvalue",
            vec![x(), Value::Int(0), text("C")],
            Kind,
            &["C"],
        ),
        (
            "torch.kthvalue",
            vec![x(), Value::Int(4), text("C")],
            Kind,
            &["C", "3"],
        ),
        (
            "torch.topk",
            vec![x(), Value::Int(4), text("C")],
            Kind,
            &["C", "3"],
        ),
        (
            "torch.topk",
            vec![x(), Value::Int(-1), text("C")],
            Kind,
            &["C"],
        ),
        (
            "torch.select",
            vec![x(), text("C"), Value::Int(3)],
            Kind,
            &["3", "`C`"],
        ),
        (
            "torch.select",
            vec![x(), text("C"), Value::Int(-4)],
            Kind,
            &["-4", "`C`"],
        ),
        (
            "torch.index_select",
            vec![x(), text("C"), ids(vec![0, 3])],
            Kind,
            &["3", "`C`"],
        ),
        (
            "torch.index_select",
            vec![x(), text("C"), ids(vec![-4])],
            Kind,
            &["-4", "`C`"],
        ),
        (
            "torch.Tensor.index_fill_",
            vec![x(), text("C"), ids(vec![7]), Value::Int(0)],
            Kind,
            &["7", "`C`"],
        ),
        ("torch.take", vec![x(), ids(vec![6])], Kind, &["6"]),
        ("torch.sum", vec![x(), Value::Int(2)], Kind, &["2", "N=2"]),
        ("torch.sum", vec![x(), Value::Int(-3)], Kind, &["-3", "N=2"]),
    ]);
}

#[test]
fn nothing_to_reduce() {
    let none: &[&str] = &["N=2", "C=0"];
    for spelling in [
        "torch.amax",
        "torch.amin",
        "torch.max",
        "torch.min",
        "torch.argmax",
        "torch.argmin",
        "torch.mode",
        "torch.kthvalue",
        "torch.median",
        "torch.aminmax",
    ] {
        let mut args = vec![empty()];
        if spelling == "torch.kthvalue" {
            args.push(Value::Int(1));
        }
        if spelling != "torch.aminmax" {
            args.push(text("C"));
        }
        let error = call(spelling, args, Vec::new()).expect_err(spelling);
        let kinds = [ErrorKind::Index, ErrorKind::Shape, ErrorKind::Argument];
        assert!(kinds.contains(&error.kind()), "{error:?}");
        for word in none {
            assert!(error.to_string().contains(word), "{error}");
        }
    }
    // These are defined for an empty tensor.
    for (spelling, value) in [
        ("torch.sum", 0.0),
        ("torch.prod", 1.0),
        ("torch.logsumexp", f64::NEG_INFINITY),
    ] {
        let got = call(spelling, vec![empty(), text("C")], Vec::new()).expect(spelling);
        let Value::Tensor(got) = got else {
            panic!("{spelling} gives no tensor");
        };
        assert_eq!(
            got.to_vec::<f32>().expect("floats"),
            [value as f32; 2],
            "{spelling}"
        );
    }
}

#[test]
fn sizes_that_do_not_fit() {
    use ErrorKind::Shape as Kind;
    let y = || Value::Tensor(DynTensor::zeros(&[2, 4], ["N", "C"]).expect("zeros"));
    check(vec![
        ("torch.add", vec![x(), y()], Kind, &["C", "3", "4"]),
        ("torch.Tensor.add_", vec![x(), y()], Kind, &["C", "3", "4"]),
        (
            "torch.matmul",
            vec![
                x(),
                Value::Tensor(DynTensor::zeros(&[4, 2], ["K", "M"]).expect("zeros")),
            ],
            Kind,
            &["3", "4"],
        ),
        (
            "torch.cat",
            vec![Value::List(vec![x(), y()]), text("N")],
            Kind,
            &["C"],
        ),
        ("torch.where", vec![of(DType::Bool), x(), y()], Kind, &["C"]),
    ]);
}
