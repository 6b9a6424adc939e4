//! Embeds `kernels.pack`, which a checkout may lack.

use std::path::Path;
use std::{env, fs};

fn main() {
    let pack = fs::read("kernels.pack");
    // Cargo treats a missing file as changed each time, and would rebuild everything that depends on this crate.
    let watched = if pack.is_ok() { "kernels.pack" } else { "." };
    println!("cargo::rerun-if-changed={watched}");
    // Cargo writes this file into packages.
    if pack.is_err() && Path::new(".cargo_vcs_info.json").exists() {
        println!(
            "cargo::warning=a package without kernels: `cargo xtask cuda-kernels` makes them before it is published"
        );
    }
    let pack = pack.unwrap_or_default();
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("kernels.pack"), pack).expect("cargo's folder takes a file");
}
