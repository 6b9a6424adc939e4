//! Programs of smooth operators over tensors whose dims have random names, in random orders.

use nomina::{DynTensor, Names, Result, Scalar};

use super::bytes::Bytes;

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// The maximum number of elements of a tensor.
const MOST: usize = 150;

/// A program. Its steps depend on a seed and on the names of its tensors, never on elements.
#[derive(Debug)]
pub struct Program {
    /// The seed of the leaves.
    seed: u64,
    /// The seed of the steps.
    steps: u64,
    count: usize,
}

impl Program {
    pub fn new(seed: u64, count: usize) -> Self {
        Self::like(seed, count, 0)
    }

    /// Returns a program with the leaves of the given seed and different steps.
    pub fn like(seed: u64, count: usize, steps: u64) -> Self {
        let steps = seed.wrapping_mul(1 << 20).wrapping_add(steps);
        Self { seed, steps, count }
    }

    /// Returns the size of each name.
    fn sizes(&self) -> [usize; 4] {
        let mut bytes = Bytes::Random(self.seed ^ 0xabcd);
        [0; 4].map(|_| 1 + bytes.below(4))
    }

    fn tensors(&self, salt: u64) -> Vec<DynTensor> {
        let mut bytes = Bytes::Random(self.seed);
        let count = 1 + bytes.below(3);
        let sizes = self.sizes();
        let mut numbers = Bytes::Random(self.seed ^ salt << 32 ^ 0x5eed);
        let one = |_| {
            let mut names: Vec<&str> = NAMES.to_vec();
            (1..4)
                .rev()
                .for_each(|at| names.swap(at, bytes.below(at + 1)));
            names.truncate(bytes.below(4));
            let shape: Vec<usize> = names.iter().map(|name| sizes[place(name)]).collect();
            let len = shape.iter().product();
            let mut number = || numbers.below(4001) as f64 / 1000.0 - 2.0;
            let data: Vec<f64> = (0..len).map(|_| number()).collect();
            let x = DynTensor::from_vec(data, &shape, &names[..]).expect("as many as sizes say");
            // Half of the tensors have a memory order different from that of their names.
            if names.len() > 1 && bytes.once_in(2) {
                x.transpose(0, 1).expect("two dims")
            } else {
                x
            }
        };
        (0..count).map(one).collect()
    }

    pub fn leaves(&self) -> Vec<DynTensor> {
        self.tensors(0)
    }

    /// Returns tensors shaped like the leaves, different for each `number`.
    pub fn directions(&self, number: u64) -> Vec<DynTensor> {
        self.tensors(number + 1)
    }

    /// Computes one number from the leaves.
    ///
    /// # Errors
    /// If one of its operators fails.
    pub fn run(&self, leaves: &[DynTensor]) -> Result<DynTensor> {
        let mut bytes = Bytes::Random(self.steps);
        let mut pool = leaves.to_vec();
        for _ in 0..self.count {
            let made = step(&mut bytes, &pool, &self.sizes())?;
            pool.push(made);
        }
        // Unused results count, too.
        let mut sum: Option<DynTensor> = None;
        for x in pool.iter().rev().take(5) {
            let part = x.mul(Scalar::Float(0.5))?.tanh()?.sum(..)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => sum.mul(Scalar::Float(0.7))?.add(&part)?,
            });
        }
        Ok(sum.expect("a pool has tensors"))
    }
}

fn place(name: &str) -> usize {
    NAMES
        .iter()
        .position(|own| *own == name)
        .expect("one of four")
}

fn names(x: &DynTensor) -> Vec<String> {
    x.names()
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect()
}

/// Aligns two tensors to the union of their names, in the order of the first.
fn aligned(x: &DynTensor, y: &DynTensor) -> Result<(DynTensor, DynTensor)> {
    let mut all = names(x);
    all.extend(
        names(y)
            .into_iter()
            .filter(|name| !x.names().iter().flatten().any(|own| own.as_str() == name)),
    );
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Ok((x.align_to(&all[..])?, y.align_to(&all[..])?))
}

fn unary(bytes: &mut Bytes<'_>, x: &DynTensor) -> Result<DynTensor> {
    match bytes.below(12) {
        0 => x.tanh(),
        1 => x.sin(),
        2 => x.cos(),
        3 => x.sigmoid(),
        4 => x.softplus(),
        5 => x.atan(),
        6 => x.erf(),
        7 => x.gelu(),
        8 => x.square()?.add(1.0)?.sqrt(),
        9 => x.square()?.add(1.0)?.log(),
        10 => x.tanh()?.exp(),
        _ => x.square()?.mul(0.1),
    }
}

