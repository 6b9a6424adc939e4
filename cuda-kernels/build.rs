//! Embeds `kernels.pack`. A checkout may lack it, a package may not.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=kernels.pack");
    let pack = match fs::read("kernels.pack") {
        Ok(pack) => pack,
        // Cargo writes this file into what it packages.
        Err(_) if !Path::new(".cargo_vcs_info.json").exists() => Vec::new(),
        Err(error) => panic!("kernels.pack, which `cargo xtask cuda-kernels` makes: {error}"),
    };
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("kernels.pack"), pack).expect("cargo's folder takes a file");
}
