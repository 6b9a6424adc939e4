//! Inputs and outputs are checked by name.

use nomina::prelude::*;
use nomina_onnx::Model;

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    assert!(bytes.len() < 1 << 14);
    let mut all = vec![number << 3 | 2];
    if bytes.len() > 127 {
        all.push(bytes.len() as u8 | 128);
        all.push((bytes.len() >> 7) as u8);
    } else {
        all.push(bytes.len() as u8);
    }
    all.extend(bytes);
    all
}

/// A `ValueInfoProto` of `f32` with symbols or sizes.
fn value(name: &str, dims: &[Result<&str, u8>]) -> Vec<u8> {
    let dim = |dim: &Result<&str, u8>| match dim {
        Ok(symbol) => field(1, &field(2, symbol.as_bytes())),
        Err(size) => field(1, &[0x08, *size]),
    };
    let shape: Vec<u8> = dims.iter().flat_map(dim).collect();
    let tensor = [&[0x08, 1][..], &field(2, &shape)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
}

fn node(op: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut all: Vec<u8> = inputs
        .iter()
        .flat_map(|input| field(1, input.as_bytes()))
        .collect();
    all.extend(field(2, output.as_bytes()));
    all.extend(field(3, b"first"));
    all.extend(field(4, op.as_bytes()));
    field(1, &all)
}

/// `y = x @ w`, with `w` a parameter of 3 by 2.
fn product(op: &str) -> Vec<u8> {
    let data: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let weight = [
        &[0x08, 3, 0x08, 2, 0x10, 1][..],
        &field(8, b"encoder.out.weight"),
        &field(9, &data),
    ]
    .concat();
    let graph = [
        node(op, &["x", "encoder.out.weight"], "y"),
        field(5, &weight),
        field(11, &value("x", &[Ok("batch_size"), Err(3)])),
        field(12, &value("y", &[Ok("batch_size"), Err(2)])),
    ];
    [field(7, &graph.concat()), field(8, &[0x10, 17])].concat()
}

#[test]
fn names_come_from_symbols_paths_and_positions() -> Result<()> {
    let model = Model::from_bytes(&product("MatMul"))?;
    assert_eq!(model.opset(), 17);
    assert_eq!(
        model.inputs()[0].to_string(),
        "x: (BatchSize, Feature=3) f32"
    );
    assert_eq!(model.outputs()[0].to_string(), "y: (BatchSize, Out=2) f32");
    let sources: Vec<_> = model
        .dims()
        .iter()
        .map(|class| (&class.name[..], &class.source[..]))
        .collect();
    assert_eq!(
        sources,
        [
            ("BatchSize", "dim_param"),
            ("Feature", "position"),
            ("Out", "parameter")
        ]
    );
    Ok(())
}

#[test]
fn inputs_are_aligned_by_name_or_refused() -> Result<()> {
    let model = Model::from_bytes(&product("MatMul"))?;
    let x = DynTensor::from_vec(
        vec![1.0f32, 0.0, 0.0, 1.0, 0.0, 0.0],
        &[3, 2],
        ["Feature", "BatchSize"],
    )?;
    let outputs = model.run([("x", &x)])?;
    let y = outputs.get("y")?;
    assert_eq!(y.names().to_string(), "(BatchSize, Out)");
    assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    let plain = model.run([("x", &DynTensor::ones(&[1, 3], ())?)])?;
    assert_eq!(plain.get("y")?.to_vec::<f32>()?, [9.0, 12.0]);

    let wrong = x.rename(["Time", "BatchSize"])?;
    let error = model.run([("x", &wrong)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameMismatch);
    let text = error.to_string();
    assert!(
        text.contains("input `x`")
            && text.contains("(Time, BatchSize)")
            && text.contains("(BatchSize, Feature)"),
        "{text}"
    );
    let error = model.run([("z", &x)]).unwrap_err().to_string();
    assert!(
        error.contains("no input `z`") && error.contains("`x`"),
        "{error}"
    );
    let error = model
        .run([("x", &DynTensor::ones(&[2, 4], ())?)])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("dim `Feature` has size 4 and not 3"),
        "{error}"
    );
    let error = model.run([("x", &x.to_dtype(DType::F64)?)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
    assert!(
        model
            .run(Vec::<(&str, &DynTensor)>::new())
            .unwrap_err()
            .to_string()
            .contains("`x` is missing")
    );
    Ok(())
}

#[test]
fn a_missing_operator_is_named_with_its_node() {
    let error = Model::from_bytes(&product("MatMagic"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`MatMagic` of ai.onnx opset 17")
            && error.contains("node `first`; 1 node needs it"),
        "{error}"
    );
}
