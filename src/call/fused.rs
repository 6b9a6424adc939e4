//! Chains of elementwise operators.

use nomina_core::{DType, Error, Names, Result, Scalar, rule};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Node};
use smallvec::SmallVec;

use super::{Bare, Look, Static, explain, typed, wilds};

/// The program, on its tensors and numbers.
pub(crate) fn new(
    program: &[Node<'_>],
    looks: &[Look<'_>],
    numbers: &[Scalar],
    dtype: DType,
    out: &'static Static,
) -> Result<Bare> {
    let mut wild = None;
    if looks.iter().any(|look| look.of.wild) {
        let names = names(program, looks)?.pop().flatten();
        wild = names.and_then(|names| wilds(names, out));
    }
    let raws: SmallVec<[&Raw; 4]> = looks.iter().map(|look| look.raw).collect();
    let raw = typed(|| call::fused(program, &raws, numbers));
    let raw = raw.map_err(|error| blame(error, program, looks))?;
    // As with three operands: promotion in pairs may differ from promotion of all at once.
    let raw = call::to_dtype(&raw, dtype)?;
    Ok(Bare { raw, wild })
}

/// The names of each step; none of a number.
fn names(program: &[Node<'_>], looks: &[Look<'_>]) -> Result<Vec<Option<Names>>> {
    let mut all: Vec<Option<Names>> = Vec::with_capacity(program.len());
    for node in program {
        let names = match *node {
            Node::Tensor(at) => Some(looks[at].names()),
            Node::Scalar(_) => None,
            Node::To(_, of) => all[of].clone(),
            Node::Apply(op, args) => {
                let operands: Vec<&Names> =
                    args.iter().filter_map(|&at| all[at].as_ref()).collect();
                let unified = rule::unify_all(op.name(), operands);
                Some(unified.map_err(|error| blame(error, program, looks))?)
            }
        };
        all.push(names);
    }
    Ok(all)
}

/// Says which names and sizes the operands of the step had that does not fit.
#[cold]
fn blame(error: Error, program: &[Node<'_>], looks: &[Look<'_>]) -> Error {
    let mut known: Vec<Option<(Names, Vec<usize>)>> = Vec::with_capacity(program.len());
    for node in program {
        let step = match *node {
            Node::Tensor(at) => Some((looks[at].names(), looks[at].raw.shape().to_vec())),
            Node::Scalar(_) => None,
            Node::To(_, of) => known[of].clone(),
            Node::Apply(op, args) => {
                let operands: Vec<&(Names, Vec<usize>)> =
                    args.iter().filter_map(|&at| known[at].as_ref()).collect();
                let names = operands.iter().map(|(names, _)| names);
                let shapes = operands.iter().map(|(_, shape)| &shape[..]);
                let fit = rule::unify_all(op.name(), names.clone()).and_then(|unified| {
                    let shape = rule::broadcast_all(op.name(), shapes.clone())?;
                    Ok((unified, shape.to_vec()))
                });
                match fit {
                    Ok(fit) => Some(fit),
                    Err(found) => return found.with_names(names).with_shapes(shapes),
                }
            }
        };
        known.push(step);
    }
    explain(error, looks)
}