fn binary(bytes: &mut Bytes<'_>, x: &DynTensor, y: &DynTensor) -> Result<DynTensor> {
    let (x, y) = aligned(x, y)?;
    match bytes.below(7) {
        0 => x.add(&y),
        1 => x.sub(&y),
        2 => x.tanh()?.mul(&y),
        3 => x.div(&y.square()?.add(1.0)?),
        4 => x.atan2(&y.square()?.add(0.5)?),
        5 => x.hypot(&y.square()?.add(0.5)?),
        _ => x.logaddexp(&y),
    }
}

/// Applies an operator along a dim, which it keeps or removes.
fn along(bytes: &mut Bytes<'_>, x: &DynTensor, dim: &str, size: usize) -> Result<DynTensor> {
    match bytes.below(15) {
        0 => x.sum(dim),
        1 => x.mean(dim),
        2 => x.logsumexp(dim),
        3 if size > 1 => x.var(dim),
        4 => x.sin()?.prod(dim),
        5 => x.square()?.add(0.1)?.norm(dim),
        6 => x.softmax(dim),
        7 => x.log_softmax(dim),
        8 => x.cumsum(dim),
        9 => x.tanh()?.cumprod(dim),
        10 => x.logcumsumexp(dim),
        11 => x.flip(dim),
        12 => {
            let at = bytes.below(size + 1);
            let (end, start) = (x.narrow(dim, at as i64, size - at)?, x.narrow(dim, 0, at)?);
            DynTensor::cat(&[&end, &start], dim)
        }
        13 => {
            let ids: Vec<i64> = (0..size).map(|_| bytes.below(size) as i64).collect();
            x.index_select(dim, &DynTensor::from_vec(ids, &[size], ())?)
        }
        _ => x.amax(dim),
    }
}

fn step(bytes: &mut Bytes<'_>, pool: &[DynTensor], sizes: &[usize; 4]) -> Result<DynTensor> {
    // Later tensors are picked more often, so that programs are deep.
    let mut pick =
        || pool[pool.len() - 1 - bytes.below(pool.len()).min(bytes.below(pool.len()))].clone();
    let (x, y) = (pick(), pick());
    let own = names(&x);
    let kind = bytes.below(12);
    if own.is_empty() || kind < 3 {
        return unary(bytes, &x);
    }
    let dim = own[bytes.below(own.len())].clone();
    let size = sizes[place(&dim)];
    let shared: Vec<String> = names(&y)
        .into_iter()
        .filter(|name| own.contains(name))
        .collect();
    match kind {
        3 | 4 => {
            let all: usize = NAMES
                .iter()
                .enumerate()
                .map(|(at, name)| {
                    let has = own.iter().chain(&names(&y)).any(|own| own == name);
                    if has { sizes[at] } else { 1 }
                })
                .product();
            if all <= MOST {
                binary(bytes, &x, &y)
            } else {
                unary(bytes, &y)
            }
        }
        5 if !shared.is_empty() => {
            let at = bytes.below(shared.len());
            x.tanh()?.contract(&y, &shared[at][..])
        }
        6 if own.len() > 1 => {
            let mut order: Vec<&str> = own.iter().map(String::as_str).collect();
            order.rotate_left(1 + bytes.below(own.len() - 1));
            x.align_to(&order[..])
        }
        7 => {
            // A new dim that nothing depends on.
            let free = NAMES
                .iter()
                .find(|name| !own.iter().any(|own| own == *name));
            let Some(free) = free.filter(|name| x.numel() * sizes[place(name)] <= MOST) else {
                return unary(bytes, &x);
            };
            let mut order: Vec<&str> = vec![free];
            order.extend(own.iter().map(String::as_str));
            let mut shape: Vec<i64> = x.shape().iter().map(|&size| size as i64).collect();
            shape.insert(0, sizes[place(free)] as i64);
            x.align_to(&order[..])?.expand(&shape)
        }
        8 => {
            let mask: Vec<bool> = (0..x.numel()).map(|_| bytes.once_in(3)).collect();
            let mask = DynTensor::from_vec(mask, x.shape(), ())?;
            let mask = DynTensor::from_parts(mask.into_parts().0, Names::clone(x.names()))?;
            x.masked_fill(&mask, 0.3)
        }
        _ => along(bytes, &x, &dim, size),
    }
}
