//! Round trips of tensors through serde formats: every dtype, empty tensors, and invalid input.

use nomina::prelude::*;

dims! { N, C, Rgb = 3 }

/// A struct that holds tensors.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Model {
    weight: Tensor<(N, C)>,
    bias: Tensor<(C,), f64>,
    epoch: u32,
}

#[test]
fn a_struct_of_tensors_comes_back() {
    let model = Model {
        weight: tensor!([[0.1, -2.5], [1e-20, 4.0]]; N, C),
        bias: Tensor::from_vec(vec![0.1, f64::MAX], [2]).unwrap(),
        epoch: 7,
    };
    let text = serde_json::to_string(&model).unwrap();
    let back: Model = serde_json::from_str(&text).unwrap();
    assert!(back.weight.equal(&model.weight) && back.bias.equal(&model.bias));
    assert_eq!(back.epoch, 7);
    // Via a tree whose keys are sorted.
    let tree = serde_json::to_value(&model).unwrap();
    let back: Model = serde_json::from_value(tree).unwrap();
    assert!(back.weight.equal(&model.weight));
}

#[test]
fn the_text_says_dtype_names_and_sizes() {
    let x = tensor!([[0.5, 1.0]]; N, C);
    let text = r#"{"dtype":"float32","names":["N","C"],"shape":[1,2],"values":[0.5,1.0]}"#;
    assert_eq!(serde_json::to_string(&x).unwrap(), text);
    assert_eq!(
        serde_json::to_string(&x.transpose(N, C)).unwrap(),
        text.replace(r#"["N","C"],"shape":[1,2]"#, r#"["C","N"],"shape":[2,1]"#,)
    );
    // Without field names, as in binary formats.
    let fields = r#"["float32",[null],[2],[1.5,2.5]]"#;
    let d: DynTensor = serde_json::from_str(fields).unwrap();
    assert_eq!(
        (d.names(), d.to_vec::<f32>().unwrap()),
        (&names![_], vec![1.5, 2.5])
    );
}

/// Other programs sort keys, or write them in no order.
#[test]
fn keys_come_in_any_order() {
    let keys = ["dtype", "names", "shape", "values"];
    let orders = (0..256).map(|i| [i / 64, i / 16 % 4, i / 4 % 4, i % 4]);
    let orders = orders.filter(|order| (0..4).all(|key| order.contains(&key)));
    let orders: Vec<[usize; 4]> = orders.collect();
    assert_eq!(orders.len(), 24);
    for dtype in DType::ALL {
        let numbers = vec![0.0f64, 1.0, -3.0, 0.1];
        let x = DynTensor::from_vec(numbers, &[2, 2], names!["N", _]).unwrap();
        let x = x.abs().unwrap().to_dtype(dtype).unwrap();
        let tree = serde_json::to_value(&x).unwrap();
        for order in &orders {
            let fields = order.map(|key| format!("{:?}:{}", keys[key], tree[keys[key]]));
            let text = format!("{{{}}}", fields.join(","));
            let back: DynTensor = serde_json::from_str(&text).unwrap();
            assert!(
                back.equal(&x).unwrap() && back.names() == x.names(),
                "{text}"
            );
        }
    }
    let large = r#"{"values":[9223372036854775807],"dtype":"int64","names":["N"],"shape":[1]}"#;
    let large: DynTensor = serde_json::from_str(large).unwrap();
    assert_eq!(large.to_vec::<i64>().unwrap(), [i64::MAX]);
    for (values, dtype) in [
        ("[256]", "uint8"),
        ("[0.5]", "int64"),
        ("[true]", "float32"),
    ] {
        let text = format!(r#"{{"values":{values},"dtype":"{dtype}","names":["N"],"shape":[1]}}"#);
        assert!(serde_json::from_str::<DynTensor>(&text).is_err(), "{text}");
    }
}

#[test]
fn every_dtype_and_empty_sizes() {
    for dtype in DType::ALL {
        let numbers = DynTensor::from_vec(vec![0.0f64, 1.0, 3.0], &[3], ["N"]).unwrap();
        for x in [
            numbers.to_dtype(dtype).unwrap(),
            numbers.narrow("N", 0, 0).unwrap().to_dtype(dtype).unwrap(),
        ] {
            let text = serde_json::to_string(&x).unwrap();
            let back: DynTensor = serde_json::from_str(&text).unwrap();
            assert!(back.equal(&x).unwrap(), "{text}");
        }
    }
}

/// Returns the error of parsing a text as a tensor with dims (N, Rgb).
fn refusal(text: &str) -> String {
    let read = serde_json::from_str::<Tensor<(N, Rgb)>>(text);
    read.unwrap_err().to_string()
}

#[test]
fn what_is_no_such_tensor_is_refused_in_words() {
    let of = |dtype: &str, names: &str, shape: &str, values: &str| {
        refusal(&format!(
            r#"{{"dtype":"{dtype}","names":{names},"shape":{shape},"values":{values}}}"#
        ))
    };
    let names = r#"["N","Rgb"]"#;
    let cases = [
        (of("float33", names, "[1,3]", "[1,2,3]"), "is not a dtype"),
        (of("float64", names, "[1,3]", "[1,2,3]"), "f64"),
        (of("float32", r#"["Rgb","N"]"#, "[3,1]", "[1,2,3]"), "Rgb"),
        (of("float32", names, "[1,2]", "[1,2]"), "3"),
        (of("float32", names, "[2,3]", "[1,2,3]"), "3 elements"),
        (
            of("float32", names, "[4611686018427387904,3]", "[1,2,3]"),
            "multiply to more",
        ),
        (of("float32", r#"["N","N"]"#, "[1,3]", "[1,2,3]"), "`N`"),
        (of("float32", r#"["a b",null]"#, "[1,3]", "[1,2,3]"), "a b"),
        (of("float32", names, "[1,3]", "[1,2,null]"), "f32"),
        (of("float32", names, "[-1,3]", "[]"), "-1"),
        (
            refusal(r#"{"names":["N"],"dtype":"float32"}"#),
            "missing field `shape`",
        ),
        (
            refusal(r#"{"values":[1,2],"values":[1,2]}"#),
            "duplicate field `values`",
        ),
        (
            refusal(r#"{"values":[1],"dtype":"float32","values":[1],"names":["N"],"shape":[1]}"#),
            "duplicate field `values`",
        ),
        (refusal(r#"{"sizes":[1]}"#), "unknown field `sizes`"),
        (refusal(r#"{"dtype":"float32"}"#), "missing field `names`"),
        (refusal(r#"["float32",["N"]]"#), "invalid length 2"),
        (refusal("3"), "a tensor: its dtype, names, shape and values"),
    ];
    for (error, words) in cases {
        assert!(error.contains(words), "{error:?} without {words:?}");
    }
}

/// Metadata types without a tensor.
#[test]
fn names_dtypes_and_devices_come_back() {
    type All = (Names, DType, Device);
    let all: All = (names!["N", _, "C'"], DType::BF16, Device::Cuda(Some(1)));
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(text, r#"[["N",null,"C'"],"bfloat16","cuda:1"]"#);
    assert_eq!(serde_json::from_str::<All>(&text).unwrap(), all);
    // Via a reader, which cannot lend borrowed strings.
    assert_eq!(
        serde_json::from_reader::<_, All>(text.as_bytes()).unwrap(),
        all
    );
    assert_eq!(
        serde_json::from_str::<DType>("\"f32\"").unwrap(),
        DType::F32
    );
    for wrong in [r#"["N","N"]"#, r#"["2d"]"#, "3"] {
        assert!(serde_json::from_str::<Names>(wrong).is_err(), "{wrong}");
    }
    assert!(serde_json::from_str::<DType>("\"f8\"").is_err());
    assert!(serde_json::from_str::<Device>("\"tpu\"").is_err());
    let error = serde_json::from_str::<nomina::Name>("\"a b\"").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("\"a b\" is not a valid dim name"),
        "{error}"
    );
}
