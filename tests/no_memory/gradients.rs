//! Recording and the backward pass: a failed call leaves all gradients and all leaves unchanged.

use std::cell::{Cell, RefCell};

use nomina::dynamic::{self, LayerNormOptions};
use nomina::grad::HookHandle;
use nomina::prelude::*;
use nomina::{BackwardOptions, DType, ErrorKind, Result};

use crate::in_place::held;
use crate::{tell, until_it_succeeds};

/// The leaves, and indices.
pub struct Leaves {
    /// Shape `[n, n]`.
    pub x: DynTensor,
    /// Shape `[n, n]`.
    pub w: DynTensor,
    /// Shape `[n]`.
    pub b: DynTensor,
    /// `n` integers below `n`.
    pub ids: DynTensor,
}

/// The bits of the elements of a leaf and of its gradient.
type Held = Vec<(Vec<u64>, Option<Vec<u64>>)>;

/// Returns numbers between -1 and 1.
pub fn numbers(shape: &[usize], dtype: DType, shift: usize) -> DynTensor {
    let values = (0..shape.iter().product()).map(|i: usize| ((i * 37 + shift) % 101) as f64);
    let values: Vec<f64> = values.map(|x| x / 50.5 - 1.0).collect();
    let x = DynTensor::from_vec(values, shape, ()).expect("one value for each element");
    x.to_dtype(dtype).expect("a dtype")
}

impl Leaves {
    pub fn new(n: usize, dtype: DType) -> Self {
        let leaf = |shape: &[usize], shift| {
            let leaf = numbers(shape, dtype, shift).with_grad();
            leaf.expect("a float")
        };
        let ids: Vec<i64> = (0..n as i64).map(|i| i * 5 % n as i64).collect();
        Self {
            x: leaf(&[n, n], 0),
            w: leaf(&[n, n], 11),
            b: leaf(&[n], 5),
            ids: DynTensor::from_vec(ids, &[n], ()).expect("one value for each element"),
        }
    }

    fn each(&self) -> [&DynTensor; 3] {
        [&self.x, &self.w, &self.b]
    }

    pub fn held(&self) -> Held {
        let each = self.each().into_iter();
        each.map(|x| (held(x), x.grad().map(|grad| held(&grad))))
            .collect()
    }

    pub fn zero_grad(&self) {
        self.each().into_iter().for_each(DynTensor::zero_grad);
    }
}

