//! Elementwise operators with parameters, and with three operands.

mod options;

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, Scalar, rule};
use nomina_macros::forms;
use smallvec::{SmallVec, smallvec};

use super::scaled::check_alpha;
use super::{DynTensor, Operand, about, family};

pub use options::{
    AddcdivOptions, AddcmulOptions, Approximate, CeluOptions, CloseOptions, DivOptions, EluOptions,
    GeluOptions, HardshrinkOptions, HardtanhOptions, LeakyReluOptions, LogitOptions,
    NanToNumOptions, RoundOptions, RoundingMode, SoftplusOptions, SoftshrinkOptions,
};

type Operands<'a> = SmallVec<[Operand<'a>; 4]>;

/// Turns the error of a kernel into one of the operator.
fn named(op: Op) -> impl Fn(Error) -> Error {
    move |error| error.in_op(op.name())
}

/// Returns operands that are numbers.
fn numbers<'a>(numbers: &[f64]) -> Operands<'a> {
    family::with(None, numbers)
}

/// Defines the three forms of an elementwise operator; a closure gives the kernel and the operands
/// after self.
macro_rules! forms {
    ($($(#[$doc:meta])* $op:ident: $new:ident $in_place:ident $out:ident
        ($($arg:ident: $t:ty),*) $chosen:expr;)*) => {
        #[allow(clippy::extra_unused_lifetimes, reason = "some operators borrow no other tensor")]
        impl DynTensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// If names do not unify, sizes do not broadcast, or the operator does not support the
            /// dtype.
            pub fn $new<'a>(&'a self, $($arg: $t),*) -> Result<Self> {
                let choose: &dyn Fn(&'a Self) -> Result<(Op, Operands<'a>)> = &$chosen;
                let (op, rest) = choose(self)?;
                family::pointwise(op, &all(self, rest)).map_err(named(Op::$op))
            }

            #[doc = concat!("[`DynTensor::", stringify!($new), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($new), "`], and when the result's names, \
                sizes or dtype are not self's.")]
            pub fn $in_place<'a>(&mut self, $($arg: $t),*) -> Result<&mut Self> {
                let choose: &dyn Fn(&Self) -> Result<(Op, Operands<'a>)> = &$chosen;
                let (op, rest) = choose(self)?;
                family::pointwise_in_place(op, self, &rest).map_err(named(Op::$op))?;
                Ok(self)
            }

            #[doc = concat!("[`DynTensor::", stringify!($new), "`] into `out`.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($new), "`], and when `out` does not hold \
                the result.")]
            pub fn $out<'a>(&'a self, $($arg: $t,)* out: &mut Self) -> Result<()> {
                let choose: &dyn Fn(&'a Self) -> Result<(Op, Operands<'a>)> = &$chosen;
                let (op, rest) = choose(self)?;
                family::pointwise_out(op, &all(self, rest), out).map_err(named(Op::$op))
            }
        )*}
    };
}

fn all<'a>(own: &'a DynTensor, rest: Operands<'a>) -> Operands<'a> {
    std::iter::once(Operand::Tensor(own)).chain(rest).collect()
}

