//! Fused nodes compute what the separate nodes compute, and nodes whose results are needed elsewhere are not fused.

mod layers;
#[path = "../write/mod.rs"]
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
fn elementwise_chains_are_one_node() -> Result<()> {
    let model = start(&["n", "5"])
        .random("row", &[5])
        .node("Mul", &["x", "row"], "r")
        .node("Pow", &["r", "two"], "a")
        .node("Sub", &["a", "half"], "b")
        .node_with("LeakyRelu", &["b"], "c", &[("alpha", Attr::Float(0.2))])
        .node_with("HardSigmoid", &["c"], "d", &[("alpha", Attr::Float(0.3))])
        .node("Clip", &["d", "zero", "half"], "e")
        .node("Div", &["e", "x"], "y")
        .output("y", &["n", "5"])
        .model();
    assert_eq!(
        compare(&model, &[3, 5], 1e-6)?,
        (vec![("elementwise", 1)], 7, 1)
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
