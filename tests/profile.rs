//! The records of `profile`: operators, the dims of their results, calls, bytes.

use nomina::prelude::*;
use nomina::{Profile, profile};

dims! { N, C, K }

/// Returns the operator, dims, calls and bytes of each row, in alphabetical order.
fn rows(profile: &Profile) -> Vec<(&str, &str, usize, usize)> {
    let rows = profile.rows().iter();
    let mut rows: Vec<_> = rows
        .map(|row| (row.op, row.dims.as_str(), row.calls, row.bytes))
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn a_row_is_an_operator_and_the_dims_of_its_result() {
    let x = Tensor::<(N, C)>::ones([200, 30]);
    let w = Tensor::<(C, K)>::ones([30, 4]);
    let (mean, seen) = profile(|| {
        for _ in 0..3 {
            let _ = x.matmul(&w);
        }
        (&x + x.exp()).sum(N)
    });
    assert_eq!(mean.size(C), 30);
    assert_eq!(
        rows(&seen),
        [
            ("add", "(N=200, C=30)", 1, 0),
            ("exp", "(N=200, C=30)", 1, 24_000),
            ("matmul", "(N=200, K=4)", 3, 9600),
            ("sum", "(C=30)", 1, 120),
        ]
    );
    assert!(
        seen.rows()
            .iter()
            .all(|row| row.time > std::time::Duration::ZERO)
    );
    let times = seen.rows().iter().map(|row| row.time);
    assert!(times.is_sorted_by(|a, b| a >= b));
}

#[test]
fn small_tensors_and_those_of_the_run_time_are_seen_and_compute_the_same() {
    let (x, y) = (tensor!([[1., 2.], [3., 4.]]; N, C), tensor!([0.5, 0.25]; C));
    let compute = || (&x * &y).sqrt().to_dyn().add(&x.to_dyn()).unwrap();
    let quick = compute();
    let (slow, seen) = profile(compute);
    assert!(slow.equal(&quick).unwrap());
    let dims = "(N=2, C=2)";
    assert_eq!(
        rows(&seen),
        [
            ("add", dims, 1, 16),
            ("mul", dims, 1, 16),
            ("sqrt", dims, 1, 16)
        ]
    );
    let (_, seen) = profile(|| {
        let x = DynTensor::ones(&[3, 4], names!["N", _]).unwrap();
        let mut z = x.exp().unwrap();
        z.add_(&x).unwrap();
        let _ = DynTensor::zeros(&[5], ()).unwrap();
    });
    let some = rows(&seen);
    assert!(some.contains(&("exp", "(N=3, _=4)", 1, 48)), "{some:?}");
    assert!(some.contains(&("add", "(N=3, _=4)", 1, 0)), "{some:?}");
    assert!(some.contains(&("full", "(_=5)", 1, 20)), "{some:?}");
}

#[test]
fn backward_is_in_the_table() {
    let x = Tensor::<(N, C)>::ones([50, 30]).with_grad();
    let w = Tensor::<(C, K)>::ones([30, 4]).with_grad();
    let (_, seen) = profile(|| x.matmul(&w).square().sum(..).backward());
    let calls: usize = seen
        .rows()
        .iter()
        .filter(|row| row.op == "matmul")
        .map(|row| row.calls)
        .sum();
    assert_eq!(calls, 3, "{seen}");
    // Gradients inside the backward pass have no names.
    let without = |row: &&nomina::profile::Row| row.op == "matmul" && row.dims.is_empty();
    assert_eq!(
        seen.rows()
            .iter()
            .filter(without)
            .map(|row| row.calls)
            .sum::<usize>(),
        2,
        "{seen}"
    );
}

#[test]
fn only_this_thread_and_only_meanwhile() {
    let x = Tensor::<(N,)>::ones([10_000]);
    let run = || drop(x.exp());
    run();
    let (inner, seen) = profile(|| {
        std::thread::scope(|scope| {
            scope.spawn(run);
        });
        profile(run).1
    });
    assert_eq!(rows(&inner), [("exp", "(N=10000)", 1, 40_000)]);
    assert_eq!(rows(&seen), []);
    let caught = std::panic::catch_unwind(|| profile(|| panic!("on purpose")));
    assert!(caught.is_err());
    run();
    assert!(!nomina::profile::is_on());
    let ((), seen) = profile(run);
    assert_eq!(seen.rows()[0].calls, 1);
}

/// A thread-local value that runs operators in its destructor.
struct Last(std::sync::mpsc::Sender<Profile>);

impl Drop for Last {
    fn drop(&mut self) {
        let (_, seen) = profile(|| Tensor::<(N,)>::ones([10_000]).exp());
        self.0.send(seen).unwrap();
    }
}

thread_local! {
    static FIRST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn a_thread_profiles_while_it_ends() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        // Registered before the library's thread-locals, so dropped after them.
        FIRST.set(Some(Last(sender)));
        profile(|| Tensor::<(N,)>::ones([10_000]).exp());
    });
    thread.join().unwrap();
    let seen = receiver.recv().unwrap();
    assert!(seen.rows().iter().any(|row| row.op == "exp"), "{seen}");
}

#[test]
fn the_table_has_a_line_a_row_and_one_for_all() {
    let x = Tensor::<(N,)>::ones([10_000]);
    let (_, seen) = profile(|| (x.exp(), x.sum(..)));
    let text = seen.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("operator  dims "), "{text}");
    assert!(
        lines[3].starts_with("all ") && lines[3].ends_with("40004"),
        "{text}"
    );
    assert!(
        lines.iter().all(|line| line.len() == lines[0].len()),
        "{text}"
    );
    assert_eq!(profile(|| ()).1.to_string().lines().count(), 2);
}
