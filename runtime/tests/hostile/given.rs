//! Arbitrary values of each type.

use nomina_core::op::Op;
use nomina_core::{DType, MemoryFormat, Scalar};
use nomina_runtime::call::{
    Activation, Affine, Arg, CdistMode, ConvAfter, FinalOp, InterpolateMode, Interpolation,
    PadMode, RecurrentKind, ReduceOptions, ScatterReduce, Scores, Update, Window,
};
use nomina_runtime::grad::BackwardOptions;
use nomina_runtime::random::Distribution;
use nomina_runtime::raw::{Raw, RawCoo, RawMut};
use nomina_runtime::{Device, Generator, Strided};

use super::draw::Draw;
use super::make;

/// A type with arbitrary values for a parameter.
pub trait Given<'a> {
    fn given(d: &mut Draw<'a, '_>) -> Self;
}

impl<'a> Given<'a> for &'a Raw {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.x()
    }
}

impl<'a> Given<'a> for &'a mut Raw {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.dest()
    }
}

impl<'a> Given<'a> for Raw {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        if d.bytes.below(2) == 0 {
            return d.x().clone();
        }
        let sizes = make::near(d.bytes, &d.base);
        let dtype = make::dtype_near(d.bytes, d.dtype);
        make::tensor(d.bytes, &sizes, dtype)
    }
}

impl<'a> Given<'a> for RawMut<'a> {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.dest_part()
    }
}

impl<'a> Given<'a> for Strided {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.x().layout().clone()
    }
}

impl<'a> Given<'a> for &'a RawCoo {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.coo()
    }
}

impl<'a> Given<'a> for &'a mut Generator {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.generator()
    }
}

impl<'a> Given<'a> for Arg<'a> {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        if d.bytes.below(3) == 0 {
            return Arg::Scalar(Given::given(d));
        }
        Arg::Tensor(d.x())
    }
}

impl<'a> Given<'a> for BackwardOptions {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        Self {
            retain_graph: d.bytes.below(2) == 0,
            create_graph: d.bytes.below(2) == 0,
        }
    }
}

/// A dim, or a size.
impl<'a> Given<'a> for usize {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.dim()
    }
}

/// Dims.
impl<'a> Given<'a> for &'a [usize] {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.dims()
    }
}

impl<'a> Given<'a> for &'static str {
    fn given(_: &mut Draw<'a, '_>) -> Self {
        "hostile"
    }
}

impl<'a> Given<'a> for i64 {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        make::whole(d.bytes)
    }
}

impl<'a> Given<'a> for f64 {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        make::float(d.bytes)
    }
}

impl<'a> Given<'a> for bool {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.bytes.below(2) == 0
    }
}

impl<'a> Given<'a> for Op {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        d.bytes.pick(Op::ALL)
    }
}

impl<'a> Given<'a> for Device {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        if d.bytes.once_in(40) {
            return Device::Cuda(d.bytes.pick(&[None, Some(0), Some(usize::MAX)]));
        }
        Device::Cpu
    }
}

impl<'a> Given<'a> for Scalar {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        match d.bytes.below(8) {
            0 => Scalar::Bool(Given::given(d)),
            1..=3 => Scalar::Int(Given::given(d)),
            4 => Scalar::Complex(num_complex::Complex::new(Given::given(d), Given::given(d))),
            _ => Scalar::Float(Given::given(d)),
        }
    }
}

impl<'a, T: Given<'a>, U: Given<'a>> Given<'a> for (T, U) {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        (T::given(d), U::given(d))
    }
}

impl<'a, T: Given<'a>> Given<'a> for Option<T> {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        (d.bytes.below(3) > 0).then(|| T::given(d))
    }
}

impl<'a> Given<'a> for Distribution {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        let (a, b): (f64, f64) = Given::given(d);
        let (low, high) = Given::given(d);
        match d.bytes.below(8) {
            0 => Self::Uniform { from: a, to: b },
            1 => Self::Normal { mean: a, std: b },
            2 => Self::LogNormal { mean: a, std: b },
            3 => Self::Exponential { lambd: a },
            4 => Self::Cauchy {
                median: a,
                sigma: b,
            },
            5 => Self::Geometric { p: a / 8.0 },
            6 => Self::Bernoulli { p: a / 8.0 },
            _ => Self::Integers { low, high },
        }
    }
}

