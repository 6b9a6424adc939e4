//! Ranks that convert, step or save different tensors all get an error.

use nomina_mesh::optim::{AdamOptions, AdamW};
use nomina_mesh::prelude::*;

dims! { N, C }
mesh! { Line: Data }
mesh! { Grid: Rows, Columns }

type Leaf = Sharded<(N,), Line<Synced>>;
type Meshed = Mesh<Line<Whole>>;

/// Runs a program that fails on all ranks, and returns the error of each.
fn failed(ranks: usize, program: impl Fn(&Meshed) -> Result<()> + Sync) -> Vec<Error> {
    let found = Line::threads([ranks], |mesh| Ok(program(&mesh).unwrap_err()));
    found.expect("a rank that returns its error")
}

/// Checks that all ranks got an error of the kind Mesh whose text contains `parts`.
fn assert_refused(errors: &[Error], parts: &[&str]) {
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Mesh, "{error}");
        let text = error.to_string();
        assert_eq!(text, errors[0].to_string());
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

fn leaf(mesh: &Meshed, size: usize) -> Result<Leaf> {
    mesh.parameter(Tensor::ones([size]))
}

fn with_gradient(leaf: &Leaf) {
    (leaf.square().sum(N)).backward();
}

#[test]
fn parameters_in_another_order_are_refused() {
    let errors = failed(2, |mesh| {
        let (mut one, mut two) = (leaf(mesh, 4)?, leaf(mesh, 4)?);
        with_gradient(&one);
        with_gradient(&two);
        let mut optimizer = AdamW::new(Data, 0.1);
        let done = match mesh.rank(Data) {
            0 => optimizer.try_step(&mut [&mut one, &mut two]),
            _ => optimizer.try_step(&mut [&mut two, &mut one]),
        };
        assert_eq!((one.to_vec(), two.to_vec()), (vec![1.0; 4], vec![1.0; 4]));
        assert!(one.grad().is_some() && two.grad().is_some());
        done
    });
    assert_refused(
        &errors,
        &[
            "parameter 1: f32 (N=4)",
            "tensor 1",
            "tensor 2",
            "same tensors in the same order",
        ],
    );
}

#[test]
fn the_first_parameter_that_differs_is_named() {
    let third = |other: &(dyn Fn(&Meshed) -> Result<Leaf> + Sync)| {
        failed(3, |mesh| {
            let (mut one, mut two) = (leaf(mesh, 3)?, leaf(mesh, 5)?);
            let mut three = match mesh.rank(Data) {
                2 => other(mesh)?,
                _ => leaf(mesh, 2)?,
            };
            [&one, &two, &three].into_iter().for_each(with_gradient);
            AdamW::new(Data, 0.1).try_step(&mut [&mut one, &mut two, &mut three])
        })
    };
    let errors = third(&|mesh| leaf(mesh, 4));
    assert_refused(
        &errors,
        &[
            "rank 0 gives parameter 3: f32 (N=2)",
            "rank 2 parameter 3: f32 (N=4)",
        ],
    );
    let errors = failed(2, |mesh| {
        let (mut one, mut two) = (leaf(mesh, 3)?, leaf(mesh, 5)?);
        with_gradient(&one);
        let mut optimizer = AdamW::new(Data, 0.1);
        match mesh.rank(Data) {
            0 => optimizer.try_step(&mut [&mut one, &mut two]),
            _ => optimizer.try_step(&mut [&mut one]),
        }
    });
    assert_refused(&errors, &["rank 0 gives 2 tensors, rank 1 1"]);
}

#[test]
fn a_gradient_on_one_rank_alone_is_refused() {
    for has_other in [true, false] {
        let errors = failed(2, |mesh| {
            let (mut one, mut two) = (leaf(mesh, 4)?, leaf(mesh, 4)?);
            if has_other {
                with_gradient(&one);
            }
            if mesh.rank(Data) == 1 {
                with_gradient(&two);
            }
            let mut optimizer = AdamW::new(Data, 0.1);
            let done = optimizer.try_step(&mut [&mut one, &mut two]);
            assert_eq!((one.to_vec(), two.to_vec()), (vec![1.0; 4], vec![1.0; 4]));
            done
        });
        assert_refused(
            &errors,
            &["parameter 2", "without a gradient", "with a gradient"],
        );
    }
}

