//! Sums of products by an equation, and layers that are such sums.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result, rule};

use crate::call::{self, Activation};
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

/// Options of `linear_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearOptions {
    /// The activation of the result, applied in the same pass.
    pub activation: Option<Activation>,
}

impl DynTensor {
    /// Sums products of several tensors by an equation, written with letters as in PyTorch
    /// (`btk,bsk->bts`), words (`b t k, b s k -> b t s`), or the names of the dims in any order
    /// (`[B, T, K] * [B, S, K] -> [B, T, S]`).
    ///
    /// Dims of one letter must have one name; the dims of the result have the names of their
    /// letters. A letter that the result lacks is summed over, one that occurs twice in an operand
    /// takes a diagonal, and `...` covers the dims that are not mentioned. The order of the
    /// products is planned by cost, and each is a matrix product.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let q = DynTensor::ones(&[2, 3, 4], ["B", "T", "K"])?;
    /// let k = DynTensor::ones(&[2, 5, 4], ["B", "S", "K"])?;
    /// let scores = DynTensor::einsum("btk,bsk->bts", &[&q, &k])?;
    /// assert_eq!(scores.names().to_string(), "(B, T, S)");
    /// let same = DynTensor::einsum("q[B, T, K] * k[B, S, K] -> [B, T, S]", &[&q, &k])?;
    /// assert!(scores.equal(&same)?);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the equation cannot be read or does not fit the operands' dims, a letter has two names or
    /// two sizes, or the result would have a name twice.
    pub fn einsum(equation: &str, operands: &[&Self]) -> Result<Self> {
        Self::einsum_of(Op::Einsum, equation, operands)
    }

    fn einsum_of(op: Op, equation: &str, operands: &[&Self]) -> Result<Self> {
        let fail = |e: Error| about(e.in_op(op.name()), operands);
        let names: Vec<&Names> = operands.iter().map(|x| &x.names).collect();
        let read = rule::einsum(op.name(), equation, &names).map_err(fail)?;
        let raws: Vec<&Raw> = operands.iter().map(|x| &x.raw).collect();
        let letters: Vec<&[usize]> = read.operands.iter().map(|l| &l[..]).collect();
        let raw = call::einsum(&raws, &letters, &read.output).map_err(fail)?;
        Ok(Self::new(raw, read.names))
    }

    /// Applies a linear layer: sums over the last dim of the weight and adds the bias. The dim is
    /// found in `self` by its name, in any position; without names it is the last one. The first
    /// dim of the weight becomes the last of the result.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::ones(&[2, 3], ["N", "In"])?;
    /// let w = DynTensor::ones(&[4, 3], ["Out", "In"])?;
    /// let b = DynTensor::ones(&[4], ["Out"])?;
    /// let y = x.linear(&w, &b)?;
    /// assert_eq!(y.names().to_string(), "(N, Out)");
    /// assert_eq!(y.to_vec::<f32>()?, [4.0; 8]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If `self` lacks the dim, sizes or dtypes differ, or names do not fit.
    pub fn linear<'a>(&self, weight: &Self, bias: impl Into<Option<&'a Self>>) -> Result<Self> {
        self.linear_with(weight, bias, LinearOptions::default())
    }

    /// Like [`DynTensor::linear`], but applies an activation to the results while they are in the
    /// cache. The numbers are those of the separate operator, without a separate pass.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// use nomina_runtime::tensor::{Activation, LinearOptions};
    /// let x = DynTensor::from_vec(vec![1.0f32, -2.0], &[2], ["In"])?;
    /// let w = DynTensor::ones(&[3, 2], ["Out", "In"])?;
    /// let b = DynTensor::from_vec(vec![0.0f32, 1.0, 2.0], &[3], ["Out"])?;
    /// let options = LinearOptions {
    ///     activation: Some(Activation::Relu),
    /// };
    /// let y = x.linear_with(&w, &b, options)?;
    /// assert_eq!(y.to_vec::<f32>()?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`DynTensor::linear`]; also if the activation does not support the dtype, or gives
    /// another.
    pub fn linear_with<'a>(
        &self,
        weight: &Self,
        bias: impl Into<Option<&'a Self>>,
        options: LinearOptions,
    ) -> Result<Self> {
        let bias: Option<&Self> = bias.into();
        let all: Vec<&Self> = [self, weight].into_iter().chain(bias).collect();
        let fail = |e| about(e, &all);
        let of_bias = bias.map(|bias| &bias.names);
        let plan = rule::linear("linear", &self.names, &weight.names, of_bias).map_err(fail)?;
        let own = bias.map(|bias| &bias.raw);
        let activation = options.activation;
        let raw =
            call::linear(&self.raw, &weight.raw, own, plan.input, activation).map_err(fail)?;
        Ok(Self::new(raw, plan.names))
    }

    /// Applies a bilinear layer: for a weight of dims output, first and second input, the sum over
    /// the last dim of `self` and the last dim of `other`, plus the bias.
    ///
    /// # Errors
    /// If sizes or dtypes differ, or names do not fit.
    pub fn bilinear<'a>(
        &self,
        other: &Self,
        weight: &Self,
        bias: impl Into<Option<&'a Self>>,
    ) -> Result<Self> {
        let operands = [self, other, weight];
        let op = Op::Bilinear;
        if let Some(x) = operands.iter().find(|x| x.dtype() != self.dtype()) {
            let what = format!("dtypes {} and {} differ", self.dtype(), x.dtype());
            return Err(
                about(Error::new(ErrorKind::DType, op.name(), what), &operands)
                    .hint("convert one with `to`: products do not promote"),
            );
        }
        let result = Self::einsum_of(op, "...i,...j,oij->...o", &operands)?;
        let Some(bias) = bias.into() else {
            return Ok(result);
        };
        let fail = |e| about(e, &[&result, bias]);
        let names = rule::unify(op.name(), &result.names, &bias.names).map_err(fail)?;
        let raw = call::add_bias(op, result.raw.clone(), &bias.raw).map_err(fail)?;
        Ok(Self::new(raw, names))
    }
}
