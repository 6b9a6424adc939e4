//! Compares the model with the interpreter's results on random inputs, in `sample.safetensors`.

use super::*;

/// The greatest difference, relative to the greatest element.
const TOLERANCE: f64 = 1e-5;

fn compare(name: &str, own: &DynTensor, wanted: &DynTensor) -> Result<()> {
    assert_eq!(own.shape(), wanted.shape(), "the sizes of output `{name}`");
    let list = |x: &DynTensor| x.to_dtype(DType::F64)?.to_vec::<f64>();
    let (own, wanted) = (list(own)?, list(wanted)?);
    let largest = wanted.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let difference = own
        .iter()
        .zip(&wanted)
        .fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs()));
    println!("output `{name}`: greatest difference {difference:e} of {largest:e}");
    assert!(
        difference <= TOLERANCE * largest.max(f64::MIN_POSITIVE),
        "output `{name}` differs by {difference:e} of {largest:e}"
    );
    Ok(())
}

#[test]
fn equals_the_interpreter() -> Result<()> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.ancestors().map(|root| root.join(file!())).find(|file| file.exists());
    let folder = own.as_deref().and_then(std::path::Path::parent).unwrap_or(root);
    let model = Model::open(folder.join("weights.safetensors"))?;
    let sample = SafeTensors::open(folder.join("sample.safetensors"))?;
    let sound: Tensor<(Batch, Step, H, Take)> = sample.refine("input.0")?;
    let output = model.forward(&sound)?;
    let wanted: Tensor<(Direction, Batch, Hidden)> = sample.refine("output.0")?;
    compare("scores", &output.scores.to_dyn(), &wanted.to_dyn())?;
    let wanted: Tensor<(Step, GRUDirection, Batch, GRUHidden)> = sample
        .refine("output.1")?;
    compare("steps", &output.steps.to_dyn(), &wanted.to_dyn())?;
    Ok(())
}
