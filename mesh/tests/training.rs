//! Training on a mesh besides operators: the sharded optimizer steps like the plain one, and the rows that the ranks
//! read form one tensor, or an error on all ranks.

use std::sync::{Arc, Mutex};

use nomina::Result;
use nomina_mesh::optim::{AdamOptions, AdamW};
use nomina_mesh::prelude::*;
use nomina_mesh::{Job, Ranks, Ticket};
use nomina_runtime::Raw;
use nomina_runtime::call::{StepParam, StepRule};

dims! { N, C, K }
mesh! { Grid: Data, Model }
mesh! { Line: Row }

const OPTIONS: AdamOptions = AdamOptions {
    lr: 0.05,
    weight_decay: 0.1,
    ..AdamOptions::adamw()
};
const STEPS: u64 = 5;

fn numbers(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.7 + seed).sin()).collect()
}

fn data() -> (Tensor<(N, C)>, Tensor<(C, K)>, Tensor<(K,)>) {
    let tensor = "sizes of their numbers";
    (
        Tensor::from_vec(numbers(7 * 5, 0.0), [7, 5]).expect(tensor),
        Tensor::from_vec(numbers(5 * 3, 1.0), [5, 3]).expect(tensor),
        Tensor::from_vec(numbers(3, 2.0), [3]).expect(tensor),
    )
}

/// Returns the leaves after some steps of the plain optimizer, on a single process.
fn alone() -> [Vec<f32>; 2] {
    let (x, w, b) = data();
    let (mut w, mut b) = (w.with_grad(), b.with_grad());
    let zeros = |shape: &[usize]| Raw::zeros("zeros", shape, DType::F32, Device::Cpu).unwrap();
    let mut means = [&[5, 3][..], &[3]].map(|shape| [zeros(shape), zeros(shape)]);
    let [of_w, of_b] = &mut means;
    for step in 1..=STEPS {
        let y: Tensor<(N, K)> = x.contract(&w, C) + &b;
        y.square().cos().mean(..).backward();
        let grads = [
            w.take_grad().unwrap().to_dyn(),
            b.take_grad().unwrap().to_dyn(),
        ];
        let mut params = [
            StepParam {
                param: w.as_dyn_mut().into_parts().0,
                grad: grads[0].raw(),
                state: of_w,
                step,
                options: &OPTIONS,
            },
            StepParam {
                param: b.as_dyn_mut().into_parts().0,
                grad: grads[1].raw(),
                state: of_b,
                step,
                options: &OPTIONS,
            },
        ];
        StepRule::step("adamw", &mut params).unwrap();
    }
    [w.to_vec(), b.to_vec()]
}

#[test]
fn steps_of_parts_are_those_of_the_plain_optimizer() {
    let expected = alone();
    // Includes more ranks than elements, and ranks with different numbers of rows.
    for sizes in [[1, 1], [2, 1], [2, 2], [3, 2], [8, 1]] {
        let found = Grid::threads(sizes, |mesh| {
            let (x, w, b) = data();
            let x: Sharded<(N, C), Grid<Split<N>, Whole>> = mesh.whole(x).cut(Data, N);
            // One gradient that the optimizer sums, and one that is summed during backward.
            let mut w: Sharded<(C, K), Grid<Whole, Split<K>>> =
                mesh.whole(w).cut(Model, K).detach().with_grad();
            let mut b: Sharded<(K,), Grid<Synced, Split<K>>> =
                mesh.parameter(b)?.detach().cut(Model, K).with_grad();
            let mut optimizer = AdamW::with(Data, OPTIONS);
            for _ in 0..STEPS {
                let y: Sharded<(N, K), Grid<Split<N>, Split<K>>> =
                    x.contract(&w, C) + b.whole(Data);
                let loss: Sharded<(), Grid<Pending, Pending>> = y.square().cos().mean(across(..));
                loss.backward();
                optimizer.step(&mut [&mut w, &mut b]);
                assert!(w.grad().is_none() && b.grad().is_none());
            }
            let kept = optimizer.kept();
            Ok((
                [w.all_gather(Model).to_vec(), b.all_gather(Model).to_vec()],
                kept,
            ))
        });
        let found = found.unwrap();
        for (values, _) in &found {
            assert_eq!(
                values, &found[0].0,
                "{sizes:?}: equal to the bit on all ranks"
            );
            for (one, other) in values.iter().flatten().zip(expected.iter().flatten()) {
                assert!(
                    (one - other).abs() < 1e-5,
                    "{sizes:?}: {one} instead of {other}"
                );
            }
        }
        // Two means for each element, once along `Data`, whatever the mesh.
        let kept: usize = found.iter().map(|(_, kept)| kept).sum();
        assert_eq!(kept, 2 * (5 * 3 + 3), "{sizes:?}");
    }
}

