//! The model, called block by block.

use nomina::prelude::*;
use nomina_onnx::Model;

/// Samples of a block at 16,000 a second; half of them at 8,000.
const BLOCK: usize = 512;
/// Samples of the block before that the model sees again.
const CONTEXT: usize = 64;
/// Numbers of the model's state, twice.
const STATE: usize = 128;

/// Detects speech in sound.
pub struct Detector {
    model: Model,
    rate: usize,
}

impl Detector {
    /// Opens `silero_vad.onnx` for sound of 16,000 or 8,000 samples a second.
    pub fn open(path: &str, rate: usize) -> Result<Self> {
        if rate != 16_000 && rate != 8_000 {
            let what = format!("{rate} samples a second, and the model knows 16000 and 8000");
            return Err(Error::new(ErrorKind::Argument, "speech", what));
        }
        let model = Model::open(path)?;
        Ok(Self { model, rate })
    }

    /// Returns the samples of a block.
    pub fn block(&self) -> usize {
        BLOCK * self.rate / 16_000
    }

    /// Returns the probability of speech in each block; the last one is filled with zeros.
    pub fn probabilities(&self, sound: &[f32]) -> Result<Vec<f64>> {
        let (block, context) = (self.block(), CONTEXT * self.rate / 16_000);
        let rate = DynTensor::from_vec(vec![self.rate as i64], &[], ())?;
        let mut state = DynTensor::zeros(&[2, 1, STATE], ())?;
        let mut input = vec![0.0; context + block];
        let mut all = Vec::with_capacity(sound.len().div_ceil(block));
        for part in sound.chunks(block) {
            input.copy_within(block.., 0);
            input[context..].fill(0.0);
            input[context..context + part.len()].copy_from_slice(part);
            let samples = DynTensor::from_vec(input.clone(), &[1, context + block], ())?;
            let outputs =
                self.model
                    .run([("input", &samples), ("state", &state), ("sr", &rate)])?;
            let probability = outputs.get("output")?.to_vec::<f32>()?;
            all.extend(probability.first().map(|&p| f64::from(p)));
            state = outputs.get("stateN")?.drop_names();
        }
        Ok(all)
    }
}
