//! Products, attention and distances on a device, against the host.
//!
//! The device is the emulated GPU. cuBLASLt is either replaced by a naive implementation or left out, so that the
//! project's own kernels multiply.
#![cfg(feature = "cuda")]

#[path = "cuda_gemm/cases.rs"]
mod cases;
#[path = "cuda/here.rs"]
mod here;
#[path = "cuda/sample.rs"]
mod sample;

use cases::{attentions, batches, distances, edges, layers, products, special, tf32};
use here::{device, name};
use nomina::cuda;

/// Reports the number of cases, and the products that no kernel computed.
fn report(count: usize) {
    here::cases(count);
    println!("by the host: {:?}", cuda::by_host());
    println!("{}", cuda::report(None).unwrap());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_products() {
    let _here = device!(&[]);
    report(products() + batches() + layers());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_batches() {
    let _here = device!(&[]);
    report(batches());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_edges() {
    let _here = device!(&[]);
    report(edges() + special());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_tf32() {
    let _here = device!(&[]);
    tf32(std::env::var_os("LIBRARY").is_some());
    report(3);
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_attention() {
    let _here = device!(&[]);
    report(attentions());
    assert!(cuda::by_host().is_empty());
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_distances() {
    let _here = device!(&[]);
    report(distances());
    assert!(!cuda::by_host().contains_key("distance"));
}

/// Runs one of the tests above in a new process and returns its output; `None` without a device.
#[track_caller]
fn again(inside: &str, env: &[(&str, &str)]) -> Option<String> {
    let said = here::again(inside, env)?;
    let counted = said.lines().find(|line| line.ends_with(" cases"));
    println!("{env:?}: {}", counted.expect("it ran"));
    Some(said)
}

/// Parses the numbers of products computed by cuBLASLt and by the project's own kernels.
fn made(said: &str) -> (usize, usize) {
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("products: "));
    let words: Vec<&str> = line.expect("a report").split(' ').collect();
    (words[0].parse().unwrap(), words[3].parse().unwrap())
}

/// A lower bound for the number of products in each program, for a sample or for all of them.
fn least() -> usize {
    if sample::every() { 200 } else { 20 }
}

#[test]
fn products_by_our_own_kernels() {
    let own = ("NOMINA_CUDA_MATMUL", "own");
    for (inside, order) in [("inside_products", "forward"), ("inside_edges", "backward")] {
        let Some(said) = again(inside, &[own, ("NOMINA_FAKE_ORDER", order)]) else {
            return;
        };
        let (library, own) = made(&said);
        assert!(library == 0 && own > least(), "{said}");
        assert!(
            said.contains("cuBLASLt: none: NOMINA_CUDA_MATMUL=own"),
            "{said}"
        );
        assert!(said.contains("by the host: {}"), "{said}");
    }
}

#[test]
fn products_by_the_library() {
    let library = ("NOMINA_CUDA_MATMUL", "cublaslt");
    for inside in ["inside_products", "inside_edges"] {
        let Some(said) = again(inside, &[library, ("NOMINA_FAKE_LAZY", "1")]) else {
            return;
        };
        // A sample of the edges has few products that the library accepts.
        let is_few = inside == "inside_edges" && !sample::every();
        let least = if is_few { 0 } else { least() };
        assert!(made(&said).0 > least, "{said}");
    }
}

#[test]
fn products_the_library_refuses() {
    if !here::needs_stand_in(name!(), "cuBLASLt refuses what it does there") {
        return;
    }
    let library = ("NOMINA_CUDA_MATMUL", "cublaslt");
    for refused in ["bias,batch", "unaligned", "all"] {
        let refused = ("NOMINA_FAKE_CUBLASLT", refused);
        let Some(said) = again("inside_batches", &[library, refused]) else {
            return;
        };
        assert_eq!(made(&said).0 == 0, refused.1 == "all", "{said}");
    }
}

#[test]
fn whoever_is_faster() {
    let seed = [("NOMINA_FAKE_ORDER", "7"), ("LIBRARY", "1")];
    for inside in ["inside_batches", "inside_tf32"] {
        let Some(said) = again(inside, &seed) else {
            return;
        };
        assert!(made(&said).0 > 0, "{said}");
    }
}

#[test]
fn a_machine_without_the_library() {
    if !here::needs_stand_in(name!(), "its libraries are where they are") {
        return;
    }
    let Ok(folder) = here::host::without("libcublasLt") else {
        return;
    };
    for inside in ["inside_tf32", "inside_batches"] {
        let env = [
            ("LD_LIBRARY_PATH", folder.to_str().unwrap()),
            ("NOMINA_CUDA_MATMUL", "cublaslt"),
        ];
        let said = again(inside, &env).unwrap();
        assert_eq!(made(&said).0, 0, "{said}");
        assert!(
            said.contains("cuBLASLt: none: cuBLASLt (libcublasLt) was not"),
            "{said}"
        );
    }
}

#[test]
fn positions_of_64_bits() {
    // With the guard on, reads beyond the end of a tensor fault as well.
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
        again(inside, &wide);
    }
}

#[test]
fn attention_as_the_host_has_it() {
    again("inside_attention", &[("NOMINA_FAKE_ORDER", "backward")]);
}

#[test]
fn distances_as_the_host_has_them() {
    again("inside_distances", &[("NOMINA_FAKE_ORDER", "11")]);
}
