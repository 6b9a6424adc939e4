//! Reductions, scans, softmax, norms and cross entropy on a GPU, or on the emulated one, against the CPU: every
//! operator of these classes for every dtype it takes, along inner, outer, several and all dims, of many lengths, in
//! non-contiguous layouts, with NaN and infinities, and of empty tensors.
#![cfg(target_os = "linux")]

#[path = "cuda_reduce/calls.rs"]
mod calls;
#[path = "cuda_reduce/cases.rs"]
mod cases;
#[path = "cuda_reduce/compare.rs"]
mod compare;
#[path = "cuda/here.rs"]
mod here;
#[path = "cuda/sample.rs"]
mod sample;

use compare::Compared;
use here::device;
use nomina::cuda;

/// The orders in which blocks and threads run, and whether copies are delayed as long as allowed.
const SCHEDULES: [here::Schedule<'_>; 3] = [
    &[("NOMINA_FAKE_ORDER", "forward")],
    &[("NOMINA_FAKE_ORDER", "backward"), ("NOMINA_FAKE_LAZY", "1")],
    &[("NOMINA_FAKE_ORDER", "7")],
];

/// Runs comparisons on a device and counts them.
fn compare(what: impl Fn(&mut Compared)) {
    let mut compared = Compared::default();
    what(&mut compared);
    let by_host = cuda::by_host();
    for class in ["reduce", "softmax", "norm", "entropy", "scan"] {
        assert!(
            !by_host.contains_key(class),
            "{class} went by way of the host: {by_host:?}"
        );
    }
    here::cases(compared.count());
    let wrong = compared.wrong();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn operators() {
    let _here = device!(&SCHEDULES);
    compare(cases::every_operator_and_dtype);
}

#[test]
fn lengths() {
    let _here = device!(&SCHEDULES);
    compare(cases::every_length);
}

#[test]
fn layouts() {
    let _here = device!(&SCHEDULES);
    compare(cases::every_layout);
}

#[test]
fn few_results() {
    let _here = device!(&SCHEDULES);
    compare(cases::few_results);
}

#[test]
fn specials() {
    let _here = device!(&SCHEDULES);
    compare(|to| {
        cases::specials(to);
        cases::nothing(to);
        cases::other_dtypes(to);
    });
}
