//! Tests of the programs `convnet` and `finetune` beside what PyTorch computed from the same files
//! (`scripts/programs/data.py`), and of the length of all programs with a side in Python.

#[allow(dead_code)]
#[path = "../convnet.rs"]
mod convnet;
#[allow(dead_code)]
#[path = "../finetune.rs"]
mod finetune;
mod recorded;

use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::prelude::*;
use serde_json::Value;

use convnet::data::Digits;
use recorded::{near, numbers};

#[test]
fn the_loaded_conv_net_computes_pytorchs_logits() {
    let recorded: Value = serde_json::from_str(include_str!("../convnet/torch.json")).unwrap();
    let net = convnet::load(&convnet::weights()).unwrap();
    let images = Digits::read().unwrap().narrow(0..4).images;
    let logits = no_grad(|| net.forward(&images, Mode::Eval)).to::<f64>();
    near(logits.to_vec(), &recorded["logits"], 2e-6);
}

/// Each of 60 losses is PyTorch's: in `f32` to 1e-5; in `bf16` to 5e-3, and so to `f32`'s; in `f16` to 2e-3.
#[test]
fn the_conv_net_trains_like_pytorchs_in_mixed_precision() {
    let recorded: Value = serde_json::from_str(include_str!("../convnet/torch.json")).unwrap();
    let digits = Digits::read().unwrap();
    let [digits, held_out] = [0..1437, 1437..1797].map(|rows| digits.narrow(rows));
    let cases = [
        (DType::F32, "f32", 1e-5),
        (DType::BF16, "bf16", 5e-3),
        (DType::F16, "f16", 2e-3),
    ];
    for (dtype, name, tolerance) in cases {
        let mut net = convnet::load(&convnet::weights()).unwrap();
        let losses = convnet::train(&mut net, &digits, 60, dtype);
        let losses = || losses.iter().map(|&loss| f64::from(loss));
        let off = |name: &str| {
            let recorded = numbers(&recorded[name]["losses"]);
            let off = losses().zip(recorded).map(|(x, y)| (x - y).abs());
            off.fold(0.0, f64::max)
        };
        println!(
            "{name}: {:e} from PyTorch's, {:e} from f32's",
            off(name),
            off("f32")
        );
        let recorded = &recorded[name];
        near(losses(), &recorded["losses"], tolerance);
        assert!(off("f32") <= tolerance, "{name}: {}", off("f32"));
        // Not the running mean: a bias before the norm has no effect on the loss, and Adam moves it by rounding errors.
        let var = net.norm1.running_var.get().to::<f64>().to_vec();
        near(var, &recorded["running_var"], 1e-2);
        let accuracy = f64::from(convnet::accuracy(&net, &held_out));
        let wanted = recorded["accuracy"].as_f64().unwrap();
        assert!(
            (accuracy - wanted).abs() < 0.02,
            "{accuracy}, PyTorch {wanted}"
        );
    }
}

/// Losses to 1e-3, and norms of gradients to 1 %, at each of 160 steps.
#[test]
fn the_transformer_learns_like_pytorchs() {
    let recorded: Value = serde_json::from_str(include_str!("../finetune/torch.json")).unwrap();
    let state = finetune::file("pretrained.safetensors").unwrap();
    let mut net = finetune::load(state.tensors().unwrap(), 4).unwrap();
    let [(ids, labels), (held_out, wanted)] = finetune::data().unwrap();
    let steps = finetune::train(&mut net, &ids, &labels, 160);
    near(
        steps.iter().map(|step| f64::from(step.0)),
        &recorded["losses"],
        1e-3,
    );
    let norms = numbers(&recorded["norms"]);
    for (step, ((_, norm), wanted)) in steps.iter().zip(norms).enumerate() {
        assert!(
            (norm - wanted).abs() < 0.01 * wanted,
            "{step}: {norm}, PyTorch {wanted}"
        );
    }
    let accuracy = f64::from(finetune::accuracy(&net, &held_out, &wanted));
    let wanted = recorded["accuracy"].as_f64().unwrap();
    assert!(
        (accuracy - wanted).abs() < 0.01,
        "{accuracy}, PyTorch {wanted}"
    );
}

/// A state of another task lacks nothing but the head, and a state without its encoder is refused.
#[test]
fn only_the_head_may_be_missing() {
    let state = finetune::file("pretrained.safetensors")
        .unwrap()
        .tensors()
        .unwrap();
    assert!(finetune::load(state.clone(), 7).is_ok());
    let some = state
        .into_iter()
        .filter(|(path, _)| !path.contains("linear1"));
    let error = finetune::load(some.collect(), 7).err().unwrap().to_string();
    assert!(
        error.contains("`encoder.layers.0.linear1.weight`"),
        "{error}"
    );
}

/// A program is at most 1.8 times as long as its side in Python, in lines that are neither blank nor comments.
#[test]
fn the_programs_are_short() {
    let code = |path: String, comments: &[&str]| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let text = std::fs::read_to_string(format!("{root}/{path}")).expect(&path);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .filter(|line| !comments.iter().any(|c| line.starts_with(c)))
            .count()
    };
    for program in [
        "nn/convnet",
        "nn/finetune",
        "nn/vae",
        "nn/poisson",
        "burgers",
        "reanalysis",
        "climate_change",
    ] {
        let name = program.trim_start_matches("nn/");
        let rust = code(format!("examples/{program}.rs"), &["//"]);
        let python = code(format!("scripts/programs/{name}.py"), &["#", "\"\"\""]);
        println!("{name}: {rust} lines, Python {python}");
        assert!(
            rust * 10 <= python * 18,
            "{name}: {rust} lines, Python {python}"
        );
    }
}
