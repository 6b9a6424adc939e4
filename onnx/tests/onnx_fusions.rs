//! Fused nodes compute what the separate nodes compute, and nodes whose results are needed elsewhere are not fused.

mod write;

use nomina::DynTensor;
use nomina_core::Result;
use nomina_onnx::Model;
use write::{Attr, Writer, numbers};

/// Runs a model with one input `x` with and without fusions, and returns the fusions with their counts and the numbers of nodes.
fn compare(
    bytes: &[u8],
    shape: &[usize],
    slack: f64,
) -> Result<(Vec<(&'static str, usize)>, usize, usize)> {
    let (fused, plain) = (
        Model::from_bytes(bytes)?,
        Model::from_bytes(bytes)?.without_fusions(),
    );
    let x = DynTensor::from_vec(numbers("x", shape.iter().product()), shape, ())?.mul(3.0)?;
    let (a, b) = (fused.run([("x", &x)])?, plain.run([("x", &x)])?);
    assert!(plain.fusions().is_empty());
    for ((name, a), (_, b)) in a.iter().zip(b.iter()) {
        assert_eq!(
            (a.shape(), a.dtype(), a.names()),
            (b.shape(), b.dtype(), b.names()),
            "{name}"
        );
        let (a, b) = (a.to_vec::<f32>()?, b.to_vec::<f32>()?);
        let largest = b
            .iter()
            .fold(0.0f64, |most, &v| most.max(f64::from(v.abs())));
        for (a, b) in a.iter().zip(&b) {
            assert!(
                f64::from((a - b).abs()) <= slack * largest,
                "{name}: {a} and not {b}"
            );
        }
    }
    let fusions = fused.fusions().into_iter().collect();
    Ok((fusions, plain.steps(), fused.steps()))
}

/// A graph that begins with `x` of sizes, and numbers.
fn start(dims: &[&str]) -> Writer {
    let number = |writer: Writer, name: &str, value: f32| writer.weight(name, &[], &[value]);
    let writer = Writer::default().input("x", dims);
    [
        ("half", 0.5),
        ("one", 1.0),
        ("root2", std::f32::consts::SQRT_2),
        ("three", 3.0),
        ("zero", 0.0),
        ("six", 6.0),
        ("two", 2.0),
        ("eps", 1e-5),
    ]
    .into_iter()
    .fold(writer, |writer, (name, value)| number(writer, name, value))
}

fn silu(writer: Writer, x: &str) -> Writer {
    writer
        .node("Sigmoid", &[x], "gate")
        .node("Mul", &[x, "gate"], "y")
}

#[test]
fn silu_is_one_node() -> Result<()> {
    let model = silu(start(&["n", "5"]), "x")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![("silu", 1)], 2, 1));
    // The other order, and a factor of one as exporters write it.
    let model = start(&["n", "5"])
        .node("Mul", &["x", "one"], "same")
        .node("Sigmoid", &["same"], "gate")
        .node("Mul", &["gate", "x"], "y")
        .output("y", &["n", "5"])
        .model();
    compare(&model, &[3, 5], 1e-6)?;
    Ok(())
}

#[test]
fn results_that_are_needed_are_not_fused() -> Result<()> {
    // The gate is an output.
    let model = silu(start(&["n", "5"]), "x")
        .output("y", &["n", "5"])
        .output("gate", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![], 2, 2));
    // Another node needs it.
    let model = silu(start(&["n", "5"]), "x")
        .node("Softmax", &["gate"], "z")
        .output("y", &["n", "5"])
        .output("z", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![], 3, 3));
    // A sigmoid of something else.
    let model = start(&["n", "5"])
        .node("Softmax", &["x"], "z")
        .node("Sigmoid", &["z"], "gate")
        .node("Mul", &["x", "gate"], "y")
        .output("y", &["n", "5"])
        .model();
    let (fusions, _, _) = compare(&model, &[3, 5], 1e-6)?;
    assert_eq!(fusions, [("elementwise", 1)]);
    Ok(())
}

fn gelu(writer: Writer, x: &str, y: &str) -> Writer {
    writer
        .node("Div", &[x, "root2"], "scaled")
        .node("Erf", &["scaled"], "erf")
        .node("Add", &["erf", "one"], "sum")
        .node("Mul", &[x, "sum"], "product")
        .node("Mul", &["product", "half"], y)
}

