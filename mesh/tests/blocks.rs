//! Gradients that are summed in buckets during backward are bitwise equal to gradients summed one by one, on all ranks.

use nomina::Result;
use nomina_mesh::prelude::*;

dims! { N, C, K }
mesh! { Grid: Data, Model }

type Of<D> = Sharded<D, Grid<Synced, Synced>>;

fn numbers(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.7 + seed).sin()).collect()
}

/// Returns the gradients of parameters of several sizes and dtypes. Some are used twice, and one is not a leaf.
fn gradients(mesh: &Mesh<Grid>, cap: usize, times: usize) -> Result<Vec<Vec<f64>>> {
    mesh.set_bucket_cap(cap);
    let w: Of<(C, K)> = mesh.parameter(Tensor::from_vec(numbers(15, 1.0), [5, 3])?)?;
    let b: Of<(K,)> = mesh.parameter(Tensor::from_vec(numbers(3, 2.0), [3])?)?;
    let scale: Of<()> = mesh.parameter(Tensor::full([], 0.5))?;
    let wide: Sharded<(K,), Grid<Synced, Synced>, f64> =
        mesh.parameter(Tensor::from_vec(vec![0.5, -1.5, 2.5], [3])?)?;
    let x = mesh.whole(Tensor::from_vec(numbers(35, 0.0), [7, 5])?);
    let x: Sharded<(N, C), Grid<Split<N>, Whole>> = x.cut(Data, N);
    for _ in 0..times {
        let both = |p: &Of<(K,)>| p.whole(Data).whole(Model);
        let y: Sharded<(N, K), Grid<Split<N>, Whole>> =
            x.contract(&w.whole(Data).whole(Model), C) + both(&b);
        // `b` is used twice, and `scale` by way of an operator.
        let y = y * both(&b) * (&scale * 3.0).whole(Data).whole(Model);
        let y = y.tanh();
        let y: Sharded<(N, K), Grid<Split<N>, Whole>, f64> = y * wide.whole(Data).whole(Model);
        let loss = y.square().mean(across(N)).sum(K).pend(Model);
        loss.try_backward()?;
    }
    Ok(vec![
        w.grad()
            .unwrap()
            .to_vec()
            .into_iter()
            .map(f64::from)
            .collect(),
        b.grad()
            .unwrap()
            .to_vec()
            .into_iter()
            .map(f64::from)
            .collect(),
        vec![scale.grad().unwrap().item().into()],
        wide.grad().unwrap().to_vec(),
    ])
}

#[test]
fn blocks_change_no_bit() {
    for sizes in [[1, 1], [2, 1], [2, 2], [3, 2], [1, 4]] {
        for times in [1, 2] {
            let found = Grid::threads(sizes, |mesh| {
                let mut all = Vec::new();
                for cap in [0, 16, 70, 25 << 20] {
                    all.push(gradients(&mesh, cap, times)?);
                }
                Ok(all)
            });
            let found = found.unwrap();
            for all in &found {
                for one in all {
                    assert_eq!(one, &found[0][0], "{sizes:?}, {times}");
                }
            }
        }
    }
}

#[test]
fn what_ranks_do_otherwise_is_an_error_where_the_sum_is_read() {
    let error = Grid::threads([2, 1], |mesh| {
        let w: Of<(C,)> = mesh.parameter(Tensor::ones([3]))?;
        let b: Of<(C,)> = mesh.parameter(Tensor::ones([3]))?;
        mesh.set_bucket_cap(0);
        let one = |p: &Of<(C,)>| p.whole(Data).whole(Model).square().sum(C);
        let loss = match mesh.rank(Data) {
            0 => one(&w) + one(&b),
            _ => one(&w),
        };
        loss.pend(Data).pend(Model).try_backward()
    });
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mesh, "{error}");
}

#[test]
fn a_backward_that_failed_leaves_nothing_in_the_queue() {
    let found = Grid::threads([2, 1], |mesh| {
        let w: Of<(C,)> = mesh.parameter(Tensor::ones([3]))?;
        let v = mesh.whole(Tensor::<(N,)>::ones([4])).with_grad();
        // A max over ranks has no gradient; backward finds this after the gradient of `w` is queued.
        let most = v.cut(Data, N).amax(across(N)).all_reduce(Data);
        let sum = w.whole(Data).whole(Model).square().sum(C);
        let error = (most + sum).pend(Data).pend(Model).try_backward();
        assert!(error.unwrap_err().to_string().contains("has no gradient"));
        assert!(w.grad().is_none());
        let b: Of<(C,)> = mesh.parameter(Tensor::full([3], 2.0))?;
        let sum = b.whole(Data).whole(Model).square().sum(C);
        // Bytes count as sent when the other rank takes them.
        mesh.barrier()?;
        let before = mesh.sent(Data);
        sum.pend(Data).pend(Model).try_backward()?;
        mesh.barrier()?;
        let sent = mesh.sent(Data) - before;
        Ok((b.grad().unwrap().to_vec(), sent))
    });
    for (grad, sent) in found.unwrap() {
        assert_eq!(grad, [4.0; 3]);
        // Three elements of four bytes, and two comparisons of two words.
        assert!(sent <= 12 + 2 * 16, "{sent} bytes");
    }
}
