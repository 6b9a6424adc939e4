//! Fusions of layers: linear ones, convolutions, attention.

use nomina::DynTensor;
use nomina_core::Result;
use nomina_onnx::Model;

use crate::write::{Attr, Writer, numbers};
use crate::{compare, gelu, start};

#[test]
fn linear_layers_take_bias_and_activation() -> Result<()> {
    for activation in ["Relu", "Sigmoid", "Tanh"] {
        let model = start(&["n", "4", "6"])
            .random("w", &[6, 3])
            .random("b", &[3])
            .node("MatMul", &["x", "w"], "product")
            .node("Add", &["b", "product"], "sum")
            .node(activation, &["sum"], "y")
            .output("y", &["n", "4", "3"])
            .model();
        let wanted = (
            vec![("activation of a linear layer", 1), ("linear layer", 1)],
            3,
            1,
        );
        assert_eq!(compare(&model, &[2, 4, 6], 1e-6)?, wanted);
    }
    let model = gelu(
        start(&["n", "6"])
            .random("w", &[6, 3])
            .random("b", &[3])
            .node("MatMul", &["x", "w"], "xw")
            .node("Add", &["xw", "b"], "sum_b"),
        "sum_b",
        "y",
    );
    let model = model.output("y", &["n", "3"]).model();
    let (fusions, before, after) = compare(&model, &[4, 6], 1e-6)?;
    assert_eq!(
        fusions,
        [
            ("activation of a linear layer", 1),
            ("gelu", 1),
            ("linear layer", 1)
        ]
    );
    assert_eq!((before, after), (7, 1));
    // The sum before the activation is an output.
    let model = start(&["n", "6"])
        .random("w", &[6, 3])
        .random("b", &[3])
        .node("MatMul", &["x", "w"], "product")
        .node("Add", &["product", "b"], "sum")
        .node("Relu", &["sum"], "y")
        .output("y", &["n", "3"])
        .output("sum", &["n", "3"])
        .model();
    assert_eq!(
        compare(&model, &[4, 6], 1e-6)?,
        (vec![("linear layer", 1)], 3, 2)
    );
    Ok(())
}

#[test]
fn products_with_transposed_weights_are_linear_layers() -> Result<()> {
    for (turned, sizes) in [(1, [3, 6]), (0, [6, 3])] {
        let model = start(&["n", "6"])
            .random("w", &sizes)
            .random("b", &[3])
            .node_with(
                "Gemm",
                &["x", "w", "b"],
                "sum",
                &[("transB", Attr::Int(turned))],
            )
            .node("Relu", &["sum"], "y")
            .output("y", &["n", "3"])
            .model();
        assert_eq!(compare(&model, &[4, 6], 1e-6)?.2, 1);
    }
    // A factor stays a node of its own kind.
    let model = start(&["n", "6"])
        .random("w", &[6, 3])
        .random("b", &[3])
        .node_with(
            "Gemm",
            &["x", "w", "b"],
            "y",
            &[("alpha", Attr::Float(0.5))],
        )
        .output("y", &["n", "3"])
        .model();
    assert_eq!(compare(&model, &[4, 6], 1e-6)?.0, []);
    Ok(())
}

fn conv(writer: Writer, op: &str, weight: &[usize], attributes: &[(&str, Attr)]) -> Writer {
    writer
        .random("w", weight)
        .node_with(op, &["x", "w"], "conv", attributes)
}

#[test]
fn convolutions_take_norms_factors_biases_and_activations() -> Result<()> {
    let pads = [("pads", Attr::Ints(vec![1, 1, 1, 1]))];
    let grouped = [
        ("pads", Attr::Ints(vec![1, 1, 1, 1])),
        ("group", Attr::Int(2)),
    ];
    for (attributes, weight) in [(&pads[..], [6, 4, 3, 3]), (&grouped[..], [6, 2, 3, 3])] {
        let model = conv(start(&["n", "4", "5", "7"]), "Conv", &weight, attributes)
            .random("scale", &[6])
            .random("shift", &[6])
            .random("mean", &[6])
            .positive("variance", &[6])
            .random("factor", &[6, 1, 1])
            .random("bias", &[1, 6, 1, 1])
            .node(
                "BatchNormalization",
                &["conv", "scale", "shift", "mean", "variance"],
                "norm",
            )
            .node("Mul", &["norm", "factor"], "scaled")
            .node("Add", &["bias", "scaled"], "sum")
            .node("Relu", &["sum"], "y")
            .output("y", &["n", "6", "5", "7"])
            .model();
        let (fusions, before, after) = compare(&model, &[2, 4, 5, 7], 2e-6)?;
        assert_eq!((before, after), (5, 1), "{fusions:?}");
        assert_eq!(
            fusions,
            [
                ("activation of a convolution", 1),
                ("batch norm in a convolution", 1),
                ("factor or bias in a convolution", 2)
            ]
        );
    }
    Ok(())
}