#[test]
fn gradients_go_together_up_to_the_bytes_of_a_block() {
    let mesh = Line::simulate([8], 1e-6, 1e9).unwrap();
    let plan = mesh.plan(|| {
        // Each has 1.5 MiB: two of them fit in a block of 4 MiB, and the third is sent alone.
        let leaf = || -> Result<Sharded<(N,), Line<Whole>>> {
            Ok(mesh.zeros::<_, _, f32>([3 << 17])?.with_grad())
        };
        let [mut one, mut two, mut three] = [leaf()?, leaf()?, leaf()?];
        let loss = one.square() + two.square() + three.square();
        loss.sum(N).pend(Row).backward();
        let mut optimizer = AdamW::with(Row, OPTIONS);
        optimizer.try_step(&mut [&mut one, &mut two, &mut three])
    });
    let plan = plan.unwrap();
    let sent: Vec<_> = plan
        .collectives()
        .iter()
        .map(|one| (one.op, one.count, one.bytes))
        .collect();
    let bytes = 3 * (3 << 19) * 7 / 8;
    assert_eq!(
        sent,
        [
            ("adamw: gradients", 2, bytes),
            ("adamw: parameters", 2, bytes)
        ]
    );
}

#[test]
fn other_parameters_than_at_the_last_step_start_anew() {
    let mesh = Line::alone();
    let leaf = |size: usize| mesh.parameter(Tensor::<(N,)>::ones([size])).unwrap();
    let step = |optimizer: &mut AdamW<Row>, leaf: &mut Sharded<(N,), Line<Synced>>| {
        leaf.square().sum(N).backward();
        optimizer.step(&mut [leaf]);
        leaf.to_vec()[0]
    };
    let mut optimizer = AdamW::with(Row, OPTIONS);
    let (mut one, mut two) = (leaf(3), leaf(4));
    let first = step(&mut optimizer, &mut one);
    assert_eq!(step(&mut optimizer, &mut two), first);
    // The state of both is kept, each under its leaf.
    assert_eq!(optimizer.kept(), 2 * (3 + 4));
    assert_eq!(
        step(&mut optimizer, &mut one),
        step(&mut optimizer, &mut two)
    );
    drop(one);
    step(&mut optimizer, &mut two);
    assert_eq!(optimizer.kept(), 2 * 4);
}

type Loaded = Sharded<(N, C), Grid<Split<N>, Split<C>>>;

/// Loads rows by `read`, which gets its rank along `Data` and the number of its rows. Returns the error of each rank.
fn refused(read: impl Fn(usize, usize) -> Result<Tensor<(N, C)>> + Sync) -> Vec<String> {
    let found = Grid::threads([2, 2], |mesh| {
        let rank = mesh.rank(Data);
        let loaded: Result<Loaded> = mesh.load(N.of(5), |rows| read(rank, rows.len()));
        Ok(loaded.map(drop).unwrap_err().to_string())
    });
    found.unwrap()
}

#[test]
fn each_rank_reads_its_rows() {
    let whole = numbers(7 * 3, 0.0);
    for sizes in [[1, 1], [2, 2], [3, 1], [9, 1]] {
        let found = Grid::threads(sizes, |mesh| {
            let mut asked = 0..0;
            let x: Loaded = mesh.load(N.of(7), |rows| {
                asked = rows.clone();
                Tensor::from_vec(
                    whole[3 * rows.start..3 * rows.end].to_vec(),
                    [rows.len(), 3],
                )
            })?;
            assert_eq!((x.range(N), x.shape()), (asked, &[7, 3][..]));
            Ok(x.all_gather(Data).all_gather(Model).to_vec())
        });
        for one in found.unwrap() {
            assert_eq!(one, whole);
        }
    }
}

#[test]
fn what_one_rank_cannot_read_is_an_error_on_all() {
    let rows =
        |rows: usize, columns: usize| Tensor::from_vec(vec![0.0; rows * columns], [rows, columns]);
    let texts = refused(|rank, len| match rank {
        0 => rows(len, 3),
        _ => Err(Error::new(ErrorKind::File, "open", "no such file")),
    });
    for text in texts {
        assert!(
            text.contains("rank 1 of mesh axis `Data`: ") && text.contains("no such file"),
            "{text}"
        );
    }
    for text in refused(|rank, len| rows(len + rank, 3)) {
        assert!(text.contains("rows 3..5 were requested"), "{text}");
    }
    for text in refused(|rank, len| rows(len, 3 + rank)) {
        assert!(text.contains("sizes differ along the same dims"), "{text}");
        assert!(
            text.contains("[5, 3] here") && text.contains("4 elsewhere instead of 3")
                || text.contains("[5, 4] here") && text.contains("3 elsewhere instead of 4"),
            "{text}"
        );
    }
}