#[test]
fn gelu_is_one_node() -> Result<()> {
    let model = gelu(start(&["n", "5"]), "x", "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![("gelu", 1)], 5, 1));
    // Half of x first, and a product for the quotient.
    let model = start(&["n", "5"])
        .weight("over", &[], &[std::f32::consts::FRAC_1_SQRT_2])
        .node("Mul", &["x", "half"], "half_x")
        .node("Mul", &["over", "x"], "scaled")
        .node("Erf", &["scaled"], "erf")
        .node("Add", &["one", "erf"], "sum")
        .node("Mul", &["half_x", "sum"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![("gelu", 1)], 5, 1));
    // Another factor is no gelu.
    let model = gelu(
        start(&["n", "5"]).weight("third", &[], &[0.333]),
        "x",
        "whole",
    )
    .node("Mul", &["whole", "third"], "y")
    .output("y", &["n", "5"])
    .output("whole", &["n", "5"])
    .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?.0, [("gelu", 1)]);
    let model = start(&["n", "5"])
        .node("Div", &["x", "two"], "scaled")
        .node("Erf", &["scaled"], "erf")
        .node("Add", &["erf", "one"], "sum")
        .node("Mul", &["x", "sum"], "product")
        .node("Mul", &["product", "half"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?.0, [("elementwise", 1)]);
    Ok(())
}

#[test]
fn gelu_by_tanh_is_one_node() -> Result<()> {
    let model = start(&["n", "5"])
        .weight("factor", &[], &[0.797_884_6])
        .weight("cube_factor", &[], &[0.044_715])
        .node("Mul", &["x", "x"], "square")
        .node("Mul", &["square", "x"], "cube")
        .node("Mul", &["cube_factor", "cube"], "small")
        .node("Add", &["x", "small"], "inner")
        .node("Mul", &["inner", "factor"], "scaled")
        .node("Tanh", &["scaled"], "tanh")
        .node("Add", &["one", "tanh"], "sum")
        .node("Mul", &["sum", "half"], "gate")
        .node("Mul", &["x", "gate"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![("gelu", 1)], 9, 1));
    Ok(())
}

#[test]
fn hard_swish_is_one_node() -> Result<()> {
    let model = start(&["n", "5"])
        .node("Add", &["x", "three"], "sum")
        .node("Clip", &["sum", "zero", "six"], "gate")
        .node("Mul", &["x", "gate"], "product")
        .node("Div", &["product", "six"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(
        compare(&model, &[7, 5], 1e-6)?,
        (vec![("hard swish", 1)], 4, 1)
    );
    Ok(())
}

fn norm(writer: Writer, mean: &str) -> Writer {
    let axes = [("axes", Attr::Ints(vec![-1]))];
    writer
        .node_with("ReduceMean", &["x"], mean, &axes)
        .node("Sub", &["x", mean], "centred")
        .node("Pow", &["centred", "two"], "square")
        .node_with("ReduceMean", &["square"], "variance", &axes)
        .node("Add", &["variance", "eps"], "safe")
        .node("Sqrt", &["safe"], "deviation")
        .node("Div", &["centred", "deviation"], "whitened")
}

#[test]
fn layer_norm_is_one_node() -> Result<()> {
    let model = norm(
        start(&["n", "4", "6"]).random("w", &[6]).random("b", &[6]),
        "mean",
    )
    .node("Mul", &["whitened", "w"], "scaled")
    .node("Add", &["scaled", "b"], "y")
    .output("y", &["n", "4", "6"])
    .model();
    assert_eq!(
        compare(&model, &[2, 4, 6], 2e-6)?,
        (vec![("layer norm", 1)], 9, 1)
    );
    let model = norm(start(&["n", "4", "6"]), "mean")
        .output("whitened", &["n", "4", "6"])
        .model();
    assert_eq!(
        compare(&model, &[2, 4, 6], 2e-6)?,
        (vec![("layer norm", 1)], 7, 1)
    );
    // The mean is an output.
    let model = norm(start(&["n", "4", "6"]), "mean")
        .output("whitened", &["n", "4", "6"])
        .output("mean", &["n", "4", "1"])
        .model();
    let (fusions, _, _) = compare(&model, &[2, 4, 6], 2e-6)?;
    assert!(!fusions.contains(&("layer norm", 1)), "{fusions:?}");
    Ok(())
}

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
fn elementwise_chains_are_one_node() -> Result<()> {
    let model = start(&["n", "5"])
        .random("row", &[5])
        .node("Mul", &["x", "row"], "a")
        .node("Sub", &["a", "half"], "b")
        .node_with("LeakyRelu", &["b"], "c", &[("alpha", Attr::Float(0.2))])
        .node_with("HardSigmoid", &["c"], "d", &[("alpha", Attr::Float(0.3))])
        .node("Clip", &["d", "zero", "half"], "e")
        .node("Div", &["e", "x"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(
        compare(&model, &[3, 5], 1e-6)?,
        (vec![("elementwise", 1)], 6, 1)
    );
    // A part that others need is computed once.
    let model = start(&["n", "5"])
        .node("Exp", &["x"], "a")
        .node("Neg", &["a"], "b")
        .node("Tanh", &["b"], "y")
        .output("y", &["n", "5"])
        .output("a", &["n", "5"])
        .model();
    assert_eq!(
        compare(&model, &[3, 5], 1e-6)?,
        (vec![("elementwise", 1)], 3, 2)
    );
    // A smaller operand is computed before it is broadcast.
    let model = start(&["n", "5"])
        .random("row", &[1, 5])
        .node_with(
            "ReduceMean",
            &["x"],
            "mean",
            &[("axes", Attr::Ints(vec![1]))],
        )
        .node("Exp", &["mean"], "a")
        .node("Mul", &["a", "x"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(compare(&model, &[3, 5], 1e-6)?, (vec![], 3, 3));
    Ok(())
}

#[test]
fn integers_are_not_fused() -> Result<()> {
    let model = Writer::default()
        .indices("x", &["n"])
        .ints("two", &[2])
        .node("Div", &["x", "two"], "a")
        .node("Mul", &["a", "x"], "y")
        .output("y", &["n"])
        .model();
    let model = Model::from_bytes(&model)?;
    let x = DynTensor::from_vec(vec![7i64, -7], &[2], ())?;
    assert_eq!(model.run([("x", &x)])?.get("y")?.to_vec::<i64>()?, [21, 21]);
    assert!(model.fusions().is_empty());
    Ok(())
}

#[test]
fn computed_sizes_are_folded() -> Result<()> {
    let model = start(&["n", "4", "6"])
        .ints("first", &[0])
        .ints("rest", &[24])
        .node("Shape", &["x"], "shape")
        .node("Gather", &["shape", "first"], "n")
        .node_with("Concat", &["n", "rest"], "sizes", &[("axis", Attr::Int(0))])
        .node("Reshape", &["x", "sizes"], "y")
        .output("y", &["n", "24"])
        .model();
    assert_eq!(compare(&model, &[2, 4, 6], 0.0)?, (vec![], 4, 1));
    Ok(())
}
