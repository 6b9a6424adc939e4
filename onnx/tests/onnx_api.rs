//! Inputs and outputs are checked by name.

mod write;

use nomina::prelude::*;
use nomina_onnx::Model;
use write::Writer;

/// `y = x @ w`, with `w` a parameter of 3 by 2.
fn product(op: &str) -> Vec<u8> {
    Writer::default()
        .input("x", &["batch_size", "3"])
        .weight(
            "encoder.out.weight",
            &[3, 2],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        )
        .node(op, &["x", "encoder.out.weight"], "y")
        .output("y", &["batch_size", "2"])
        .model()
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
            && error.contains("node `/y/MatMagic`; 1 node needs it"),
        "{error}"
    );
}
