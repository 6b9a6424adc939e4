//! Libraries and compiled kernels: each kernel is compiled once, and cached kernels need no compiler.

use std::fs;
use std::path::{Path, PathBuf};

use nomina::{DynTensor, cuda};
use nomina_runtime::cuda::catalog;

use super::here::{self, DEVICE, device, name};

#[test]
fn report() {
    let _here = device!(&[&[]]);
    println!("{}", cuda::report(None).unwrap());
    here::cases(1);
}

/// Compares one operator of each kind with the host: the first kernels that programs usually ask for.
#[test]
fn twenty_operators() {
    let _here = device!(&[&[]]);
    let before = catalog::unlisted(0).unwrap();
    let data =
        |shift: usize| (0..96 * 64).map(move |i| ((i * 37 + shift) % 101) as f32 / 16.0 - 2.0);
    let of = |shift| DynTensor::from_vec(data(shift).collect(), &[96, 64], ()).unwrap();
    let (x, y) = (of(0), of(13));
    type Call = fn(&DynTensor, &DynTensor) -> nomina::Result<DynTensor>;
    let calls: [(&str, Call); 20] = [
        ("add", |x, y| x.add(y)),
        ("mul", |x, y| x.mul(y)),
        ("div", |x, y| x.div(&y.abs()?.add(1)?)),
        ("exp", |x, _| x.exp()),
        ("tanh", |x, _| x.tanh()),
        ("maximum", |x, y| x.maximum(y)),
        ("where", |x, y| x.gt(y)?.where_cond(x, y)),
        ("sum of rows", |x, _| x.sum(1)),
        ("sum of columns", |x, _| x.sum(0)),
        ("mean", |x, _| x.mean(..)),
        ("var", |x, _| x.var(1)),
        ("amax", |x, _| x.amax(0)),
        ("argmax", |x, _| x.argmax(1)),
        ("softmax", |x, _| x.softmax(1)),
        ("cumsum", |x, _| x.cumsum(0)),
        ("sort", |x, _| Ok(x.sort(1)?.0)),
        ("matmul", |x, y| x.matmul(&y.t()?)),
        ("transpose", |x, _| x.t()?.contiguous()),
        ("cat", |x, y| DynTensor::cat(&[x, y], 0)),
        ("nonzero", |x, _| x.nonzero()),
    ];
    let there = [&x, &y].map(|x| x.to_device(DEVICE).unwrap());
    for (name, call) in calls {
        let (got, want) = (call(&there[0], &there[1]).unwrap(), call(&x, &y).unwrap());
        assert_eq!(
            (got.device(), got.shape()),
            (DEVICE, want.shape()),
            "{name}"
        );
        let numbers = |x: &DynTensor| x.to_dtype(nomina::DType::F64)?.to_vec::<f64>();
        let (got, want) = (numbers(&got).unwrap(), numbers(&want).unwrap());
        for (at, (got, want)) in got.iter().zip(&want).enumerate() {
            let near = (got - want).abs() <= 1e-4 * (1.0 + want.abs());
            assert!(near, "{name}, element {at}: {got}, not {want}");
        }
        here::cases(1);
    }
    // A pack has the kernels of the list, so the first calls compile nothing. On a real GPU, other tests have asked for
    // kernels before, rarer ones included.
    let mut unlisted = catalog::unlisted(0).unwrap();
    unlisted.retain(|name| !before.contains(name));
    assert!(unlisted.is_empty(), "{unlisted:#?}");
}

/// Kernels that a run asked for can be compiled elsewhere under the names it looks for: a pack then lacks nothing.
#[test]
fn what_was_asked_for_can_be_compiled_elsewhere() {
    if !here::needs_stand_in(name!(), "its cache is that of tests") {
        return;
    }
    let cache = cache("asked");
    let kernels = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
    if here::again("libraries::twenty_operators", &[kernels]).is_none() {
        return;
    }
    let asked = catalog::asked(&cache).unwrap();
    let mut names: Vec<String> = asked.iter().map(|module| module.file(90)).collect();
    names.sort();
    assert_eq!(names, kept(&cache));
    assert!(names.len() > 20, "{names:?}");
    // A module without its source is an error, and is not skipped.
    fs::remove_file(cache.join(&names[0]).with_extension("cu")).unwrap();
    let error = catalog::asked(&cache).unwrap_err().to_string();
    assert!(error.contains(&names[0]), "{error}");
}

/// Returns the modules in a cache, without their sources.
fn kept(cache: &Path) -> Vec<String> {
    let files = fs::read_dir(cache).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
    names.sort();
    names
}

/// Returns an empty folder for kernels.
fn cache(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{name}"));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Parses the number of modules that the compiler reports.
fn compiled(said: &str) -> usize {
    let line = said.lines().find(|line| line.starts_with("fake nvrtc: "));
    line.map_or(0, |line| line.split(' ').nth(2).unwrap().parse().unwrap())
}

#[test]
#[ignore = "run by the tests below, with a cache of their own"]
fn inside() {
    let _here = device!(&[]);
    // Threads ask for the same modules at once, and a sort asks for several kernels of one module.
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
    let files = kept(&cache).len();
    assert!(files >= 2, "{files} files");
    assert_eq!(compiled(&said), files, "{said}");
    let without = here::host::without("libnvrtc").unwrap();
    let path = ("LD_LIBRARY_PATH", without.to_str().unwrap());
    here::again("libraries::inside", &[kernels, path]);
}

#[test]
#[ignore = "run by the test below, with an older driver"]
fn inside_older() {
    let _here = device!(&[]);
    here::cases(1);
    println!("{}", cuda::report(None).unwrap());
    let x = DynTensor::options().device(DEVICE).ones(&[64, 64], ());
    let sum = x.and_then(|x| x.matmul(&x)?.sum(..)?.item());
    match sum {
        Ok(sum) => println!("sum: {}", sum.to_f64()),
        Err(error) => println!("error: {error}"),
    }
}

/// A compiler or a cuBLASLt newer than the driver gives an error that says which versions fit.
#[test]
fn libraries_that_do_not_go_with_the_driver() {
    if !here::needs_stand_in(name!(), "it has one driver") {
        return;
    }
    let cache = cache("older");
    let kernels = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
    let older = |driver| {
        let env = [kernels, ("NOMINA_FAKE_CUDA", driver)];
        here::again("libraries::inside_older", &env)
    };
    let Some(said) = older("12040") else {
        return;
    };
    for words in [
        "driver: CUDA 12.4",
        "libnvrtc is for CUDA 13.0, the driver for 12.4",
        "`nvidia-cuda-nvrtc-cu12`",
        "libcublasLt is for CUDA 13.0, the driver for 12.4",
        "`nvidia-cublas-cu12`",
        "\nerror: ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    for driver in ["14010", "13000"] {
        let said = older(driver).unwrap();
        assert!(said.contains("cuBLASLt: CUDA 13.0"), "{said}");
        assert!(said.contains("sum: 262144"), "{said}");
    }
    // Cached kernels need no matching compiler, and the project's own kernels multiply.
    let env = [kernels, ("NOMINA_CUDA_MATMUL", "own")];
    here::again("libraries::inside_older", &env).unwrap();
    let said = older("12040").unwrap();
    assert!(said.contains("sum: 262144"), "{said}");
    assert!(said.contains("compiler: none: "), "{said}");
}
