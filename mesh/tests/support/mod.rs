//! Helpers for tests of operators along a split dim: the same call on one rank and on several, forward and backward.
#![allow(dead_code)]

use nomina_core::mesh::value::Place;
use nomina_mesh::DynSharded;
use nomina_mesh::prelude::*;

mesh! { pub Line: Data }

pub type Meshed = Mesh<Line<Whole>>;

/// Returns numbers of both signs without a pattern.
pub fn numbers(shape: &[usize], names: &[&str], seed: usize) -> DynTensor {
    let count: usize = shape.iter().product();
    let all = (0..count).map(|i| 2.0 * ((i * 7 + seed * 3) as f64 * 0.61 + seed as f64).sin());
    DynTensor::from_vec(all.collect::<Vec<f64>>(), shape, names).unwrap()
}

/// Like [`numbers`], as a leaf.
pub fn leaf(shape: &[usize], names: &[&str], seed: usize) -> DynTensor {
    numbers(shape, names, seed).with_grad().unwrap()
}

/// Returns the whole tensor, on every rank.
pub fn whole(x: &DynSharded) -> Result<DynSharded> {
    match x.places()[0] {
        Place::Pending(_) => x.all_reduce("Data"),
        Place::Split(_) => x.all_gather("Data"),
        _ => Ok(x.clone()),
    }
}

pub fn values(x: &DynTensor) -> Vec<f64> {
    x.detach().to::<f64>().unwrap().to_vec::<f64>().unwrap()
}

/// Checks equality up to rounding, including NaN and infinities.
pub fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    let near = |(x, y): (&f64, &f64)| {
        (x.is_nan() && y.is_nan()) || x == y || (x - y).abs() <= 1e-9 * (1.0 + x.abs().max(y.abs()))
    };
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{what}: {found:?} instead of {expected:?}");
}