impl<'a> Given<'a> for Window {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        let (alpha, beta) = Given::given(d);
        d.bytes.pick(&[
            Self::Bartlett,
            Self::Blackman,
            Self::Cosine { alpha, beta },
            Self::Kaiser { beta },
        ])
    }
}

impl<'a> Given<'a> for ReduceOptions {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        Self {
            dtype: d.bytes.once_in(4).then(|| d.bytes.pick(&DType::ALL)),
            correction: Given::given(d),
            p: Given::given(d),
        }
    }
}

impl<'a> Given<'a> for Scores {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        Self {
            causal: Given::given(d),
            scale: Given::given(d),
            grouped: Given::given(d),
        }
    }
}

impl<'a> Given<'a> for Affine<'a> {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        Self {
            weight: Given::given(d),
            bias: Given::given(d),
        }
    }
}

impl<'a> Given<'a> for ConvAfter<'a> {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        Self {
            plus: Given::given(d),
            op: Given::given(d),
        }
    }
}

impl<'a> Given<'a> for FinalOp {
    fn given(d: &mut Draw<'a, '_>) -> Self {
        match d.bytes.below(3) {
            0 => Self::hard_swish(),
            1 => Self::leaky_relu(Given::given(d)),
            _ => Self::from(Activation::given(d)),
        }
    }
}

/// Implements `Given` by a choice from a list.
macro_rules! one_of {
    ($($t:ty: $all:expr;)*) => {$(
        impl<'a> Given<'a> for $t {
            fn given(d: &mut Draw<'a, '_>) -> Self {
                d.bytes.pick(&$all)
            }
        }
    )*};
}

one_of! {
    DType: DType::ALL;
    Update: [Update::Set, Update::Add, Update::Mul, Update::Max, Update::Min];
    MemoryFormat: [
        MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d, MemoryFormat::Preserve,
    ];
    ScatterReduce: [
        ScatterReduce::Sum, ScatterReduce::Prod, ScatterReduce::Mean, ScatterReduce::Amax, ScatterReduce::Amin,
    ];
    Interpolation: [
        Interpolation::Linear, Interpolation::Lower, Interpolation::Higher, Interpolation::Midpoint,
        Interpolation::Nearest,
    ];
    RecurrentKind: [RecurrentKind::Lstm, RecurrentKind::Gru];
    CdistMode: [CdistMode::IfNecessary, CdistMode::Always, CdistMode::Never];
    PadMode: [PadMode::Constant, PadMode::Reflect, PadMode::Replicate, PadMode::Circular];
    InterpolateMode: [
        InterpolateMode::Nearest, InterpolateMode::NearestExact, InterpolateMode::Linear, InterpolateMode::Cubic,
        InterpolateMode::Area,
    ];
    Activation: [
        Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu, Activation::Sigmoid,
        Activation::Tanh,
    ];
}

