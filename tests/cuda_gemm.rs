//! Products, attention and distances on a device, against those of the host.
//!
//! The device is the one that the host stands in for; cuBLASLt is one that computes number by number,
//! or is left out, so that our own kernels multiply.
#![cfg(feature = "cuda")]

#[path = "cuda_gemm/cases.rs"]
mod cases;
#[path = "cuda/host.rs"]
mod host;
#[path = "cuda/sample.rs"]
mod sample;

use std::path::{Path, PathBuf};

use cases::{attentions, batches, distances, edges, layers, products, special, tf32};
use nomina::cuda;

/// What runs with the fakes, and prints how many cases it compared.
fn report(what: &str, count: usize) {
    assert!(host::is_fake());
    println!("{what}: {count} cases; by the host: {:?}", cuda::by_host());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_products() {
    report("products", products() + batches() + layers());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_batches() {
    report("batches", batches());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_edges() {
    report("edges", edges() + special());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_tf32() {
    tf32(std::env::var_os("LIBRARY").is_some());
    report("tf32", 3);
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_attention() {
    report("attention", attentions());
    assert!(cuda::by_host().is_empty());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_distances() {
    report("distances", distances());
    assert!(!cuda::by_host().contains_key("distance"));
}

/// Runs one of the above with the fakes, and returns what it said; `None` without a C++ compiler.
#[track_caller]
fn with_fakes(inside: &str, env: &[(&str, &str)]) -> Option<String> {
    let mut compiler = std::process::Command::new(host::compiler());
    if compiler.arg("--version").output().is_err() {
        eprintln!("{inside}: skipped, there is no C++ compiler");
        return None;
    }
    let args = [inside, "--exact", "--ignored", "--nocapture"];
    let env = [&[("NOMINA_FAKE_REPORT", "1")], env].concat();
    let output = host::rerun_with_fake(&args, &env).unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{inside} {env:?}: {said}");
    let counted = said.lines().find(|line| line.contains(" cases; "));
    println!("{env:?}: {}", counted.expect("it ran"));
    Some(said)
}

/// How many products the fake library made.
fn by_library(said: &str) -> usize {
    let line = said
        .lines()
        .find(|line| line.starts_with("fake cublasLt: "));
    line.map_or(0, |line| line.split(' ').nth(2).unwrap().parse().unwrap())
}

#[test]
fn products_by_our_own_kernels() {
    let own = ("NOMINA_CUDA_MATMUL", "own");
    for (inside, order) in [("inside_products", "forward"), ("inside_edges", "backward")] {
        let Some(said) = with_fakes(inside, &[own, ("NOMINA_FAKE_ORDER", order)]) else {
            return;
        };
        assert_eq!(by_library(&said), 0, "{said}");
        assert!(said.contains("by the host: {}"), "{said}");
    }
}

#[test]
fn products_by_the_library() {
    let library = ("NOMINA_CUDA_MATMUL", "cublaslt");
    for inside in ["inside_products", "inside_edges"] {
        let Some(said) = with_fakes(inside, &[library, ("NOMINA_FAKE_LAZY", "1")]) else {
            return;
        };
        let least = if sample::every() { 200 } else { 20 };
        assert!(by_library(&said) > least, "{said}");
    }
}

#[test]
fn products_the_library_refuses() {
    let library = ("NOMINA_CUDA_MATMUL", "cublaslt");
    for refused in ["bias,batch", "unaligned", "all"] {
        let refused = ("NOMINA_FAKE_CUBLASLT", refused);
        let Some(said) = with_fakes("inside_batches", &[library, refused]) else {
            return;
        };
        assert_eq!(by_library(&said) == 0, refused.1 == "all", "{said}");
    }
}

#[test]
fn whoever_is_faster() {
    let seed = [("NOMINA_FAKE_ORDER", "7"), ("LIBRARY", "1")];
    for inside in ["inside_batches", "inside_tf32"] {
        let Some(said) = with_fakes(inside, &seed) else {
            return;
        };
        assert!(by_library(&said) > 0, "{said}");
    }
}

#[test]
fn a_machine_without_the_library() {
    let Ok(fakes) = host::fakes() else {
        eprintln!("skipped, there is no C++ compiler");
        return;
    };
    let folder = without(&fakes, "libcublasLt").unwrap();
    let path = folder.to_str().unwrap();
    for inside in ["inside_tf32", "inside_batches"] {
        let env = [
            ("LD_LIBRARY_PATH", path),
            ("NOMINA_CUDA_MATMUL", "cublaslt"),
        ];
        let said = with_fakes(inside, &env).unwrap();
        assert_eq!(by_library(&said), 0, "{said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A folder with all of another but the files that begin so.
fn without(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let own = folder.with_extension(format!("without-{}", std::process::id()));
    std::fs::create_dir_all(&own)?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && !entry.file_name().to_string_lossy().starts_with(name) {
            std::fs::copy(entry.path(), own.join(entry.file_name()))?;
        }
    }
    Ok(own)
}

#[test]
fn positions_of_64_bits() {
    // Also, reads beyond the end of a tensor fault.
    let wide = [
        ("NOMINA_CUDA_INDEX", "u64"),
        ("NOMINA_CUDA_MATMUL", "own"),
        ("NOMINA_FAKE_FENCE", "1"),
    ];
    for inside in [
        "inside_batches",
        "inside_edges",
        "inside_attention",
        "inside_distances",
    ] {
        with_fakes(inside, &wide);
    }
}

#[test]
fn attention_as_the_host_has_it() {
    with_fakes("inside_attention", &[("NOMINA_FAKE_ORDER", "backward")]);
}

#[test]
fn distances_as_the_host_has_them() {
    with_fakes("inside_distances", &[("NOMINA_FAKE_ORDER", "11")]);
}
