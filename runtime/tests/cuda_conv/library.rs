//! Convolutions by cuDNN: on the CPU emulation of the GPU, a fake that computes one number at a time, refuses, fails or
//! is missing.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use nomina_core::DType;
use nomina_runtime::call::to_device;
use nomina_runtime::grad::vjp;
use nomina_runtime::{Device, Raw, cuda};

use super::common::{agree, apart, channels_last, convolved, numbers, unit};
use super::convolve::{Case, SIZES};
use crate::here::{self, device, name};
use crate::sample::some;

/// The dtypes that the library supports.
const DTYPES: [DType; 4] = [DType::F32, DType::F16, DType::F64, DType::BF16];

/// Checks the gradients of both operands, for a result's gradient in two layouts.
fn gradients(case: &Case, transposed: bool, operands: &[Raw]) -> usize {
    let out = case.call(transposed, operands).unwrap();
    let whole = numbers(out.shape(), out.dtype(), 5);
    let (mut count, near) = (0, convolved(out.dtype()));
    for seed in [channels_last(&whole), whole] {
        let all = [&operands[0], &operands[1], &seed];
        count += agree(&format!("gradients of {case:?}"), &all, near, |all| {
            let call = |both: &[Raw]| case.call(transposed, both);
            Ok(vjp(&call, &[&all[0], &all[1]], &all[2])?.1)
        });
    }
    count
}

#[test]
#[ignore = "run by the tests below, with a library that does what they say"]
fn inside() {
    let _here = device!(&[]);
    let mut cases = 0;
    for (size, kernel) in SIZES {
        for (channels, outs, groups) in [(3, 5, 1), (16, 12, 1), (8, 8, 4)] {
            for (stride, padding, dilation) in some([(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 2, 1)]) {
                let case = Case::new(channels, outs, size, kernel).groups(groups);
                let case = case.slides(stride, padding, dilation);
                for transposed in [false, true] {
                    let whole = case.operands(DType::F32, transposed);
                    for x in [channels_last(&whole[0]), apart(&whole[0]), whole[0].clone()] {
                        let all = [x, whole[1].clone()];
                        cases += case.check(transposed, &all);
                        cases += gradients(&case, transposed, &all);
                    }
                }
                cases += case.bias().both(DType::F32);
            }
            // Different padding at both ends, if the kernel size is even.
            let mut same = Case::new(channels, outs, size, kernel).groups(groups);
            same.padding = None;
            let all = same.operands(DType::F32, false);
            cases += same.check(false, &all) + gradients(&same, false, &all);
        }
    }
    for dtype in DTYPES {
        let case = Case::new(8, 9, &[6, 7], &[3, 2]).slides(2, 1, 1);
        cases += case.both(dtype);
        cases += gradients(&case, false, &case.operands(dtype, false));
        // A graph adds the bias of 16-bit floats to innermost channels, and rounds once.
        let case = case.groups(1).bias();
        let mut all = case.operands(dtype, false);
        all[0] = channels_last(&all[0]);
        cases += case.check(false, &all);
    }
    let mut empty = Case::new(4, 4, &[5, 5], &[3, 3]);
    empty.batch = 0;
    cases += empty.both(DType::F32);
    // Dtypes that the library does not support.
    for dtype in some([DType::I32, DType::C64]) {
        cases += Case::new(4, 8, &[6, 7], &[3, 3]).both(dtype);
    }
    here::cases(cases);
    println!("{}", cuda::report(None).unwrap());
}

/// Parses the last line of the fake library: the numbers of convolutions, of those with a bias, of plans chosen and read
/// from disk, and of descriptors at the end.
fn counted(said: &str) -> [usize; 5] {
    let mut lines = said.lines();
    let line = lines.find_map(|line| line.split_once("fake cudnn: "));
    let (_, line) = line.expect("a report of the library");
    let words = line.split(' ').filter_map(|word| word.parse().ok());
    words.collect::<Vec<_>>().try_into().expect("five numbers")
}

const REPORT: (&str, &str) = ("NOMINA_FAKE_REPORT", "1");

