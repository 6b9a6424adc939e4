//! A pack of the kernels that the models ask for, compiled by the emulated GPU.

use std::fs;
use std::path::PathBuf;

use nomina_runtime::cuda::catalog;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use nomina::{DynTensor, cuda};

use super::here::name;
use super::*;

/// Returns the folder of the kernels that the models asked for; `cargo xtask cuda-kernels` compiles
/// them for GPUs.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels-shipped")
}

#[test]
#[ignore = "run by the tests below"]
fn inside() {
    a_gpt_of_characters();
    convolutions();
    recurrent_layers();
    halves::models_of_16_bit_floats();
    println!("{}", cuda::report(None).unwrap());
}

#[test]
#[ignore = "run by the test below, with the cache of all tests"]
fn inside_and_packed() {
    inside();
    let (cache, to) = (
        PathBuf::from(std::env::var_os("NOMINA_CUDA_CACHE").unwrap()),
        folder(),
    );
    fs::create_dir_all(&to).unwrap();
    let mut modules = Vec::new();
    for module in catalog::used(0).unwrap() {
        for file in [module.file(90), format!("{}.cu", module.file(90))] {
            fs::copy(cache.join(&file), to.join(&file)).unwrap();
        }
        modules.extend(module.shipped());
    }
    for (name, some) in [("all", &modules[..]), ("less", &modules[1..])] {
        let compress = |block: &[u8]| Ok(compress_to_vec(block, CompressionLevel::Fastest));
        let pack = nomina_cuda_kernels::write(some, compress).unwrap();
        fs::write(to.with_extension(name), pack).unwrap();
    }
}

#[test]
fn with_a_pack_nothing_is_compiled_but_what_it_lacks() {
    if !here::needs_stand_in(name!(), "its kernels are compiled by tests") {
        return;
    }
    let _ = fs::remove_dir_all(folder());
    if here::again("shipped::inside_and_packed", &[]).is_none() {
        return;
    }
    let count = fs::read_dir(folder()).unwrap().count() / 2;
    assert!(count > 50, "{count} modules");
    let file = |kind: &str| folder().with_extension(kind).to_str().unwrap().to_owned();
    let run = |pack: &str, libraries: &[(&str, &str)]| {
        let fixed = [("NOMINA_CUDA_KERNELS", pack), ("NOMINA_CUDA_CACHE", "0")];
        here::again("shipped::inside", &[&fixed, libraries].concat()).unwrap()
    };
    // Without a compiler.
    let without = here::host::without("libnvrtc").unwrap();
    let said = run(
        &file("all"),
        &[("LD_LIBRARY_PATH", without.to_str().unwrap())],
    );
    assert!(
        said.contains(&format!("compiled kernels: {count} modules")),
        "{said}"
    );
    assert!(said.contains("compiler: none: "), "{said}");
    let said = run(&file("less"), &[("NOMINA_FAKE_REPORT", "1")]);
    assert!(said.contains("fake nvrtc: 1 modules compiled"), "{said}");
}

/// A pack that is invalid, truncated or missing is reported, and programs continue without it.
#[test]
fn a_pack_that_is_torn_is_told() {
    if !here::needs_stand_in(name!(), "its kernels are compiled by tests") {
        return;
    }
    let code = |block: &[u8]| Ok(compress_to_vec(block, CompressionLevel::Fastest));
    let mut pack = nomina_cuda_kernels::write(&[(1, vec![2; 999])], code).unwrap();
    let file = folder().with_extension("torn");
    let said = |pack: &[u8]| {
        fs::write(&file, pack).unwrap();
        let env = [("NOMINA_CUDA_KERNELS", file.to_str().unwrap())];
        here::again("shipped::inside_torn", &env)
    };
    let Some(whole) = said(&pack) else {
        return;
    };
    assert!(whole.contains("compiled kernels: 1 modules"), "{whole}");
    assert!(
        said(&pack[1..])
            .unwrap()
            .contains("none: the pack is not used: it is no pack")
    );
    assert!(
        said(&pack[..pack.len() - 1])
            .unwrap()
            .contains("none: the pack is not used: it is torn")
    );
    *pack.last_mut().unwrap() ^= 1;
    assert!(
        said(&pack)
            .unwrap()
            .contains("none: 1 blocks of the pack are corrupt")
    );
}

#[test]
#[ignore = "run by the test above"]
fn inside_torn() {
    let _here = device!(&[]);
    let x = DynTensor::options().device(DEVICE).ones(&[64], ()).unwrap();
    assert_eq!(x.sum(..).unwrap().item().unwrap().to_f64(), 64.0);
    println!("{}", cuda::report(None).unwrap());
    here::cases(1);
}