#[test]
fn convolutions_take_a_residual() -> Result<()> {
    let pads = [("pads", Attr::Ints(vec![1, 1, 1, 1]))];
    for (sum, operands) in [
        ("Add", ["x", "conv"]),
        ("Add", ["conv", "x"]),
        ("Sum", ["conv", "other"]),
    ] {
        let model = conv(start(&["n", "4", "5", "7"]), "Conv", &[4, 4, 3, 3], &pads)
            .random("v", &[4, 4, 1, 1])
            .node("Conv", &["x", "v"], "other")
            .node(sum, &operands, "sum")
            .node("Relu", &["sum"], "y")
            .output("y", &["n", "4", "5", "7"])
            .model();
        let (fusions, before, after) = compare(&model, &[2, 4, 5, 7], 2e-6)?;
        let others = usize::from(operands[1] == "other");
        assert_eq!((before, after), (3 + others, 1 + others), "{fusions:?}");
        let wanted = [
            ("activation of a convolution", 1),
            ("sum with a convolution", 1),
        ];
        assert_eq!(fusions, wanted);
    }
    // The sum has more elements than the convolution.
    let model = conv(start(&["n", "4", "5", "7"]), "Conv", &[4, 4, 5, 7], &[])
        .node("Add", &["conv", "x"], "y")
        .output("y", &["n", "4", "5", "7"])
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 2e-6)?.0, []);
    // Both operands are the convolution.
    let model = conv(start(&["n", "4", "5", "7"]), "Conv", &[4, 4, 3, 3], &pads)
        .node("Add", &["conv", "conv"], "y")
        .output("y", &["n", "4", "5", "7"])
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 2e-6)?.0, []);
    Ok(())
}

#[test]
fn convolutions_take_the_slope_of_a_leaky_relu() -> Result<()> {
    for (op, weight, sizes) in [
        ("Conv", [6, 4, 3, 3], ["n", "6", "3", "5"]),
        ("ConvTranspose", [4, 6, 3, 3], ["n", "6", "7", "9"]),
    ] {
        let slope = [("alpha", Attr::Float(0.3))];
        let model = conv(start(&["n", "4", "5", "7"]), op, &weight, &[])
            .random("bias", &[6, 1, 1])
            .node("Add", &["conv", "bias"], "sum")
            .node_with("LeakyRelu", &["sum"], "y", &slope)
            .output("y", &sizes)
            .model();
        let (fusions, before, after) = compare(&model, &[2, 4, 5, 7], 2e-6)?;
        assert_eq!((before, after), (3, 1), "{op}: {fusions:?}");
    }
    Ok(())
}

#[test]
fn transposed_convolutions_take_norms_and_activations() -> Result<()> {
    let model = conv(
        start(&["n", "4", "5", "7"]),
        "ConvTranspose",
        &[4, 6, 2, 2],
        &[],
    )
    .random("bias", &[6, 1, 1])
    .random("scale", &[6])
    .random("shift", &[6])
    .random("mean", &[6])
    .positive("variance", &[6])
    .node("Add", &["conv", "bias"], "sum")
    .node(
        "BatchNormalization",
        &["sum", "scale", "shift", "mean", "variance"],
        "norm",
    )
    .node("Sigmoid", &["norm"], "y")
    .output("y", &["n", "6", "6", "8"])
    .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 2e-6)?.2, 1);
    Ok(())
}

