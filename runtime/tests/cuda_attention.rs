//! Attention by warpgroups on a CUDA device compared with the host, and the detection of faults.
#![cfg(feature = "cuda")]

#[path = "../../tests/cuda/here.rs"]
mod here;
#[path = "../../tests/cuda/sample.rs"]
mod sample;

use here::{DEVICE, cases, device, name, needs_stand_in};
use nomina_core::DType;
use nomina_runtime::call::{Scores, attention, to_device, to_dtype};
use nomina_runtime::{Device, Raw, cuda};

/// Schedules whose copies arrive at once, late, and in between.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_CUDA_ATTENTION", "warpgroup")],
    &[
        ("NOMINA_CUDA_ATTENTION", "warpgroup"),
        ("NOMINA_FAKE_ORDER", "backward"),
        ("NOMINA_FAKE_FENCE", "1"),
    ],
    &[
        ("NOMINA_CUDA_ATTENTION", "warpgroup"),
        ("NOMINA_FAKE_ORDER", "7"),
    ],
];

/// Creates numbers between -1 and 1, without gaps on a device: views are made there, because a copy would remove them.
fn numbers(shape: &[usize], seed: usize, dtype: DType, device: Device) -> Raw {
    let count: usize = shape.iter().product();
    let number = |i: usize| {
        let hash = (i + 1)
            .wrapping_mul(2 * seed + 7)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 40) as f64 % 257.0 / 128.0 - 1.0
    };
    let host = Raw::from_vec((0..count).map(number).collect(), shape).unwrap();
    to_device(&to_dtype(&host, dtype).unwrap(), device).unwrap()
}

fn values(x: &Raw) -> Vec<f64> {
    let host = to_device(x, Device::Cpu).unwrap();
    to_dtype(&host, DType::F64).unwrap().to_vec().unwrap()
}

/// Compares the device with the host, at the precision of rounded weights; returns the number of attentions.
#[track_caller]
fn agree(what: &str, parts: impl Fn(Device) -> [Raw; 3], scores: Scores) -> usize {
    let [got, want] = [DEVICE, Device::Cpu].map(|device| {
        let [query, key, value] = parts(device);
        attention(&query, &key, &value, None, scores).unwrap()
    });
    assert_eq!(got.shape(), want.shape(), "{what}");
    let most = if want.dtype() == DType::F16 {
        2e-3
    } else {
        1e-2
    };
    for (at, (got, want)) in values(&got).iter().zip(values(&want)).enumerate() {
        let near = *got == want || (got - want).abs() <= most * want.abs().max(1.0);
        assert!(near, "{what}: element {at} is {got}, not {want}");
    }
    1
}

/// Checks that warpgroups have computed `count` attentions since the count `before`; a GPU is not forced to use them.
#[track_caller]
fn made(before: u64, count: usize) {
    if here::host::is_fake() {
        assert_eq!(by_warpgroups() - before, count as u64);
    }
}

/// Returns the number of attentions computed by warpgroups.
fn by_warpgroups() -> u64 {
    cuda::report(None).unwrap().attended_by_warpgroups
}

#[test]
fn sizes_as_the_host_has_them() {
    let _here = device!(&SCHEDULES);
    let before = by_warpgroups();
    let mut count = 0;
    let sizes = [
        // Queries, keys, features, width.
        [1, 1, 8, 8],
        [64, 64, 64, 64],
        [70, 130, 24, 32],
        [129, 40, 64, 64],
        [256, 384, 64, 64],
        [33, 65, 128, 128],
        [200, 300, 72, 128],
        [20, 520, 128, 40],
        [257, 128, 128, 66 - 2],
    ];
    for dtype in [DType::F16, DType::BF16] {
        for (turn, [length, source, features, width]) in sizes.into_iter().enumerate() {
            for causal in [false, true] {
                let what = format!("{dtype} {length} {source} {features} {width}, causal {causal}");
                // Heads between rows and columns, as a projection returns them, or before both.
                let of = |rows, cols, seed, device| match turn % 2 {
                    0 => numbers(&[2, rows, 3, cols], seed, dtype, device)
                        .transpose(1, 2)
                        .unwrap(),
                    _ => numbers(&[2, 3, rows, cols], seed, dtype, device),
                };
                let parts = |device| {
                    [
                        of(length, features, 1, device),
                        of(source, features, 2, device),
                        of(source, width, 3, device),
                    ]
                };
                let scale = (turn % 3 == 0).then_some(0.7);
                let scores = Scores {
                    causal,
                    scale,
                    grouped: false,
                };
                count += agree(&what, parts, scores);
            }
        }
    }
    cases(count);
    made(before, count);
}

