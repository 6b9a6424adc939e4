//! Errors end on all ranks, and name the rank, the line and the fix.

use nomina_mesh::prelude::*;

dims! { N, C }
mesh! { Line: Data }
mesh! { Grid: Rows, Columns }

fn x(mesh: &Mesh<Line<Whole>>, rows: usize) -> Sharded<(N,), Line<Pending>> {
    let all: Tensor<(N,)> = Tensor::ones([rows]);
    mesh.whole(all).pend(Data)
}

fn failed<V: Send>(program: impl Fn(Mesh<Line<Whole>>) -> Result<V> + Sync) -> Error {
    match Line::threads([3], program) {
        Ok(_) => panic!("the program ended well"),
        Err(error) => error,
    }
}

#[test]
fn another_order_is_an_error_with_both_lines() {
    let error = failed(|mesh| {
        let pending = x(&mesh, 4);
        if mesh.rank(Data) == 1 {
            pending.try_reduce_scatter(Data, N).map(drop)
        } else {
            pending.try_all_reduce(Data).map(drop)
        }
    });
    assert_eq!(error.kind(), ErrorKind::Mesh);
    let text = error.to_string();
    assert!(
        text.contains("rank 0 all_reduce(Data) by Add of f32 (N=4)"),
        "{text}"
    );
    assert!(
        text.contains("rank 1 reduce_scatter(Data) by Add of f32 (N=4)"),
        "{text}"
    );
    assert_eq!(text.matches("faults.rs:").count(), 2, "{text}");
}

#[test]
fn other_sizes_are_an_error() {
    let error = failed(|mesh| x(&mesh, 4 + mesh.rank(Data)).try_all_reduce(Data).map(drop));
    let text = error.to_string();
    assert!(text.contains("(N=4)") && text.contains("(N=5)"), "{text}");
}

#[test]
fn a_panic_is_the_error_of_all() {
    let error = failed(|mesh| {
        assert!(mesh.rank(Data) != 2, "rank two is tired");
        x(&mesh, 4).try_all_reduce(Data).map(drop)
    });
    let text = error.to_string();
    assert!(
        text.contains("rank 2 panicked") && text.contains("rank two is tired"),
        "{text}"
    );
}

#[test]
fn a_rank_that_ends_early_keeps_nobody_waiting() {
    let error = failed(|mesh| match mesh.rank(Data) {
        0 => Err(Error::new(ErrorKind::Argument, "program", "enough")),
        _ => x(&mesh, 4).try_all_reduce(Data).map(drop),
    });
    assert!(error.to_string().contains("enough"), "{error}");
}

#[test]
fn a_rank_that_goes_home_is_missed() {
    // The rank returns a value, so it has no error itself; the others would wait for a partner that never comes.
    let error = failed(|mesh| match mesh.rank(Data) {
        0 => Ok(()),
        _ => x(&mesh, 4).try_all_reduce(Data).map(drop),
    });
    assert!(error.to_string().contains("rank 0"), "{error}");
}

#[test]
fn what_types_cannot_see_is_an_error() {
    let error = failed(|mesh| {
        let x: Sharded<(N,), Line<Split<N>>> = mesh.zeros([5])?;
        let y: Sharded<(N,), Line<Split<N>>> = mesh.zeros([4])?;
        x.try_add(&y).map(drop)
    });
    assert!(error.to_string().contains("split dim `N`"), "{error}");
    // A dim of size 1 is not broadcast where it is split.
    let error = failed(|mesh| {
        let x: Sharded<(N,), Line<Split<N>>> = mesh.zeros([5])?;
        let y: Sharded<(N,), Line<Split<N>>> = mesh.zeros([1])?;
        x.try_add(&y).map(drop)
    });
    assert_eq!(error.kind(), ErrorKind::Shape);
    let error = failed(|mesh| {
        let x: Sharded<(N, C), Line<Split<C>>> = mesh.zeros([2, 5])?;
        let w: Sharded<(C,), Line<Split<C>>> = mesh.zeros([4])?;
        x.try_contract(&w, across(C)).map(drop)
    });
    assert!(error.to_string().contains("dim `C` has size 5"), "{error}");
    let error = failed(|mesh| {
        let x: Sharded<(N, C), Line<Split<N>>> = mesh.zeros([4, 2])?;
        dims! { Rows }
        x.try_flatten((N, C), Rows).map(drop)
    });
    assert!(
        error.to_string().contains("do not divide the size"),
        "{error}"
    );
}

#[test]
fn sizes_that_no_tensor_has_are_refused() {
    let error = failed(|mesh| {
        let x: Result<Sharded<(N, C), Line<Split<N>>>> = mesh.zeros([usize::MAX, 2]);
        x.map(drop)
    });
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
    for sizes in [0, 4096, usize::MAX] {
        assert!(Line::threads([sizes], |_| Ok(())).is_err());
    }
    assert!(Grid::threads([usize::MAX, 2], |_| Ok(())).is_err());
    assert!(Grid::simulate([0, 2], 1e-6, 1e9).is_err());
}

#[test]
fn two_meshes_of_one_type_do_not_meet() {
    let (one, other) = (Line::alone(), Line::alone());
    let x: Sharded<(N,), Line<Whole>> = one.zeros([2]).unwrap();
    let y: Sharded<(N,), Line<Whole>> = other.zeros([2]).unwrap();
    assert_eq!(x.try_add(&y).unwrap_err().kind(), ErrorKind::Mesh);
}

#[test]
fn faults_end_again_and_again() {
    for round in 0..100 {
        let error = failed(|mesh| {
            for step in 0..4 {
                if mesh.rank(Data) == round % 3 && step == round % 4 {
                    panic!("rank {} at step {step}", mesh.rank(Data));
                }
                x(&mesh, 8).try_all_reduce(Data).map(drop)?;
            }
            Ok(())
        });
        assert!(error.to_string().contains("panicked"), "{error}");
    }
}
