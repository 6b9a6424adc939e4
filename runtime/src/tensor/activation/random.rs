//! Dropout, and activation functions that draw random numbers.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use crate::call;
use crate::random::{Generator, with_default_generator};
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

/// Options of `dropout_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropoutOptions {
    /// The probability of a zero.
    pub p: f64,
    /// Whether elements are dropped.
    pub training: bool,
}

impl Default for DropoutOptions {
    fn default() -> Self {
        Self {
            p: 0.5,
            training: true,
        }
    }
}

/// Options of `alpha_dropout_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaDropoutOptions {
    /// The probability of a drop.
    pub p: f64,
    /// Whether elements are dropped.
    pub training: bool,
}

impl Default for AlphaDropoutOptions {
    fn default() -> Self {
        Self {
            p: 0.5,
            training: false,
        }
    }
}

/// Options of `rrelu_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RreluOptions {
    /// The least slope.
    pub lower: f64,
    /// The greatest slope.
    pub upper: f64,
    /// Whether slopes are drawn, instead of their mean.
    pub training: bool,
}

impl Default for RreluOptions {
    fn default() -> Self {
        Self {
            lower: 1.0 / 8.0,
            upper: 1.0 / 3.0,
            training: false,
        }
    }
}

/// A random operator in all its forms.
macro_rules! forms {
    ($($(#[$doc:meta])* $options:ident: $new:ident $with:ident $from:ident $in_place:ident
        $with_in_place:ident $op:ident by $by:ident;)*) => {
        impl DynTensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// If the dtype is not a float.
            pub fn $new(&self) -> Result<Self> {
                self.$with($options::default())
            }

            #[doc = concat!("Like [`DynTensor::", stringify!($new), "`], but with options.")]
            ///
            /// # Errors
            /// If the dtype is not a float, or a number is out of range.
            pub fn $with(&self, options: $options) -> Result<Self> {
                with_default_generator(|generator| self.$by(options, generator))
            }

            #[doc = concat!("Like [`DynTensor::", stringify!($with), "`], but draws from the given generator.")]
            ///
            /// # Errors
            /// If the dtype is not a float, or a number is out of range.
            pub fn $from(&self, options: $options, generator: &mut Generator) -> Result<Self> {
                self.$by(options, generator)
            }

            #[doc = concat!("Like [`DynTensor::", stringify!($new), "`], but in place.")]
            ///
            /// # Errors
            /// If the dtype is not a float.
            pub fn $in_place(&mut self) -> Result<&mut Self> {
                self.$with_in_place($options::default())
            }

            #[doc = concat!("Like [`DynTensor::", stringify!($with), "`], but in place.")]
            ///
            /// # Errors
            /// If the dtype is not a float, or a number is out of range.
            pub fn $with_in_place(&mut self, options: $options) -> Result<&mut Self> {
                let result = self.$with(options)?;
                self.overwrite(Op::$op, result)
            }
        )*}
    };
}

forms! {
    /// Zeroes elements with a probability of one half, and doubles the rest to preserve the mean.
    DropoutOptions: dropout dropout_with dropout_from dropout_ dropout_with_ Dropout by drop_out;
    /// Returns the tensor itself; in training, drops elements to the value that `selu` saturates
    /// at, preserving mean and variance.
    AlphaDropoutOptions: alpha_dropout alpha_dropout_with alpha_dropout_from alpha_dropout_
        alpha_dropout_with_ AlphaDropout by drop_alpha;
    /// Multiplies negative elements by a number between 1/8 and 1/3: by the middle, or in training
    /// by a random one.
    RreluOptions: rrelu rrelu_with rrelu_from rrelu_ rrelu_with_ Rrelu by random_slope;
}

impl DynTensor {
    fn drop_out(&self, options: DropoutOptions, generator: &mut Generator) -> Result<Self> {
        let op = Op::Dropout;
        self.check_share(op, options.p)?;
        if !options.training || options.p == 0.0 {
            return Ok(self.clone());
        }
        let fail = |e: Error| about(e.in_op(op.name()), &[self]);
        let draw = self.draw(generator).map_err(fail)?;
        let operands = [
            (&self.raw).into(),
            (&draw).into(),
            call::Arg::Scalar(options.p.into()),
        ];
        let out = call::pointwise_as(Op::Dropped, &operands, self.dtype()).map_err(fail)?;
        Ok(Self::new(out, self.names.clone()))
    }

    fn drop_alpha(&self, options: AlphaDropoutOptions, generator: &mut Generator) -> Result<Self> {
        const ALPHA: f64 = 1.758_099_340_847_376_6;
        let (op, p) = (Op::AlphaDropout, options.p);
        self.check_share(op, p)?;
        if !options.training || p == 0.0 {
            return Ok(self.clone());
        }
        let fail = |e: Error| about(e.in_op(op.name()), &[self]);
        if p == 1.0 {
            return self.mul(0.0).map_err(fail);
        }
        let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
        let draw = Self::new(self.draw(generator).map_err(fail)?, self.names.clone());
        let kept = self.mul(scale).and_then(|x| x.add(ALPHA * scale * p));
        let dropped = ALPHA * scale * (p - 1.0);
        draw.ge(p)
            .and_then(|keep| keep.where_cond(&kept?, dropped))
            .map_err(fail)
    }

    fn random_slope(&self, options: RreluOptions, generator: &mut Generator) -> Result<Self> {
        let op = Op::Rrelu;
        let (lower, upper) = (options.lower, options.upper);
        let fail = |e: Error| about(e.in_op(op.name()), &[self]);
        op.row().check_dtype(self.dtype()).map_err(fail)?;
        if !(lower <= upper && lower.is_finite() && upper.is_finite()) {
            let what = format!("slopes from {lower} to {upper}");
            return Err(fail(Error::new(ErrorKind::Argument, op.name(), what))
                .hint("give finite slopes, the lower first"));
        }
        let slope = if options.training {
            let draw = Self::new(self.draw(generator).map_err(fail)?, self.names.clone());
            draw.mul(upper - lower)
                .and_then(|x| x.add(lower)?.to_dtype(self.dtype()))
                .map_err(fail)?
                .raw
        } else {
            call::full(
                &[],
                (0.5 * (lower + upper)).into(),
                self.dtype(),
                self.device(),
            )?
        };
        let operands = [(&self.raw).into(), (&slope).into()];
        let raw = call::pointwise(Op::Prelu, &operands).map_err(fail)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Draws a number between 0 and 1, excluding 1, for each element.
    fn draw(&self, generator: &mut Generator) -> Result<Raw> {
        call::rand(
            self.shape(),
            nomina_core::DType::F32,
            self.device(),
            generator,
        )
    }

    fn check_share(&self, op: Op, p: f64) -> Result<()> {
        op.row()
            .check_dtype(self.dtype())
            .map_err(|e| about(e, &[self]))?;
        if (0.0..=1.0).contains(&p) {
            return Ok(());
        }
        let what = format!("a probability of {p}");
        Err(
            about(Error::new(ErrorKind::Argument, op.name(), what), &[self])
                .hint("give a number from 0 to 1"),
        )
    }
}
