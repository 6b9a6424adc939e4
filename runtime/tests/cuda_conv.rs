//! Windows on a CUDA device against the host: convolutions, pools, resampling, columns.
//!
//! `on_the_host_that_stands_for_a_gpu` runs the ignored tests with the fake libraries, in several
//! orders of blocks and threads; with a GPU, `--ignored` runs them on it.
#![cfg(feature = "cuda")]

#[path = "cuda_conv/columns.rs"]
mod columns;
#[path = "cuda_conv/common.rs"]
mod common;
#[path = "cuda_conv/convolve.rs"]
mod convolve;
#[cfg(target_os = "linux")]
#[path = "../../tests/cuda/host.rs"]
#[allow(dead_code)] // other test programs use more of it
mod host;
#[path = "cuda_conv/pool.rs"]
mod pool;
#[path = "cuda_conv/resample.rs"]
mod resample;
#[path = "../../tests/cuda/sample.rs"]
mod sample;

#[cfg(target_os = "linux")]
#[test]
fn on_the_host_that_stands_for_a_gpu() {
    if let Err(why) = host::fakes() {
        eprintln!("skipped: {why}");
        return;
    }
    let orders = [
        // A device of one processor takes the largest tiles.
        ("forward", "0", "1"),
        ("backward", "1", "132"),
        ("7", "1", "12"),
    ];
    for (order, lazy, processors) in orders {
        let env = [
            ("NOMINA_FAKE_ORDER", order),
            ("NOMINA_FAKE_LAZY", lazy),
            ("NOMINA_FAKE_PROCESSORS", processors),
        ];
        // One at a time: what a kernel finds wrong is the error of whoever waits next.
        let args = ["--ignored", "--nocapture", "--test-threads=1"];
        let output = host::rerun_with_fake(&args, &env).unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{order}: {said}{failed}");
        let counted = said.lines().filter_map(|line| {
            let (_, count) = line.split_once("cases: ")?;
            count.trim().parse::<usize>().ok()
        });
        let counted: usize = counted.sum();
        println!("{order}: {counted} cases");
        let least = if sample::every() { 1000 } else { 300 };
        assert!(counted >= least, "{order}: {said}");
    }
}
