//! Checks of each conversion: its pieces belong to the same tensor, the bytes that it sends match its formula, and its
//! gradient is the dual conversion.

use nomina_mesh::prelude::*;

dims! { N, C, K }
mesh! { Grid: Data, Model }

type X<P> = Sharded<(N, C), P>;

fn numbers(rows: usize, columns: usize) -> Tensor<(N, C)> {
    let all = (0..rows * columns)
        .map(|i| (i as f32 * 0.7).sin())
        .collect();
    Tensor::from_vec(all, [rows, columns]).unwrap()
}

/// Returns the bytes of the two words that are compared before each collective.
fn checks(collectives: u64) -> u64 {
    // Each of two ranks sends the other its word, and then the combined one.
    collectives * 16
}

#[test]
fn pieces_of_every_placement_make_the_same_tensor() {
    for rows in [0, 1, 2, 3, 4, 5, 8] {
        for columns in [1, 2, 3] {
            let whole = numbers(rows, columns);
            let expected = whole.to_vec();
            let found = Grid::threads([2, 2], |mesh| {
                let x: X<Grid<Whole, Whole>> = mesh.whole(whole.clone());
                let rows: X<Grid<Split<N>, Whole>> = x.cut(Data, N);
                let tiles: X<Grid<Split<N>, Split<C>>> = rows.cut(Model, C);
                let twice: X<Grid<Split<N>, Split<N>>> = rows.cut(Model, N);
                let moved: X<Grid<Split<N>, Split<C>>> = twice.all_to_all(Model, C);
                let pending: X<Grid<Split<N>, Pending>> = rows.pend(Model);
                let scattered: X<Grid<Split<N>, Split<C>>> = pending.reduce_scatter(Model, C);
                assert_eq!(moved.local().to_vec(), tiles.local().to_vec());
                assert_eq!(scattered.local().to_vec(), tiles.local().to_vec());
                let all = [
                    rows.all_gather(Data).to_vec(),
                    tiles.all_gather(Model).all_gather(Data).to_vec(),
                    twice.all_gather(Model).all_gather(Data).to_vec(),
                    pending.all_reduce(Model).all_gather(Data).to_vec(),
                    tiles
                        .all_gather_synced(Data)
                        .all_gather_synced(Model)
                        .to_vec(),
                ];
                assert_eq!(tiles.shape(), whole.shape());
                Ok((all, tiles.collect().map(|all| all.to_vec())))
            });
            for (rank, (all, collected)) in found.unwrap().into_iter().enumerate() {
                for one in all {
                    assert_eq!(one, expected);
                }
                assert_eq!(collected, (rank == 0).then(|| expected.clone()));
            }
        }
    }
}

#[test]
fn bytes_are_those_of_the_formulas() {
    let sent = Grid::threads([2, 1], |mesh| {
        let x: X<Grid<Whole, Whole>> = mesh.whole(numbers(6, 4));
        let mut sent = Vec::new();
        let mut before = 0;
        // After a barrier, the other rank has taken everything that was sent.
        let mut note = || {
            mesh.barrier().unwrap();
            let now = mesh.sent(Data);
            sent.push(now - before);
            before = now;
        };
        let rows = x.cut(Data, N);
        note();
        let _ = rows.all_gather(Data);
        note();
        let _ = rows.all_to_all(Data, C);
        note();
        let pending = x.pend(Data);
        note();
        let _ = pending.all_reduce(Data);
        note();
        let _ = pending.reduce_scatter(Data, N);
        note();
        rows.exp().sum(C).try_add(1.0)?;
        note();
        Ok(sent)
    });
    let n = 6 * 4 * 4;
    for sent in sent.unwrap() {
        let elements = [0, n / 2, n / 4, 0, n, n / 2, 0];
        let collectives = [0, 1, 1, 0, 1, 1, 0];
        let wanted = elements.iter().zip(collectives);
        let wanted: Vec<u64> = wanted.map(|(n, times)| n + checks(times + 1)).collect();
        assert_eq!(sent, wanted);
    }
}

#[test]
fn gradients_are_the_dual_conversions() {
    // The loss is the same function of `x` whichever way its pieces are sent; so is its gradient.
    let x = numbers(5, 3);
    let leaf = x.clone().with_grad();
    (leaf.square() * leaf.cos()).sum(..).backward();
    let expected = leaf.grad().unwrap().to_vec();
    let found = Grid::threads([2, 2], |mesh| {
        let ways: [fn(X<Grid<Whole, Whole>>) -> X<Grid<Split<N>, Split<C>>>; 5] = [
            |x| x.cut(Data, N).cut(Model, C),
            |x| x.pend(Data).reduce_scatter(Data, N).cut(Model, C),
            |x| {
                x.cut(Data, N)
                    .all_gather(Data)
                    .cut(Data, N)
                    .cut(Model, N)
                    .all_to_all(Model, C)
            },
            |x| {
                x.pend(Data)
                    .all_reduce(Data)
                    .pend(Model)
                    .all_reduce(Model)
                    .cut(Data, N)
                    .cut(Model, C)
            },
            |x| {
                x.pend(Data)
                    .sync(Data)
                    .whole(Data)
                    .cut(Data, N)
                    .cut(Model, C)
            },
        ];
        let mut gradients = Vec::new();
        for way in ways {
            let leaf: X<Grid<Whole, Whole>> = mesh.whole(x.clone()).with_grad();
            let tiles = way(leaf.clone());
            let loss: Sharded<(), Grid<Pending, Pending>> =
                (tiles.square() * tiles.cos()).sum(across(..));
            loss.backward();
            let gradient: X<Grid<Pending, Pending>> = leaf.grad().unwrap();
            gradients.push(gradient.all_reduce(Data).all_reduce(Model).to_vec());
        }
        let parameter = mesh.parameter(x.clone())?;
        let tiles = parameter
            .whole(Data)
            .cut(Data, N)
            .cut(Model, C)
            .all_gather_synced(Model);
        let loss: Sharded<(), Grid<Pending, Synced>> =
            (tiles.square() * tiles.cos()).sum(across(N)).sum(C);
        loss.backward();
        let gradient: X<Grid<Synced, Synced>> = parameter.grad().unwrap();
        gradients.push(gradient.to_vec());
        Ok(gradients)
    });
    for gradients in found.unwrap() {
        for (way, gradient) in gradients.iter().enumerate() {
            for (one, other) in gradient.iter().zip(&expected) {
                assert!(
                    (one - other).abs() < 1e-5,
                    "way {way}: {gradient:?} instead of {expected:?}"
                );
            }
        }
    }
}

