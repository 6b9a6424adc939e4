//! Times models: the median of runs, and the memory that opening and running a model takes.
//!
//! `cargo run --release -p nomina-onnx --example time -- DIR…`, where a folder has `model.onnx` and
//! `test_data_set_0/input_*.pb`. Prints a line for each: milliseconds of a run, the median of at least five runs that take
//! a third of a second, and megabytes by which the peak of the process's memory grew (Linux only; measure a single model
//! per process).

use std::path::Path;
use std::time::{Duration, Instant};

use nomina::DynTensor;
use nomina_core::Result;
use nomina_onnx::{Model, read_tensor};

fn main() -> Result<()> {
    for folder in std::env::args().skip(1) {
        let (path, before) = (Path::new(&folder), peak());
        let model = Model::open(path.join("model.onnx"))?;
        let files =
            (0..).map(|at| std::fs::read(path.join(format!("test_data_set_0/input_{at}.pb"))));
        let tensors = files
            .map_while(|file| file.ok())
            .map(|bytes| read_tensor(&bytes));
        let tensors = tensors.collect::<Result<Vec<_>>>()?;
        let inputs: Vec<(&str, &DynTensor)> =
            tensors.iter().map(|(name, x)| (&name[..], x)).collect();
        model.run(inputs.clone())?;
        let (mut times, begin) = (Vec::new(), Instant::now());
        while times.len() < 5 || begin.elapsed() < Duration::from_millis(330) {
            let start = Instant::now();
            model.run(inputs.clone())?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let median = times[times.len() / 2].as_secs_f64() * 1e3;
        println!("{median:.4} ms, {:.1} MB, {folder}", peak() - before);
    }
    Ok(())
}

/// Returns the peak of the process's memory in megabytes; 0 where it cannot be read.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}
