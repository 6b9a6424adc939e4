//! Compares models with and without fusions: nodes, the largest difference, and times.
//!
//! `cargo run --release -p nomina-onnx --example fused -- DIR…`, where a folder has `model.onnx` and `test_data_set_0/input_*.pb`. Runs
//! alternate, and the ratio is that of medians: below 1, fusions are faster. `NOMINA_RUNS` is the number of runs, 7 by default. On a busy
//! machine with Linux, `NOMINA_CPU=1 RAYON_NUM_THREADS=1` measures the time of the processor instead.

use std::path::Path;
use std::time::Instant;

use nomina::DynTensor;
use nomina_core::Result;
use nomina_onnx::{Model, Outputs, read_tensor};

fn main() -> Result<()> {
    let runs = std::env::var("NOMINA_RUNS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(7);
    let (mut log, mut count) = (0.0, 0);
    let begin = Instant::now();
    for folder in std::env::args().skip(1) {
        let path = Path::new(&folder);
        let (fused, plain) = (
            Model::open(path.join("model.onnx"))?,
            Model::open(path.join("model.onnx"))?.without_fusions(),
        );
        let files =
            (0..).map(|at| std::fs::read(path.join(format!("test_data_set_0/input_{at}.pb"))));
        let tensors: Vec<_> = files
            .map_while(|file| file.ok())
            .map(|bytes| Ok(read_tensor(&bytes)?.1))
            .collect::<Result<_>>()?;
        let inputs: Vec<(&str, &DynTensor)> = fused
            .inputs()
            .iter()
            .map(|port| &port.name[..])
            .zip(&tensors)
            .collect();
        let difference =
            largest_difference(&fused.run(inputs.clone())?, &plain.run(inputs.clone())?)?;
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..runs {
            for (model, times) in [&fused, &plain].into_iter().zip(&mut times) {
                let start = clock(begin);
                model.run(inputs.clone())?;
                times.push(clock(begin) - start);
            }
        }
        let [a, b] = times.map(median);
        log += (a / b).ln();
        count += 1;
        let name = path
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned());
        println!(
            "{name:60} {:4} -> {:4} nodes, {:.3} -> {:.3} ms, ratio {:.2}, difference {difference:.1e}, {:?}",
            plain.steps(),
            fused.steps(),
            1000.0 * b,
            1000.0 * a,
            a / b,
            fused.fusions()
        );
    }
    println!(
        "geometric mean of {count} ratios: {:.3}",
        (log / f64::from(count.max(1))).exp()
    );
    Ok(())
}

/// Seconds since `begin`, or of the processor if `NOMINA_CPU` is set.
fn clock(begin: Instant) -> f64 {
    let stat = std::env::var_os("NOMINA_CPU")
        .and_then(|_| std::fs::read_to_string("/proc/thread-self/schedstat").ok());
    let nanoseconds = stat.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The largest difference relative to the largest output.
fn largest_difference(a: &Outputs, b: &Outputs) -> Result<f64> {
    let mut most = 0.0f64;
    for ((_, a), (_, b)) in a.iter().zip(b.iter()) {
        let values = |x: &DynTensor| x.to::<f64>().and_then(|x| x.to_vec::<f64>());
        let (a, b) = (values(a)?, values(b)?);
        let largest = b.iter().fold(1e-30f64, |most, v| most.max(v.abs()));
        let pairs = a
            .iter()
            .zip(&b)
            .filter(|(a, b)| a != b && !(a.is_nan() && b.is_nan()));
        most = pairs.fold(most, |most, (a, b)| most.max((a - b).abs() / largest));
    }
    Ok(most)
}