#[test]
fn other_options_and_other_numbers_of_steps_are_refused() {
    let errors = failed(2, |mesh| {
        let mut one = leaf(mesh, 4)?;
        with_gradient(&one);
        let lr = 0.1 * (1 + mesh.rank(Data)) as f64;
        AdamW::with(
            Data,
            AdamOptions {
                lr,
                ..AdamOptions::adamw()
            },
        )
        .try_step(&mut [&mut one])
    });
    assert_refused(&errors, &["lr: 0.1", "lr: 0.2"]);
    let errors = failed(2, |mesh| {
        let mut one = leaf(mesh, 4)?;
        with_gradient(&one);
        let (mut first, mut second) = (AdamW::new(Data, 0.1), AdamW::new(Data, 0.1));
        first.try_step(&mut [&mut one])?;
        with_gradient(&one);
        let own = if mesh.rank(Data) == 0 {
            &mut first
        } else {
            &mut second
        };
        own.try_step(&mut [&mut one])
    });
    assert_refused(&errors, &["after 1 steps", "after 0 steps"]);
}

#[test]
fn momentum_goes_with_its_parameter() {
    let found = Line::threads([2], |mesh| {
        let mut all = (0..3).map(|_| leaf(&mesh, 3)).collect::<Result<Vec<_>>>()?;
        let mut alone = leaf(&mesh, 3)?;
        let mut optimizers = [AdamW::new(Data, 0.1), AdamW::new(Data, 0.1)];
        let mut step = |all: &mut [Leaf], alone: &mut Leaf, scale: f32| {
            for (at, one) in all.iter().enumerate() {
                ((one.square() * (1.0 + at as f32)).sum(N) * scale).backward();
            }
            ((alone.square() * 3.0).sum(N) * scale).backward();
            let mut params: Vec<&mut dyn nomina_mesh::optim::Param<Data>> = Vec::new();
            params.extend(all.iter_mut().map(|one| one as _));
            optimizers[0].step(&mut params);
            optimizers[1].step(&mut [alone]);
            optimizers[0].kept()
        };
        step(&mut all, &mut alone, 1.0);
        // The third one is now the first; its gradient is scaled alike.
        all.drain(..2);
        for one in &all {
            assert_eq!(one.to_vec(), alone.to_vec());
        }
        let kept = step(&mut all, &mut alone, 0.0);
        Ok((all[0].to_vec(), alone.to_vec(), kept))
    });
    for (one, alone, kept) in found.unwrap() {
        assert_eq!(one, alone);
        // No state is kept for leaves that are gone.
        assert!(kept <= 2 * 2);
    }
}

/// Checks that results computed from different tensors on each rank are refused, though of one size and from one line.
fn refused_of_two<D: Send>(
    convert: impl Fn(&Meshed, &[Sharded<(N, C), Line<Whole>>; 2], usize) -> Result<D> + Sync,
) {
    let errors = failed(2, |mesh| {
        let both = [1.0, 2.0].map(|value| mesh.whole(Tensor::<(N, C)>::full([4, 4], value)));
        let rank = mesh.rank(Data);
        convert(mesh, &both, rank).map(drop)
    });
    assert_refused(
        &errors,
        &[
            "make different calls",
            "tensor 1 made at",
            "tensor 2 made at",
            "agreement.rs",
        ],
    );
}

#[test]
fn conversions_of_different_tensors_are_refused() {
    refused_of_two(|_, both, rank| both[rank].pend(Data).try_all_reduce(Data));
    refused_of_two(|_, both, rank| both[rank].pend(Data).try_sync(Data));
    refused_of_two(|_, both, rank| both[rank].pend(Data).try_reduce_scatter(Data, N));
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_all_gather(Data));
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_all_gather_synced(Data));
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_all_to_all(Data, C));
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_collect());
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_cumsum(N.via(Data)));
    refused_of_two(|_, both, rank| both[rank].cut(Data, N).try_roll(1, N.via(Data)));
    // Results computed from them are refused, too, as are run-time tensors.
    refused_of_two(|_, both, rank| {
        both[rank]
            .exp()
            .cut(Data, N)
            .sum(across(N))
            .try_all_reduce(Data)
    });
    refused_of_two(|_, both, rank| {
        let one = both[rank].to_dyn().cut("Data", "N")?;
        one.exp()?.add(&one)?.all_gather("Data")
    });
}

