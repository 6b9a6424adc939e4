//! A program of sharded tensors on processes gives the same bits and sends the same bytes as on threads.

mod support;

use std::time::Duration;

use nomina::Result;
use nomina_mesh::prelude::*;
use nomina_mpi::Mpi;

dims! { N, C, K }
mesh! { Grid: Data, Model }

const LIMIT: Duration = Duration::from_secs(60);

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("same") => same(),
        Some("differ") => differ(),
        _ => {
            let run = support::launch(4, &["same"], &[], LIMIT);
            assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
            print!("{}", run.out);
            let run = support::launch(4, &["differ"], &[], LIMIT);
            assert_eq!(run.code, Some(101), "{}{}", run.out, run.err);
            let text =
                "the ranks of mesh axis `Data` make different calls: rank 0 all_gather(Data)";
            assert!(
                run.err.contains(text) && !run.out.contains("a result"),
                "{}",
                run.err
            );
            println!(
                "different calls, {:.1} s: refused on all ranks",
                run.took.as_secs_f64()
            );
        }
    }
}

fn numbers(count: usize, salt: f32) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.7 + salt).sin()).collect()
}

/// Runs products and reductions over split dims and conversions of all kinds. Returns a rank's results, and the bytes
/// that it sends along each axis.
fn program(mesh: &Mesh<Grid>, sizes: [usize; 3]) -> Result<(Vec<f32>, [u64; 2])> {
    let [n, c, k] = sizes;
    let before = [mesh.sent(Data), mesh.sent(Model)];
    let x: Sharded<(N, C), Grid<Whole, Whole>> =
        mesh.whole(Tensor::from_vec(numbers(n * c, 0.0), [n, c])?);
    let w: Sharded<(C, K), Grid<Whole, Whole>> =
        mesh.whole(Tensor::from_vec(numbers(c * k, 1.0), [c, k])?);
    let tiles: Sharded<(N, C), Grid<Split<N>, Split<C>>> = x.cut(Data, N).cut(Model, C);
    let h = tiles
        .contract(&w.cut(Model, C), across(C))
        .all_reduce(Model);
    let mean = h.mean(across(N)).all_reduce(Data);
    let most = h.amax(across(N)).all_reduce(Data);
    let moved: Sharded<(N, C), Grid<Split<N>, Split<N>>> = tiles.all_to_all(Model, N);
    let mut seen = h.local().to_vec();
    seen.extend(mean.to_vec());
    seen.extend(most.to_vec());
    seen.extend(moved.local().to_vec());
    seen.extend(tiles.all_gather(Model).all_gather(Data).to_vec());
    let scattered = x.cut(Data, N).pend(Model).reduce_scatter(Model, C);
    seen.extend(scattered.local().to_vec());
    mesh.barrier()?;
    let after = [mesh.sent(Data), mesh.sent(Model)];
    Ok((seen, [after[0] - before[0], after[1] - before[1]]))
}

fn same() {
    let mpi = Mpi::start().unwrap();
    let mesh = Grid::start(&mpi, [2, 2]).unwrap();
    let mut programs = 0;
    for sizes in [[5, 4, 3], [8, 6, 2], [2, 1, 1], [2, 3, 7], [300, 200, 90]] {
        let threads = Grid::threads([2, 2], |mesh| program(&mesh, sizes)).unwrap();
        let own = program(&mesh, sizes).unwrap();
        assert!(
            own == threads[mpi.rank()],
            "{sizes:?} on rank {}",
            mpi.rank()
        );
        programs += 1;
    }
    if mpi.rank() == 0 {
        println!("{programs} programs on 2 x 2 processes as on threads");
    }
}

fn differ() {
    let mpi = Mpi::start().unwrap();
    let mesh = Grid::start(&mpi, [2, 2]).unwrap();
    let x: Sharded<(N, C), Grid<Whole, Whole>> =
        mesh.whole(Tensor::from_vec(numbers(16, 0.0), [4, 4]).unwrap());
    let rows = x.cut(Data, N);
    #[expect(clippy::if_same_then_else, reason = "two lines of the program")]
    let all = if mesh.rank(Data) == 0 {
        rows.all_gather(Data).to_vec()
    } else {
        rows.all_gather(Data).to_vec()
    };
    println!("a result: {all:?}");
}