forms! {
    /// Like [`DynTensor::round`], but to a number of digits; for integers only to whole numbers.
    Round: round_with round_with_ round_with_out (options: RoundOptions)
        |_| {
            let (op, digits) = options.chosen();
            Ok((op, numbers(&digits)))
        };
    /// Like [`DynTensor::gelu`], but exact or by an approximation with tanh.
    Gelu: gelu_with gelu_with_ gelu_with_out (options: GeluOptions)
        |_| Ok((options.chosen(), Operands::new()));
    /// Like [`DynTensor::logit`], but first clamps elements to between `eps` and `1 - eps`.
    Logit: logit_with logit_with_ logit_with_out (options: LogitOptions)
        |_| {
            let (op, eps) = options.chosen();
            Ok((op, numbers(&eps)))
        };
    /// Replaces NaN by zero, and infinities by the greatest and least numbers of the dtype.
    NanToNum: nan_to_num nan_to_num_ nan_to_num_out ()
        |x| Ok((Op::NanToNum, numbers(&NanToNumOptions::default().numbers(x.dtype()))));
    /// Like [`DynTensor::nan_to_num`], but with the given numbers.
    NanToNum: nan_to_num_with nan_to_num_with_ nan_to_num_with_out (options: NanToNumOptions)
        |x| Ok((Op::NanToNum, numbers(&options.numbers(x.dtype()))));
    /// Replaces elements of at most `threshold` by `value`.
    Threshold: threshold threshold_ threshold_out (threshold: Scalar, value: Scalar)
        |_| Ok((Op::Threshold, smallvec![threshold.into(), value.into()]));
    /// Divides and rounds as `options` say; integers then stay integers.
    Div: div_with div_with_ div_with_out (other: impl Into<Operand<'a>> + Copy, options: DivOptions)
        |_| Ok((options.chosen(), smallvec![other.into()]));
    /// Interpolates linearly: the point on the way to `end` at the fraction `weight`.
    Lerp: lerp lerp_ lerp_out (end: &'a Self, weight: impl Into<Operand<'a>> + Copy)
        |_| Ok((Op::Lerp, smallvec![end.into(), weight.into()]));
    /// Adds the product of two tensors.
    Addcmul: addcmul addcmul_ addcmul_out
        (tensor1: &'a Self, tensor2: impl Into<Operand<'a>> + Copy)
        |_| Ok((Op::Addcmul, smallvec![tensor1.into(), tensor2.into()]));
    /// Adds `options.value` times the product of two tensors.
    Addcmul: addcmul_with addcmul_with_ addcmul_with_out
        (tensor1: &'a Self, tensor2: impl Into<Operand<'a>> + Copy, options: AddcmulOptions)
        |x| scaled(Op::Addcmul, Op::AddcmulValue, x, tensor1, tensor2.into(), options.value);
    /// Adds the quotient of two tensors.
    Addcdiv: addcdiv addcdiv_ addcdiv_out
        (tensor1: &'a Self, tensor2: impl Into<Operand<'a>> + Copy)
        |_| Ok((Op::Addcdiv, smallvec![tensor1.into(), tensor2.into(), Scalar::Int(1).into()]));
    /// Adds `options.value` times the quotient of two tensors.
    Addcdiv: addcdiv_with addcdiv_with_ addcdiv_with_out
        (tensor1: &'a Self, tensor2: impl Into<Operand<'a>> + Copy, options: AddcdivOptions)
        |x| scaled(Op::Addcdiv, Op::Addcdiv, x, tensor1, tensor2.into(), options.value);
}

/// Returns a kernel with a factor, which must not raise the category of the result.
fn scaled<'a>(
    op: Op,
    kernel: Op,
    x: &DynTensor,
    tensor1: &'a DynTensor,
    tensor2: Operand<'a>,
    value: Scalar,
) -> Result<(Op, Operands<'a>)> {
    check_alpha(op, &[x.into(), tensor1.into(), tensor2], value)?;
    Ok((kernel, smallvec![tensor1.into(), tensor2, value.into()]))
}

impl DynTensor {
    /// Computes the derivative of order `n` of `digamma`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `n` is below zero.
    pub fn polygamma(&self, n: i64) -> Result<Self> {
        let order = self.order(Op::Polygamma, n)?;
        family::pointwise(Op::Polygamma, &family::with(Some(self), &[order]))
    }

    /// Like [`DynTensor::polygamma`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::polygamma`]; also if the dtype of the result does not fit `self`.
    pub fn polygamma_(&mut self, n: i64) -> Result<&mut Self> {
        let order = self.order(Op::Polygamma, n)?;
        family::pointwise_in_place(Op::Polygamma, self, &family::with(None, &[order]))?;
        Ok(self)
    }

