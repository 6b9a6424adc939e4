//! Running averages of weights.

use nomina::{DynTensor, Error, ErrorKind, Result, no_grad};
use nomina_macros::twin;
use nomina_runtime::call::{AverageOptions, StepParam, StepRule};

use crate::load::ByPath;
use crate::module::Module;
use crate::path::Path;

const OP: &str = "ema";
/// The name of the number of updates in a file.
const UPDATES: &str = "n_averaged";

/// The exponential moving average of a model's weights, like PyTorch's `AveragedModel` with `get_ema_multi_avg_fn`. The
/// first update copies the weights. Buffers, such as running means of norms, are always copied.
///
/// For the plain mean of all updates, set `ema.decay = n / (n + 1.0)` before each, where `n` is `ema.updates`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::optim::Ema;
/// use nomina_nn::prelude::*;
/// dims! { N }
/// let mut w = Param::new(tensor!([1.0]; N));
/// let mut ema = Ema::new(&w, 0.75);
/// ema.update(&w);
/// w.sum(..).backward();
/// Sgd::new(1.0).step(&mut w);
/// ema.update(&w);
/// assert_eq!(ema.model.to_vec(), [0.75]);
/// ```
#[derive(Clone, Debug)]
pub struct Ema<M> {
    /// The averaged model, whose parameters are frozen.
    pub model: M,
    /// The factor of the old average.
    pub decay: f64,
    /// The number of updates so far.
    pub updates: u64,
}

impl<M: Module + Clone> Ema<M> {
    /// Creates the average of a model, which begins with its current weights.
    ///
    /// # Errors
    /// If a small allocation fails.
    #[twin]
    pub fn try_new(model: &M, decay: f64) -> Result<Self> {
        let mut model = model.try_fork()?;
        model.freeze();
        Ok(Self {
            model,
            decay,
            updates: 0,
        })
    }

    /// Moves the average towards the weights of a model, in one pass.
    ///
    /// # Errors
    /// If the model has other paths, sizes or dtypes, or an allocation fails.
    #[twin]
    pub fn try_update(&mut self, model: &M) -> Result<()> {
        let state = model.state();
        if self.model.paths() != model.paths() {
            let what = "the model has other tensors than its average";
            return Err(Error::new(ErrorKind::Argument, OP, what)
                .hint("make a new average after a change of the model"));
        }
        let decay = if self.updates == 0 { 0.0 } else { self.decay };
        let options = AverageOptions { decay };
        no_grad(|| average(&mut self.model, &state, &options))?;
        self.updates += 1;
        Ok(())
    }

    /// Returns the averaged model's state and the number of updates, to be saved to a file.
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        let mut state = self.model.state();
        let updates = i64::try_from(self.updates).unwrap_or(i64::MAX);
        let updates = crate::call::ok(DynTensor::full(&[], updates, ()));
        state.push((UPDATES.to_owned(), updates));
        state
    }

    /// Loads what [`state`](Self::state) returned.
    ///
    /// # Errors
    /// Like [`Module::try_load`].
    #[twin]
    pub fn try_load<K: Into<String>, X: Into<DynTensor>>(
        &mut self,
        state: impl IntoIterator<Item = (K, X)>,
    ) -> Result<()> {
        let mut state = ByPath::collect(state)?;
        let updates = state.take(UPDATES)?.item()?.to_f64();
        self.model.try_load(state.rest())?;
        self.updates = updates as u64;
        Ok(())
    }
}

fn average(
    model: &mut dyn Module,
    state: &[(String, DynTensor)],
    options: &AverageOptions,
) -> Result<()> {
    let mut new = state.iter().map(|(_, tensor)| tensor);
    let mut steps = Vec::new();
    let mut done = Ok(());
    model.each_mut(&mut Path::default(), &mut |path, slot| {
        let (Ok(()), Some(new)) = (&done, new.next()) else {
            return;
        };
        let is_averaged = slot.is_param() && options.decay != 0.0;
        done = slot.as_dyn_mut().and_then(|mut old| {
            if !is_averaged {
                return old.copy_(new).map(drop);
            }
            steps.push(StepParam {
                param: old.into_parts().0,
                grad: new.raw(),
                state: &mut [],
                step: 1,
                options,
            });
            Ok(())
        });
        if let Err(error) = std::mem::replace(&mut done, Ok(())) {
            done = Err(error.in_op(OP).within(format_args!("`{path}`")));
        }
    });
    done.and_then(|()| StepRule::step(OP, &mut steps))
}
