//! Ring operators: the parts of one operand travel around the ranks, each of which holds the other operand. A rank
//! holds at most two parts, and each part is sent to each rank once. In the backward pass the parts travel around again
//! together with their gradients.

use nomina::{AttentionOptions, DynTensor, Error, ErrorKind, Names, Result};
use nomina_core::DType;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{SplitDim, unnamed, with_names_of};
use crate::metadata::Metadata;
use crate::origin::CallSite;
use crate::partition::part;
use crate::ranks::Job;

impl SplitDim {
    /// Returns the owner of the part held at this step of the ring: a rank starts with its own part, and then receives
    /// its predecessor's.
    fn owner_at(&self, step: usize) -> usize {
        (self.rank() + self.ranks() - step % self.ranks()) % self.ranks()
    }

    /// Sends the part held at this step to the next rank, and returns the part received from the previous rank.
    fn shift(&self, x: &DynTensor, dim: usize, step: usize) -> Result<DynTensor> {
        let (_, len) = part(self.size(), self.ranks(), self.owner_at(step + 1));
        let mut shape = x.shape().to_vec();
        shape[dim] = len;
        let metadata = &self.metadata;
        let description = metadata.describe(self.op, Some(x.dtype()), self.axis, self.at);
        let job = Job::Shift {
            piece: x.raw().clone().detach(),
            by: 1,
            shape,
        };
        with_names_of(metadata.shared.run_for_one(self.axis, description, job)?, x)
    }

    /// Contracts `x`, which has all of dim `name`, with `y`, which is split along it.
    pub(crate) fn contract(&self, x: &DynTensor, y: &DynTensor, name: &str) -> Result<DynTensor> {
        let at = |x: &DynTensor| {
            let mut names = x.names().iter();
            names.position(|own| own.as_ref().is_some_and(|own| own.as_str() == name))
        };
        let Some(dim) = at(x) else {
            let what = format!("dim `{name}` not found");
            return Err(
                Error::new(ErrorKind::NameNotFound, self.op, what).operand(x.names(), x.shape())
            );
        };
        if x.shape()[dim] != self.size() {
            let shapes = [x.shape(), &self.metadata.sizes];
            return Err(Error::sizes(self.op, shapes, [(0, dim), (1, self.dim)])
                .with_names(&[x.names().clone(), self.metadata.names.clone()]));
        }
        let held = |x: &DynTensor, step: usize| {
            let (start, len) = part(self.size(), self.ranks(), self.owner_at(step));
            x.narrow(dim, start as i64, len)
        };
        let (own, mut moving) = (x.detach(), y.detach());
        let mut sum: Option<DynTensor> = None;
        for step in 0..self.ranks() {
            let term = held(&own, step)?.contract(&moving, name)?;
            sum = Some(match sum {
                Some(sum) => sum.add(&term)?,
                None => term,
            });
            if step + 1 < self.ranks() {
                moving = self.shift(&moving, self.dim, step)?;
            }
        }
        let Some(sum) = sum else {
            return Err(Error::new(
                ErrorKind::Mesh,
                self.op,
                "an axis without ranks",
            ));
        };
        let (split_dim, names) = (self.clone(), sum.names().clone());
        let (x, y) = (x.clone(), y.clone());
        let operands = [x.raw().clone(), y.raw().clone()];
        let found = custom(
            self.op,
            &[&operands[0], &operands[1]],
            sum.into_parts().0,
            {
                let names = names.clone();
                move |grad| {
                    let grad = DynTensor::from_parts(grad.clone(), names.clone())?;
                    let (of_x, of_y) = split_dim.contract_backward(&x, &y, dim, &grad)?;
                    Ok(vec![Some(of_x), Some(of_y)])
                }
            },
        )?;
        DynTensor::from_parts(found, names)
    }

