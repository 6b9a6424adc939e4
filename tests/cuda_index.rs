//! Order, indices, masks and bins on a device: what its kernels find is what the host finds, to the
//! bit, in several schedules of a host that stands for a GPU.
//!
//! Sums of floats at one index per element may come in any order on a device; their operands are
//! whole numbers here, so that every order gives the same.

#![cfg(all(feature = "cuda", target_os = "linux"))]

#[path = "cuda/host.rs"]
#[allow(dead_code)]
mod host;
#[path = "cuda/sample.rs"]
mod sample;

#[path = "cuda_index/both.rs"]
mod both;
#[path = "cuda_index/count.rs"]
mod count;
#[path = "cuda_index/errors.rs"]
mod errors;
#[path = "cuda_index/gather.rs"]
mod gather;
#[path = "cuda_index/scatter.rs"]
mod scatter;
#[path = "cuda_index/sort.rs"]
mod sort;

/// Orders of blocks and of a block's threads, whether copies wait for the next synchronise, and what
/// positions are counted in.
const SCHEDULES: [(&str, &str, &str); 3] = [
    ("forward", "0", "u32"),
    ("backward", "1", "u64"),
    ("7", "1", "u32"),
];

#[test]
fn in_several_schedules() {
    if host::is_fake() {
        return;
    }
    if let Err(why) = host::fakes() {
        assert!(why.starts_with("no C++ compiler"), "{why}");
        eprintln!("skipped: {why}");
        return;
    }
    for (order, lazy, index) in SCHEDULES {
        let env = [
            ("NOMINA_FAKE_ORDER", order),
            ("NOMINA_FAKE_LAZY", lazy),
            ("NOMINA_CUDA_INDEX", index),
        ];
        // One at a time: what a kernel finds wrong is the error of whoever waits next.
        let args = [
            "--skip",
            "in_several_schedules",
            "--nocapture",
            "--test-threads=1",
        ];
        let output = host::rerun_with_fake(&args, &env).unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "order {order}, lazy {lazy}, {index}:\n{out}\n{err}"
        );
        let counts = err.lines().filter(|line| line.starts_with("cuda_index:"));
        for line in counts {
            eprintln!("{line}, order {order}, lazy {lazy}, {index}");
        }
    }
}