#[test]
fn convolutions_whose_results_are_needed_stay() -> Result<()> {
    let sizes = ["n", "6", "5", "7"];
    let pads = [("pads", Attr::Ints(vec![1, 1, 1, 1]))];
    let base = || {
        conv(start(&["n", "4", "5", "7"]), "Conv", &[6, 4, 3, 3], &pads)
            .random("factor", &[6, 1, 1])
    };
    let model = base()
        .node("Mul", &["conv", "factor"], "y")
        .output("y", &sizes)
        .output("conv", &sizes)
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 1e-6)?, (vec![], 2, 2));
    // A factor for each column is none for each channel.
    let model = base()
        .random("column", &[7])
        .node("Mul", &["conv", "column"], "y")
        .output("y", &sizes)
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 1e-6)?, (vec![], 2, 2));
    // Nor is a factor that adds a dim.
    let model = base()
        .random("five", &[1, 1, 6, 1, 1])
        .node("Mul", &["conv", "five"], "y")
        .output("y", &["1", "n", "6", "5", "7"])
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 1e-6)?, (vec![], 2, 2));
    // The square of a result is no factor.
    let model = base()
        .node("Mul", &["conv", "conv"], "y")
        .output("y", &sizes)
        .model();
    assert_eq!(compare(&model, &[2, 4, 5, 7], 1e-6)?, (vec![], 2, 2));
    Ok(())
}

/// Attention of 2 heads of 4 features, with a mask.
fn attention(masked: bool) -> Writer {
    let heads = |perm: Vec<i64>| [("perm", Attr::Ints(perm))];
    let mut writer = start(&["n", "5", "8"])
        .random("wq", &[8, 8])
        .random("wk", &[8, 8])
        .random("wv", &[8, 8])
        .random("mask", &[5, 5])
        .ints("split", &[0, 0, 2, 4]);
    for (name, perm) in [
        ("q", vec![0, 2, 1, 3]),
        ("k", vec![0, 2, 3, 1]),
        ("v", vec![0, 2, 1, 3]),
    ] {
        writer = writer
            .node("MatMul", &["x", &format!("w{name}")], &format!("{name}1"))
            .node(
                "Reshape",
                &[&format!("{name}1"), "split"],
                &format!("{name}2"),
            )
            .node_with("Transpose", &[&format!("{name}2")], name, &heads(perm));
    }
    writer =
        writer
            .node("MatMul", &["q", "k"], "product")
            .node("Div", &["product", "two"], "scaled");
    let scores = if masked { "masked" } else { "scaled" };
    if masked {
        writer = writer.node("Add", &["scaled", "mask"], "masked");
    }
    writer
        .node_with("Softmax", &[scores], "weights", &[("axis", Attr::Int(-1))])
        .node("MatMul", &["weights", "v"], "y")
}

#[test]
fn attention_is_one_node() -> Result<()> {
    for masked in [false, true] {
        let model = attention(masked).output("y", &["n", "2", "5", "4"]).model();
        let (fusions, before, after) = compare(&model, &[3, 5, 8], 2e-6)?;
        assert_eq!(fusions, [("attention", 1)]);
        assert_eq!(before - after, 3 + usize::from(masked));
    }
    // The weights are an output.
    let model = attention(true)
        .output("y", &["n", "2", "5", "4"])
        .output("weights", &["n", "2", "5", "5"])
        .model();
    let (fusions, _, _) = compare(&model, &[3, 5, 8], 2e-6)?;
    assert!(!fusions.contains(&("attention", 1)), "{fusions:?}");
    Ok(())
}

#[test]
fn norms_without_a_convolution_are_a_factor_and_a_shift() -> Result<()> {
    let sizes = ["n", "4", "5", "6"];
    let model = start(&sizes)
        .random("scale", &[4])
        .random("shift", &[4])
        .random("mean", &[4])
        .weight("variance", &[4], &[1.0, 2.0, 0.5, 1.5])
        .random("factor", &[4, 1, 1])
        .random("offset", &[4, 1, 1])
        .node(
            "BatchNormalization",
            &["x", "scale", "shift", "mean", "variance"],
            "normed",
        )
        .node("Mul", &["normed", "factor"], "scaled")
        .node("Add", &["scaled", "offset"], "moved")
        .node("Relu", &["moved"], "y")
        .output("y", &sizes)
        .model();
    let wanted = vec![("elementwise", 1), ("factor and shift of channels", 3)];
    assert_eq!(compare(&model, &[2, 4, 5, 6], 1e-6)?, (wanted, 4, 1));
    Ok(())
}

#[test]
fn branches_are_fused_with_weights_from_outside() -> Result<()> {
    let layer = Writer::default()
        .node("MatMul", &["x", "w"], "product")
        .node("Add", &["product", "b"], "sum")
        .node("Relu", &["sum"], "layer")
        .output("layer", &["n", "3"]);
    let other = Writer::default()
        .node("MatMul", &["x", "w"], "other")
        .output("other", &["n", "3"]);
    let branches = [
        ("then_branch", layer.graph()),
        ("else_branch", other.graph()),
    ];
    let model = start(&["n", "6"])
        .random("w", &[6, 3])
        .random("b", &[3])
        .node("ReduceMax", &["x"], "most")
        .node("Greater", &["most", "zero"], "is_positive")
        .node_with("If", &["is_positive"], "y", &branches)
        .output("y", &["n", "3"])
        .model();
    let wanted = vec![("activation of a linear layer", 1), ("linear layer", 1)];
    assert_eq!(compare(&model, &[4, 6], 1e-6)?, (wanted, 3, 3));
    Ok(())
}

