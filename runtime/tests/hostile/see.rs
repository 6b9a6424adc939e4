//! Reads all of a result.

use nomina_core::op::Resolved;
use nomina_core::{DType, MemoryFormat, Result, Scalar};
use nomina_runtime::call::{self, Arg, RecurrentOutputs, SparseSum, UniqueElements};
use nomina_runtime::grad::{BackwardOptions, backward};
use nomina_runtime::raw::{Raw, RawCoo, RawMut};
use nomina_runtime::shape::{Shape, Strides};
use nomina_runtime::{Device, Strided};

/// The maximal number of elements read; larger tensors repeat elements, or are zeros without
/// memory.
const READ: usize = 1 << 13;

/// A function's result.
pub trait See {
    /// Reads it; returns whether it is a result rather than an error.
    fn see(&self) -> bool;
}

impl See for Raw {
    fn see(&self) -> bool {
        hash(self);
        assert_eq!(self.shape().len(), self.strides().len());
        if self.numel() <= READ {
            let rows = call::contiguous(self).expect("memory for a small copy");
            assert_eq!(hash(&rows), hash(self));
        }
        if self.requires_grad() && self.numel() <= READ {
            let one = Scalar::Int(1);
            let ones = call::full(self.shape(), one, self.dtype(), self.device());
            ones.and_then(|ones| backward(self, ones, BackwardOptions::default()))
                .see();
        }
        true
    }
}

impl See for RawCoo {
    fn see(&self) -> bool {
        hash_sparse(self);
        assert_eq!(self.sparse_dim() + self.dense_dim(), self.rank());
        // All indices are within the sizes.
        if self.values().numel() < READ {
            RawCoo::new("see", self.indices(), self.values(), Some(self.shape()))
                .expect("parts that fit");
        }
        true
    }
}

impl See for SparseSum {
    fn see(&self) -> bool {
        match self {
            Self::Sparse(coo) => coo.see(),
            Self::Dense(raw) => raw.see(),
        }
    }
}

impl See for RecurrentOutputs {
    fn see(&self) -> bool {
        self.cell.see();
        self.outputs.see() && self.hidden.see()
    }
}

impl See for UniqueElements {
    fn see(&self) -> bool {
        self.values.see() && self.inverse.see() && self.counts.see()
    }
}

impl See for Arg<'_> {
    fn see(&self) -> bool {
        match self {
            Self::Tensor(raw) => raw.see(),
            Self::Scalar(_) => true,
        }
    }
}

impl<T: See> See for Result<T> {
    fn see(&self) -> bool {
        match self {
            Ok(value) => value.see(),
            Err(error) => {
                assert!(error.to_string().len() > error.op().len());
                false
            }
        }
    }
}

impl<T: See> See for Option<T> {
    fn see(&self) -> bool {
        self.as_ref().is_some_and(See::see)
    }
}

impl<T: See> See for Vec<T> {
    fn see(&self) -> bool {
        self[..].see()
    }
}

impl<T: See, const N: usize> See for [T; N] {
    fn see(&self) -> bool {
        self[..].see()
    }
}

impl<T: See, U: See> See for (T, U) {
    fn see(&self) -> bool {
        let (first, second) = (self.0.see(), self.1.see());
        first || second
    }
}

/// Types without anything to read.
macro_rules! plain {
    ($($t:ty),*) => { $(impl See for $t { fn see(&self) -> bool { true } })* };
}

plain!(
    (),
    bool,
    u8,
    u32,
    i16,
    i32,
    u64,
    i64,
    f32,
    f64,
    usize,
    isize,
    *const u8,
    Resolved,
    Scalar,
    DType,
    Device,
    Strides,
    Shape,
    MemoryFormat
);

impl<T: See> See for [T] {
    fn see(&self) -> bool {
        // Reads all of them, whatever the others are.
        self.iter().filter(|each| !each.see()).count() == 0
    }
}

impl<T: See + ?Sized> See for &T {
    fn see(&self) -> bool {
        (**self).see()
    }
}

impl See for Strided {
    fn see(&self) -> bool {
        assert_eq!(self.shape().len(), self.strides().len());
        true
    }
}

impl See for RawMut<'_> {
    fn see(&self) -> bool {
        assert!(self.layout().is_disjoint(), "{self:?}");
        self.layout().see()
    }
}

/// Hashes the elements and the layout.
pub fn hash(raw: &Raw) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x100_0000_01b3);
    add(raw.dtype() as u64);
    raw.shape().iter().for_each(|&size| add(size as u64));
    if raw.numel() > READ {
        return hash;
    }
    for value in raw.try_scalars().expect("elements on the host") {
        match value {
            Scalar::Bool(x) => add(u64::from(x)),
            Scalar::Int(x) => add(x as u64),
            Scalar::Float(x) => add(x.to_bits()),
            Scalar::Complex(x) => [x.re, x.im].into_iter().for_each(|x| add(x.to_bits())),
        }
    }
    hash
}

/// Like [`hash`], but of both parts.
pub fn hash_sparse(coo: &RawCoo) -> u64 {
    hash(coo.indices()) ^ hash(coo.values()).rotate_left(1)
}
