//! Generation of arguments, and their storage during a call.

use std::cell::{Cell, OnceCell};

use nomina_core::DType;
use nomina_runtime::Generator;
use nomina_runtime::call::{
    Arg, AvgArgs, Columns, ConvArgs, ConvSites, MaxArgs, Node, PadPair, PreparedWeight, Resize,
    TransposedArgs,
};
use nomina_runtime::raw::{Raw, RawCoo, RawMut};

use super::super::bytes::Bytes;
use super::{make, see};

/// Storage for values that are lent as long as it lives.
pub struct Slots<T> {
    cells: [OnceCell<T>; 24],
    next: Cell<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            cells: [const { OnceCell::new() }; 24],
            next: Cell::new(0),
        }
    }
}

impl<T> Slots<T> {
    pub fn lend(&self, value: T) -> &T {
        let at = self.next.get();
        self.next.set(at + 1);
        self.cells[at].get_or_init(|| value)
    }
}

/// The values that arguments refer to.
#[derive(Default)]
pub struct Own {
    /// Each with a hash of its initial content.
    tensors: Slots<(Raw, u64)>,
    sparse: Slots<(RawCoo, u64)>,
    pub sizes: Slots<Vec<usize>>,
    pub numbers: Slots<Vec<i64>>,
    pub pairs: Slots<Vec<PadPair>>,
    pub places: Slots<Vec<Option<usize>>>,
    pub resizes: Slots<Vec<Resize>>,
    pub dims: Slots<Vec<(usize, usize)>>,
    pub scalars: Slots<Vec<nomina_core::Scalar>>,
}

impl Own {
    /// Checks that no operand changed.
    ///
    /// # Panics
    /// If one did.
    pub fn check(&self) {
        for (raw, before) in self.tensors.cells.iter().filter_map(OnceCell::get) {
            assert_eq!(see::hash(raw), *before, "an operand changed: {raw:?}");
            if let Some(grad) = raw.grad() {
                see::hash(&grad);
                assert_eq!(
                    (grad.shape(), grad.dtype()),
                    (raw.shape(), raw.dtype()),
                    "a gradient of other sizes"
                );
            }
        }
        for (coo, before) in self.sparse.cells.iter().filter_map(OnceCell::get) {
            assert_eq!(
                see::hash_sparse(coo),
                *before,
                "an operand changed: {coo:?}"
            );
        }
    }
}

/// Lists of references.
#[derive(Default)]
pub struct Lent<'a> {
    pub tensors: Slots<Vec<&'a Raw>>,
    pub lists: Slots<Vec<&'a [usize]>>,
    pub args: Slots<Vec<Arg<'a>>>,
    pub nodes: Slots<Vec<Node<'a>>>,
    pub sites: Slots<ConvSites<'a>>,
    pub conv: Slots<ConvArgs<'a>>,
    pub weights: Slots<PreparedWeight>,
    pub transposed: Slots<TransposedArgs<'a>>,
    pub max: Slots<MaxArgs<'a>>,
    pub avg: Slots<AvgArgs<'a>>,
    pub columns: Slots<Columns<'a>>,
}

/// The arguments of a call. Sizes, dtypes and tensors of one call mostly fit each other.
pub struct Draw<'a, 'b> {
    pub bytes: &'a mut Bytes<'b>,
    pub own: &'a Own,
    pub lent: &'a Lent<'a>,
    /// The sizes and the dtype of most tensors.
    pub base: Vec<usize>,
    pub dtype: DType,
    dest: Option<&'a mut Raw>,
    generator: Option<&'a mut Generator>,
}

impl<'a, 'b> Draw<'a, 'b> {
    pub fn new(
        bytes: &'a mut Bytes<'b>,
        own: &'a Own,
        lent: &'a Lent<'a>,
        dest: &'a mut Option<Raw>,
        generator: &'a mut Option<Generator>,
    ) -> Self {
        let base = make::shape(bytes);
        let dtype = bytes.pick(&DType::ALL);
        let generator = generator.insert(Generator::new(bytes.word()));
        let sizes = make::near(bytes, &base);
        let of = make::dtype_near(bytes, dtype);
        let dest = dest.insert(make::tensor(bytes, &sizes, of));
        let mut draw = Self {
            bytes,
            own,
            lent,
            base,
            dtype,
            dest: Some(dest),
            generator: Some(generator),
        };
        // An operand that shares its buffer.
        if let Some(dest) = &draw.dest
            && draw.bytes.once_in(6)
        {
            let alias = Raw::clone(dest);
            draw.lend(alias);
        }
        draw
    }

    /// Stores a tensor for the duration of the call.
    pub fn lend(&mut self, raw: Raw) -> &'a Raw {
        let hash = see::hash(&raw);
        &self.own.tensors.lend((raw, hash)).0
    }

    pub fn lend_sparse(&mut self, coo: RawCoo) -> &'a RawCoo {
        let hash = see::hash_sparse(&coo);
        &self.own.sparse.lend((coo, hash)).0
    }

    /// Returns a tensor of about these sizes, mostly with the call's dtype.
    pub fn of(&mut self, sizes: &[usize]) -> &'a Raw {
        let sizes = make::mostly(self.bytes, sizes);
        let dtype = make::dtype_near(self.bytes, self.dtype);
        self.of_dtype(&sizes, dtype)
    }

    pub fn of_dtype(&mut self, sizes: &[usize], dtype: DType) -> &'a Raw {
        let mut raw = make::tensor(self.bytes, sizes, dtype);
        if self.bytes.once_in(3) {
            // Refused if the dtype has no gradient.
            raw.requires_grad_().ok();
        }
        self.lend(raw)
    }

    /// Returns the sizes of the destination.
    pub fn dest_shape(&self) -> Vec<usize> {
        self.dest
            .as_ref()
            .map_or_else(Vec::new, |raw| raw.shape().to_vec())
    }

    pub fn dest_dtype(&self) -> DType {
        self.dest.as_ref().map_or(self.dtype, |raw| raw.dtype())
    }

    /// Returns the destination; once per call.
    pub fn dest(&mut self) -> &'a mut Raw {
        self.dest.take().expect("one tensor to write to")
    }

    /// Returns access to the destination, or to a part of it.
    pub fn dest_part(&mut self) -> RawMut<'a> {
        let whole = self.dest().as_mut().expect("memory for a small copy");
        make::part(self.bytes, whole)
    }

    pub fn generator(&mut self) -> &'a mut Generator {
        self.generator.take().expect("one generator")
    }
}