/// The calls to an engine, in order: starts of jobs, and waits for their ends.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

/// One of two ranks. The other does not exist; it is taken to have the same pieces.
#[derive(Debug)]
struct Recorded(Arc<Log>);

impl Ranks for Recorded {
    fn rank(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        2
    }
    fn start(&self, job: Job) -> Result<Ticket> {
        let (log, name) = (Arc::clone(&self.0), job.name());
        let found = match job {
            Job::AllReduce { piece, .. } => return Ok(Ticket::done(vec![piece])),
            Job::ReduceScatter { mut pieces, .. } => vec![pieces.swap_remove(0)],
            Job::AllGather { piece, .. } => vec![piece.clone(), piece],
            other => panic!("an optimizer does no {}", other.name()),
        };
        log.add(format!("start {name}"));
        Ok(Ticket::new(move || {
            log.add(format!("wait {name}"));
            Ok(found)
        }))
    }
    fn sent(&self) -> u64 {
        0
    }
    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}

#[test]
fn sums_of_all_blocks_are_started_before_the_first_is_waited_for() {
    let log = Arc::new(Log::default());
    let mesh: Mesh<Line> = Mesh::new(vec![Arc::new(Recorded(Arc::clone(&log)))]).unwrap();
    // Each dtype is a block.
    let mut one = mesh.whole(Tensor::<(N,)>::ones([4])).with_grad();
    let mut two = mesh.whole(Tensor::<(N,), f64>::ones([6])).with_grad();
    let mut three = mesh.whole(Tensor::<(N,)>::ones([2])).with_grad();
    one.square().sum(N).pend(Row).backward();
    two.square().sum(N).pend(Row).backward();
    three.square().sum(N).pend(Row).backward();
    AdamW::with(Row, OPTIONS).step(&mut [&mut one, &mut two, &mut three]);
    let [reduce, gather] = ["reduce_scatter", "all_gather"];
    let pairs = [
        ("start", reduce),
        ("start", reduce),
        ("start", reduce),
        ("wait", reduce),
        ("start", gather),
        ("wait", reduce),
        ("start", gather),
        ("wait", reduce),
        ("start", gather),
        ("wait", gather),
        ("wait", gather),
        ("wait", gather),
    ];
    let expected = pairs.map(|(what, job)| format!("{what} {job}"));
    assert_eq!(*log.0.lock().unwrap(), expected);
}

#[test]
fn blocks_that_overlap_step_to_the_bit_as_parameters_one_by_one() {
    type Leaf<T> = Sharded<(N,), Line<Whole>, T>;
    /// Returns a leaf whose gradient is a different partial sum on each rank.
    fn leaf<T: Float>(mesh: &Mesh<Line>, size: usize) -> Leaf<T> {
        let of = |seed| {
            let of: Tensor<(N,)> = Tensor::from_vec(numbers(size, seed), [size]).unwrap();
            mesh.whole(of.to::<T>())
        };
        let leaf: Leaf<T> = of(0.5).with_grad();
        let share: Leaf<T> = of(1.0 + mesh.rank(Row) as f32);
        (&leaf * &share).local().sum(..).backward();
        leaf
    }
    for ranks in 1..=4 {
        let found = Line::threads([ranks], |mesh| {
            let (one, two, three) = (leaf(&mesh, 7), leaf(&mesh, 10), leaf(&mesh, 300));
            let (mut one, mut two, mut three): (Leaf<f32>, Leaf<f64>, Leaf<f32>) =
                (one, two, three);
            AdamW::with(Row, OPTIONS).step(&mut [&mut one, &mut two, &mut three]);
            let together = (one.to_vec(), two.to_vec(), three.to_vec());
            let (one, two, three) = (leaf(&mesh, 7), leaf(&mesh, 10), leaf(&mesh, 300));
            let (mut one, mut two, mut three): (Leaf<f32>, Leaf<f64>, Leaf<f32>) =
                (one, two, three);
            AdamW::with(Row, OPTIONS).step(&mut [&mut one]);
            AdamW::with(Row, OPTIONS).step(&mut [&mut two]);
            AdamW::with(Row, OPTIONS).step(&mut [&mut three]);
            Ok((together, (one.to_vec(), two.to_vec(), three.to_vec())))
        });
        let found = found.unwrap();
        for (together, apart) in &found {
            assert_eq!(together, apart, "{ranks} ranks");
            assert_eq!(together, &found[0].0, "{ranks} ranks");
            assert_ne!(together.2, numbers(300, 0.5), "a step changes something");
        }
    }
}
