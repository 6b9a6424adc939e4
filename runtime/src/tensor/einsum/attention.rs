//! Attention.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar, rule};

use crate::call::{self, Scores};
use crate::random::with_default_generator;
use crate::raw::Raw;
use crate::tensor::{DynTensor, about};

const OP: Op = Op::ScaledDotProductAttention;

/// Options of `scaled_dot_product_attention_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentionOptions {
    /// The share of weights that are set to zero at random; the others are scaled up to compensate.
    pub dropout_p: f64,
    /// Whether query `i` attends only to keys up to `i`.
    pub is_causal: bool,
    /// The factor of scores; by default one over the square root of the number of features.
    pub scale: Option<f64>,
    /// Whether keys and values may have fewer heads, the third dim from the end, each shared by
    /// several heads of the queries.
    pub enable_gqa: bool,
}

impl DynTensor {
    /// Computes attention of `self`, the queries of dims batch, length, features, to keys of dims
    /// batch, source, features: the softmax of their scaled products, times the values. Batch dims
    /// unify.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let q = DynTensor::ones(&[2, 3, 4], ["B", "T", "K"])?;
    /// let k = DynTensor::ones(&[2, 5, 4], ["B", "S", "K"])?;
    /// let v = DynTensor::ones(&[2, 5, 6], ["B", "S", "V"])?;
    /// let y = q.scaled_dot_product_attention(&k, &v)?;
    /// assert_eq!(y.names().to_string(), "(B, T, V)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a tensor has fewer than two dims, names do not unify, sizes or dtypes do not fit, or the
    /// result would have a name twice.
    pub fn scaled_dot_product_attention(&self, key: &Self, value: &Self) -> Result<Self> {
        self.scaled_dot_product_attention_with(key, value, None, AttentionOptions::default())
    }

    /// Computes attention with a mask of the dims of the scores (batch, length, source): bool, true
    /// where a key counts, or numbers that are added to the scores.
    ///
    /// # Errors
    /// Like [`DynTensor::scaled_dot_product_attention`]; also if the mask does not broadcast to the
    /// scores, has another dtype or is combined with `is_causal`, or if `dropout_p` is not between
    /// 0 and 1.
    pub fn scaled_dot_product_attention_with<'a>(
        &self,
        key: &Self,
        value: &Self,
        attn_mask: impl Into<Option<&'a Self>>,
        options: AttentionOptions,
    ) -> Result<Self> {
        let mask: Option<&Self> = attn_mask.into();
        let all: Vec<&Self> = [self, key, value].into_iter().chain(mask).collect();
        let fail = |e: Error| about(e.in_op(OP.name()), &all);
        let of_mask = mask.map(|mask| &mask.names);
        let names = rule::attention(OP.name(), &self.names, &key.names, &value.names, of_mask)
            .map_err(fail)?;
        let p = options.dropout_p;
        if !(0.0..=1.0).contains(&p) {
            let what = format!("the share {p} of weights to drop is not between 0 and 1");
            return Err(fail(
                Error::new(ErrorKind::Argument, OP.name(), what).hint("give 0 to keep all"),
            ));
        }
        let scores = Scores {
            causal: options.is_causal,
            scale: options.scale,
            grouped: options.enable_gqa,
        };
        let mask = mask.map(|mask| &mask.raw);
        let raw = if p == 0.0 {
            call::attention(&self.raw, &key.raw, &value.raw, mask, scores)
        } else {
            self.dropped(key, value, mask, scores, p)
        };
        Ok(Self::new(raw.map_err(fail)?, names))
    }

    /// Computes attention with dropped weights: they are stored as a whole, as the attention to
    /// one-hot values.
    fn dropped(
        &self,
        key: &Self,
        value: &Self,
        mask: Option<&Raw>,
        scores: Scores,
        p: f64,
    ) -> Result<Raw> {
        let source = key.shape()[key.rank() - 2];
        let mut front = key.raw.shape()[..key.rank() - 2].to_vec();
        front.extend([source, source]);
        let one = call::eye(source, source, value.dtype(), value.device())?.expand(&front)?;
        let weights = call::attention(&self.raw, &key.raw, &one, mask, scores)?;
        let plain = |raw: Raw| {
            let names = Names::unnamed(raw.rank());
            Self::new(raw, names)
        };
        let weights = plain(weights);
        let chance =
            with_default_generator(|g| call::rand(weights.shape(), DType::F32, self.device(), g));
        let chance = plain(chance?);
        let kept = chance.ge(Scalar::Float(p))?.to_dtype(self.dtype())?;
        let factor = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
        let weights = weights.mul(&kept)?.mul(Scalar::Float(factor))?;
        let values = if scores.grouped && weights.rank() >= 3 && value.rank() >= 3 {
            repeated(value, weights.shape()[weights.rank() - 3])?
        } else {
            value.raw.clone()
        };
        call::matmul(&weights.raw, &values)
    }
}

/// Repeats each head of the values for the heads of the queries that share it.
fn repeated(value: &DynTensor, heads: usize) -> Result<Raw> {
    let at = value.rank() - 3;
    let mut shape = value.shape().to_vec();
    let own = shape[at].max(1);
    shape.insert(at + 1, heads / own);
    let spread = value.raw.unsqueeze(at + 1)?.expand(&shape)?;
    shape.remove(at + 1);
    shape[at] = heads / own * own;
    spread.reshape(&shape)
}
