//! Every method generated from a row of the operator table, in every placement on a mesh of 2 by 2 threads, with uneven
//! sizes. Accepted calls equal the unsharded result, forward and backward; all others return an error that names the
//! reason.

#[path = "rows/generated.rs"]
mod generated;

use generated::{ALONE, ALONG, BINARY, REDUCE};
use nomina::{DType, ErrorKind};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_core::op::{Op, Samples};
use nomina_mesh::prelude::*;
use nomina_mesh::{DynSharded, Over};

dims! { N, C }
mesh! { Grid: Data, Model }

type Meshed = Mesh<Grid<Whole, Whole>>;

const AXES: [&str; 2] = ["Data", "Model"];

/// The state of an operand along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Along {
    Whole,
    Split(&'static str),
    Pending,
}

const ALONGS: [Along; 4] = [
    Along::Whole,
    Along::Split("N"),
    Along::Split("C"),
    Along::Pending,
];

fn placements() -> impl Iterator<Item = [Along; 2]> {
    ALONGS
        .into_iter()
        .flat_map(|data| ALONGS.map(|model| [data, model]))
}

/// Returns an input for an operator.
fn input(op: Op, shape: [usize; 2], which: usize) -> DynTensor {
    let row = op.row();
    let count = shape[0] * shape[1];
    let dtype = [DType::F64, DType::I64, DType::Bool]
        .into_iter()
        .find(|&dtype| row.dtypes.contains(dtype));
    let number = |i: usize| {
        let x = ((i * 7 + which * 3) as f64 * 0.61).sin();
        match row.samples {
            Samples::Positive => 0.3 + x.abs(),
            Samples::Unit => 0.9 * x,
            Samples::NonZero => x + 1.3f64.copysign(x),
            Samples::Any | Samples::Own => 1.7 * x,
        }
    };
    let all: Vec<f64> = (0..count).map(number).collect();
    let x = match dtype {
        Some(DType::F64) => DynTensor::from_vec(all, &shape, ["N", "C"]),
        Some(DType::I64) => DynTensor::from_vec(
            all.iter().map(|x| 1 + (x.abs() * 9.0) as i64).collect(),
            &shape,
            ["N", "C"],
        ),
        _ => DynTensor::from_vec(all.iter().map(|x| *x > 0.0).collect(), &shape, ["N", "C"]),
    };
    x.unwrap()
}

/// Returns a pending tensor whose sum is zero: its pieces have opposite signs.
fn nothing<P: nomina_mesh::placement::Placement<Mesh = Grid<Whole, Whole>>>(
    mesh: &Meshed,
    axis: usize,
    shape: [usize; 2],
) -> Result<DynSharded> {
    let rank = [mesh.rank(Data), mesh.rank(Model)][axis];
    let sign = if rank == 0 { 1.0 } else { -1.0 };
    let all = (0..shape[0] * shape[1]).map(|i| sign * (0.4 + (i as f64).cos()));
    let piece: Tensor<(N, C), f64> = Tensor::from_vec(all.collect(), shape)?;
    Ok(mesh.own(piece).claim::<P>(&shape)?.to_dyn())
}

/// Returns the tensor in a placement, as a leaf; an error if it cannot be placed so.
fn placed(mesh: &Meshed, x: &DynTensor, along: [Along; 2]) -> Result<DynSharded> {
    let shape = [x.shape()[0], x.shape()[1]];
    let float = x.dtype() == DType::F64;
    let mut placed = mesh.whole_dyn(x.clone());
    if along[0] == Along::Pending {
        placed = placed.pend("Data")?;
        if float {
            placed = placed.add(&nothing::<Grid<Pending, Whole>>(mesh, 0, shape)?)?;
        }
    }
    if along[1] == Along::Pending {
        placed = placed.pend("Model")?;
        if float {
            let more = match along[0] {
                Along::Pending => nothing::<Grid<Pending, Pending>>(mesh, 1, shape)?,
                _ => nothing::<Grid<Whole, Pending>>(mesh, 1, shape)?,
            };
            placed = placed.add(&more)?;
        }
    }
    for (axis, along) in AXES.into_iter().zip(along) {
        if let Along::Split(dim) = along {
            placed = placed.cut(axis, dim)?;
        }
    }
    Ok(placed)
}

/// Returns the whole result, on every rank.
fn whole(mut x: DynSharded) -> Result<DynSharded> {
    // If two axes split a dim, the later one is the inner one.
    for axis in [1, 0] {
        x = match x.places()[axis] {
            Place::Pending(_) => x.all_reduce(AXES[axis])?,
            Place::Split(_) => x.all_gather(AXES[axis])?,
            _ => x,
        };
    }
    Ok(x)
}

