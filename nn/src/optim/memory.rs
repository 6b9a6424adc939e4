//! The state that an optimizer keeps for each parameter.

use std::collections::BTreeMap;

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::StepParam;

use crate::call::ok;
use crate::load::fitted;
use crate::module::{Module, Slot};
use crate::path::Path;

/// `K` tensors for each parameter, by its path, and the number of its steps.
#[derive(Clone, Debug)]
pub(super) struct Memory<const K: usize> {
    kept: BTreeMap<String, ParamState<K>>,
    /// What the tensors are called in a file.
    words: [&'static str; K],
}

#[derive(Clone, Debug)]
struct ParamState<const K: usize> {
    names: Names,
    state: [Raw; K],
    steps: u64,
}

/// What a file calls the numbers of steps.
const STEP: &str = "step";

impl<const K: usize> Memory<K> {
    pub(super) fn new(words: [&'static str; K]) -> Self {
        Self {
            kept: BTreeMap::new(),
            words,
        }
    }

    /// Steps all parameters that have a gradient, and takes it.
    pub(super) fn step(
        &mut self,
        op: &'static str,
        model: &mut dyn Module,
        apply: impl FnOnce(&mut [StepParam<'_, K>]) -> Result<()>,
    ) -> Result<()> {
        let mut slots: Vec<(String, &mut dyn Slot, DynTensor)> = Vec::new();
        model.each_mut(&mut Path::default(), &mut |path, slot| {
            if !slot.is_param() {
                return;
            }
            if let Some(grad) = slot.to_dyn().grad() {
                slots.push((path.to_owned(), slot, grad));
            }
        });
        // Taken out, so that nobody else sees what is written to; whatever fails, all of it goes back.
        let mut kept: Vec<ParamState<K>> = Vec::new();
        let mut done = Ok(());
        for (path, slot, _) in &slots {
            match self.take(path, &slot.to_dyn()) {
                Ok(taken) => kept.push(taken),
                Err(error) => {
                    done = Err(error.in_op(op).within(format_args!("`{path}`")));
                    break;
                }
            }
        }
        let mut params: Vec<StepParam<'_, K>> = Vec::new();
        for ((path, slot, grad), kept) in slots.iter_mut().zip(&mut kept) {
            match slot.as_dyn_mut() {
                Ok(param) => params.push(StepParam {
                    param: param.into_parts().0,
                    grad: grad.raw(),
                    state: kept.state.each_mut(),
                    step: kept.steps + 1,
                }),
                Err(error) => done = Err(error.in_op(op).within(format_args!("`{path}`"))),
            }
        }
        let done = done.and_then(|()| apply(&mut params));
        drop(params);
        for ((path, slot, _), mut kept) in slots.into_iter().zip(kept) {
            if done.is_ok() {
                kept.steps += 1;
                slot.to_dyn().zero_grad();
            }
            self.kept.insert(path, kept);
        }
        done
    }

    /// Takes out what is kept for a parameter: zeros at first.
    fn take(&mut self, path: &str, param: &DynTensor) -> Result<ParamState<K>> {
        let other =
            |kept: &ParamState<K>| kept.state.iter().any(|raw| raw.shape() != param.shape());
        if self.kept.get(path).is_some_and(other) {
            let what = "the parameter has other sizes than at its last step";
            return Err(Error::new(ErrorKind::Shape, "step", what)
                .operand(param.names(), param.shape())
                .hint("make a new optimizer for another model"));
        }
        if let Some(kept) = self.kept.remove(path) {
            return Ok(kept);
        }
        let (shape, dtype, device) = (param.shape(), param.dtype(), param.device());
        let zeros = (0..K).map(|_| Raw::zeros("step", shape, dtype, device));
        Ok(ParamState {
            names: param.names().clone(),
            state: array(zeros.collect::<Result<_>>()?),
            steps: 0,
        })
    }

    /// All that is kept, by path and word: `layers.0.weight.exp_avg`.
    #[track_caller]
    pub(super) fn state(&self) -> Vec<(String, DynTensor)> {
        let mut state = Vec::new();
        for (path, kept) in &self.kept {
            for (word, raw) in self.words.iter().zip(&kept.state) {
                let tensor = DynTensor::from_parts(raw.clone(), kept.names.clone());
                state.push((format!("{path}.{word}"), ok(tensor)));
            }
            let steps = i64::try_from(kept.steps).unwrap_or(i64::MAX);
            let steps = DynTensor::full(&[], steps, ());
            state.push((format!("{path}.{STEP}"), ok(steps)));
        }
        state
    }

    /// Takes what was kept for the parameters of a model that are trained from `of`. Nothing has changed where it fails.
    pub(super) fn load(
        &mut self,
        op: &'static str,
        model: &dyn Module,
        mut of: impl FnMut(&str) -> Result<DynTensor>,
    ) -> Result<()> {
        let mut all = BTreeMap::new();
        let trained = |(_, param): &(String, DynTensor)| param.requires_grad();
        for (path, param) in model.params().into_iter().filter(trained) {
            let mut one = |word: &str| {
                let path = format!("{path}.{word}");
                let found = of(&path);
                found.map_err(|error| error.in_op(op).within(format_args!("`{path}`")))
            };
            let mut state = Vec::new();
            for word in self.words {
                let found = fitted(&param, one(word)?);
                let found = found
                    .map_err(|error| error.in_op(op).within(format_args!("`{path}.{word}`")))?;
                state.push(found.to_device(param.device())?.into_parts().0);
            }
            let steps = one(STEP)?.item()?.to_f64();
            let kept = ParamState {
                names: param.names().clone(),
                state: array(state),
                // A cast saturates.
                steps: steps as u64,
            };
            all.insert(path, kept);
        }
        self.kept = all;
        Ok(())
    }
}

/// As many as there are.
fn array<const K: usize>(all: Vec<Raw>) -> [Raw; K] {
    match all.try_into() {
        Ok(array) => array,
        Err(all) => unreachable!("{} tensors are kept for a parameter, not {K}", all.len()),
    }
}
