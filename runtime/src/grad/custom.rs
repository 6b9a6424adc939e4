//! Functions that bring their own gradient, where it does not follow from the operators that they are made of.

use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call::has_gradient;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, is_wanted, record};
use crate::shape::Shape;

/// The gradients of a function's inputs, absent ones of zero, of that of its result.
type Back = dyn Fn(&Raw) -> Result<Vec<Option<Raw>>> + Send + Sync;

struct Custom {
    op: &'static str,
    /// Their sizes and dtypes.
    inputs: Vec<(Shape, DType)>,
    back: Box<Back>,
}

impl Rule for Custom {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let found = (self.back)(grad)?;
        if found.len() != self.inputs.len() {
            let what = format!("{} gradients of {} inputs", found.len(), self.inputs.len());
            return Err(Error::new(ErrorKind::Gradient, self.op, what));
        }
        for (grad, (shape, dtype)) in found.iter().zip(&self.inputs) {
            if let Some(grad) = grad
                && (grad.shape() != &shape[..] || grad.dtype() != *dtype)
            {
                let what = format!("a gradient of {} for an input of {}", grad.dtype(), dtype);
                return Err(Error::new(ErrorKind::Gradient, self.op, what)
                    .operand(&Names::default(), grad.shape())
                    .operand(&Names::default(), shape)
                    .hint("a gradient has the sizes and the dtype of its input"));
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// `result`, which was computed of `inputs` in a way that is not recorded, with `back` as its gradient: that computes the
/// gradients of the inputs of the result's. What `back` computes with operators has gradients again.
///
/// ```
/// use nomina_runtime::DynTensor;
/// use nomina_runtime::grad::custom;
/// // Goes through as it is, and its gradient comes back halved.
/// let x = DynTensor::from_vec(vec![3.0_f32, 4.0], &[2], ["N"])?.with_grad()?;
/// let names = x.names().clone();
/// let y = custom("halved", &[x.raw()], x.raw().clone(), move |grad| {
///     let half = DynTensor::from_parts(grad.clone(), names.clone())?.mul(0.5)?;
///     Ok(vec![Some(half.into_parts().0)])
/// })?;
/// DynTensor::from_parts(y, x.names().clone())?.sum(..)?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// When memory for a few words is short. Going back: those of `back`, and
/// [`ErrorKind::Gradient`] when it gives other sizes or dtypes than the inputs have.
pub fn custom(
    op: &'static str,
    inputs: &[&Raw],
    result: Raw,
    back: impl Fn(&Raw) -> Result<Vec<Option<Raw>>> + Send + Sync + 'static,
) -> Result<Raw> {
    let result = result.detach();
    if !is_wanted(inputs.iter().copied()) || !has_gradient(result.dtype()) {
        return Ok(result);
    }
    let rule = Custom {
        op,
        inputs: inputs
            .iter()
            .map(|x| (Shape::from_slice(x.shape()), x.dtype()))
            .collect(),
        back: Box::new(back),
    };
    record(result, inputs.iter().map(|&x| Some(x)), rule)
}
