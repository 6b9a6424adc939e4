//! One rank of NCCL: arguments that do not fit the communicator are an error, and nothing is
//! started.
#![cfg(feature = "nccl")]

#[path = "../../tests/cuda/here.rs"]
mod here;

use here::{DEVICE, cases, device};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};
use nomina_runtime::call::{Communicator, to_device};
use nomina_runtime::{Device, Raw};

fn fine(own: Result<()>) -> Result<()> {
    own
}

/// Checks that a call fails and only tells the other ranks that it is not ready.
fn refused<V: std::fmt::Debug>(call: impl FnOnce(&mut bool) -> Result<V>) -> ErrorKind {
    let mut agreed = true;
    let kind = call(&mut agreed).unwrap_err().kind();
    assert!(!agreed, "the other ranks learn of it");
    cases(1);
    kind
}

#[test]
fn what_does_not_fit_is_refused() {
    let _here = device!(&[&[]]);
    let Ok(id) = Communicator::unique_id() else {
        println!("skipped: no NCCL");
        return cases(1);
    };
    for (rank, size, at) in [(1, 1, DEVICE), (0, 0, DEVICE), (0, 1, Device::Cpu)] {
        assert!(Communicator::new(id, rank, size, at).is_err());
        cases(1);
    }
    let one = Communicator::new(id, 0, 1, DEVICE).unwrap();
    let host = Raw::from_vec(vec![1.0_f32, 2.0, 3.0], &[3]).unwrap();
    let x = to_device(&host, DEVICE).unwrap();
    let short = to_device(&Raw::from_vec(vec![1_i16], &[1]).unwrap(), DEVICE).unwrap();
    let huge = vec![usize::MAX, 2];
    macro_rules! note {
        ($agreed:ident) => {
            |own: Result<()>| {
                *$agreed = own.is_ok();
                own
            }
        };
    }
    let found = [
        refused(|ok| one.all_reduce(Op::Add, &host, note!(ok))),
        refused(|ok| one.all_reduce(Op::Add, &short, note!(ok))),
        refused(|ok| one.all_reduce(Op::Maximum, &x, note!(ok))),
        refused(|ok| one.reduce_scatter(Op::Add, &[], note!(ok))),
        refused(|ok| one.reduce_scatter(Op::Add, &[x.clone(), short.clone()], note!(ok))),
        refused(|ok| one.broadcast(&x, 1, note!(ok))),
        refused(|ok| one.exchange(&[(1, x.clone())], &[], DType::F32, note!(ok))),
        refused(|ok| one.exchange(&[], &[(0, huge)], DType::F32, note!(ok))),
    ];
    use ErrorKind::{Argument, DType as Kind, Device as Place};
    assert_eq!(
        found[..7],
        [Place, Kind, Kind, Argument, Argument, Argument, Argument]
    );

    // Another rank that cannot take part: its error is returned, and nothing is started.
    let other = |_: Result<()>| Err(Error::new(ErrorKind::Mesh, "mesh", "rank 1 cannot"));
    assert_eq!(
        one.all_gather(&x, other).unwrap_err().kind(),
        ErrorKind::Mesh
    );

    let all = [
        one.all_reduce(Op::Add, &x, fine).unwrap(),
        one.reduce_scatter(Op::Mul, std::slice::from_ref(&x), fine)
            .unwrap(),
        one.broadcast(&x, 0, fine).unwrap(),
        one.all_gather(&x, fine).unwrap().remove(0),
    ];
    for found in all {
        assert_eq!(found.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0]);
        cases(1);
    }
    let none = to_device(&Raw::from_vec(Vec::<f32>::new(), &[0]).unwrap(), DEVICE).unwrap();
    assert_eq!(one.all_reduce(Op::Add, &none, fine).unwrap().numel(), 0);
}