#[test]
fn other_operators_dims_and_placements_are_refused() {
    let x = |mesh: &Meshed| mesh.whole(Tensor::<(N, C)>::ones([4, 4]));
    let errors = failed(2, |mesh| {
        let x = x(mesh).cut(Data, N);
        let y = if mesh.rank(Data) == 0 {
            x.exp()
        } else {
            x.sin()
        };
        y.try_all_gather(Data).map(drop)
    });
    assert_refused(&errors, &["exp of tensor 1", "sin of tensor 1"]);
    let errors = failed(2, |mesh| {
        let dim = ["N", "C"][mesh.rank(Data)];
        x(mesh)
            .to_dyn()
            .cut("Data", dim)?
            .all_gather("Data")
            .map(drop)
    });
    assert_refused(&errors, &["Split<N>", "Split<C>"]);
    let errors = failed(2, |mesh| {
        let dim = ["N", "C"][mesh.rank(Data)];
        x(mesh)
            .pend(Data)
            .to_dyn()
            .reduce_scatter("Data", dim)
            .map(drop)
    });
    assert_refused(&errors, &["to dim `N`", "to dim `C`"]);
    let errors = failed(2, |mesh| {
        mesh.own(Tensor::<(N,)>::ones([2]))
            .try_broadcast(Data, mesh.rank(Data))
            .map(drop)
    });
    assert_refused(&errors, &["of rank 0", "of rank 1"]);
}

#[test]
fn whole_of_another_parameter_is_refused() {
    for cap in [0, 25 << 20] {
        let errors = failed(2, |mesh| {
            mesh.set_bucket_cap(cap);
            let both = [leaf(mesh, 4)?, leaf(mesh, 4)?];
            let w = &both[mesh.rank(Data)];
            let done = w.whole(Data).square().sum(N).pend(Data).try_backward();
            assert!(both.iter().all(|one| one.grad().is_none()));
            done
        });
        assert_refused(
            &errors,
            &["whole(Data)", "gradient 1", "tensor 1", "tensor 2"],
        );
    }
    // One rank has started more sums than the other when the difference is found.
    let errors = failed(2, |mesh| {
        mesh.set_bucket_cap(0);
        let all = (0..3).map(|_| leaf(mesh, 4));
        let all = all.collect::<Result<Vec<_>>>()?;
        let used = all[..3 - 2 * mesh.rank(Data)].iter();
        let losses = used.map(|one| one.whole(Data).square().sum(N).pend(Data));
        let loss = losses.reduce(|sum, loss| sum + loss).expect("some");
        loss.try_backward()
    });
    assert_refused(&errors, &["gradient 1", "tensor 1", "tensor 3"]);
    // The difference is in the second gradient of a bucket.
    let errors = failed(2, |mesh| {
        let all = [leaf(mesh, 4)?, leaf(mesh, 4)?, leaf(mesh, 4)?];
        let one = |w: &Leaf| w.whole(Data).square().sum(N);
        let loss = one(&all[1 + mesh.rank(Data)]) + one(&all[0]);
        loss.pend(Data).try_backward()
    });
    assert_refused(&errors, &["gradient 2", "tensor 2", "tensor 3"]);
}

#[test]
fn random_numbers_of_other_seeds_are_refused() {
    let errors = failed(2, |mesh| {
        mesh.manual_seed(mesh.rank(Data) as u64);
        let x: Sharded<(N,), Line<Split<N>>> = mesh.randn([8])?;
        x.try_all_gather(Data).map(drop)
    });
    assert_refused(&errors, &["tensor 1"]);
    let errors = failed(2, |mesh| {
        let state = mesh.whole_dyn(DynTensor::from_vec(
            vec![3_i64, mesh.rank(Data) as i64],
            &[2],
            (),
        )?);
        mesh.set_rng_state(&state)?;
        let x: Sharded<(N,), Line<Split<N>>> = mesh.rand([8])?;
        x.try_all_gather(Data).map(drop)
    });
    assert_refused(&errors, &["tensor 1"]);
}