#[test]
fn layouts_as_the_host_has_them() {
    let _here = device!(&SCHEDULES);
    let before = by_warpgroups();
    let plain = Scores::default();
    let of = |shape: &[usize], seed, device| numbers(shape, seed, DType::BF16, device);
    let query = |device| of(&[2, 3, 80, 64], 1, device);
    // One matrix of keys for all heads; one of values for each; rows with gaps; a part of longer rows.
    let shared = |device| {
        let one = of(&[2, 1, 150, 64], 2, device);
        one.expand(&[2, 3, 150, 64]).unwrap()
    };
    let value = |device| of(&[150, 64], 3, device);
    let wide = |device| of(&[2, 3, 150, 96], 4, device).narrow(3, 16, 64).unwrap();
    let second = |device| of(&[2, 3, 300, 64], 5, device).narrow(2, 40, 150).unwrap();
    type Made<'a> = &'a dyn Fn(Device) -> Raw;
    let keys: [Made<'_>; 3] = [&shared, &wide, &second];
    let values: [Made<'_>; 3] = [&value, &wide, &second];
    let mut count = 0;
    for key in keys {
        for value in values {
            let parts = |device| [query(device), key(device), value(device)];
            count += agree("layouts", parts, plain);
        }
    }
    // Fewer heads of keys, each shared by several heads of queries.
    let grouped = Scores {
        grouped: true,
        causal: true,
        scale: None,
    };
    let few = |device| {
        let of = |heads, rows, seed| of(&[2, heads, rows, 64], seed, device);
        [of(6, 80, 6), of(2, 100, 7), of(2, 100, 8)]
    };
    count += agree("grouped", few, grouped);
    made(before, count);
    // Other kernels compute cases that the copy engine does not support: rows from an odd address on, columns, too many
    // dims, a negative scale, which reverses the order of scores.
    let odd = |device| of(&[2, 3, 150, 97], 9, device).narrow(3, 1, 64).unwrap();
    let columns = |device| of(&[2, 3, 64, 150], 10, device).transpose(2, 3).unwrap();
    let more = |device| {
        [[3, 2, 2, 3], [3, 2, 1, 3], [1, 2, 2, 3]]
            .map(|[a, b, c, d]| of(&[a, b, c, d, 70, 32], 11, device))
    };
    let turned = Scores {
        scale: Some(-0.5),
        ..plain
    };
    for other in 0..4 {
        let parts = |device| match other {
            0 => [query(device), odd(device), shared(device)],
            1 => [query(device), shared(device), columns(device)],
            2 => more(device),
            _ => [query(device), shared(device), wide(device)],
        };
        cases(agree(
            "by others",
            parts,
            if other == 3 { turned } else { plain },
        ));
        made(before, count);
    }
    cases(count);
}

#[test]
#[ignore = "run by the tests below, with a device"]
fn inside_default() {
    let _here = device!(&[]);
    for features in [64, 128] {
        // 3 are too few for two warpgroups.
        for queries in [65, 3] {
            let parts = |device| {
                [queries, 400, 400]
                    .map(|rows| numbers(&[1, 2, rows, features], rows, DType::BF16, device))
            };
            cases(agree("default", parts, Scores::default()));
        }
    }
    println!("{}", cuda::report(None).unwrap());
}

/// Returns the report of a device of compute capability 9.0 after `inside_default`, in this environment.
fn told(env: here::Schedule<'_>) -> Option<String> {
    let said = here::again("inside_default", env)?;
    let line = said.lines().find(|line| line.starts_with("attention: "));
    Some(line.expect("a report").to_owned())
}

#[test]
fn a_device_is_tried_and_the_environment_chooses() {
    if !needs_stand_in(name!(), "another device has other kernels") {
        return;
    }
    let Some(line) = told(&[]) else {
        return;
    };
    assert_eq!(line, "attention: 2 by warpgroups, 2 by other kernels");
    let chosen = |who| told(&[("NOMINA_CUDA_ATTENTION", who)]).unwrap();
    assert_eq!(
        chosen("warpgroup"),
        "attention: 4 by warpgroups, 0 by other kernels"
    );
    let warp = "attention: 0 by warpgroups, 4 by other kernels (no warpgroups: NOMINA_CUDA_ATTENTION=warp)";
    assert_eq!(chosen("warp"), warp);
}

/// Faults that make results wrong: a text of the kernel, and its replacement.
const WRONG: [&str; 7] = [
    // Descriptors: groups of rows, adjacent tiles, the features of a step.
    "EIGHT_ROWS = 1024=>EIGHT_ROWS = 512",
    "tile_bytes(16), TILE)=>tile_bytes(16), 1024)",
    "step % 4 * 32=>step % 4 * 16",
    // No wait for values; they are overwritten while they are multiplied.
    "barrier_wait(room.value_full(nth), phase(nth, ROOM), job.patience);=>",
    "multiplied<0>();\n        if (some) leave(room.value_free(nth - 1));=>if (some) leave(room.value_free(nth - 1)); multiplied<0>();",
    // Keys after the last one, and keys later than the query, are not masked.
    "job.source - key;=>KEYS;",
    "job.causal && own < key + most=>false",
];

/// Faults that the CPU emulation of the GPU detects, with its messages.
const SEEN: [(&str, &str); 8] = [
    ("    multiply_fence();=>", "without wgmma.fence"),
    ("multiplied<1>();=>", "sums change in registers"),
    (
        "multiplied<0>();\n        if=>if",
        "a left matrix changes in registers",
    ),
    ("phase(nth, ROOM) ^ 1=>phase(nth, ROOM)", "nobody can go on"),
    (
        "barrier_expect(full, MATRIX)=>barrier_expect(full, 2 * MATRIX)",
        "nobody can go on",
    ),
    ("leave(room.key_free(nth + 1));=>", "nobody can go on"),
    (
        "if (group == 1) turn_give=>if (group == 2) turn_give",
        "nobody can go on",
    ),
    ("SWIZZLE_128 = 1=>SWIZZLE_128 = 2", "another swizzle"),
];

#[test]
fn a_trial_finds_what_is_wrong() {
    if !needs_stand_in(name!(), "faults are put in there") {
        return;
    }
    for fault in sample::some(WRONG) {
        let Some(line) = told(&faulty(fault)) else {
            return;
        };
        assert!(line.contains("wrong on this device"), "{fault}: {line}");
    }
}

fn faulty(fault: &str) -> [(&str, &str); 3] {
    let cache = ("NOMINA_CUDA_CACHE", "0");
    [
        ("NOMINA_FAKE_FAULT", fault),
        ("NOMINA_FAKE_ORDER", "backward"),
        cache,
    ]
}

#[test]
fn the_stand_in_sees_what_a_device_would_not_forgive() {
    if !needs_stand_in(name!(), "faults are put in there") || here::host::fakes().is_err() {
        return;
    }
    for (fault, text) in sample::some(SEEN) {
        let args = [
            "--exact",
            "inside_default",
            "--include-ignored",
            "--nocapture",
        ];
        let output = here::host::rerun_with_fake(&args, &faulty(fault)).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains(text),
            "{fault}: {said}"
        );
    }
}