#[test]
fn sums_of_bytes_are_converted_and_scaled_at_once() -> Result<()> {
    let model = start(&["n", "6"])
        .random("w", &[6, 3])
        .random("b", &[3])
        .weight("fine", &[], &[1.0 / 64.0])
        .node("QuantizeLinear", &["x", "fine"], "bytes")
        .node("QuantizeLinear", &["w", "fine"], "weight")
        .node("MatMulInteger", &["bytes", "weight"], "sums")
        .node_with("Cast", &["sums"], "floats", &[("to", Attr::Int(1))])
        .node("Mul", &["floats", "fine"], "scaled")
        .node("Add", &["scaled", "b"], "y")
        .output("y", &["n", "3"])
        .model();
    let wanted = vec![("elementwise", 1)];
    assert_eq!(compare(&model, &[4, 6], 0.0)?, (wanted, 5, 3));
    Ok(())
}

#[test]
fn convolutions_of_bytes_are_those_of_floats() -> Result<()> {
    let ints = |values: &[i64]| Attr::Ints(values.to_vec());
    let picture = vec![
        ("pads", ints(&[1, 0, 2, 1])),
        ("strides", ints(&[2, 1])),
        ("dilations", ints(&[1, 2])),
    ];
    let line = vec![("pads", ints(&[2, 1])), ("strides", ints(&[2]))];
    let grouped = vec![("group", Attr::Int(2)), ("pads", ints(&[1, 1, 1, 1]))];
    let cases: [(&[&str], &[usize], Vec<(&str, Attr)>); 5] = [
        (&["2", "4", "7", "8"], &[6, 4, 3, 2], picture),
        (&["2", "4", "9"], &[5, 4, 3], line),
        (&["1", "4", "6", "5"], &[10, 2, 3, 3], grouped),
        // A picture of one column, and a product at each position.
        (&["1", "4", "9", "1"], &[4, 4, 5, 1], vec![]),
        (&["2", "4", "3", "5"], &[8, 4, 1, 1], vec![]),
    ];
    for (sizes, weight, attributes) in cases {
        let unknown = vec!["?"; sizes.len()];
        let model = start(sizes)
            .random("w", weight)
            .weight("fine", &[], &[1.0 / 64.0])
            .weight("x_number", &[], &[77.0])
            .weight("w_number", &[], &[100.0])
            .node("QuantizeLinear", &["x_number", "one"], "x_zero")
            .node("QuantizeLinear", &["w_number", "one"], "w_zero")
            .node("QuantizeLinear", &["x", "fine", "x_zero"], "bytes")
            .node("QuantizeLinear", &["w", "fine", "w_zero"], "weight")
            .node("DequantizeLinear", &["bytes", "one", "x_zero"], "x_floats")
            .node("DequantizeLinear", &["weight", "one", "w_zero"], "w_floats")
            .node_with("Conv", &["x_floats", "w_floats"], "floats", &attributes)
            .node_with(
                "ConvInteger",
                &["bytes", "weight", "x_zero", "w_zero"],
                "sums",
                &attributes,
            )
            .node_with("Cast", &["sums"], "y", &[("to", Attr::Int(1))])
            .output("y", &unknown)
            .output("floats", &unknown)
            .model();
        let x: Vec<usize> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
        let x = DynTensor::from_vec(numbers("x", x.iter().product()), &x, ())?.mul(3.0)?;
        let results = Model::from_bytes(&model)?.run([("x", &x)])?;
        let numbers = |name: &str| {
            let (_, y) = results
                .iter()
                .find(|(found, _)| *found == name)
                .expect(name);
            Ok((y.shape().to_vec(), y.to_vec::<f32>()?))
        };
        let (got, want): ((_, Vec<f32>), _) = (numbers("y")?, numbers("floats")?);
        assert!(want.1.iter().any(|&sum: &f32| sum.abs() > 1000.0));
        assert_eq!(got, want, "{weight:?}");
    }
    Ok(())
}
