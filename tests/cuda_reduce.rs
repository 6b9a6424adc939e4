//! Reductions, scans, softmax, norms and cross entropy by the kernels of a device, run on the host that
//! stands for one, against the CPU: every operator of these classes for every dtype it takes, along
//! inner, outer, several and all dims, of many lengths, in other layouts, with NaN and infinities, and
//! of nothing.
#![cfg(target_os = "linux")]

#[path = "cuda_reduce/calls.rs"]
mod calls;
#[path = "cuda_reduce/cases.rs"]
mod cases;
#[path = "cuda_reduce/compare.rs"]
mod compare;
#[path = "cuda/host.rs"]
#[allow(dead_code)]
mod host;
#[path = "cuda/sample.rs"]
mod sample;

use compare::Compared;
use nomina::cuda;

/// In which orders blocks and threads are run, and whether copies wait as long as they may.
const SCHEDULES: [(&str, &str); 3] = [("forward", "0"), ("backward", "1"), ("7", "0")];

#[test]
fn as_the_host_in_every_schedule() {
    if host::is_fake() {
        return;
    }
    if let Err(why) = host::fakes() {
        eprintln!("cuda_reduce: left out: {why}");
        return;
    }
    for (order, lazy) in SCHEDULES {
        let env = [("NOMINA_FAKE_ORDER", order), ("NOMINA_FAKE_LAZY", lazy)];
        let output = host::rerun_with_fake(&["inside", "--nocapture"], &env).unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{order}: {said}\n{errors}");
        let counts = said.lines().filter_map(|line| {
            let count = line.strip_prefix("cuda_reduce: ")?;
            count.split(' ').next()?.parse::<usize>().ok()
        });
        let (parts, calls) = counts.fold((0, 0), |(parts, sum), n| (parts + 1, sum + n));
        assert_eq!(parts, 5, "{said}");
        println!("{order}, copies late {lazy}: {calls} calls are the host's");
    }
}

/// What runs with the fakes, and is counted.
fn inside(what: impl Fn(&mut Compared)) {
    if !host::is_fake() {
        return;
    }
    let mut compared = Compared::default();
    what(&mut compared);
    let by_host = cuda::by_host();
    for class in ["reduce", "softmax", "norm", "entropy", "scan"] {
        assert!(
            !by_host.contains_key(class),
            "{class} went by way of the host: {by_host:?}"
        );
    }
    println!("\ncuda_reduce: {} calls compared", compared.count());
    let wrong = compared.wrong();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn inside_operators() {
    inside(cases::every_operator_and_dtype);
}

#[test]
fn inside_lengths() {
    inside(cases::every_length);
}

#[test]
fn inside_layouts() {
    inside(cases::every_layout);
}

#[test]
fn inside_few_results() {
    inside(cases::few_results);
}

#[test]
fn inside_specials() {
    inside(|to| {
        cases::specials(to);
        cases::nothing(to);
        cases::other_dtypes(to);
    });
}