impl<'a> Draw<'a, '_> {
    /// Returns a tensor, mostly one that fits the others.
    pub fn x(&mut self) -> &'a Raw {
        let sizes = self.base.clone();
        self.of(&sizes)
    }

    /// Returns a tensor with the sizes of the destination.
    pub fn alike(&mut self) -> &'a Raw {
        let (sizes, dtype) = (self.dest_shape(), self.dest_dtype());
        if self.bytes.once_in(6) {
            return self.x();
        }
        self.of_dtype(&sizes, dtype)
    }

    /// Returns a tensor, mostly with a float dtype.
    pub fn float(&mut self) -> &'a Raw {
        let dtype = self
            .bytes
            .pick(&[DType::F32, DType::F64, DType::F16, DType::BF16]);
        self.dtype = dtype;
        self.x()
    }

    /// Returns a tensor, mostly of this rank.
    pub fn ranked(&mut self, rank: usize) -> &'a Raw {
        let sizes: Vec<usize> = (0..rank)
            .map(|at| self.base.get(at).copied().unwrap_or(3))
            .collect();
        self.of(&sizes)
    }

    /// Returns a vector, mostly of this length.
    pub fn vector(&mut self, len: usize) -> &'a Raw {
        self.of(&[len])
    }

    /// Returns indices, mostly.
    pub fn index(&mut self) -> &'a Raw {
        let sizes = make::near(self.bytes, &self.base);
        self.index_of(&sizes)
    }

    pub fn index_of(&mut self, sizes: &[usize]) -> &'a Raw {
        let dtype = self.bytes.pick(&[DType::I64, DType::I64, DType::I32]);
        let dtype = make::dtype_near(self.bytes, dtype);
        let sizes = make::mostly(self.bytes, sizes);
        self.of_dtype(&sizes, dtype)
    }

    /// Returns a tensor of bool, mostly.
    pub fn mask(&mut self) -> &'a Raw {
        let dtype = make::dtype_near(self.bytes, DType::Bool);
        let sizes = make::near(self.bytes, &self.base);
        self.of_dtype(&sizes, dtype)
    }

    pub fn sizes(&mut self) -> &'a [usize] {
        let sizes = match self.bytes.below(6) {
            // An equal number of elements in other dims.
            0 => vec![self.base.iter().product()],
            1 => (0..self.bytes.below(5))
                .map(|_| make::size(self.bytes))
                .collect(),
            _ => make::near(self.bytes, &self.base),
        };
        self.own.sizes.lend(sizes)
    }

    /// Returns `count` small numbers, mostly.
    pub fn numbers(&mut self, count: usize) -> &'a [usize] {
        let count = if self.bytes.once_in(16) {
            self.bytes.below(5)
        } else {
            count
        };
        let list = (0..count).map(|_| make::size(self.bytes)).collect();
        self.own.sizes.lend(list)
    }

    /// Returns `count` times the same number, mostly.
    pub fn each(&mut self, number: usize, count: usize) -> &'a [usize] {
        if self.bytes.below(3) == 0 {
            return self.numbers(count);
        }
        self.own.sizes.lend(vec![number; count])
    }

    pub fn size(&mut self) -> usize {
        make::size(self.bytes)
    }

    /// Returns a position in the list of sizes, mostly.
    pub fn dim(&mut self) -> usize {
        match self.bytes.below(12) {
            0 => make::size(self.bytes),
            _ => self.bytes.below(self.base.len().max(1)),
        }
    }

    /// Returns some dims in order, or anything.
    pub fn dims(&mut self) -> &'a [usize] {
        let list = match self.bytes.below(8) {
            0 => (0..self.bytes.below(4)).map(|_| self.dim()).collect(),
            1 => (0..self.base.len()).rev().collect(),
            _ => {
                let chosen: Vec<bool> =
                    self.base.iter().map(|_| self.bytes.below(2) == 0).collect();
                (0..chosen.len()).filter(|&at| chosen[at]).collect()
            }
        };
        self.own.sizes.lend(list)
    }

    pub fn integers(&mut self) -> &'a [i64] {
        let list = (0..self.bytes.below(4))
            .map(|_| make::whole(self.bytes))
            .collect();
        self.own.numbers.lend(list)
    }

    pub fn scalars(&mut self) -> &'a [Scalar] {
        let list = (0..self.bytes.below(4))
            .map(|_| Given::given(self))
            .collect();
        self.own.scalars.lend(list)
    }

    pub fn tensors(&mut self) -> &'a [&'a Raw] {
        let list = (0..self.bytes.below(5)).map(|_| self.x()).collect();
        self.lent.tensors.lend(list)
    }

    /// Returns the layout of a tensor.
    pub fn layout(&mut self) -> &'a Strided {
        self.x().layout()
    }

    /// Returns an order of dims, with new ones.
    pub fn places(&mut self) -> &'a [Option<usize>] {
        let mut places: Vec<Option<usize>> = self.dims().iter().copied().map(Some).collect();
        if self.bytes.below(2) == 0 {
            places = (0..self.base.len()).map(Some).collect();
        }
        if self.bytes.below(2) == 0 {
            places.insert(self.bytes.below(places.len() + 1), None);
        }
        self.own.places.lend(places)
    }

    pub fn step(&mut self) -> isize {
        make::whole(self.bytes) as isize
    }

    /// Returns pairs of dims.
    pub fn pairs(&mut self) -> &'a [(usize, usize)] {
        let list = (0..self.bytes.below(3))
            .map(|_| {
                let dim = self.dim();
                (
                    dim,
                    if self.bytes.below(3) == 0 {
                        self.dim()
                    } else {
                        dim
                    },
                )
            })
            .collect();
        self.own.dims.lend(list)
    }

    /// Returns one of these operators, mostly.
    pub fn op(&mut self, of: &[Op]) -> Op {
        if self.bytes.once_in(12) {
            return self.bytes.pick(Op::ALL);
        }
        self.bytes.pick(of)
    }
}