    fn contract_backward(
        &self,
        x: &DynTensor,
        y: &DynTensor,
        dim: usize,
        grad: &DynTensor,
    ) -> Result<(Raw, Raw)> {
        require_first_derivative(self.op, grad)?;
        let (x, ranks) = (x.detach(), self.ranks());
        let (mut moving, mut of_y) = (y.detach(), y.detach().zeros_like()?);
        let mut of_x = vec![None; ranks];
        for step in 0..ranks {
            let owner = self.owner_at(step);
            let (start, len) = part(self.size(), ranks, owner);
            let own_part = x.narrow(dim, start as i64, len)?;
            of_x[owner] = Some(factor_gradient(grad, &moving, &own_part)?);
            of_y = of_y.add(&factor_gradient(grad, &own_part, &moving)?)?;
            if step + 1 < ranks {
                moving = self.shift(&moving, self.dim, step)?;
            }
            if ranks > 1 {
                // After one step per rank, each sum is back at the owner of its part.
                of_y = self.shift(&of_y, self.dim, step)?;
            }
        }
        let of_x: Vec<DynTensor> = of_x.into_iter().flatten().collect();
        let of_x: Vec<&DynTensor> = of_x.iter().collect();
        let of_x = DynTensor::cat(&of_x, dim)?;
        Ok((of_x.into_parts().0, of_y.into_parts().0))
    }

    /// Attention of queries, the first of which is at position `first`, to keys and values that travel around the ring.
    /// The tensors have no names.
    fn attention(
        &self,
        [q, k, v]: [DynTensor; 3],
        first: usize,
        options: AttentionOptions,
    ) -> Result<DynTensor> {
        let features = q.shape()[q.rank() - 1];
        let scores = Scores {
            scale: options
                .scale
                .unwrap_or_else(|| 1.0 / (features as f64).sqrt()),
            causal: options.is_causal,
            first,
            // Sums in 16-bit floats would lose small terms.
            dtype: match q.dtype() {
                DType::F16 | DType::BF16 => DType::F32,
                other => other,
            },
        };
        let (found, logs) = self.attend(&q.detach(), &k.detach(), &v.detach(), &scores)?;
        let (split_dim, found) = (self.clone(), found.to_dtype(q.dtype())?);
        let (result, inputs) = (found.clone(), [q.clone(), k.clone(), v.clone()]);
        let back = move |grad: &Raw| {
            let grad = unnamed(grad.clone())?;
            require_first_derivative(split_dim.op, &grad)?;
            let [q, k, v] = inputs.each_ref().map(DynTensor::detach);
            let all = split_dim.attend_backward((&q, &k, &v), (&result, &logs), &grad, &scores)?;
            let each = all.into_iter().zip([&q, &k, &v]);
            let each = each.map(|(x, like)| Ok(Some(x.to_dtype(like.dtype())?.into_parts().0)));
            each.collect()
        };
        unnamed(custom(
            self.op,
            &[q.raw(), k.raw(), v.raw()],
            found.into_parts().0,
            back,
        )?)
    }

    /// Returns each query's weighted mean of the values, and the log-sum-exp of its scores.
    fn attend(
        &self,
        q: &DynTensor,
        k: &DynTensor,
        v: &DynTensor,
        scores: &Scores,
    ) -> Result<(DynTensor, DynTensor)> {
        let (mut k, mut v) = (k.clone(), v.clone());
        let source = k.rank() - 2;
        let mut state: Option<[DynTensor; 3]> = None;
        for step in 0..self.ranks() {
            let (start, len) = part(self.size(), self.ranks(), self.owner_at(step));
            if len > 0 && (state.is_none() || scores.sees(q, start)) {
                let weights = scores.compute(q, &k, start)?;
                let values = v.to_dtype(scores.dtype)?;
                let most = weights.amax(keep_last(&weights))?;
                state = Some(match state {
                    None => {
                        let (powers, base) = scores.powers(&weights, &most)?;
                        [
                            base,
                            powers.sum(keep_last(&powers))?,
                            powers.matmul(&values)?,
                        ]
                    }
                    Some([base, sum, mix]) => {
                        let (powers, higher) = scores.powers(&weights, &base.maximum(&most)?)?;
                        // The results so far, rescaled to the new base.
                        let less = base.sub(&higher)?.exp()?;
                        [
                            higher,
                            sum.mul(&less)?.add(&powers.sum(keep_last(&powers))?)?,
                            mix.mul(&less)?.add(&powers.matmul(&values)?)?,
                        ]
                    }
                });
            }
            if step + 1 < self.ranks() {
                k = self.shift(&k, source, step)?;
                v = self.shift(&v, source, step)?;
            }
        }
        let Some([base, sum, mix]) = state else {
            let error = Error::new(ErrorKind::Shape, self.op, "there are no keys to attend to");
            return Err(error.operand(&self.metadata.names, &self.metadata.sizes));
        };
        Ok((mix.div(&sum)?, sum.log()?.add(&base)?))
    }

