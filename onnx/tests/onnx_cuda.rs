//! Models run on a device as on the host: a GPU, or its emulation.

#[path = "../../tests/cuda/here.rs"]
mod here;
mod write;

use here::{DEVICE, device};
use nomina::DynTensor;
use nomina_core::Result;
use nomina_onnx::{Model, Outputs};
use write::{Attr, Writer, numbers};

fn input(sizes: &[usize]) -> DynTensor {
    let count = sizes.iter().product();
    DynTensor::from_vec(numbers("input", count), sizes, ()).unwrap()
}

/// Asserts that the outputs on the device are those on the host, up to rounding; returns the nodes that ran on the host.
fn same(model: &[u8], inputs: &[(&str, &DynTensor)]) -> Vec<String> {
    compared(model, inputs).unwrap()
}

fn compared(model: &[u8], inputs: &[(&str, &DynTensor)]) -> Result<Vec<String>> {
    let run = |model: &Model| -> Result<Outputs> { model.run(inputs.iter().copied()) };
    let host = Model::from_bytes(model)?;
    let own = Model::from_bytes(model)?.to_device(DEVICE)?;
    assert!(own.device().is_cuda());
    let wanted = run(&host)?;
    // The second run knows where each node runs.
    for _ in 0..2 {
        let found = run(&own)?;
        for ((name, found), (_, wanted)) in found.iter().zip(wanted.iter()) {
            assert_eq!(found.names(), wanted.names());
            assert!(
                found.device().is_cuda() || !found.dtype().is_float(),
                "{name}"
            );
            let values = |x: &DynTensor| x.cpu()?.to::<f64>()?.to_vec::<f64>();
            let (found, wanted) = (values(found)?, values(wanted)?);
            let largest = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!(
                    (found - wanted).abs() <= 1e-4 * largest,
                    "{name}: {found} and not {wanted}"
                );
            }
            here::cases(1);
        }
    }
    assert!(host.on_host().is_empty());
    Ok(own.on_host())
}

#[test]
fn layers_run_on_a_device() {
    let _here = device!(&[&[]]);
    let pads = [("pads", Attr::Ints(vec![1; 4]))];
    let model = Writer::default()
        .input("image", &["batch", "1", "6", "6"])
        .random("conv.weight", &[4, 1, 3, 3])
        .random("conv.bias", &[4])
        .random("hidden.weight", &[144, 8])
        .random("hidden.bias", &[8])
        .positive("norm.weight", &[8])
        .random("norm.bias", &[8])
        .ints("shape", &[-1, 144])
        .node_with(
            "Conv",
            &["image", "conv.weight", "conv.bias"],
            "convolved",
            &pads,
        )
        .node("Relu", &["convolved"], "edges")
        .node("Reshape", &["edges", "shape"], "features")
        .node("MatMul", &["features", "hidden.weight"], "mixed")
        .node("Add", &["mixed", "hidden.bias"], "shifted")
        .node(
            "LayerNormalization",
            &["shifted", "norm.weight", "norm.bias"],
            "normed",
        )
        .node("Softmax", &["normed"], "scores")
        .output("scores", &["batch", "8"])
        .model();
    let host = same(&model, &[("image", &input(&[2, 1, 6, 6]))]);
    assert!(host.is_empty(), "{host:?}");
}

/// Sizes are computed on the host, and indices are copied to the device.
#[test]
fn sizes_and_indices_meet_the_device() {
    let _here = device!(&[&[]]);
    let model = Writer::default()
        .input("x", &["batch", "step", "4"])
        .random("weight", &[1, 12, 4])
        .random("recurrent", &[1, 12, 3])
        .random("table", &[5, 4])
        .ints("places", &[0, 3, 3])
        .ints("last", &[-1])
        .ints("zero", &[0])
        .node_with("Gather", &["table", "places"], "rows", &[])
        .node("Shape", &["x"], "sizes")
        .node("Gather", &["sizes", "zero"], "batch_size")
        .node_with(
            "Concat",
            &["batch_size", "last"],
            "flat",
            &[("axis", Attr::Int(0))],
        )
        .node_with(
            "Transpose",
            &["x"],
            "time",
            &[("perm", Attr::Ints(vec![1, 0, 2]))],
        )
        .node_with(
            "LSTM",
            &["time", "weight", "recurrent"],
            "steps,ends",
            &[("hidden_size", Attr::Int(3))],
        )
        .node_with(
            "Transpose",
            &["steps"],
            "turned",
            &[("perm", Attr::Ints(vec![2, 0, 1, 3]))],
        )
        .node("Reshape", &["turned", "flat"], "all")
        .node("ReduceMean", &["rows"], "mean")
        .node("Squeeze", &["mean", "zero"], "less")
        .node("Add", &["all", "less"], "sum")
        .output("sum", &["batch", "k"])
        .output("ends", &["1", "batch", "3"])
        .model();
    same(&model, &[("x", &input(&[2, 3, 4]))]);
}

/// An operator that is a loop on the host runs there, between others on the device, and is named.
#[test]
fn an_operator_without_a_kernel_runs_on_the_host() {
    let _here = device!(&[&[]]);
    let model = Writer::default()
        .input("x", &["1", "2", "5", "5"])
        .input("grid", &["1", "3", "3", "2"])
        .node("Sigmoid", &["x"], "soft")
        .node("GridSample", &["soft", "grid"], "sampled")
        .node("Tanh", &["sampled"], "y")
        .output("y", &["1", "2", "3", "3"])
        .model();
    let (x, grid) = (input(&[1, 2, 5, 5]), input(&[1, 3, 3, 2]));
    let host = same(&model, &[("x", &x), ("grid", &grid)]);
    assert!(
        host.iter().all(|node| node.starts_with("GridSample")),
        "{host:?}"
    );
}
