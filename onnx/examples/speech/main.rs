//! Finds speech in a WAV file, by silero-vad.
//!
//! ```sh
//! python3 scripts/onnx_models.py fetch target/models
//! cargo run --release -p nomina-onnx --example speech -- target/models/silero_vad__data_silero_vad/model.onnx talk.wav
//! ```
//!
//! The file has 16,000 or 8,000 samples a second (`ffmpeg -i talk.mp3 -ar 16000 talk.wav`); channels are averaged. Prints the seconds
//! of each stretch of speech.

mod detector;
mod segments;

use std::error::Error;

use detector::Detector;
use hound::{SampleFormat, WavReader};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, file] = &args[..] else {
        return Err("usage: speech MODEL.onnx SOUND.wav".into());
    };
    let (sound, rate) = read(file)?;
    let detector = Detector::open(model, rate)?;
    let probabilities = detector.probabilities(&sound)?;
    let seconds = |samples: usize| samples as f64 / rate as f64;
    let segments = segments::segments(&probabilities, detector.block(), sound.len(), rate);
    for segment in &segments {
        println!(
            "speech from {:7.2} s to {:7.2} s",
            seconds(segment.start),
            seconds(segment.end)
        );
    }
    let total: usize = segments.iter().map(|segment| segment.len()).sum();
    println!(
        "{:.2} s of speech in {:.2} s",
        seconds(total),
        seconds(sound.len())
    );
    Ok(())
}

/// Reads the samples of a WAV file, between -1 and 1, and their number a second.
fn read(file: &str) -> Result<(Vec<f32>, usize), Box<dyn Error>> {
    let mut reader = WavReader::open(file)?;
    let format = reader.spec();
    let samples: Vec<f32> = match format.sample_format {
        SampleFormat::Float => reader.samples::<f32>().collect::<Result<_, _>>()?,
        SampleFormat::Int => {
            let unit = 1.0 / (1u64 << (format.bits_per_sample - 1)) as f32;
            let samples = reader.samples::<i32>();
            samples
                .map(|sample| Ok(sample? as f32 * unit))
                .collect::<Result<_, hound::Error>>()?
        }
    };
    let channels = usize::from(format.channels);
    let mean = |all: &[f32]| all.iter().sum::<f32>() / channels as f32;
    Ok((
        samples.chunks(channels).map(mean).collect(),
        format.sample_rate as usize,
    ))
}