/// Returns a weighted sum of the results that have a gradient.
pub fn loss(found: &[DynTensor]) -> Result<Option<DynTensor>> {
    let mut sum: Option<DynTensor> = None;
    for (which, x) in found.iter().enumerate() {
        if !x.requires_grad() {
            continue;
        }
        let names: Vec<String> = x
            .names()
            .iter()
            .map(|name| name.as_ref().unwrap().to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let part = x.mul(&numbers(x.shape(), &names, 5 + which))?.sum(..)?;
        sum = Some(match sum {
            Some(sum) => sum.add(&part)?,
            None => part,
        });
    }
    Ok(sum)
}

type Plain<'a> = &'a dyn Fn(&[DynTensor]) -> Result<Vec<DynTensor>>;
type Spread<'a> = &'a (dyn Fn(&[DynSharded]) -> Result<Vec<DynSharded>> + Sync);

/// Operands, each with the dim that is split; `None` for a whole operand.
pub type Inputs<'a> = &'a [(DynTensor, Option<&'a str>)];

/// Compares a call on one rank with the call on 1 to 4 ranks: results, and gradients of all operands that require one.
pub fn same(what: &str, inputs: Inputs<'_>, plain: Plain<'_>, spread: Spread<'_>) {
    let float = DynTensor::requires_grad;
    let leaf = |x: &DynTensor| {
        if float(x) {
            x.detach().with_grad()
        } else {
            Ok(x.clone())
        }
    };
    let leaves: Vec<DynTensor> = inputs.iter().map(|(x, _)| leaf(x).unwrap()).collect();
    let expected = plain(&leaves).unwrap();
    let one = loss(&expected).unwrap();
    if let Some(loss) = &one {
        loss.backward().unwrap();
    }
    let gradient = |leaf: &DynTensor| {
        let zeros = || leaf.zeros_like().unwrap();
        values(&leaf.grad().unwrap_or_else(zeros))
    };
    let gradients: Vec<Vec<f64>> = leaves.iter().filter(|x| float(x)).map(gradient).collect();
    let expected: Vec<DynTensor> = expected.iter().map(DynTensor::detach).collect();
    for ranks in 1..=4 {
        let found = Line::threads([ranks], |mesh| {
            let own: Vec<DynTensor> = inputs.iter().map(|(x, _)| leaf(x)).collect::<Result<_>>()?;
            let pieces = own.iter().zip(inputs).map(|(x, (_, split))| {
                let x = mesh.whole_dyn(x.clone());
                match split {
                    Some(dim) => x.cut("Data", dim),
                    None => Ok(x),
                }
            });
            let pieces: Vec<DynSharded> = pieces.collect::<Result<_>>()?;
            let found = spread(&pieces)?
                .iter()
                .map(whole)
                .collect::<Result<Vec<_>>>()?;
            let results: Vec<_> = found
                .iter()
                .map(|x| (x.shape().to_vec(), x.names().to_string(), values(x.local())))
                .collect();
            // A pending sum whose value the first rank contributes.
            let pended = found.iter().map(|x| Ok(x.pend("Data")?.local().clone()));
            if let Some(loss) = loss(&pended.collect::<Result<Vec<_>>>()?)? {
                loss.backward()?;
            }
            // The gradient of a whole operand is a sum over ranks.
            let mut gradients = Vec::new();
            for leaf in own.iter().filter(|x| float(x)) {
                let grad = leaf.grad().map_or_else(|| leaf.zeros_like(), Ok)?;
                gradients.push(values(&total(&mesh, &grad)?));
            }
            Ok((results, gradients))
        });
        let found = found.unwrap_or_else(|error| panic!("{what} on {ranks} ranks: {error}"));
        for (results, own) in found {
            assert_eq!(results.len(), expected.len());
            for ((shape, names, all), expected) in results.iter().zip(&expected) {
                assert_eq!(shape, expected.shape(), "{what} on {ranks} ranks");
                assert_eq!(
                    *names,
                    expected.names().to_string(),
                    "{what} on {ranks} ranks"
                );
                assert_close(&format!("{what} on {ranks} ranks"), all, &values(expected));
            }
            for (own, expected) in own.iter().zip(&gradients) {
                assert_close(
                    &format!("gradient of {what} on {ranks} ranks"),
                    own,
                    expected,
                );
            }
        }
    }
}

/// Returns the sum of all ranks' tensors.
pub fn total(mesh: &Meshed, x: &DynTensor) -> Result<DynTensor> {
    dims! { Flat }
    let flat: Tensor<(Flat,), f64> = Tensor::from_vec(values(x), [x.numel()])?;
    let sum = mesh.own(flat).claim::<Line<Pending>>(&[x.numel()])?;
    DynTensor::from_vec(sum.all_reduce(Data).to_vec(), x.shape(), x.names().clone())
}

/// Returns the bytes that each rank sends in each step of a program, including its comparisons with other ranks
/// ([`checks`]).
pub fn sent(
    ranks: usize,
    program: impl Fn(
        &Meshed,
        &mut dyn FnMut(&dyn Fn() -> Result<()>) -> Result<u64>,
    ) -> Result<Vec<u64>>
    + Sync,
) -> Vec<Vec<u64>> {
    let found = Line::threads([ranks], |mesh| {
        let mut measure = |step: &dyn Fn() -> Result<()>| {
            // After a barrier, the other ranks have taken everything that was sent.
            mesh.barrier()?;
            let before = mesh.sent(Data);
            step()?;
            mesh.barrier()?;
            Ok(mesh.sent(Data) - before)
        };
        program(&mesh, &mut measure)
    });
    found.unwrap()
}

/// Returns the bytes that a rank sends to compare `collectives`, plus the comparison of the closing barrier. Each
/// comparison combines two words.
pub fn checks(rank: usize, ranks: usize, collectives: u64) -> u64 {
    let own = nomina_mesh::part(2, ranks, rank).1 as u64 * 8;
    let each = (16 - own) + own * (ranks as u64 - 1);
    if ranks == 1 {
        0
    } else {
        (collectives + 1) * each
    }
}
