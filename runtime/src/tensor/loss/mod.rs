//! Losses of a prediction and a target, whose names unify.

mod embedding;
mod entropy;
mod options;

use nomina_core::op::Op;
use nomina_core::{DType, Error, Result, Scalar};

use super::{DynTensor, Operand, about, family};
use crate::call;

pub use options::{
    BinaryCrossEntropyOptions, CrossEntropyOptions, GaussianNllLossOptions,
    HingeEmbeddingLossOptions, HuberLossOptions, KlDivOptions, MarginOptions,
    PoissonNllLossOptions, Reduction, SmoothL1LossOptions, TripletMarginLossOptions,
};

/// Turns the error of a step into one of the operator, about these operands.
fn named<'a>(op: Op, operands: &'a [&'a DynTensor]) -> impl Fn(Error) -> Error + 'a {
    move |error| about(error.in_op(op.name()), operands)
}

/// An operand of 16 bits that was converted to a wider dtype.
#[allow(clippy::large_enum_variant, reason = "lives for one call")]
enum WidenedOperand {
    Tensor(DynTensor),
    Number(Scalar),
}

impl WidenedOperand {
    fn as_operand(&self) -> Operand<'_> {
        match self {
            Self::Tensor(x) => x.into(),
            Self::Number(number) => Operand::Scalar(*number),
        }
    }
}

impl DynTensor {
    /// Reduces the elementwise losses.
    fn reduced(self, op: Op, reduction: Reduction) -> Result<Self> {
        match reduction {
            Reduction::None => Ok(self),
            Reduction::Sum => self.sum(..).map_err(|e| e.in_op(op.name())),
            Reduction::Mean => self.mean(..).map_err(|e| e.in_op(op.name())),
        }
    }

    /// Computes a loss whose terms one kernel computes.
    fn terms(op: Op, kernel: Op, operands: &[Operand<'_>], reduction: Reduction) -> Result<Self> {
        let all = family::tensors(operands);
        let narrow = |x: &&DynTensor| matches!(x.dtype(), DType::F16 | DType::BF16);
        if reduction != Reduction::None && all.iter().all(narrow) {
            // Single terms may be out of the range of their mean.
            let dtype = all.iter().map(|x| x.dtype());
            let dtype = dtype.reduce(|a, b| if a == b { a } else { DType::F32 });
            let wide = |x: &Operand<'_>| match x {
                Operand::Tensor(x) => x.to_dtype(DType::F32).map(WidenedOperand::Tensor),
                Operand::Scalar(number) => Ok(WidenedOperand::Number(*number)),
            };
            let wide: Vec<WidenedOperand> = operands.iter().map(wide).collect::<Result<_>>()?;
            let wide: Vec<Operand<'_>> = wide.iter().map(WidenedOperand::as_operand).collect();
            let found = Self::terms(op, kernel, &wide, reduction)?;
            return found.to_dtype(dtype.unwrap_or(DType::F32));
        }
        let terms = family::pointwise(kernel, operands).map_err(|e| e.in_op(op.name()))?;
        op.row()
            .check_dtype(terms.dtype())
            .map_err(|e| about(e, &all))?;
        terms.reduced(op, reduction)
    }

    /// Computes the mean of the squared differences.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, or the dtype is not a float.
    pub fn mse_loss(&self, target: &Self) -> Result<Self> {
        self.mse_loss_with(target, Reduction::Mean)
    }