/// Returns an empty folder for compiled modules and plans.
fn cache(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("nomina-cudnn-{name}-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Returns the plans in a cache.
fn plan_files(cache: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(cache).unwrap().flatten();
    let plans = files.map(|file| file.path());
    plans
        .filter(|path| path.extension().is_some_and(|kind| kind == "plan"))
        .collect()
}

/// Parses a report: the number of convolutions by cuDNN, and by our own kernels.
fn made(said: &str) -> (usize, usize) {
    let mut lines = said.lines();
    let line = lines.find_map(|line| line.strip_prefix("convolutions: "));
    let words: Vec<&str> = line.expect("a report").split(' ').collect();
    (words[0].parse().unwrap(), words[3].parse().unwrap())
}

const LIBRARY: (&str, &str) = ("NOMINA_CUDA_CONV", "cudnn");

#[test]
fn by_the_library() {
    let Some(said) = here::again("library::inside", &[LIBRARY, ("NOMINA_FAKE_LAZY", "1")]) else {
        return;
    };
    let (library, own) = made(&said);
    // Integers and complex numbers, and what a GPU's library does not support.
    assert!(library > 300 && own < library / 4, "{said}");
    assert!(said.contains("cuDNN: 9."), "{said}");
    println!("{library} by cuDNN, {own} by our own kernels");
}

#[test]
fn where_the_library_has_no_way() {
    if !here::needs_stand_in(name!(), "cuDNN refuses what it does there") {
        return;
    }
    for refused in ["all", "late", "handle", "version"] {
        let cache = cache(refused);
        let kept = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
        let env = [LIBRARY, kept, REPORT, ("NOMINA_FAKE_CUDNN", refused)];
        let Some(said) = here::again("library::inside", &env) else {
            return;
        };
        assert!(matches!(made(&said), (0, 100..)), "{said}");
        // No descriptor outlives a refusal, and no plan one at execution.
        assert!(matches!(counted(&said), [0, 0, _, 0, 0]), "{said}");
        fs::remove_dir_all(cache).unwrap();
        let words = match refused {
            "handle" => "cuDNN: none: cuDNN does not start: CUDNN_STATUS_NOT_INITIALIZED",
            "version" => "cuDNN: none: libcudnn is cuDNN 0.89, but 9 is the oldest",
            _ => "cuDNN: 9.19",
        };
        assert!(said.contains(words), "{said}");
    }
    let own = [("NOMINA_CUDA_CONV", "own")];
    let said = here::again("library::inside", &own).unwrap();
    assert!(matches!(made(&said), (0, 100..)), "{said}");
    assert!(said.contains("cuDNN: none: NOMINA_CUDA_CONV=own"), "{said}");
}

/// Without its best proposals, the library computes everything by others.
#[test]
fn proposals_that_fail() {
    if !here::needs_stand_in(name!(), "cuDNN refuses what it does there") {
        return;
    }
    for refused in ["fused", "second", "serial"] {
        let cache = cache(refused);
        let kept = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
        let env = [LIBRARY, kept, REPORT, ("NOMINA_FAKE_CUDNN", refused)];
        let Some(said) = here::again("library::inside_every_kind", &env) else {
            return;
        };
        let [convolutions, biased, plans, from_disk, _] = counted(&said);
        assert_eq!(made(&said), (convolutions, 0), "{said}");
        assert_eq!((biased == 0, from_disk), (refused != "serial", 0), "{said}");
        assert!((10..=convolutions).contains(&plans), "{said}");
        assert_eq!(plan_files(&cache).is_empty(), refused == "serial");
        fs::remove_dir_all(cache).unwrap();
    }
}

#[test]
#[ignore = "run by the tests above and below, with libraries and caches of their own"]
fn inside_every_kind() {
    let _here = device!(&[]);
    let mut cases = 0;
    let case = Case::new(8, 12, &[6, 7], &[3, 3]).groups(2).slides(2, 1, 2);
    for dtype in DTYPES {
        let whole = case.clone().bias().operands(dtype, false);
        for x in [channels_last(&whole[0]), whole[0].clone()] {
            let all = [&x, &whole[1], &whole[2]];
            let near = if dtype.size() == 2 { unit(dtype) } else { 0.0 };
            cases += agree(&format!("{dtype:?} {case:?}"), &all, near, |all| {
                Ok(vec![case.call(false, all)?])
            });
        }
        cases += gradients(&case, false, &whole[..2]);
    }
    here::cases(cases);
    println!("{}", cuda::report(None).unwrap());
}

/// A plan is chosen once for each kind of convolution, and read from disk by the next process.
#[test]
fn plans_are_kept() {
    if !here::needs_stand_in(name!(), "cuDNN does not count") {
        return;
    }
    let cache = cache("kept");
    let kept = ("NOMINA_CUDA_CACHE", cache.to_str().unwrap());
    let again = || here::again("library::inside_every_kind", &[LIBRARY, kept, REPORT]);
    let Some(first) = again() else {
        return;
    };
    let [convolutions, biased, plans, from_disk, _] = counted(&first);
    // The gradients are computed twice.
    assert!(
        plans < convolutions && biased > 0 && from_disk == 0,
        "{first}"
    );
    let second = again().unwrap();
    let [all, with_bias, chosen, from_disk, _] = counted(&second);
    assert_eq!((all, with_bias), (convolutions, biased), "{second}");
    assert_eq!((chosen, from_disk), (0, plans), "{second}");
    // Another version of the library, and a damaged file.
    let newer = [LIBRARY, kept, REPORT, ("NOMINA_FAKE_CUDNN", "newer")];
    let newer = here::again("library::inside_every_kind", &newer).unwrap();
    assert_eq!(counted(&newer)[2..4], [plans, 0], "{newer}");
    for path in plan_files(&cache) {
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
    }
    let damaged = again().unwrap();
    assert_eq!(counted(&damaged)[2..4], [plans, 0], "{damaged}");
    fs::remove_dir_all(cache).unwrap();
}

/// A workspace that does not fit into the device's memory leaves the convolution to our own kernels.
#[test]
fn a_device_without_room_for_the_workspace() {
    if !here::needs_stand_in(name!(), "it has more memory") {
        return;
    }
    let env = [
        LIBRARY,
        ("NOMINA_CUDA_CACHE", "0"),
        ("NOMINA_FAKE_CUDNN", "hungry"),
        ("NOMINA_FAKE_MEMORY", "67108864"),
    ];
    let Some(said) = here::again("library::inside_every_kind", &env) else {
        return;
    };
    assert!(matches!(made(&said), (0, 10..)), "{said}");
}

#[test]
fn a_machine_without_the_library() {
    if !here::needs_stand_in(name!(), "its libraries are where they are") {
        return;
    }
    let Ok(folder) = here::host::without("libcudnn") else {
        return;
    };
    let path = ("LD_LIBRARY_PATH", folder.to_str().unwrap());
    let said = here::again("library::inside", &[LIBRARY, path]).unwrap();
    assert!(matches!(made(&said), (0, 100..)), "{said}");
    assert!(
        said.contains("cuDNN: none: cuDNN (libcudnn.so.9) was not found"),
        "{said}"
    );
}

#[test]
#[ignore = "run by the test below, with a library that fails"]
fn inside_broken() {
    let _here = device!(&[]);
    let case = Case::new(8, 9, &[6, 7], &[3, 2]);
    let there = |x: &Raw| to_device(x, Device::from(0)).unwrap();
    let operands: Vec<Raw> = case.operands(DType::F32, false).iter().map(there).collect();
    println!("error: {}", case.call(false, &operands).unwrap_err());
    here::cases(1);
}

/// A failure during the computation is reported; it is not a refusal.
#[test]
fn a_library_that_fails() {
    if !here::needs_stand_in(name!(), "cuDNN does not fail there") {
        return;
    }
    let env = [LIBRARY, ("NOMINA_FAKE_CUDNN", "broken")];
    let Some(said) = here::again("library::inside_broken", &env) else {
        return;
    };
    for words in [
        "error: conv2d: ",
        "cuDNN says CUDNN_STATUS_EXECUTION_FAILED",
        "NOMINA_CUDA_CONV=own",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
#[ignore = "run by the test below"]
fn inside_tf32() {
    let _here = device!(&[]);
    // Requires more than the ten mantissa bits of TF32.
    let x = Raw::from_vec(vec![1.0_f32 + 1.0 / 4096.0; 16 * 16 * 25], &[16, 16, 5, 5]).unwrap();
    let w = Raw::from_vec(vec![1.0_f32; 16 * 16 * 9], &[16, 16, 3, 3]).unwrap();
    let case = Case::new(16, 16, &[5, 5], &[3, 3]);
    let first = |device| {
        let all = [&x, &w].map(|x| to_device(x, device).unwrap());
        let out = to_device(&case.call(false, &all).unwrap(), Device::Cpu).unwrap();
        out.to_vec::<f32>().unwrap()[0]
    };
    let exact = first(Device::Cpu);
    assert_eq!(first(Device::from(0)), exact);
    cuda::allow_tf32(true);
    assert_ne!(first(Device::from(0)), exact);
    cuda::allow_tf32(false);
    assert_eq!(first(Device::from(0)), exact);
    here::cases(3);
}

#[test]
fn products_are_rounded_to_tf32_where_that_is_allowed() {
    if here::needs_stand_in(name!(), "not every device has it") {
        here::again("library::inside_tf32", &[]);
    }
}
