//! The table of docs/mesh.md: the time of collectives on simulated meshes. The numbers in the guide are computed here.

use nomina::Result;
use nomina_mesh::Plan;
use nomina_mesh::prelude::*;

dims! { N, C }
mesh! { Line: Data }

/// 2 µs and 25 GB/s between two ranks.
const LATENCY: f64 = 2e-6;
const RATE: f64 = 25e9;

const RANKS: [usize; 4] = [8, 64, 512, 4096];

/// Returns `bytes` of replicated zeros, in the memory of one element.
fn zeros(mesh: &Mesh<Line>, bytes: usize) -> Result<Sharded<(N,), Line>> {
    let one: Tensor<(N,)> = Tensor::zeros([1]);
    Ok(mesh.whole(one.try_expand([bytes / 4])?))
}

type Step = fn(&Mesh<Line>, usize) -> Result<()>;

fn all_reduce(mesh: &Mesh<Line>, bytes: usize) -> Result<()> {
    // The first rank of a claimed sum contributes its piece unchanged.
    let pending = zeros(mesh, bytes)?
        .own(Data)
        .claim::<Line<Pending>>(&[bytes / 4])?;
    pending.try_all_reduce(Data).map(drop)
}

fn reduce_scatter(mesh: &Mesh<Line>, bytes: usize) -> Result<()> {
    let pending = zeros(mesh, bytes)?
        .own(Data)
        .claim::<Line<Pending>>(&[bytes / 4])?;
    pending.try_reduce_scatter(Data, N).map(drop)
}

fn all_gather(mesh: &Mesh<Line>, bytes: usize) -> Result<()> {
    let cut = zeros(mesh, bytes)?.try_cut(Data, N)?;
    cut.try_all_gather(Data).map(drop)
}

/// Runs an all-to-all of a piece of `bytes`.
fn all_to_all(mesh: &Mesh<Line>, bytes: usize) -> Result<()> {
    let ranks = mesh.size(Data);
    let one: Tensor<(N, C)> = Tensor::zeros([1, 1]);
    let all = one.try_expand([ranks, bytes / 4])?;
    let cut: Sharded<(N, C), Line<Split<N>>> = mesh.whole(all).try_cut(Data, N)?;
    cut.try_all_to_all(Data, C).map(drop)
}

const ROWS: [(&str, Step, usize); 6] = [
    ("`all_reduce` of 4 B", all_reduce, 4),
    ("`all_reduce` of 16 MiB", all_reduce, 16 << 20),
    ("`all_reduce` of 1 GiB", all_reduce, 1 << 30),
    ("`all_gather` to 1 GiB", all_gather, 1 << 30),
    ("`reduce_scatter` of 1 GiB", reduce_scatter, 1 << 30),
    ("`all_to_all` of 16 MiB", all_to_all, 16 << 20),
];

fn shown(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", seconds * 1e6),
        ..1e-2 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.0} ms", seconds * 1e3),
    }
}

/// Returns the plan of a step on a simulated mesh.
fn planned(ranks: usize, step: Step, bytes: usize) -> Plan {
    let mesh = Line::simulate([ranks], LATENCY, RATE).unwrap();
    mesh.plan(|| step(&mesh, bytes)).unwrap()
}

#[test]
fn the_guide_says_what_is_computed() {
    let guide = include_str!("../../docs/mesh.md");
    let mut missing = Vec::new();
    for (name, step, bytes) in ROWS {
        let mut row = format!("| {name} |");
        for ranks in RANKS {
            let plan = planned(ranks, step, bytes);
            let own = plan.collectives().iter().filter(|one| one.op != "claim");
            let seconds: f64 = own.map(|one| one.seconds).sum();
            row += &format!(" {} |", shown(seconds));
        }
        println!("{row}");
        if !guide.contains(&row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "docs/mesh.md lacks:\n{}",
        missing.join("\n")
    );
}

#[test]
fn exchanges_on_long_axes_are_warned_of() {
    let warned = |ranks| planned(ranks, all_to_all, 1 << 20).warnings().count();
    assert_eq!((warned(64), warned(512)), (0, 1));
}

#[test]
fn gradients_are_summed_in_blocks() {
    let mesh = Line::simulate([8], LATENCY, RATE).unwrap();
    let blocks = |cap: Option<usize>| {
        if let Some(cap) = cap {
            mesh.set_bucket_cap(cap);
        }
        // Ten parameters of 8 MiB each.
        let params: Vec<Sharded<(C,), Line<Synced>>> = (0..10)
            .map(|_| Ok(mesh.zeros([2 << 20])?.with_grad()))
            .collect::<Result<_>>()
            .unwrap();
        let plan = mesh.plan(|| {
            let mut loss: Sharded<(), Line<Pending>> = mesh.zeros([])?;
            for param in &params {
                loss += &param.whole(Data).sum(C).pend(Data);
            }
            loss.try_backward()?;
            assert!(params.iter().all(|param| param.grad().is_some()));
            Ok(())
        });
        let plan = plan.unwrap();
        let sums: Vec<_> = (plan.collectives().iter())
            .filter(|one| one.op == "whole")
            .map(|one| (one.count, one.bytes))
            .collect();
        assert_eq!(sums.len(), 1, "{plan}");
        sums[0]
    };
    let bytes = 2 * 10 * (8 << 20) * 7 / 8;
    // Three of them fit in a bucket of 25 MiB.
    assert_eq!(blocks(None), (4, bytes));
    assert_eq!(blocks(Some(0)), (10, bytes));
    assert_eq!(blocks(Some(usize::MAX)), (1, bytes));
}
