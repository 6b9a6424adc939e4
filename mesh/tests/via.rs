//! Operators along a split dim, `via` the axis that splits it, equal those on one rank, forward and backward, even if a
//! rank has an empty part. Also views, whose placements follow the names.

use nomina_mesh::prelude::*;

dims! { N, C, Rows, Other }
mesh! { Line: Data }

type Split64 = Sharded<(N, C), Line<Split<C>>, f64>;

fn numbers(rows: usize, columns: usize) -> Tensor<(N, C), f64> {
    let all = (0..rows * columns).map(|i| 2.0 * (i as f64 * 0.7).sin());
    Tensor::from_vec(all.collect(), [rows, columns]).unwrap()
}

fn weighted(y: &Tensor<(N, C), f64>) -> Tensor<(), f64> {
    let weights = numbers(y.size(N), y.size(C)) * 0.3 + 0.1;
    (y * &weights).sum(..)
}

/// Compares an operator on one rank with one over the axis that splits its dim.
fn same(
    what: &str,
    plain: impl Fn(&Tensor<(N, C), f64>) -> Tensor<(N, C), f64>,
    via: impl Fn(&Split64) -> Split64 + Sync,
) {
    for columns in [1, 2, 5, 7] {
        let x = numbers(3, columns);
        let leaf = x.clone().with_grad();
        let expected = plain(&leaf);
        weighted(&expected).backward();
        let gradient = leaf.grad().unwrap();
        let found = Line::threads([3], |mesh| {
            let leaf = mesh.whole(x.clone()).with_grad();
            let y = via(&leaf.cut(Data, C));
            let all = y.all_gather(Data);
            let weights = mesh.whole(numbers(3, columns) * 0.3 + 0.1).cut(Data, C);
            let loss: Sharded<(), Line<Pending>, f64> = (y * weights).sum(across(..));
            loss.backward();
            let gradient: Sharded<(N, C), Line<Pending>, f64> = leaf.grad().unwrap();
            Ok((all.to_vec(), gradient.all_reduce(Data).to_vec()))
        });
        let close =
            |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(x, y)| (x - y).abs() < 1e-10);
        for (values, gradients) in found.unwrap() {
            assert!(
                close(&values, &expected.to_vec()),
                "{what} of {columns}: {values:?}"
            );
            assert!(
                close(&gradients, &gradient.to_vec()),
                "gradient of {what} of {columns}: {gradients:?} instead of {:?}",
                gradient.to_vec()
            );
        }
    }
}

#[test]
fn softmax() {
    same("softmax", |x| x.softmax(C), |x| x.softmax(C.via(Data)));
}

#[test]
fn log_softmax() {
    same(
        "log_softmax",
        |x| x.log_softmax(C),
        |x| x.log_softmax(C.via(Data)),
    );
}

#[test]
fn layer_norm() {
    same(
        "layer_norm",
        |x| {
            (x - x.mean(keep(C)))
                / (x.var_with(
                    keep(C),
                    VarOptions {
                        correction: 0.0,
                        ..default()
                    },
                ) + 1e-3)
                    .sqrt()
        },
        |x| x.layer_norm(C.via(Data), 1e-3),
    );
}

#[test]
fn rms_norm() {
    same(
        "rms_norm",
        |x| x / (x.square().mean(keep(C)) + 1e-3).sqrt(),
        |x| x.rms_norm(C.via(Data), 1e-3),
    );
}

#[test]
fn cumsum() {
    same("cumsum", |x| x.cumsum(C), |x| x.cumsum(C.via(Data)));
}

#[test]
fn a_mean_across_does_not_overflow_where_its_sum_does() {
    let found = Line::threads([2], |mesh| {
        let x = mesh.whole(Tensor::<(N,)>::full([8], 30_000.0).to::<nomina::f16>());
        Ok(x.cut(Data, N)
            .mean(across(N))
            .all_reduce(Data)
            .item()
            .to_f32())
    });
    assert!(
        found
            .unwrap()
            .iter()
            .all(|mean| (mean - 30_000.0).abs() < 32.0)
    );
}

#[test]
fn placements_follow_names() {
    let found = Line::threads([2], |mesh| {
        let x = mesh.whole(numbers(4, 3)).cut(Data, N);
        let renamed: Sharded<(Other, C), Line<Split<Other>>, f64> = x.rename(N, Other);
        let flat: Sharded<(Rows,), Line<Split<Rows>>, f64> = x.flatten((N, C), Rows);
        let turned: Sharded<(C, N), Line<Split<N>>, f64> = x.transpose(N, C);
        let first: Sharded<(N,), Line<Split<N>>, f64> = x.select(C, 0);
        assert_eq!((renamed.size(Other), flat.size(Rows)), (4, 12));
        assert!(x.try_rename(.., (Other, Rows)).is_err());
        Ok((
            renamed.all_gather(Data).to_vec(),
            flat.all_gather(Data).to_vec(),
            turned.all_gather(Data).to_vec(),
            first.all_gather(Data).to_vec(),
        ))
    });
    let x = numbers(4, 3);
    for (renamed, flat, turned, first) in found.unwrap() {
        assert_eq!(renamed, x.to_vec());
        assert_eq!(flat, x.to_vec());
        assert_eq!(turned, x.t().to_vec());
        assert_eq!(first, x.select(C, 0).to_vec());
    }
}