/// Returns the weighted sum of a result, for a gradient.
fn loss(x: &DynTensor) -> Result<DynTensor> {
    let count = x.shape().iter().product::<usize>();
    let weights = (0..count).map(|i| 0.5 + (i as f64 * 1.3).sin()).collect();
    let weights = DynTensor::from_vec(weights, x.shape(), x.names().clone())?;
    x.mul(&weights)?.sum(..)
}

fn close(one: &[f64], other: &[f64]) -> bool {
    let near = |(x, y): (&f64, &f64)| {
        (x.is_nan() && y.is_nan()) || x == y || (x - y).abs() <= 1e-9 * (1.0 + x.abs().max(y.abs()))
    };
    one.len() == other.len() && one.iter().zip(other).all(near)
}

/// Compares gradients. Infinite ones may be NaN, since ranks add zeros that were multiplied with infinity.
fn close_gradients(one: &[f64], other: &[f64]) -> bool {
    let finite = |all: &[f64]| -> Vec<f64> {
        all.iter()
            .map(|x| if x.is_finite() { *x } else { f64::NAN })
            .collect()
    };
    close(&finite(one), &finite(other))
}

fn values(x: &DynTensor) -> Vec<f64> {
    x.detach().to::<f64>().unwrap().to_vec::<f64>().unwrap()
}

/// The totals of all cases of a test.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    admitted: usize,
    refused: usize,
    gradients: usize,
}

type Unsharded<'a> = &'a dyn Fn(&[DynTensor]) -> Result<DynTensor>;
type Spread<'a> = &'a dyn Fn(&[DynSharded]) -> Result<DynSharded>;

/// Runs one method in one placement of its operands.
fn case(
    mesh: &Meshed,
    what: &str,
    inputs: &[DynTensor],
    along: &[[Along; 2]],
    (plain, spread): (Unsharded<'_>, Spread<'_>),
    counts: &mut Counts,
) -> Result<()> {
    let float = inputs.iter().all(|x| x.dtype() == DType::F64);
    let leaf = |x: &DynTensor| {
        if float {
            x.detach().with_grad()
        } else {
            Ok(x.clone())
        }
    };
    let leaves: Vec<DynTensor> = inputs.iter().map(leaf).collect::<Result<_>>()?;
    let pieces = leaves
        .iter()
        .zip(along)
        .map(|(x, &along)| placed(mesh, x, along));
    let pieces: Vec<DynSharded> = pieces.collect::<Result<_>>()?;
    let found = match spread(&pieces) {
        Ok(found) => found,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Mesh, "{what}: {error}");
            counts.refused += 1;
            return Ok(());
        }
    };
    // Max, product and similar reductions over ranks have no gradient.
    let combined = |place: &Place| matches!(place, Place::Pending(by) if *by != Combine::Add);
    let differentiable = !found.places().iter().any(combined);
    let found = whole(found)?;
    let own: Vec<DynTensor> = inputs.iter().map(leaf).collect::<Result<_>>()?;
    let expected = plain(&own)?;
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let (one, other) = (values(found.local()), values(&expected));
    assert!(close(&one, &other), "{what}: {one:?} instead of {other:?}");
    counts.admitted += 1;
    if !expected.requires_grad() || !differentiable {
        return Ok(());
    }
    match loss(&expected)?.backward() {
        // The operand has no derivative.
        Err(error) if error.kind() == ErrorKind::Gradient => return Ok(()),
        done => done?,
    }
    // The ranks' losses are the terms of one pending sum.
    let pending = found.pend("Data")?.pend("Model")?;
    loss(pending.local())?.backward()?;
    for (leaf, own) in leaves.iter().zip(&own) {
        let zeros = || own.zeros_like();
        let grad = leaf.grad().map_or_else(zeros, Ok)?;
        // The gradient of a whole leaf is pending over both axes.
        let grad: Tensor<(N, C), f64> = nomina::Typed::typed(&grad)?;
        let sum = mesh
            .own(grad)
            .claim::<Grid<Pending, Pending>>(own.shape())?;
        let sum = sum.all_reduce(Data).all_reduce(Model).to_vec();
        let own = own.grad().map_or_else(zeros, Ok)?;
        assert!(
            close_gradients(&sum, &values(&own)),
            "gradient of {what}: {sum:?} instead of {:?}",
            values(&own)
        );
        counts.gradients += 1;
    }
    Ok(())
}

