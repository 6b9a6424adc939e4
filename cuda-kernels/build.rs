//! Embeds `kernels.pack`. A checkout may lack it, a package may not.

use std::path::Path;
use std::{env, fs};

fn main() {
    let pack = fs::read("kernels.pack");
    // To cargo a file that is missing has changed each time, and all that depends on this would be built anew.
    let watched = if pack.is_ok() { "kernels.pack" } else { "." };
    println!("cargo::rerun-if-changed={watched}");
    let pack = match pack {
        Ok(pack) => pack,
        // Cargo writes this file into what it packages.
        Err(_) if !Path::new(".cargo_vcs_info.json").exists() => Vec::new(),
        Err(error) => panic!("kernels.pack, which `cargo xtask cuda-kernels` makes: {error}"),
    };
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("kernels.pack"), pack).expect("cargo's folder takes a file");
}