#[test]
fn a_pending_maximum_has_no_gradient_and_says_so() {
    let error = Grid::threads([2, 1], |mesh| {
        let x = mesh.whole(numbers(4, 2)).with_grad().cut(Data, N);
        let most = x.amax(across(N)).all_reduce(Data).sum(C);
        most.pend(Data).pend(Model).try_backward()
    });
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gradient);
    assert!(error.to_string().contains("has no gradient"), "{error}");
}

#[test]
fn a_tensor_is_the_same_whatever_the_mesh() {
    fn drawn(sizes: [usize; 2]) -> Vec<f32> {
        let found = Grid::threads(sizes, |mesh| {
            mesh.manual_seed(7);
            let x: X<Grid<Split<N>, Split<C>>> = mesh.randn([5, 7])?;
            let y: X<Grid<Whole, Whole>> = mesh.rand([2, 2])?;
            let x = x.all_gather(Model).all_gather(Data);
            Ok([x.to_vec(), y.to_vec()].concat())
        });
        found.unwrap().swap_remove(0)
    }
    let one = drawn([1, 1]);
    for sizes in [[2, 1], [1, 2], [2, 2], [4, 1], [1, 4], [3, 2]] {
        assert_eq!(drawn(sizes), one);
    }
}

#[test]
fn pieces_of_its_own_become_one_tensor_by_a_claim() {
    let found = Grid::threads([2, 2], |mesh| {
        let x: X<Grid<Split<N>, Whole>> = mesh.whole(numbers(5, 3)).cut(Data, N);
        let y = x.local_with(|piece| piece.try_exp())?;
        let y: X<Grid<Split<N>, Whole>> = y.claim(&[5, 3])?;
        Ok(y.all_gather(Data).to_vec())
    });
    for one in found.unwrap() {
        assert_eq!(one, numbers(5, 3).exp().to_vec());
    }
    let error = Grid::threads([2, 1], |mesh| {
        let rows = 2 + mesh.rank(Data);
        let x = mesh.own(numbers(rows, 3));
        x.claim::<Grid<Split<N>, Whole>>(&[4, 3]).map(drop)
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn what_rank_one_has_comes_to_all() {
    let found = Grid::threads([3, 1], |mesh| {
        let x = mesh.own(numbers(2, 2) + mesh.rank(Data) as f32);
        let x: X<Grid<Whole, Own>> = x.broadcast(Data, 1);
        Ok(x.broadcast(Model, 0).to_vec())
    });
    for one in found.unwrap() {
        assert_eq!(one, (numbers(2, 2) + 1.0).to_vec());
    }
}

#[test]
fn dims_that_two_axes_split_are_converted_from_the_inside() {
    let found = Grid::threads([2, 2], |mesh| {
        let x = mesh
            .whole(numbers(7, 2))
            .to_dyn()
            .cut("Data", "N")?
            .cut("Model", "N")?;
        let error = x.all_gather("Data").unwrap_err();
        assert!(
            error.to_string().contains("split further inside"),
            "{error}"
        );
        x.all_gather("Model")?
            .all_gather("Data")?
            .local()
            .to_vec::<f32>()
    });
    assert_eq!(found.unwrap()[3], numbers(7, 2).to_vec());
}

#[test]
fn contractions_across_a_split_dim_are_pending() {
    let x = numbers(4, 5);
    let w: Tensor<(C, K)> = Tensor::from_vec((0..15).map(|i| i as f32).collect(), [5, 3]).unwrap();
    let expected = x.contract(&w, C).to_vec();
    let found = Grid::threads([2, 2], |mesh| {
        let x: X<Grid<Split<N>, Split<C>>> = mesh.whole(x.clone()).cut(Data, N).cut(Model, C);
        let w: Sharded<(C, K), Grid<Whole, Split<C>>> = mesh.whole(w.clone()).cut(Model, C);
        let y: Sharded<(N, K), Grid<Split<N>, Pending>> = x.contract(&w, across(C));
        Ok(y.all_reduce(Model).all_gather(Data).to_vec())
    });
    for one in found.unwrap() {
        for (one, other) in one.iter().zip(&expected) {
            assert!((one - other).abs() < 1e-4);
        }
    }
}