    fn attend_backward(
        &self,
        (q, k, v): (&DynTensor, &DynTensor, &DynTensor),
        (found, logs): (&DynTensor, &DynTensor),
        grad: &DynTensor,
        scores: &Scores,
    ) -> Result<[DynTensor; 3]> {
        let wide = |x: &DynTensor| x.to_dtype(scores.dtype);
        let (grad, wide_q, source) = (wide(grad)?, wide(q)?, k.rank() - 2);
        let whole = grad.mul(&wide(found)?)?;
        let whole = whole.sum(keep_last(&whole))?;
        let mut of_q = wide_q.zeros_like()?;
        let (mut of_k, mut of_v) = (wide(k)?.zeros_like()?, wide(v)?.zeros_like()?);
        let (mut k, mut v) = (k.clone(), v.clone());
        for step in 0..self.ranks() {
            let (start, len) = part(self.size(), self.ranks(), self.owner_at(step));
            if len > 0 && scores.sees(q, start) {
                let (wide_k, wide_v) = (wide(&k)?, wide(&v)?);
                let weights = scores.compute(q, &k, start)?.sub(logs)?.exp()?;
                of_v = of_v.add(&sum_to_shape(
                    weights.transpose(-1, -2)?.matmul(&grad)?,
                    &of_v,
                )?)?;
                let of_weights = grad.matmul(&wide_v.transpose(-1, -2)?)?;
                let of_scores = weights.mul(&of_weights.sub(&whole)?)?.mul(scores.scale)?;
                of_q = of_q.add(&sum_to_shape(of_scores.matmul(&wide_k)?, &of_q)?)?;
                let part_of_k = of_scores.transpose(-1, -2)?.matmul(&wide_q)?;
                of_k = of_k.add(&sum_to_shape(part_of_k, &of_k)?)?;
            }
            if step + 1 < self.ranks() {
                k = self.shift(&k, source, step)?;
                v = self.shift(&v, source, step)?;
            }
            if self.ranks() > 1 {
                of_k = self.shift(&of_k, source, step)?;
                of_v = self.shift(&of_v, source, step)?;
            }
        }
        Ok([of_q, of_k, of_v])
    }
}

/// Attention to keys and values whose source dim may be split.
pub(crate) struct Attention {
    /// The metadata of the keys.
    pub(crate) metadata: Metadata,
    pub(crate) op: &'static str,
    /// The source dim of the keys.
    pub(crate) source: usize,
    /// The axis that splits the source dim.
    pub(crate) via: Option<usize>,
    pub(crate) at: CallSite,
    /// The global position of this rank's first query.
    pub(crate) first: usize,
}

impl Attention {
    /// Computes the attention. The last three dims are batch, length or source, and features.
    pub(crate) fn compute(
        self,
        q: &DynTensor,
        k: &DynTensor,
        v: &DynTensor,
        options: AttentionOptions,
    ) -> Result<DynTensor> {
        let Self {
            metadata,
            op,
            first,
            ..
        } = self;
        let fail = |kind, what: &str| {
            let error = Error::new(kind, op, what).operand(q.names(), q.shape());
            error.operand(&metadata.names, &metadata.sizes)
        };
        if k.rank() < 2 || self.source != k.rank() - 2 {
            let error = fail(ErrorKind::Argument, "the dim is not the keys' source dim");
            return Err(error.hint("name the keys' second to last dim"));
        }
        if options.dropout_p != 0.0 || options.enable_gqa {
            let error = fail(
                ErrorKind::Argument,
                "attention along a split length has no dropout, and no grouped heads",
            );
            return Err(error.hint("`.all_to_all(axis, Heads)` splits by heads and allows both"));
        }
        let Some(axis) = self.via else {
            if options.is_causal && first != 0 {
                let error = fail(
                    ErrorKind::Argument,
                    "causal attention of queries that are split",
                );
                return Err(error.hint("split the sources too, and use them `via` their axis"));
            }
            return q.scaled_dot_product_attention_with(k, v, None, options);
        };
        // Checks the arguments on empty tensors, before anything is sent.
        let none = |x: &DynTensor| x.detach().narrow(x.rank() as i64 - 2, 0, 0);
        let names = none(q)?.scaled_dot_product_attention(&none(k)?, &none(v)?)?;
        let split_dim = SplitDim {
            metadata,
            op,
            dim: self.source,
            axis,
            at: self.at,
        };
        let unnamed = |x: &DynTensor| unnamed(x.raw().clone());
        let found = split_dim.attention([unnamed(q)?, unnamed(k)?, unnamed(v)?], first, options)?;
        with_names_of(found.into_parts().0, &names)
    }
}