    /// Like [`DynTensor::mse_loss`], but with the given reduction.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn mse_loss_with(&self, target: &Self, reduction: Reduction) -> Result<Self> {
        let operands = [self.into(), target.into()];
        Self::terms(Op::MseLoss, Op::SquaredError, &operands, reduction)
    }

    /// Computes the mean of the magnitudes of the differences.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn l1_loss(&self, target: &Self) -> Result<Self> {
        self.l1_loss_with(target, Reduction::Mean)
    }

    /// Like [`DynTensor::l1_loss`], but with the given reduction.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn l1_loss_with(&self, target: &Self, reduction: Reduction) -> Result<Self> {
        let operands = [self.into(), target.into()];
        Self::terms(Op::L1Loss, Op::AbsoluteError, &operands, reduction)
    }

    /// Computes the mean of half the squared difference where its magnitude is less than 1,
    /// otherwise of the magnitude minus one half.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn smooth_l1_loss(&self, target: &Self) -> Result<Self> {
        self.smooth_l1_loss_with(target, Reduction::Mean, SmoothL1LossOptions::default())
    }

    /// Like [`DynTensor::smooth_l1_loss`], but with the given reduction and `beta`: half the
    /// squared difference over `beta` where its magnitude is less than `beta`, otherwise the
    /// magnitude minus half of `beta`.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`]; also if `beta` is below zero.
    pub fn smooth_l1_loss_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: SmoothL1LossOptions,
    ) -> Result<Self> {
        let op = Op::SmoothL1Loss;
        if options.beta < 0.0 || options.beta.is_nan() {
            return Err(negative(op, "beta", options.beta, &[self, target]));
        }
        let operands = [self.into(), target.into(), options.beta.into()];
        Self::terms(op, Op::SmoothError, &operands, reduction)
    }

    /// Computes the mean of half the squared difference where its magnitude is at most 1, otherwise
    /// of the magnitude minus one half.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn huber_loss(&self, target: &Self) -> Result<Self> {
        self.huber_loss_with(target, Reduction::Mean, HuberLossOptions::default())
    }

    /// Like [`DynTensor::huber_loss`], but with the given reduction and `delta`: half the squared
    /// difference where its magnitude is at most `delta`, otherwise `delta` times the magnitude
    /// minus half of `delta`.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`]; also if `delta` is not above zero.
    pub fn huber_loss_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: HuberLossOptions,
    ) -> Result<Self> {
        let op = Op::HuberLoss;
        if options.delta <= 0.0 || options.delta.is_nan() {
            return Err(negative(op, "delta", options.delta, &[self, target]));
        }
        let operands = [self.into(), target.into(), options.delta.into()];
        Self::terms(op, Op::HuberError, &operands, reduction)
    }

    /// Computes the mean of `ln(1 + exp(-x y))` for targets `y` of 1 and -1.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn soft_margin_loss(&self, target: &Self) -> Result<Self> {
        self.soft_margin_loss_with(target, Reduction::Mean)
    }

    /// Like [`DynTensor::soft_margin_loss`], but with the given reduction.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn soft_margin_loss_with(&self, target: &Self, reduction: Reduction) -> Result<Self> {
        let operands = [self.into(), target.into()];
        Self::terms(Op::SoftMarginLoss, Op::SoftMargin, &operands, reduction)
    }

    /// Computes the mean Kullback-Leibler divergence of log-probabilities from a target.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn kl_div(&self, target: &Self) -> Result<Self> {
        self.kl_div_with(target, Reduction::Mean, KlDivOptions::default())
    }

    /// Like [`DynTensor::kl_div`], but with the given reduction and options.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn kl_div_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: KlDivOptions,
    ) -> Result<Self> {
        let kernel = if options.log_target {
            Op::LogDivergence
        } else {
            Op::Divergence
        };
        Self::terms(Op::KlDiv, kernel, &[self.into(), target.into()], reduction)
    }

    /// Computes the mean negative log-likelihood under a Poisson distribution.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn poisson_nll_loss(&self, target: &Self) -> Result<Self> {
        self.poisson_nll_loss_with(target, Reduction::Mean, PoissonNllLossOptions::default())
    }

    /// Like [`DynTensor::poisson_nll_loss`], but with the given reduction and options.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn poisson_nll_loss_with(
        &self,
        target: &Self,
        reduction: Reduction,
        options: PoissonNllLossOptions,
    ) -> Result<Self> {
        let (op, none) = (Op::PoissonNllLoss, Reduction::None);
        let pair = [self.into(), target.into()];
        let mut terms = if options.log_input {
            Self::terms(op, Op::PoissonLogError, &pair, none)?
        } else {
            let operands = [self.into(), target.into(), options.eps.into()];
            Self::terms(op, Op::PoissonError, &operands, none)?
        };
        if options.full {
            let both = [self, target];
            let fail = named(op, &both);
            let constant = family::pointwise(Op::Stirling, &[target.into()]).map_err(&fail)?;
            terms = terms.add(&constant).map_err(&fail)?;
        }
        terms.reduced(op, reduction)
    }

    /// Computes the mean negative log-likelihood of a target under a normal distribution with this
    /// mean and a variance.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`].
    pub fn gaussian_nll_loss<'a>(
        &'a self,
        target: &'a Self,
        var: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        let options = GaussianNllLossOptions::default();
        self.gaussian_nll_loss_with(target, var, Reduction::Mean, options)
    }

    /// Like [`DynTensor::gaussian_nll_loss`], but with the given reduction and options.
    ///
    /// # Errors
    /// Like [`DynTensor::mse_loss`]; also if a variance is below zero.
    pub fn gaussian_nll_loss_with<'a>(
        &'a self,
        target: &'a Self,
        var: impl Into<Operand<'a>>,
        reduction: Reduction,
        options: GaussianNllLossOptions,
    ) -> Result<Self> {
        let op = Op::GaussianNllLoss;
        let both = [self, target];
        let fail = named(op, &both);
        let var = match var.into() {
            Operand::Tensor(var) => var.clone(),
            Operand::Scalar(value) => self.full_like(value).map_err(&fail)?,
        };
        if var.numel() > 0 {
            let least = var.amin(..).and_then(|x| x.item()).map_err(&fail)?.to_f64();
            if least < 0.0 {
                return Err(negative(op, "var", least, &[self, &var]));
            }
        }
        // The limit is not recorded; otherwise a variance that became too small would get no
        // gradient and stay so.
        let limited = var.detach().clamp_min(options.eps).map_err(&fail)?;
        let (raw, names) = limited.into_parts();
        let var = Self::new(call::in_place_of(op, raw, &var.raw)?, names);
        let squares = Self::terms(
            op,
            Op::SquaredError,
            &[self.into(), target.into()],
            Reduction::None,
        )?;
        let terms = squares
            .div(&var)
            .and_then(|terms| terms.add(&var.log()?)?.mul(0.5))
            .map_err(&fail)?;
        let terms = if options.full {
            let constant = 0.5 * std::f64::consts::TAU.ln();
            terms.add(constant).map_err(&fail)?
        } else {
            terms
        };
        terms.reduced(op, reduction)
    }
}

/// Returns the error for a number below its minimum.
#[cold]
fn negative(op: Op, name: &str, value: f64, operands: &[&DynTensor]) -> Error {
    let what = format!("`{name}` is {value}");
    let error = Error::new(nomina_core::ErrorKind::Argument, op.name(), what);
    about(error, operands).hint("give a greater number")
}