#[test]
fn what_ranks_have_for_themselves_is_theirs() {
    let found = Line::threads([2], |mesh| {
        let rank = mesh.rank(Data);
        // Each rank makes its local tensor in a different way, and a different number of times.
        let mut own = mesh.own(Tensor::<(N,)>::full([2], rank as f32));
        for _ in 0..rank {
            own = own.local_with(|x| x.try_exp())?;
            let _for_itself = mesh.whole(Tensor::<(N,)>::ones([2]));
        }
        let claimed = own.claim::<Line<Split<N>>>(&[4])?.all_gather(Data);
        let sent: Sharded<(N,), Line<Whole>> = own.broadcast(Data, 1);
        let sum = (claimed.sum(N) + sent.sum(N)).pend(Data).all_reduce(Data);
        // After a collective all ranks count alike again.
        let x = mesh
            .whole(Tensor::<(N,)>::ones([2]))
            .cut(Data, N)
            .all_gather(Data);
        Ok(sum.item() + x.sum(N).item())
    });
    let e = 1.0_f32.exp();
    for sum in found.unwrap() {
        assert!((sum - (2.0 * e + 2.0 * e + 2.0)).abs() < 1e-5, "{sum}");
    }
}

#[test]
fn an_axis_compares_its_own_ranks_alone() {
    // The two rows of the grid convert different tensors over the columns; the ranks of each row agree.
    let found = Grid::threads([2, 2], |mesh| {
        let both = [1.0, 2.0].map(|value| mesh.whole(Tensor::<(N,)>::full([4], value)));
        let own = both[mesh.rank(Rows)].cut(Columns, N).all_gather(Columns);
        let sum = own
            .own(Rows)
            .own(Columns)
            .claim::<Grid<Pending, Synced>>(&[4])?;
        Ok(sum.all_reduce(Rows).to_vec())
    });
    assert_eq!(found.unwrap(), [[3.0; 4]; 4]);
}

#[cfg(feature = "safetensors")]
#[test]
fn files_of_different_tensors_are_refused() {
    use nomina_core::mesh::value::Place;
    use nomina_mesh::optim::Param;
    use nomina_mesh::safetensors::{self, Checkpoint};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    let errors = failed(2, |mesh| {
        let both = [leaf(mesh, 4)?, leaf(mesh, 4)?];
        safetensors::save(mesh, &path, [("w", both[mesh.rank(Data)].to_dyn())])
    });
    assert_refused(&errors, &["`w`", "tensor 1", "tensor 2"]);
    let errors = failed(2, |mesh| {
        mesh.manual_seed(mesh.rank(Data) as u64);
        safetensors::save(mesh, &path, [("rng", mesh.get_rng_state()?)])
    });
    assert_refused(&errors, &["`rng`"]);
    assert!(!path.exists());
    let made = Line::threads([2], |mesh| {
        let (mut one, mut two) = (leaf(&mesh, 4)?, leaf(&mesh, 4)?);
        with_gradient(&one);
        with_gradient(&two);
        let mut optimizer = AdamW::new(Data, 0.1);
        optimizer.step(&mut [&mut one, &mut two]);
        // States are found by leaf, in any order.
        let state = optimizer.state([("b", &two as &dyn Param<Data>), ("a", &one)])?;
        let model = [
            ("a".to_owned(), one.to_dyn().into()),
            ("b".to_owned(), two.to_dyn().into()),
        ];
        safetensors::save(&mesh, &path, model.into_iter().chain(state))
    });
    made.unwrap();
    let errors = failed(2, |mesh| {
        let file = Checkpoint::open(mesh, &path)?;
        file.tensor::<(N,), Line<Synced>, f32>(["a", "b"][mesh.rank(Data)])
            .map(drop)
    });
    assert_refused(&errors, &["a", "b"]);
    let errors = failed(2, |mesh| {
        let file = Checkpoint::open(mesh, &path)?;
        file.tensor_dyn(["a", "b"][mesh.rank(Data)], &[Place::Synced])
            .map(drop)
    });
    assert_refused(&errors, &["a", "b"]);
    let errors = failed(2, |mesh| {
        let file = Checkpoint::open(mesh, &path)?;
        let (a, b): (Leaf, Leaf) = (file.tensor("a")?.with_grad(), file.tensor("b")?.with_grad());
        let mut params = [("a", &a as &dyn Param<Data>), ("b", &b)];
        if mesh.rank(Data) == 1 {
            params = [("a", &b), ("b", &a)];
        }
        AdamW::new(Data, 0.1).load(params, &file)
    });
    assert_refused(&errors, &["parameter 1", "`a`"]);
}
