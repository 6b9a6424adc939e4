//! A checkpoint of PyTorch gives the same network as safetensors.

#[allow(dead_code)]
#[path = "../pytorch.rs"]
mod pytorch;

use nomina::prelude::*;
use nomina_io::pth::Pth;
use nomina_io::safetensors::{self, SafeTensors};
use nomina_nn::prelude::*;

use pytorch::{H, Mlp, N, W, accuracy, checkpoint, load};

#[test]
fn the_network_of_the_checkpoint_reads_digits() {
    let (model, epochs) = load(&checkpoint()).unwrap();
    assert_eq!(epochs, Some(60));
    let accuracy = accuracy(&model).unwrap();
    assert!(accuracy > 0.9, "{accuracy}");
}

#[test]
fn both_formats_load_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mlp.safetensors");
    let file = Pth::open(checkpoint()).unwrap();
    let state = file.tensors_at("model_state_dict").unwrap();
    safetensors::save(&path, state.clone()).unwrap();
    let (mut first, mut second) = (Mlp::unset(), Mlp::unset());
    first.load(state);
    second.load(SafeTensors::open(&path).unwrap().tensors().unwrap());
    let x = Tensor::<(N, H, W)>::rand([5, 8, 8]);
    let (first, second) = (first.forward(&x), second.forward(&x));
    assert_eq!(first.to_vec(), second.to_vec());
}

#[test]
fn a_state_must_have_the_paths_of_the_model() {
    let file = Pth::open(checkpoint()).unwrap();
    let error = Mlp::unset().try_load(file.tensors().unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("`model_state_dict.hidden.bias`"),
        "{error}"
    );
    let state = file.tensors_at("model_state_dict").unwrap();
    let some = state.into_iter().filter(|(path, _)| path != "out.bias");
    let error = Mlp::unset().try_load(some).unwrap_err().to_string();
    assert!(error.contains("the state lacks `out.bias`"), "{error}");
}