    /// Like [`DynTensor::polygamma`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::polygamma`]; also if `out` cannot hold the result.
    pub fn polygamma_out(&self, n: i64, out: &mut Self) -> Result<()> {
        let order = self.order(Op::Polygamma, n)?;
        family::pointwise_out(Op::Polygamma, &family::with(Some(self), &[order]), out)
    }

    /// Checks that a number is not negative.
    fn order(&self, op: Op, n: i64) -> Result<f64> {
        if (0..=170).contains(&n) {
            return Ok(n as f64);
        }
        let what = format!("an order of {n}");
        Err(
            about(Error::new(ErrorKind::Argument, op.name(), what), &[self])
                .hint("give an order from 0 to 170"),
        )
    }

    /// Computes the logarithm of the gamma function of `p` dimensions, for numbers above (p - 1) /
    /// 2.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `p` is below one.
    #[forms(out)]
    pub fn mvlgamma(&self, p: i64) -> Result<Self> {
        let op = Op::Mvlgamma;
        if !(1..=1_000_000).contains(&p) {
            let what = format!("{p} dimensions");
            return Err(
                about(Error::new(ErrorKind::Argument, op.name(), what), &[self])
                    .hint("give one or more"),
            );
        }
        let fail = named(op);
        // ln π · p (p - 1) / 4 + Σ lgamma(x - j / 2)
        let count = p as f64;
        let mut total = self.lgamma().map_err(&fail)?;
        let terms = if self.numel() == 0 { 1 } else { p };
        for j in 1..terms {
            let term = self.sub(0.5 * j as f64).and_then(|x| x.lgamma());
            family::pointwise_in_place(Op::Add, &mut total, &[(&term.map_err(&fail)?).into()])
                .map_err(&fail)?;
        }
        let constant = count * (count - 1.0) / 4.0 * std::f64::consts::PI.ln();
        total.add(constant).map_err(&fail)
    }

    /// Like [`DynTensor::mvlgamma`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::mvlgamma`]; also if the dtype of the result does not fit `self`.
    pub fn mvlgamma_(&mut self, p: i64) -> Result<&mut Self> {
        let result = self.mvlgamma(p)?;
        self.overwrite(Op::Mvlgamma, result)
    }

    /// Returns the tensor itself.
    ///
    /// # Errors
    /// If the dtype is bool, which has no sign.
    pub fn positive(&self) -> Result<Self> {
        Op::Positive
            .row()
            .check_dtype(self.dtype())
            .map_err(|e| e.operand(&self.names, self.shape()))?;
        Ok(self.clone())
    }

    /// Returns whether elements differ by at most 1e-8 plus 1e-5 times the other's magnitude.
    ///
    /// # Errors
    /// If names do not unify, or sizes do not broadcast. With options, also if a tolerance is below
    /// zero.
    #[forms(with = "but with the tolerances of the options.")]
    pub fn isclose_with(&self, other: &Self, options: CloseOptions) -> Result<Self> {
        self.close(Op::Isclose, other, options)
    }

    fn close(&self, op: Op, other: &Self, options: CloseOptions) -> Result<Self> {
        let (kernel, [rtol, atol]) = options.chosen(op.name())?;
        let operands = [self.into(), other.into(), rtol.into(), atol.into()];
        family::pointwise(kernel, &operands).map_err(named(op))
    }

    /// Returns whether all elements are close, like `isclose`; false if names differ.
    ///
    /// # Errors
    /// If sizes do not broadcast. With options, also if a tolerance is below zero.
    #[forms(with = "but with the tolerances of the options.")]
    pub fn allclose_with(&self, other: &Self, options: CloseOptions) -> Result<bool> {
        if !rule::equal_names(&self.names, &other.names) {
            return Ok(false);
        }
        let close = self.close(Op::Allclose, other, options)?;
        Ok(close.all(..)?.item()?.to_bool())
    }
}
