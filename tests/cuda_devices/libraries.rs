//! Libraries and what they made: kernels are compiled once, and then need no compiler.

use std::fs;
use std::path::PathBuf;

use nomina::DynTensor;

use super::here::{self, DEVICE, device, name};

/// An empty folder for kernels.
fn cache(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{name}"));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// How many modules the compiler says it has compiled.
fn compiled(said: &str) -> usize {
    let line = said.lines().find(|line| line.starts_with("fake nvrtc: "));
    line.map_or(0, |line| line.split(' ').nth(2).unwrap().parse().unwrap())
}

#[test]
#[ignore = "run by the tests below, with a cache of their own"]
fn inside() {
    let _here = device!(&[]);
    // Threads ask for the same modules at once, and a sort for several kernels of one.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let x: Vec<f32> = (0..5000).map(|i| ((i * 77) % 5000) as f32).collect();
                let x = DynTensor::from_vec(x, &[5000], ())
                    .and_then(|x| x.to_device(DEVICE))
                    .unwrap();
                let (sorted, _) = x.sort(0).unwrap();
                let want: Vec<f32> = (0..5000).map(|i| i as f32 + 1.0).collect();
                assert_eq!(sorted.add(1).unwrap().to_vec::<f32>().unwrap(), want);
                here::cases(1);
            });
        }
    });
}

#[test]
fn a_module_is_compiled_once_and_kept_for_machines_without_a_compiler() {
    if !here::needs_stand_in(name!(), "its compiler does not count") {
        return;
    }
    let cache = cache("kept");
    let kernels = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
    let report = ("NOMINA_FAKE_REPORT", "1");
    let Some(said) = here::again("libraries::inside", &[kernels, report]) else {
        return;
    };
    let files = fs::read_dir(&cache).unwrap().count();
    assert!(files >= 2, "{files} files");
    assert_eq!(compiled(&said), files, "{said}");
    let without = here::host::without("libnvrtc").unwrap();
    let path = ("LD_LIBRARY_PATH", without.to_str().unwrap());
    here::again("libraries::inside", &[kernels, path]);
    fs::remove_dir_all(without).unwrap();
}
