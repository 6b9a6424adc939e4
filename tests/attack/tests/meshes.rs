//! Meshes: the same program gives the same tensors on all ranks, one thread per rank, and no rank waits for one that is
//! gone.

use nomina_mesh::optim::AdamW;
use nomina_mesh::prelude::*;

dims! { N, C }
mesh! { Line: Data }

type Leaf = Sharded<(N,), Line<Synced>>;

/// Returns the error of a program that fails on both ranks with the same error.
fn refused(program: impl Fn(&Mesh<Line<Whole>>, usize) -> nomina::Result<()> + Sync) -> String {
    let found = Line::threads([2], |mesh| {
        let error = program(&mesh, mesh.rank(Data)).expect_err("ranks that differ");
        assert_eq!(error.kind(), ErrorKind::Mesh, "{error}");
        Ok(error.to_string())
    });
    let found = found.expect("errors on both ranks");
    assert_eq!(found[0], found[1]);
    found[0].clone()
}

fn leaves(mesh: &Mesh<Line<Whole>>, has_gradient: [bool; 2]) -> nomina::Result<[Leaf; 2]> {
    let all = [
        mesh.parameter(Tensor::full([4], 1.0))?,
        mesh.parameter(Tensor::full([4], 2.0))?,
    ];
    for (leaf, has_gradient) in all.iter().zip(has_gradient) {
        if has_gradient {
            leaf.square().sum(N).backward();
        }
    }
    Ok(all)
}

#[test]
fn a_step_with_parameters_in_another_order_changes_nothing() {
    let text = refused(|mesh, rank| {
        let [mut one, mut two] = leaves(mesh, [true; 2])?;
        let mut optimizer = AdamW::new(Data, 0.1);
        let done = if rank == 0 {
            optimizer.try_step(&mut [&mut one, &mut two])
        } else {
            optimizer.try_step(&mut [&mut two, &mut one])
        };
        assert_eq!((one.to_vec(), two.to_vec()), (vec![1.0; 4], vec![2.0; 4]));
        done
    });
    assert!(
        text.contains("parameter 1") && text.contains("meshes.rs"),
        "{text}"
    );
}

#[test]
fn a_gradient_on_one_rank_alone_is_an_error_on_both() {
    for others in [true, false] {
        let text = refused(|mesh, rank| {
            let [mut one, mut two] = leaves(mesh, [others, rank == 0])?;
            AdamW::new(Data, 0.1).try_step(&mut [&mut one, &mut two])
        });
        assert!(
            text.contains("parameter 2") && text.contains("without a gradient"),
            "{text}"
        );
    }
}

#[test]
fn whole_of_another_parameter_is_an_error() {
    let text = refused(|mesh, rank| {
        let both = leaves(mesh, [false; 2])?;
        both[rank]
            .whole(Data)
            .square()
            .sum(N)
            .pend(Data)
            .try_backward()
    });
    assert!(text.contains("whole"), "{text}");
}

#[test]
fn conversions_of_another_tensor_are_errors() {
    let both = |mesh: &Mesh<Line<Whole>>| {
        [1.0, 2.0].map(|value| mesh.whole(Tensor::<(N, C)>::full([2, 2], value)))
    };
    refused(|mesh, rank| both(mesh)[rank].pend(Data).try_all_reduce(Data).map(drop));
    refused(|mesh, rank| {
        both(mesh)[rank]
            .pend(Data)
            .try_reduce_scatter(Data, N)
            .map(drop)
    });
    refused(|mesh, rank| both(mesh)[rank].cut(Data, N).try_all_gather(Data).map(drop));
    refused(|mesh, rank| {
        both(mesh)[rank]
            .cut(Data, N)
            .try_all_to_all(Data, C)
            .map(drop)
    });
    refused(|mesh, rank| {
        let dim = ["N", "C"][rank];
        both(mesh)[0]
            .to_dyn()
            .cut("Data", dim)?
            .all_gather("Data")
            .map(drop)
    });
}

#[test]
fn two_threads_of_a_rank_are_an_error_at_once() {
    let found = Line::threads([2], |mesh| {
        let sum = |value: f32| {
            let x = mesh.whole(Tensor::<(N,)>::full([2], value)).cut(Data, N);
            x.sum(across(N)).try_all_reduce(Data).map(|sum| sum.item())
        };
        let both = std::thread::scope(|scope| {
            let both = [1.0, 2.0].map(|value| scope.spawn(move || sum(value)));
            both.map(|one| one.join().expect("no panic"))
        });
        Ok(both.into_iter().filter(Result::is_err).count())
    });
    assert!(found.unwrap().into_iter().all(|errors| errors > 0));
}

struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn a_panic_that_panics_when_it_is_dropped_keeps_nobody_waiting() {
    let found = Line::threads([2], |mesh| {
        if mesh.rank(Data) == 1 {
            std::panic::panic_any(Explosive);
        }
        mesh.barrier()
    });
    let text = found.map(drop).unwrap_err().to_string();
    assert!(text.contains("rank 1"), "{text}");
}