/// Refuses a second derivative: the parts that travelled around would count as constants.
fn require_first_derivative(op: &'static str, grad: &DynTensor) -> Result<()> {
    if grad.requires_grad() {
        Err(Error::new(
            ErrorKind::Gradient,
            op,
            "rings over a mesh axis have no second derivative",
        )
        .hint("`.all_gather(axis)` and call it without `via`"))
    } else {
        Ok(())
    }
}

/// Returns the gradient of one factor of a contraction: the result's gradient contracted with the other factor, over
/// the dims that this factor lacks.
fn factor_gradient(grad: &DynTensor, other: &DynTensor, like: &DynTensor) -> Result<DynTensor> {
    let other = if other.dtype().is_complex() {
        other.conj()?
    } else {
        other.clone()
    };
    let names: Vec<String> = name_strings(like.names());
    let lacks: Vec<String> = name_strings(other.names())
        .into_iter()
        .filter(|name| !names.contains(name))
        .collect();
    let found = if lacks.is_empty() {
        grad.align_as(like)?.mul(&other.align_as(like)?)?
    } else {
        let lacks: Vec<&str> = lacks.iter().map(String::as_str).collect();
        grad.contract(&other, &lacks[..])?.align_as(like)?
    };
    sum_to_shape(found, like)
}

fn name_strings(names: &Names) -> Vec<String> {
    names.iter().flatten().map(ToString::to_string).collect()
}

/// Sums over dims that were broadcast: leading dims, and those of size 1 in `like`.
fn sum_to_shape(x: DynTensor, like: &DynTensor) -> Result<DynTensor> {
    let mut x = x;
    while x.rank() > like.rank() {
        x = x.sum(0_i64)?;
    }
    for dim in 0..like.rank() {
        if like.shape()[dim] == 1 && x.shape()[dim] != 1 {
            x = x.sum(nomina_core::rule::DimArg::from_dim(dim).keep())?;
        }
    }
    Ok(x)
}

fn keep_last(x: &DynTensor) -> nomina_core::rule::DimArg<'static> {
    nomina_core::rule::DimArg::from_dim(x.rank() - 1).keep()
}

/// Less than any score; its exponential relative to any score is zero.
const LOWEST: f64 = -1e30;

/// The parameters of the attention scores.
struct Scores {
    scale: f64,
    causal: bool,
    /// The global position of the first query.
    first: usize,
    /// The dtype of the computation.
    dtype: DType,
}

impl Scores {
    /// Returns whether any query sees keys from position `start` on.
    fn sees(&self, q: &DynTensor, start: usize) -> bool {
        !self.causal || start < self.first + q.shape()[q.rank() - 2]
    }

    /// Computes the scores of queries and keys; the first key is at position `start`.
    fn compute(&self, q: &DynTensor, k: &DynTensor, start: usize) -> Result<DynTensor> {
        let (q, k) = (q.to_dtype(self.dtype)?, k.to_dtype(self.dtype)?);
        let scores = q.matmul(&k.transpose(-1, -2)?)?.mul(self.scale)?;
        if !self.causal {
            return Ok(scores);
        }
        let (length, source) = (q.shape()[q.rank() - 2], k.shape()[k.rank() - 2]);
        let count = |from: usize, len: usize, shape: &[usize]| {
            let all: Vec<i64> = (from as i64..).take(len).collect();
            DynTensor::from_vec(all, shape, Names::unnamed(2))?.to_device(q.device())
        };
        let later =
            count(start, source, &[1, source])?.gt(&count(self.first, length, &[length, 1])?)?;
        scores.masked_fill(&later, f64::NEG_INFINITY)
    }

    /// Returns the exponentials relative to a base, and the base. In rows in which no key is visible, the base is less
    /// than any score.
    fn powers(&self, scores: &DynTensor, most: &DynTensor) -> Result<(DynTensor, DynTensor)> {
        let base = most.masked_fill(&most.isneginf()?, LOWEST)?;
        Ok((scores.sub(&base)?.exp()?, base))
    }
}
