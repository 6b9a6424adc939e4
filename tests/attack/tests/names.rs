//! Names in unusual places: on data given as a tensor, in orders, on out tensors of sparse operands.

use nomina::{DType, DynSparse, DynTensor, ErrorKind, Result};
use nomina_by_name::{Value, call};

fn named(names: &[&str]) -> Value {
    Value::List(names.iter().map(|&name| Value::from(name)).collect())
}

fn with(name: &str, value: Value) -> Vec<(String, Value)> {
    vec![(name.to_owned(), value)]
}

fn dense(result: Result<Value>) -> DynTensor {
    match result.unwrap() {
        Value::Tensor(x) => x,
        other => panic!("{}", other.kind()),
    }
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("a result"),
        Err(error) => error.kind(),
    }
}

#[test]
fn a_tensor_as_data_is_copied_with_its_names() {
    let x = DynTensor::from_vec(vec![1i32, 2, 3, 4, 5, 6], &[2, 3], ["N", "C"]).unwrap();
    let x = x.transpose("N", "C").unwrap();
    let mut copy = dense(call("torch.tensor", vec![x.clone().into()], vec![]));
    assert_eq!(copy.names(), x.names());
    assert!(copy.equal(&x).unwrap());
    copy.zero_().unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 4, 2, 5, 3, 6]);

    let of = |x: &DynTensor, kwargs| call("torch.tensor", vec![x.clone().into()], kwargs);
    let wide = dense(of(&x, with("dtype", Value::DType(DType::F64))));
    assert_eq!(wide.dtype(), DType::F64);
    assert_eq!(wide.names(), x.names());
    let same = dense(of(&x, with("names", named(&["C", "N"]))));
    assert_eq!(same.names(), x.names());
    let other = of(&x, with("names", named(&["N", "C"])));
    assert_eq!(kind(other), ErrorKind::NameMismatchOut);
    let short = of(&x, with("names", named(&["C"])));
    assert_eq!(kind(short), ErrorKind::NamesLen);
    let plain = x.rename(()).unwrap();
    let given = dense(of(&plain, with("names", named(&["H", "W"]))));
    assert_eq!(given.names().to_string(), "(H, W)");
}

#[test]
fn a_dim_without_name_does_not_stand_beside_the_rest() {
    let x = DynTensor::zeros(&[2, 3], ["N", "C"]).unwrap();
    let order = vec![x.into(), Value::List(vec![Value::None, Value::Ellipsis])];
    assert_eq!(
        kind(call("torch.Tensor.align_to", order, vec![])),
        ErrorKind::Align
    );
}

fn sparse() -> DynSparse {
    let indices = DynTensor::from_vec(vec![0i64, 1, 1, 0], &[2, 2], ()).unwrap();
    let values = DynTensor::from_vec(vec![2.0f32, 3.0], &[2], ()).unwrap();
    DynSparse::from_coo(&indices, &values, &[2, 2], ["N", "C"]).unwrap()
}

#[test]
fn results_of_sparse_operands_are_written_to_out_tensors() {
    let s = sparse();
    let x = DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2], ["C", "D"]).unwrap();
    let y = x.rename(["N", "C"]).unwrap();
    let empty = || Value::from(DynTensor::zeros(&[0], ()).unwrap());
    let cases: [(&str, Vec<Value>); 5] = [
        ("torch.mm", vec![s.clone().into(), x.clone().into()]),
        ("torch.matmul", vec![s.clone().into(), x.clone().into()]),
        (
            "torch.mv",
            vec![s.clone().into(), x.select("D", 0).unwrap().into()],
        ),
        ("torch.add", vec![y.clone().into(), s.clone().into()]),
        (
            "torch.mm",
            vec![x.rename(["M", "N"]).unwrap().into(), s.clone().into()],
        ),
    ];
    for (op, args) in cases {
        let without = dense(call(op, args.clone(), vec![]));
        let written = dense(call(op, args, with("out", empty())));
        assert!(written.equal(&without).unwrap(), "{op}");
        assert_eq!(written.names(), without.names(), "{op}");
    }
    // Names, dtypes and layouts of out tensors are checked as for dense operands.
    let product = |out: Value| {
        let args = vec![s.clone().into(), x.clone().into()];
        call("torch.mm", args, with("out", out))
    };
    let other_names = DynTensor::zeros(&[2, 2], ["D", "N"]).unwrap();
    assert_eq!(
        kind(product(other_names.into())),
        ErrorKind::NameMismatchOut
    );
    let whole = DynTensor::zeros(&[2, 2], ()).unwrap().to_dtype(DType::I64);
    assert_eq!(kind(product(whole.unwrap().into())), ErrorKind::DType);
    assert_eq!(kind(product(s.clone().into())), ErrorKind::Layout);

    let args = vec![y.clone().into(), y.clone().into()];
    let dense_sum = call("torch.add", args, with("out", s.clone().into()));
    assert_eq!(kind(dense_sum), ErrorKind::Layout);

    let sum = call(
        "torch.add",
        vec![s.clone().into(), s.clone().into()],
        with("out", s.clone().into()),
    );
    let Value::Sparse(sum) = sum.unwrap() else {
        panic!("a sparse sum");
    };
    assert_eq!(sum.names(), s.names());
    let twice = sum.to_dense().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(twice, [0.0, 4.0, 6.0, 0.0]);
}
