//! Muon.

use nomina::{DType, DynTensor, Names, NormOptions, Result, no_grad};
use nomina_runtime::Raw;
use nomina_runtime::call::{AdamOptions, StepParam, StepRule, copy_into};

/// The options of Muon, like those of PyTorch's `torch.optim.Muon`, and those of AdamW for parameters that are no
/// matrices.
///
/// A parameter of two or more dims is a matrix of its first dim by all others. Embeddings and the last layer are
/// usually stepped by AdamW; a group says so: `muon.group_at("embedding", |options| options.orthogonal = false)`.
#[derive(Clone, Copy, Debug)]
pub struct MuonOptions {
    /// The learning rate of matrices. That of the others is in `adamw`.
    pub lr: f64,
    /// This fraction of a matrix times the learning rate is subtracted from it.
    pub weight_decay: f64,
    /// The decay rate of the running mean of the gradient.
    pub momentum: f64,
    /// Whether to use Nesterov momentum.
    pub nesterov: bool,
    /// The coefficients of the Newton-Schulz iteration.
    pub ns_coefficients: (f64, f64, f64),
    /// The number of Newton-Schulz iterations.
    pub ns_steps: u32,
    /// The dtype of the Newton-Schulz iteration: by default `f32`, and `f64` for `f64` matrices. PyTorch's is `bf16`.
    pub ns_dtype: Option<DType>,
    /// The least norm that an update is divided by.
    pub eps: f64,
    /// The factor of the learning rate.
    pub adjust_lr: AdjustLr,
    /// Whether matrices are stepped by Muon. If not, all parameters are stepped by AdamW.
    pub orthogonal: bool,
    /// The options of all other parameters.
    pub adamw: AdamOptions,
    /// A factor that is applied to the gradients of matrices first.
    pub grad_scale: f64,
}

/// The factor of Muon's learning rate for a matrix of `A` rows and `B` columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdjustLr {
    /// `max(1, A / B).sqrt()`, as in Jordan's implementation.
    #[default]
    Original,
    /// `0.2 * max(A, B).sqrt()`, so that learning rates and decays of AdamW fit.
    MatchRmsAdamW,
}

impl Default for MuonOptions {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            weight_decay: 0.1,
            momentum: 0.95,
            nesterov: true,
            ns_coefficients: (3.4445, -4.7750, 2.0315),
            ns_steps: 5,
            ns_dtype: None,
            eps: 1e-7,
            adjust_lr: AdjustLr::Original,
            orthogonal: true,
            adamw: AdamOptions::adamw(),
            grad_scale: 1.0,
        }
    }
}

impl MuonOptions {
    fn is_for(&self, shape: &[usize]) -> bool {
        self.orthogonal && shape.len() >= 2
    }

    /// Returns the parameter and its momentum after a step.
    fn stepped(&self, of: &StepParam<'_, Self>) -> Result<(Raw, Raw)> {
        let tensor = |raw: Raw| {
            let rank = raw.shape().len();
            DynTensor::from_parts(raw.detach(), Names::unnamed(rank))
        };
        let (param, mean) = (tensor(of.copy_param()?)?, tensor(of.state[0].clone())?);
        let grad = tensor(of.grad.clone())?.mul(self.grad_scale)?;
        let mixed = |mean: &DynTensor| {
            let kept = mean.mul(self.momentum)?;
            kept.add(&grad.mul(1.0 - self.momentum)?)
        };
        let mean = mixed(&mean)?;
        let update = if self.nesterov {
            mixed(&mean)?
        } else {
            mean.clone()
        };
        let sizes = param.shape();
        let rows = sizes[0];
        let columns: usize = sizes[1..].iter().product();
        let (a, b) = (rows as f64, columns as f64);
        let factor = match self.adjust_lr {
            AdjustLr::Original => (a / b).max(1.0).sqrt(),
            AdjustLr::MatchRmsAdamW => 0.2 * a.max(b).sqrt(),
        };
        let update = match param.numel() {
            0 => update,
            _ => {
                let matrix = update.into_parts().0.reshape(&[rows, columns])?;
                let way = self.orthogonalize(tensor(matrix)?)?.into_parts().0;
                tensor(way.reshape(sizes)?)?
            }
        };
        let decayed = param.mul(1.0 - self.lr * self.weight_decay)?;
        let param = decayed.sub(&update.mul(self.lr * factor)?)?;
        Ok((param.into_parts().0, mean.into_parts().0))
    }

    /// Returns nearly the closest matrix with orthonormal rows or columns, by Newton-Schulz iterations.
    fn orthogonalize(&self, matrix: DynTensor) -> Result<DynTensor> {
        let dtype = matrix.dtype();
        let wide = self.ns_dtype.unwrap_or(match dtype {
            DType::F64 => DType::F64,
            _ => DType::F32,
        });
        let is_tall = matrix.shape()[0] > matrix.shape()[1];
        let turned = |x: DynTensor| if is_tall { x.t() } else { Ok(x) };
        let mut x = turned(matrix.to_dtype(wide)?)?;
        let norm = x.norm_with(.., NormOptions::default())?.item()?.to_f64();
        x = x.mul(1.0 / norm.max(self.eps))?;
        let (a, b, c) = self.ns_coefficients;
        for _ in 0..self.ns_steps {
            let gram = x.matmul(&x.t()?)?;
            let power = gram.mul(b)?.add(&gram.matmul(&gram)?.mul(c)?)?;
            x = x.mul(a)?.add(&power.matmul(&x)?)?;
        }
        turned(x)?.to_dtype(dtype)
    }
}

impl StepRule for MuonOptions {
    fn words(&self, shape: &[usize]) -> &'static [&'static str] {
        if self.is_for(shape) {
            &["momentum_buffer"]
        } else {
            self.adamw.words(shape)
        }
    }

    fn step(op: &'static str, params: &mut [StepParam<'_, Self>]) -> Result<()> {
        no_grad(|| {
            // All matrices are computed before anything is written.
            let matrices = params.iter().map(|of| {
                let is_for = of.options.is_for(of.param.shape());
                is_for.then(|| of.options.stepped(of)).transpose()
            });
            let matrices = matrices.collect::<Result<Vec<_>>>();
            let matrices = matrices.map_err(|error| error.in_op(op))?;
            let others = params.iter_mut().zip(&matrices);
            let others = others.filter(|(_, computed)| computed.is_none());
            let mut others: Vec<StepParam<'_, AdamOptions>> = others
                .map(|(of, _)| StepParam {
                    param: of.param.reborrow(),
                    grad: of.grad,
                    state: &mut *of.state,
                    step: of.step,
                    options: &of.options.adamw,
                })
                .collect();
            AdamOptions::step(op, &mut others)?;
            for (of, computed) in params.iter_mut().zip(matrices) {
                if let Some((param, mean)) = computed {
                    copy_into(of.param.reborrow(), &param)?;
                    of.state[0] = mean;
                }
            }
            Ok(())
        })
    }
}
