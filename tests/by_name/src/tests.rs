use super::*;

fn x() -> DynTensor {
    DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], ["N", "C"]).unwrap()
}

fn names(x: &DynTensor) -> String {
    x.names().to_string()
}

fn vec(x: &DynTensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

#[test]
fn positions_keywords_and_forms() {
    let tensor = |value: Value| match value {
        Value::Tensor(x) => x,
        other => panic!("{other:?}"),
    };
    let x = || Value::from(x());
    let sum = call(
        "sum",
        vec![x()],
        vec![("dim".into(), "C".into()), ("keepdim".into(), true.into())],
    );
    assert_eq!(tensor(sum.unwrap()).shape(), [2, 1]);
    let rename = call(
        "torch.Tensor.rename",
        vec![x()],
        vec![("N".into(), "A".into())],
    );
    assert_eq!(names(&tensor(rename.unwrap())), "(A, C)");
    let flat = call(
        "flatten",
        vec![x(), Value::Int(0), Value::Int(-1), "F".into()],
        vec![],
    );
    assert_eq!(names(&tensor(flat.unwrap())), "(F,)");
    let out = DynTensor::empty(&[0], ()).unwrap();
    let out = call("torch.exp", vec![x()], vec![("out".into(), out.into())]);
    assert_eq!(names(&tensor(out.unwrap())), "(N, C)");
    let own = call(
        "torch.Tensor.add_",
        vec![x(), Value::Int(1)],
        vec![("alpha".into(), Value::Int(3))],
    );
    assert_eq!(vec(&tensor(own.unwrap()))[0], 4.0);
    let var = call("torch.var", vec![x(), Value::Bool(false)], vec![]);
    assert!((tensor(var.unwrap()).item().unwrap().to_f64() - 35.0 / 12.0).abs() < 1e-6);
    let sizes = call("torch.zeros", vec![Value::Int(2), Value::Int(3)], vec![]);
    assert_eq!(tensor(sizes.unwrap()).shape(), [2, 3]);
    for (spelling, args, kwargs) in [
        ("torch.nothing", vec![x()], vec![]),
        ("torch.exp", vec![], vec![]),
        ("torch.exp", vec![x(), x()], vec![]),
        (
            "torch.exp",
            vec![x()],
            vec![("base".to_owned(), Value::Int(2))],
        ),
        (
            "torch.sum",
            vec![x(), "C".into()],
            vec![("dim".to_owned(), "C".into())],
        ),
        ("torch.sum", vec![x(), Value::Float(0.5)], vec![]),
        ("torch.max", vec![x(), x()], vec![]),
    ] {
        let error = call(spelling, args, kwargs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    }
}

#[test]
fn activations_are_words() {
    let x = DynTensor::from_vec(vec![-2.0_f32, 1.0], &[1, 2], ["N", "In"]).unwrap();
    let w = DynTensor::from_vec(vec![1.0_f32, 0.5, 0.0, 3.0], &[2, 2], ["Out", "In"]).unwrap();
    let of = |word: &str| {
        let args = vec![Value::Tensor(x.clone()), Value::Tensor(w.clone())];
        let word = ("activation".to_owned(), Value::from(word));
        let bound = Bound::new(Op::Linear, args, vec![word])?;
        match invoke(Op::Linear, Form::Function, bound)? {
            Value::Tensor(y) => y.to_vec::<f32>(),
            other => panic!("{other:?}"),
        }
    };
    let plain = x.linear(&w, None).unwrap();
    assert_eq!(of("relu").unwrap(), [0.0, 3.0]);
    for (word, alone) in [
        ("relu", plain.relu()),
        ("gelu", plain.gelu()),
        ("silu", plain.silu()),
        ("sigmoid", plain.sigmoid()),
        ("tanh", plain.tanh()),
    ] {
        assert_eq!(of(word).unwrap(), vec(&alone.unwrap()), "{word}");
    }
    let error = of("swish").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let text = error.to_string();
    for word in ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"] {
        assert!(text.contains(word), "{text}");
    }
}