/// A recorded computation: its name and its function.
type Kind = (&'static str, fn(&Leaves) -> Result<DynTensor>);

const KINDS: &[Kind] = &[
    ("elementwise", |l| l.x.mul(&l.w)?.tanh()?.exp()),
    ("of a row", |l| l.x.sub(&l.b)?.mul(&l.b)?.sigmoid()),
    ("matmul", |l| l.x.matmul(&l.w)),
    ("linear", |l| l.x.linear(&l.w, &l.b)),
    ("softmax", |l| l.x.softmax(1)),
    ("log_softmax", |l| l.x.log_softmax(0)),
    ("layer_norm", |l| {
        let options = LayerNormOptions {
            weight: Some(&l.b),
            bias: Some(&l.b),
            ..LayerNormOptions::default()
        };
        l.x.layer_norm_with(1, options)
    }),
    ("rms_norm", |l| l.x.rms_norm(1)),
    ("conv2d", |l| {
        let n = l.b.numel() as i64;
        let image = l.x.reshape(&[2, 3, n / 6, n])?;
        let filter = l.w.narrow(0, 0, 3)?.narrow(1, 0, 6)?;
        image.conv2d(&filter.reshape(&[2, 3, 1, 3])?)
    }),
    ("cross_entropy", |l| l.x.cross_entropy(&l.ids, 1)),
    ("embedding", |l| l.w.embedding(0, &l.ids)),
    ("attention", |l| {
        l.x.scaled_dot_product_attention(&l.w, &l.w)
    }),
    ("sum", |l| l.x.sum(0)?.sum(..)),
    ("mean, amax", |l| l.x.mean(1)?.mul(&l.w.amax(0)?)),
    ("cumsum, prod", |l| l.x.cumsum(0)?.prod(1)),
    ("views", |l| {
        l.x.transpose(0, 1)?
            .narrow(0, 1, 3)?
            .mul(&l.w.select(0, 1)?)
    }),
    ("cat, gather", |l| {
        DynTensor::cat(&[&l.x, &l.w], 0)?.index_select(0, &l.ids)
    }),
    ("fuse!", |l| {
        let (x, w, b) = (&l.x, &l.w, &l.b);
        fuse!(|x, w, b| (x * w + b).tanh() * x)
    }),
    ("fuse!, reduced", |l| {
        let (x, b) = (&l.x, &l.b);
        fuse!(|x, b| ((x + b).exp() * b).sum(1))
    }),
    ("in place", |l| {
        let mut y = l.x.mul(2.0)?;
        y.mul_(&l.w)?;
        y.add_(&l.b)?;
        y.tanh_()?;
        Ok(y)
    }),
    ("in place, a part", |l| {
        let mut y = l.x.exp()?;
        y.narrow_mut(0, 1, 3)?.mul_(&l.b)?;
        Ok(y)
    }),
    ("checkpoint", |l| {
        let held = l.b.clone();
        let f = move |args: &[DynTensor]| args[0].matmul(&args[1])?.add(&held)?.tanh();
        dynamic::checkpoint(f, &[&l.x, &l.w])
    }),
    // The temporaries of the graph are large allocations.
    ("a long way", |l| {
        let mut y = l.b.mul(1.0)?;
        for _ in 0..120 {
            y = y.add(&l.b)?;
        }
        Ok(y)
    }),
    ("many leaves", |l| {
        let mut y = l.b.mul(1.0)?;
        for _ in 0..120 {
            y = y.mul(&l.b.detach().with_grad()?)?;
        }
        Ok(y)
    }),
];

/// The number of attempts.
#[derive(Default)]
pub struct Counts {
    cases: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl Counts {
    /// Repeats a call with ever more memory; after each failure all leaves must be unchanged. `reset` restores them
    /// after a call that succeeded by a fallback.
    pub fn whole<A, R>(
        &mut self,
        what: &str,
        leaves: &Leaves,
        reset: impl Fn(),
        mut make: impl FnMut() -> Result<A>,
        mut call: impl FnMut(A) -> Result<R>,
    ) {
        tell(what);
        reset();
        let before = leaves.held();
        let (done, changed) = (Cell::new(false), Cell::new(false));
        let arguments = || {
            if done.take() {
                reset();
            }
            changed.set(changed.get() || leaves.held() != before);
            make()
        };
        let found = until_it_succeeds(arguments, |args| {
            let result = call(args)?;
            done.set(true);
            Ok(result)
        });
        self.add(what, found);
        if changed.get() {
            self.wrong.push(format!("{what}: changed, and failed"));
        }
    }

    /// Adds the result of a case: the number of refusals, or a description of the failure.
    pub fn add(&mut self, what: &str, found: std::result::Result<usize, String>) {
        self.cases += 1;
        match found {
            Ok(refused) => self.refused += refused,
            Err(error) => self.wrong.push(format!("{what}: {error}")),
        }
    }

    fn kind(&mut self, (name, record): Kind, n: usize, dtype: DType) {
        let what = |of: &str| format!("{name} of {n}, {dtype}, {of}");
        let leaves = Leaves::new(n, dtype);
        self.whole(
            &what("recorded"),
            &leaves,
            || {},
            || Ok(()),
            |()| record(&leaves),
        );

        let y = record(&leaves).expect("with memory");
        let seed = numbers(y.shape(), y.dtype(), 3);
        let keep = BackwardOptions {
            retain_graph: true,
            ..BackwardOptions::default()
        };
        let again = || y.backward_with(&seed, keep).expect("with memory");
        again();
        let wanted = leaves.held();
        let zeros = || leaves.zero_grad();
        let once = || {
            zeros();
            again();
        };
        let back = |()| y.backward_with(&seed, keep);
        self.whole(&what("backward"), &leaves, zeros, || Ok(()), back);
        assert!(leaves.held() == wanted, "{}", what("the same gradients"));

        self.whole(&what("added to gradients"), &leaves, once, || Ok(()), back);
        let twice = leaves.held();
        once();
        again();
        assert!(leaves.held() == twice, "{}", what("the same sums"));

        let create = BackwardOptions {
            create_graph: true,
            ..keep
        };
        let back = |()| y.backward_with(&seed, create);
        self.whole(&what("recorded again"), &leaves, zeros, || Ok(()), back);

        self.used_up(&what("used up"), &leaves, record, &seed, &wanted);
        self.hooked(&what("with hooks"), &leaves, record);
    }

    /// If a backward pass that consumes the graph fails, another one gives the same gradients, or an error.
    fn used_up(
        &mut self,
        what: &str,
        leaves: &Leaves,
        record: fn(&Leaves) -> Result<DynTensor>,
        seed: &DynTensor,
        wanted: &Held,
    ) {
        let last: RefCell<Option<DynTensor>> = RefCell::default();
        let (options, zeros) = (BackwardOptions::default(), || leaves.zero_grad());
        let make = || {
            if let Some(failed) = last.take() {
                match failed.backward_with(seed, options) {
                    Ok(()) => assert!(leaves.held() == *wanted, "{what}: other gradients"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Gradient, "{what}: {error}"),
                }
                zeros();
            }
            let y = record(leaves)?;
            *last.borrow_mut() = Some(y.clone());
            Ok(y)
        };
        self.whole(what, leaves, zeros, make, |y: DynTensor| {
            y.backward_with(seed, options)
        });
    }

    /// Tests hooks that compute: of a result, and of a leaf, which runs after all gradients are written.
    fn hooked(&mut self, what: &str, leaves: &Leaves, record: fn(&Leaves) -> Result<DynTensor>) {
        let hook = leaves.x.register_hook(|grad| grad.mul(3.0).map(Some));
        let hook: HookHandle = hook.expect("a leaf");
        let zeros = || leaves.zero_grad();
        let make = || {
            let y = record(leaves)?;
            y.register_hook(|grad| grad.exp().map(Some))?;
            y.sum(..)
        };
        self.whole(what, leaves, zeros, make, |y: DynTensor| y.backward());
        hook.remove();
    }
}

pub fn all() {
    let mut counts = Counts::default();
    for &kind in KINDS {
        counts.kind(kind, 6, DType::F64);
        counts.kind(kind, 96, DType::F32);
        counts.kind(kind, 96, DType::BF16);
    }
    crate::gradient_functions::all(&mut counts);
    crate::loops::all(&mut counts);
    println!(
        "{} cases of gradients, memory missed {} times",
        counts.cases, counts.refused
    );
    assert!(counts.wrong.is_empty(), "{}", counts.wrong.join("\n"));
    assert!(counts.cases > 450 && counts.refused > 15_000);
}