/// Runs all cases on a mesh, and checks that the ranks count the same.
fn counted(name: &str, run: impl Fn(&Meshed, &mut Counts) -> Result<()> + Sync) -> Counts {
    let counts = Grid::threads([2, 2], |mesh| {
        let mut counts = Counts::default();
        run(&mesh, &mut counts)?;
        Ok(counts)
    });
    let mut counts = counts.unwrap_or_else(|error| panic!("{error}"));
    assert!(counts.iter().all(|other| *other == counts[0]), "{counts:?}");
    let counts = counts.swap_remove(0);
    println!("{name}: {counts:?}");
    counts
}

#[test]
fn operators_of_one_tensor() {
    let counts = counted("of one", |mesh, counts| {
        for (op, plain, spread) in ALONE {
            for shape in [[3, 5], [1, 2], [0, 3]] {
                for along in placements() {
                    let what = format!("{} of {shape:?} as {along:?}", op.name());
                    let x = [input(*op, shape, 0)];
                    let calls: (Unsharded<'_>, Spread<'_>) =
                        (&|x| plain(&x[0]), &|x| spread(&x[0]));
                    case(mesh, &what, &x, &[along], calls, counts)?;
                }
            }
        }
        Ok(())
    });
    // Operators that are not linear accept no pending operands: 9 of 16 placements remain.
    assert!(counts.admitted >= 27 * ALONE.len());
    assert!(counts.refused > 0 && counts.gradients > 0);
}

#[test]
fn operators_of_two_tensors() {
    let counts = counted("of two", |mesh, counts| {
        for (op, plain, spread) in BINARY {
            for one in placements() {
                for other in placements() {
                    let what = format!("{} as {one:?} beside {other:?}", op.name());
                    let x = [input(*op, [3, 5], 0), input(*op, [3, 5], 1)];
                    let calls: (Unsharded<'_>, Spread<'_>) =
                        (&|x| plain(&x[0], &x[1]), &|x| spread(&x[0], &x[1]));
                    case(mesh, &what, &x, &[one, other], calls, counts)?;
                }
            }
        }
        Ok(())
    });
    assert!(counts.admitted >= 9 * BINARY.len());
    assert!(counts.refused > counts.admitted && counts.gradients > 0);
}

#[test]
fn reductions() {
    let counts = counted("over dims", |mesh, counts| {
        for (op, plain, spread) in REDUCE {
            for dims in [&["N"][..], &["C"], &["N", "C"]] {
                for along in placements() {
                    for across in [false, true] {
                        let what =
                            format!("{} over {dims:?} across {across} as {along:?}", op.name());
                        let x = [input(*op, [3, 5], 0)];
                        let over = || match (across, dims) {
                            (true, dims) => Over::across(dims.iter().copied()),
                            (false, [one]) => Over::from([*one]),
                            (false, dims) => Over::from([dims[0], dims[1]]),
                        };
                        let calls: (Unsharded<'_>, Spread<'_>) =
                            (&|x| plain(&x[0], dims), &|x| spread(&x[0], over()));
                        case(mesh, &what, &x, &[along], calls, counts)?;
                    }
                }
            }
        }
        Ok(())
    });
    assert!(counts.admitted > 0 && counts.refused > 0 && counts.gradients > 0);
}

#[test]
fn operators_along_a_dim() {
    let counts = counted("along a dim", |mesh, counts| {
        for (op, plain, spread) in ALONG {
            for dim in ["N", "C"] {
                for along in placements() {
                    let what = format!("{} along {dim} as {along:?}", op.name());
                    let x = [input(*op, [3, 5], 0)];
                    let calls: (Unsharded<'_>, Spread<'_>) =
                        (&|x| plain(&x[0], dim), &|x| spread(&x[0], dim));
                    case(mesh, &what, &x, &[along], calls, counts)?;
                }
            }
        }
        Ok(())
    });
    assert!(counts.admitted > 0 && counts.refused > 0);
}

#[test]
fn products_over_a_dim() {
    let counts = counted("contract", |mesh, counts| {
        for one in placements() {
            for other in placements() {
                for across in [false, true] {
                    let what = format!("contract across {across} as {one:?} beside {other:?}");
                    let x = [
                        input(Op::Contract, [3, 5], 0),
                        input(Op::Contract, [3, 5], 1),
                    ];
                    let over = || {
                        if across {
                            Over::across(["C"])
                        } else {
                            Over::from(["C"])
                        }
                    };
                    let calls: (Unsharded<'_>, Spread<'_>) =
                        (&|x| x[0].contract(&x[1], &["C"][..]), &|x| {
                            x[0].contract(&x[1], over())
                        });
                    case(mesh, &what, &x, &[one, other], calls, counts)?;
                }
            }
        }
        Ok(())
    });
    assert!(counts.admitted > 0 && counts.refused > 0 && counts.gradients > 0);
}
